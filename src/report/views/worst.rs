//! Writes the most that a month can cost, or what has no limit.

use crate::pricing::{NoLimit, Unlimited, WorstMonth};
use crate::report::{Report, escape};

/// The command that lists the limits.
const PROOF: &str = "`gpulint limit`";

/// Returns a line such as `can never cost more than $74,132/month; proof: gpulint limit`.
pub(in crate::report) fn line(report: &Report) -> Option<String> {
    let worst = there(report)?;
    Some(format!("{}; {}: {PROOF}", in_words(report, worst), if worst.most().is_some() { "proof" } else { "limits" }))
}

/// Returns a line about both states of a change, such as `can never cost more than $74,132/month (was $50,000)`.
pub(in crate::report) fn change(before: &Report, after: &Report) -> Option<String> {
    let worst = there(after)?;
    let was = before.bill.worst.as_ref()?;
    let was = match (was.most(), worst.most()) {
        (Some(was), Some(is)) if was == is => "as before".to_owned(),
        (Some(was), _) => format!("was {}", after.currency.amount(was)),
        (None, Some(_)) => "had no limit".to_owned(),
        (None, None) => "had none before".to_owned(),
    };
    Some(format!("{} ({was})", in_words(after, worst)))
}

/// Returns the most that a month can cost, if something counts.
fn there<'a>(report: &Report<'a>) -> Option<&'a WorstMonth> {
    let is_counted = report.inventory.resources.iter().any(|it| it.is_added());
    report.bill.worst.as_ref().filter(|_| is_counted && !report.is_empty)
}

/// Returns the most that a month can cost, or what has no limit; `None` if nothing counts.
pub(in crate::report) fn answer(report: &Report) -> Option<String> {
    there(report).map(|worst| in_words(report, worst))
}

fn in_words(report: &Report, worst: &WorstMonth) -> String {
    let Some(most) = worst.most() else { return format!("no upper limit: {}", causes(report, worst)) };
    let on = match (worst.assumes_machines, worst.assumes_region) {
        (true, true) => " on the assumed machines and in the assumed region",
        (true, false) => " on the assumed machines",
        (false, true) => " in the assumed region",
        (false, false) => "",
    };
    format!("can never cost more than {}/month{on}", report.currency.amount(most))
}

/// Returns the first thing without a limit and its place.
fn causes(report: &Report, worst: &WorstMonth) -> String {
    let Some(first) = worst.unlimited.first() else { return String::new() };
    let more = match worst.unlimited.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{}{more}", cause(report, first))
}

/// Returns the thing without a limit, its place, and what it lacks: `NodePool/gpu (pools.yaml:3) has no maximum number`.
pub(in crate::report) fn cause(report: &Report, it: &Unlimited) -> String {
    let place = it.resource.and_then(|id| report.inventory.resources.get(id.0)).map(|resource| {
        let at = report.paths.locate(report.sources, resource.span);
        format!(" ({}:{})", escape::one_line(&at.path), at.line)
    });
    let name = escape::shortened(&escape::one_line(&it.of), 100);
    format!("{name}{} {}", place.unwrap_or_default(), lacks(&it.why))
}

fn lacks(why: &NoLimit) -> &'static str {
    match why {
        NoLimit::Count(_) => "has no maximum number",
        NoLimit::Runs => "can run any number of times",
        NoLimit::Price(_) => "has no known price",
        NoLimit::Machine => "names no accelerator",
        NoLimit::Unread(_) => "is not evaluated",
    }
}
