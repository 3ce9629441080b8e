//! What to do first: the least risk, then the most money.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Money;
use crate::inventory::ResourceId;
use crate::pricing::Period;
use crate::report::Report;
use crate::report::views::scorecard::best_savings;
use crate::rules::Finding;

/// Findings that save money, in the order in which a person would act on them: of each resource the best of the least risk,
/// and then what saves more at a higher one.
pub(in crate::report) fn first<'a>(report: &'a Report) -> Vec<&'a Finding> {
    let told: BTreeSet<Option<ResourceId>> = best_savings(report).into_keys().collect();
    let expected = |it: &Finding| it.saves.map_or(Money::ZERO, |it| it.expected);
    let counting = report.findings.iter().filter(|it| it.counts()).map(|it| &it.finding);
    let mut all: Vec<&Finding> =
        counting.filter(|it| told.contains(&it.resource) && expected(it) > Money::ZERO).collect();
    all.sort_by_key(|it| (it.risk, Reverse(it.per == Period::Month), Reverse(expected(it)), it.span, it.rule.clone()));
    let mut most: BTreeMap<(Option<ResourceId>, Period), Money> = BTreeMap::new();
    all.retain(|it| {
        let known = most.entry((it.resource, it.per)).or_default();
        let is_more = expected(it) > *known;
        *known = (*known).max(expected(it));
        is_more
    });
    all
}

/// `$21,479/month at medium risk: run it on spot (main.tf:31 aws_instance.a)`
pub(in crate::report) fn told(report: &Report, finding: &Finding) -> String {
    let saved = report.currency.saved(finding).unwrap_or_default();
    let what = finding.help.as_deref().unwrap_or(&finding.message);
    let at = report.paths.locate(report.sources, finding.span);
    let address = finding.address(report.inventory).map(|it| format!(" {it}")).unwrap_or_default();
    format!("{saved} at {} risk: {what} ({}:{}{address})", finding.risk.name(), at.path, at.line)
}
