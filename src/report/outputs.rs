//! Lines `name=value`, for a step of a build that hands numbers to the next one.

use super::Report;
use crate::catalog::Money;

/// The findings that count and the money. What a check cannot know, such as what is new, is left out.
pub(super) fn check(report: &Report) -> String {
    let counted = report.findings.iter().filter(|decided| decided.counts()).count();
    let bill = report.bill;
    let lines = [
        ("findings", counted.to_string()),
        ("monthly-cost", dollars(bill.rented.expected)),
        ("monthly-cost-floor", dollars(bill.rented.floor)),
        ("monthly-cost-ceiling", dollars(bill.rented.ceiling)),
        ("monthly-requested", dollars(bill.requested.expected)),
        ("unpriced", bill.unpriced.to_string()),
    ];
    lines.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}

/// With two decimals and nothing else, so that a shell can calculate with it.
fn dollars(money: Money) -> String {
    format!("{:.2}", money.usd())
}
