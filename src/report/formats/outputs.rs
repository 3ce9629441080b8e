//! Lines `name=value`, for a step of a build that hands numbers to the next one.

use crate::catalog::Money;
use crate::report::{Difference, Report};

/// The findings that count and the money. What a check cannot know, such as what is new, is left out.
pub(in crate::report) fn check(report: &Report) -> String {
    let findings = report.findings.iter().filter(|decided| decided.counts()).count();
    lines(&[("findings", findings.to_string())]) + &cost(report)
}

/// The same after the change, with what the change did.
pub(in crate::report) fn difference(it: &Difference) -> String {
    let delta = it.delta.rented.difference();
    let changed = lines(&[
        ("findings", (it.new.len() + it.unchanged.len()).to_string()),
        ("new-findings", it.new.len().to_string()),
        ("fixed-findings", it.fixed.len().to_string()),
        ("monthly-delta", dollars(delta.expected)),
        ("monthly-delta-floor", dollars(delta.floor)),
        ("monthly-delta-ceiling", dollars(delta.ceiling)),
        // Nothing that would be worth a first comment.
        ("quiet", it.is_quiet().to_string()),
    ]);
    changed + &cost(&it.after)
}

fn cost(report: &Report) -> String {
    let bill = report.bill;
    lines(&[
        ("monthly-cost", dollars(bill.rented.expected)),
        ("monthly-cost-floor", dollars(bill.rented.floor)),
        ("monthly-cost-ceiling", dollars(bill.rented.ceiling)),
        ("monthly-requested", dollars(bill.requested.expected)),
        ("unpriced", bill.unpriced.to_string()),
    ])
}

/// With two decimals and nothing else, so that a shell can calculate with it.
fn dollars(money: Money) -> String {
    format!("{:.2}", money.usd())
}

fn lines(values: &[(&str, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}
