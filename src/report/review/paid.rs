//! What a month was paid for, beside what the text lets expect of it.

use super::content::Review;
use crate::report::answers::reconcile::summed;
use crate::report::views::reconcile::{AskedMonths, Reconciled, ReconciledMonth, reconcile};

/// Resources that are told.
const MOST: usize = 5;

/// The month of the review on the bill; nothing where the bill has no row of it.
fn month<'a>(review: &Review<'a>) -> Option<ReconciledMonth<'a>> {
    let month = review.month.to_string().parse().ok()?;
    let rows = &review.report.measured.paid.rows;
    rows.iter().any(|it| it.row.month == month).then(|| ())?;
    reconcile(review.report, &AskedMonths::These(vec![month])).into_iter().next()
}

/// The sums of the bill, and the dearest of what stands here: paid and expected, as hours times rate.
pub(super) fn paid(review: &Review<'_>) -> Option<(Vec<String>, Vec<String>)> {
    let month = month(review)?;
    let lines = month.lines.iter().filter(|it| it.sums().is_some());
    Some((summed(&month), lines.take(MOST).map(|it| told(review, it)).collect()))
}

/// `aws_instance.train: $16,000 paid of $17,863 expected (hours × 1, rate × 0.896: discount)`
fn told(review: &Review<'_>, it: &Reconciled<'_>) -> String {
    let amount = |money| review.report.currency.amount(money);
    let paid = it.sums().map(|it| amount(it.paid)).unwrap_or_default();
    let expected = it.expected.map(|money| format!(" of {} expected", amount(money))).unwrap_or_default();
    let factors = match (it.hours_factor, it.rate_factor) {
        (Some(hours), Some(rate)) => {
            let causes = if it.causes.is_empty() { String::new() } else { format!(": {}", it.causes.join("; ")) };
            format!(" (hours × {hours:.2}, rate × {rate:.2}{causes})")
        }
        _ => String::new(),
    };
    format!("{}: {paid} paid{expected}{factors}", review.report.called(it.resource))
}
