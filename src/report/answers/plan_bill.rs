//! Compares a plan of commitments with the bill of the last month: hours that did not run, and commitments without use.

use crate::inventory::BillingRole;
use crate::measured::paid::{BilledAmount, Charge};
use crate::report::Report;
use crate::report::views::reconcile::{AskedMonths, Reconciled, reconcile};

/// The share of the expected hours below which a machine does not always run.
const ALWAYS: f64 = 0.9;

/// The limit on resources that a sentence names.
const NAMED: usize = 3;

/// Returns where the last full month of the bill differs from what a plan assumes.
pub fn plan_notes(report: &Report) -> Vec<String> {
    let Some(month) = reconcile(report, &AskedMonths::Last).into_iter().next() else { return Vec::new() };
    let mut notes = Vec::new();
    let idle = |it: &&Reconciled<'_>| {
        it.resource.role == BillingRole::Rented && it.hours_factor.is_some_and(|factor| factor < ALWAYS)
    };
    let idle: Vec<&Reconciled<'_>> = month.lines.iter().filter(idle).collect();
    let named: Vec<String> = idle
        .iter()
        .take(NAMED)
        .filter_map(|it| {
            let (factor, hours) = (it.hours_factor?, it.expected_hours?);
            Some(format!("{} {:.0} of {hours:.0}", report.called(it.resource), factor * hours))
        })
        .collect();
    if !named.is_empty() {
        let more = if idle.len() > NAMED { format!(", and {} more", idle.len() - NAMED) } else { String::new() };
        notes.push(format!(
            "in {}, fewer hours were billed than the plan assumes: {}{more}; a commitment for them would be idle",
            month.month,
            named.join(", ")
        ));
    }
    let of_month = report.measured.paid.rows.iter().map(|it| &it.row).filter(|it| it.month == month.month);
    let unused: BilledAmount = of_month.filter(|it| it.charge == Charge::Unused).filter_map(|it| it.hours).sum();
    if unused > BilledAmount::ZERO {
        notes.push(format!("in {}, {unused} hours of commitments were paid and not used: use them first", month.month));
    }
    notes
}
