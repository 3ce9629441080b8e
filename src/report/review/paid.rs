//! Compares the billed cost of a month with the expected cost.

use super::month::Month;
use crate::report::Report;
use crate::report::views::reconcile::{AskedMonths, Reconciled, ReconciledMonth, reconcile, summed};

/// The maximum number of resources in the list.
const MOST: usize = 5;

/// Returns the month of the review on the bill; none if the bill has no row of it.
fn billed<'a>(report: &'a Report<'a>, month: Month) -> Option<ReconciledMonth<'a>> {
    let month = month.to_string().parse().ok()?;
    let is_billed = report.measured.paid.rows.iter().any(|it| it.row.month == month);
    let months = is_billed.then(|| reconcile(report, &AskedMonths::These(vec![month])))?;
    months.into_iter().next()
}

/// Returns the sums of the bill, and lines about the most expensive resources: billed and expected cost, and the
/// factors of hours and rate.
pub(super) fn paid(report: &Report<'_>, month: Month) -> Option<(Vec<String>, Vec<String>)> {
    let month = billed(report, month)?;
    let lines = month.lines.iter().filter(|it| it.sums().is_some());
    Some((summed(&month), lines.take(MOST).map(|it| format_reconciled(report, it)).collect()))
}

/// Returns text such as `aws_instance.train: $16,000 paid of $17,863 expected (hours × 1, rate × 0.896: discount)`.
fn format_reconciled(report: &Report<'_>, it: &Reconciled<'_>) -> String {
    let amount = |money| report.currency.amount(money);
    let paid = it.sums().map(|it| amount(it.paid)).unwrap_or_default();
    let expected = it.expected.map(|money| format!(" of {} expected", amount(money))).unwrap_or_default();
    let factors = match (it.hours_factor, it.rate_factor) {
        (Some(hours), Some(rate)) => {
            let causes = if it.causes.is_empty() { String::new() } else { format!(": {}", it.causes.join("; ")) };
            format!(" (hours × {hours:.2}, rate × {rate:.2}{causes})")
        }
        _ => String::new(),
    };
    format!("{}: {paid} billed{expected}{factors}", report.called(it.resource))
}
