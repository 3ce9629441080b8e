//! Writes lines `name=value`, for a CI step that passes numbers to later steps.

use crate::catalog::Money;
use crate::pricing::CostSum;
use crate::report::Report;

/// Returns the number of findings and the cost. It leaves out what only a comparison knows, such as the number of new
/// findings.
pub(in crate::report) fn check(report: &Report) -> String {
    let findings = report.findings.iter().filter(|decided| decided.counts()).count();
    verdict(report) + &lines(&[("findings", findings.to_string())]) + &cost(report)
}

/// Returns the verdict, and the number of unevaluated entries.
pub(in crate::report) fn verdict(report: &Report) -> String {
    let unjudged = report.inventory.unjudged.len();
    lines(&[("verdict", report.verdict.name().to_owned()), ("not-judged", unjudged.to_string())])
}

pub(in crate::report) fn cost(report: &Report) -> String {
    let bill = report.bill;
    let (rented, requested, total) = (bill.rented.minimum(), bill.requested.minimum(), bill.combined.minimum());
    lines(&[
        ("monthly-cost", dollars(rented.expected)),
        ("monthly-cost-floor", dollars(rented.floor)),
        ("monthly-cost-ceiling", ceiling(&bill.rented)),
        ("monthly-requested", dollars(requested.expected)),
        ("monthly-total", dollars(total.expected)),
        ("monthly-total-floor", dollars(total.floor)),
        ("monthly-total-ceiling", ceiling(&bill.combined)),
        // If this is false, each total is a minimum.
        ("whole", bill.combined.is_whole().to_string()),
        ("unpriced", bill.unpriced().to_string()),
        ("without-month", endings(report).to_string()),
    ])
}

/// Returns the maximum of a sum; empty if there is none.
fn ceiling(sum: &CostSum) -> String {
    if sum.is_unlimited() { String::new() } else { dollars(sum.minimum().ceiling) }
}

/// Returns resources with a cost per run or hour: the number of their runs is unknown, so no monthly total contains
/// them.
fn endings(report: &Report) -> usize {
    report.bill.endings(report.inventory).values().map(|it| it.resources).sum()
}

/// Formats with two decimals only, so that a shell can calculate with it.
pub(in crate::report) fn dollars(money: Money) -> String {
    format!("{:.2}", money.usd())
}

pub(in crate::report) fn lines(values: &[(&str, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}
