//! What to do first: the least risk, then the most money.

use std::cmp::Reverse;

use crate::pricing::Period;
use crate::report::Report;
use crate::report::views::scorecard::best_savings;
use crate::rules::Finding;

/// Findings that save money, of each resource the one that saves most, in the order in which a person would act on them.
pub(in crate::report) fn first<'a>(report: &'a Report) -> Vec<&'a Finding> {
    let best = best_savings(report).into_values();
    let mut all: Vec<&Finding> = best.filter(|it| it.saves.is_some_and(|it| !it.expected.is_zero())).collect();
    all.sort_by_key(|it| (it.risk, Reverse(it.per == Period::Month), Reverse(it.saves.map(|it| it.expected)), it.span));
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
