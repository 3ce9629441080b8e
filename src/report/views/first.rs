//! Lists the findings to fix first: the lowest risk, then the largest saving.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::catalog::Money;
use crate::inventory::ResourceId;
use crate::pricing::Period;
use crate::report::Report;
use crate::report::escape::shortened;
use crate::report::views::money::mark;
use crate::report::views::scorecard::saving;
use crate::rules::Finding;

/// Returns the findings that save money, in the order in which to fix them: for each resource the best one at the
/// lowest risk, then those that save more at a higher risk.
fn first<'a>(report: &'a Report) -> Vec<&'a Finding> {
    let expected = |it: &Finding| it.saves.map_or(Money::ZERO, |it| it.expected);
    let mut all: Vec<&Finding> = saving(report).filter(|it| expected(it) > Money::ZERO).collect();
    all.sort_by_cached_key(|it| {
        (it.risk, Reverse(it.per == Period::Month), Reverse(expected(it)), report.order(it), it.rule.clone())
    });
    let mut most: BTreeMap<(Option<ResourceId>, Period), Money> = BTreeMap::new();
    all.retain(|it| {
        let known = most.entry((it.resource, it.per)).or_default();
        let is_more = expected(it) > *known;
        *known = (*known).max(expected(it));
        is_more
    });
    all
}

/// One piece of advice for one or more resources.
pub(in crate::report) struct Advice<'a> {
    /// The finding that saves most.
    pub(in crate::report) finding: &'a Finding,
    pub(in crate::report) resources: usize,
    saves: Money,
    is_estimated: bool,
}

/// Returns advice for each rule: the lowest risk first, then the largest saving.
pub(in crate::report) fn advice<'a>(report: &'a Report) -> Vec<Advice<'a>> {
    let mut all: Vec<Advice<'a>> = Vec::new();
    for finding in first(report) {
        let saves = finding.saves.map_or(Money::ZERO, |it| it.expected);
        let is_same = |it: &&mut Advice<'_>| {
            let other = it.finding;
            (&other.rule, other.risk, other.per) == (&finding.rule, finding.risk, finding.per)
        };
        match all.iter_mut().find(is_same) {
            Some(known) => {
                known.resources += 1;
                known.saves += saves;
                known.is_estimated |= finding.is_estimated;
            }
            None => all.push(Advice { finding, resources: 1, saves, is_estimated: finding.is_estimated }),
        }
    }
    all.sort_by_cached_key(|it| {
        (it.finding.risk, Reverse(it.finding.per == Period::Month), Reverse(it.saves), report.order(it.finding))
    });
    all
}

impl Advice<'_> {
    /// Returns text such as `~$21,479/month`.
    pub(in crate::report) fn saved(&self, report: &Report) -> String {
        format!("{}{}/{}", mark(self.is_estimated), report.currency.amount(self.saves), self.finding.per.name())
    }

    /// Returns text such as `at medium risk: on-demand-batch for 4 resources, the largest saving: training work runs
    /// on demand`.
    pub(in crate::report) fn format_headline(&self) -> String {
        let several = match self.resources {
            1 => String::new(),
            n => format!(" for {n} resources, the largest saving"),
        };
        let finding = self.finding;
        format!("at {} risk: {}{several}: {}", finding.risk.name(), finding.rule, finding.message)
    }

    /// Returns text such as `main.tf:31`.
    pub(in crate::report) fn place(&self, report: &Report) -> String {
        let at = report.paths.locate(report.sources, self.finding.span);
        format!("{}:{}", at.path, at.line)
    }

    /// Returns text such as ` aws_instance.a`.
    fn address(&self, report: &Report) -> String {
        self.finding.address(report.inventory).map(|it| format!(" {}", shortened(it, 80))).unwrap_or_default()
    }
}

/// Returns text such as `$21,479/month at medium risk: on-demand-batch: training work runs on demand (main.tf:31
/// aws_instance.a)`
pub(in crate::report) fn format_advice(report: &Report, advice: &Advice<'_>) -> String {
    format!(
        "{} {} ({}{})",
        advice.saved(report),
        advice.format_headline(),
        advice.place(report),
        advice.address(report)
    )
}
