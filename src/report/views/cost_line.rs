//! Writes the cost of one tree: the first line of its report, and the lines below it.

use super::excluded;
use super::money::{mark, while_running};
use super::worst;
use crate::catalog::{Currency, Money, MoneyRange};
use crate::diagnostic::SkipKind;
use crate::inventory::BillingRole;
use crate::pricing::{Ending, Period};
use crate::report::Report;

/// Returns the total of machines and pods, with each dollar counted once: `GPU cost at least $36,199/month`.
pub(in crate::report) fn cost_line(report: &Report) -> String {
    if report.is_empty {
        return "nothing to check here".to_owned();
    }
    if !report.inventory.resources.iter().any(|it| it.is_added()) {
        return without_sums(report);
    }
    let (bill, currency) = (report.bill, report.currency);
    if bill.combined.minimum() == MoneyRange::ZERO
        && let Some(jobs) = jobs(report).first()
    {
        return format!("GPU cost: {jobs}");
    }
    if bill.unnamed.resources > 0 && bill.unnamed.amount == bill.combined.minimum() {
        return format!("GPU cost unknown: {}/month", currency.least_to_most(bill.unnamed.amount, ""));
    }
    format!("GPU cost {}", currency.monthly(&bill.combined, marked(report)))
}

/// Returns the first line if the total counts nothing. It names the places of accelerators that gpulint found or
/// could not evaluate.
fn without_sums(report: &Report) -> String {
    // A file that ends early or cannot be read may contain anything.
    const MAY_CONTAIN: [SkipKind; 3] = [SkipKind::Machine, SkipKind::File, SkipKind::Limit];
    let kinds = report.inventory.unjudged.iter().map(|it| it.kind);
    let kinds = kinds.filter(|kind| kind.is_about_accelerators() || MAY_CONTAIN.contains(kind));
    let (possible, certain): (Vec<SkipKind>, Vec<_>) = kinds.partition(|kind| MAY_CONTAIN.contains(kind));
    let count = possible.len() + certain.len();
    match (excluded::only(report), count) {
        (None, 0) => "no accelerators found".to_owned(),
        (None, _) if certain.is_empty() => {
            format!("accelerators possible in files or resources that are not evaluated: {count}")
        }
        (None, _) => format!("accelerators only in files or resources that are not evaluated: {count}"),
        (Some(apart), 0) => apart,
        (Some(apart), _) => format!("{apart}; not evaluated: {count}"),
    }
}

/// Returns the mark of the total: `~` if it contains an estimate.
pub(in crate::report) fn marked(report: &Report) -> &'static str {
    mark([BillingRole::Rented, BillingRole::Requested].into_iter().any(|role| report.is_estimated(role, Period::Month)))
}

/// Returns the lines below the first: machines, pods and jobs that the first line does not contain.
pub(in crate::report) fn cost_rows(report: &Report) -> Vec<String> {
    let (bill, currency) = (report.bill, report.currency);
    let mut rows = Vec::new();
    if report.is_empty || !report.inventory.resources.iter().any(|it| it.is_added()) {
        return rows;
    }
    let (machines, pods) = (bill.rented.minimum(), bill.requested.minimum());
    if machines != MoneyRange::ZERO && pods != MoneyRange::ZERO {
        for (role, name) in [(BillingRole::Rented, "provisioned machines"), (BillingRole::Requested, "pods")] {
            let shown = currency.monthly_with_floor(bill.of_role(role), mark(report.is_estimated(role, Period::Month)));
            let within = if role == BillingRole::Requested { within(report) } else { String::new() };
            rows.push(format!("{name} {shown}{within}"));
        }
    }
    if let Some(unnamed) = currency.unnamed(bill) {
        rows.push(format!("pods {unnamed}"));
    }
    let in_first_line = usize::from(bill.combined.minimum() == MoneyRange::ZERO);
    rows.extend(jobs(report).into_iter().skip(in_first_line));
    rows.extend(starts(report));
    rows.extend(worst::line(report));
    rows
}

/// Returns the part of the pods' cost that the cost of machines already contains.
fn within(report: &Report) -> String {
    let items = report.inventory.resources.iter().zip(&report.bill.items);
    let pods = items.filter(|(it, _)| it.is_added() && it.role == BillingRole::Requested);
    let (mut inside, mut outside) = (Money::ZERO, Money::ZERO);
    for (_, item) in pods {
        let Some(monthly) = item.monthly else { continue };
        *(if item.is_within { &mut inside } else { &mut outside }) += monthly.expected;
    }
    match (inside.is_zero(), outside.is_zero()) {
        (true, _) => String::new(),
        (false, true) => ", all on these machines".to_owned(),
        (false, false) => format!(", {} of this on these machines", report.currency.amount(inside)),
    }
}

/// Returns the cost of jobs that end, which no monthly total contains: `jobs ~$1.59 to $44.25 per run`.
fn jobs(report: &Report) -> Vec<String> {
    let shown = |((role, per), ending): (&(BillingRole, Period), &Ending)| {
        let jobs = if *role == BillingRole::Rented { "jobs on provisioned machines" } else { "jobs" };
        format!("{jobs} {}", per_run(report.currency, ending, *per, mark(report.is_estimated(*role, *per))))
    };
    report.bill.endings(report.inventory).iter().map(shown).collect()
}

fn per_run(currency: Currency, ending: &Ending, per: Period, mark: &str) -> String {
    match ending.each_uncounted {
        each if ending.amount == MoneyRange::ZERO && !each.is_zero() => {
            format!("{mark}{}/h each, number unknown", currency.amount(each))
        }
        _ => format!("{} {}", currency.least_to_most(ending.amount, mark), while_running(per)),
    }
}

/// Returns how often jobs with an unknown duration start.
fn starts(report: &Report) -> Option<String> {
    let items = report.inventory.resources.iter().zip(&report.bill.items).filter(|(it, _)| it.is_added());
    let starts: f64 = items.filter_map(|(_, item)| item.starts).sum();
    (starts > 0.0).then(|| format!("jobs start {} times per month, duration unknown", in_words(starts)))
}

/// Returns text such as `43,800`, `21.7`.
pub(in crate::report) fn in_words(starts: f64) -> String {
    if starts < 100.0 { crate::resolve::plain(starts) } else { crate::catalog::grouped(starts.round() as u64) }
}
