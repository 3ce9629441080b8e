//! Finds the lost work of resources, and formats its numbers.

use crate::catalog::{Currency, Money, rounded};
use crate::fit::Assessment;
use crate::fit::lost_work::LostWork;
use crate::inventory::{Fact, Range, Resource};
use crate::report::Report;

/// Returns the lost work of one resource. `None` in a saved report, which has no catalog.
pub(in crate::report) fn of<'a>(report: &Report<'a>, at: usize) -> Option<LostWork<'a>> {
    static UNASSESSED: Fact<Assessment> = Fact::Absent;
    let (resource, item) = (report.inventory.resources.get(at)?, report.bill.items.get(at)?);
    LostWork::of(resource, item, report.fits.get(at).unwrap_or(&UNASSESSED), report.market?)
}

/// Returns the counted resources whose lost work has an amount in dollars, the largest amount first.
pub(in crate::report) fn with_amounts<'a>(report: &Report<'a>) -> Vec<(&'a Resource, LostWork<'a>)> {
    let resources = report.inventory.resources.iter().enumerate().filter(|(_, resource)| resource.is_added());
    let mut found: Vec<(&Resource, LostWork<'_>, f64)> = resources
        .filter_map(|(at, resource)| {
            let work = of(report, at)?;
            let usd = work.usd()?.expected;
            (usd > 0.0).then_some((resource, work, usd))
        })
        .collect();
    found.sort_by(|one, other| {
        let per = other.1.per.cmp(&one.1.per).reverse();
        per.then(other.2.total_cmp(&one.2)).then_with(|| one.0.address.cmp(&other.0.address))
    });
    found.into_iter().map(|(resource, work, _)| (resource, work)).collect()
}

/// Formats dollars, such as `$5.35 ($1.62–$32.64)`.
pub(in crate::report) fn format_usd(currency: Currency, usd: Range) -> String {
    let amount = |usd: f64| currency.amount(Money::from_usd(usd));
    let expected = amount(usd.expected);
    match usd {
        Range { floor, ceiling, .. } if floor == ceiling => expected,
        Range { floor, ceiling, .. } if ceiling.is_finite() => {
            format!("{expected} ({}–{})", amount(floor), amount(ceiling))
        }
        Range { floor, .. } => format!("{expected} or more (at least {})", amount(floor)),
    }
}

/// Formats a number with two digits and its range, such as `5.4 (1.6 to 33)`.
pub(in crate::report) fn format_range(range: Range) -> String {
    let expected = rounded(range.expected);
    match range {
        Range { floor, ceiling, .. } if floor == ceiling => expected,
        Range { floor, ceiling, .. } if ceiling.is_finite() => {
            format!("{expected} ({} to {})", rounded(floor), rounded(ceiling))
        }
        Range { floor, .. } => format!("{expected} ({} or more)", rounded(floor)),
    }
}
