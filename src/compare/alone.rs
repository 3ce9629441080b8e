//! Finds growth that another file of the same change hides. A file is applied to the earlier state alone: what then
//! costs more than before must cost as much in the later state.

use crate::catalog::{Money, MoneyRange};
use crate::diagnostic::SkipKind;
use crate::inventory::{ResourceId, Unjudged, UnjudgedStatus};
use crate::pricing::{Side, delta};

/// The growth per month that is too small to report.
const SMALL: f64 = 1.0;

/// A resource that a changed file makes more expensive, and that the whole change does not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HiddenGrowth {
    pub(crate) address: String,
    /// The cost per month that is missing in the later state.
    pub(crate) missing: Money,
}

/// Returns the most expensive resource whose cost `alone` raises and `after` does not have.
pub(crate) fn hidden_growth(before: Side, alone: Side, after: Side) -> Option<HiddenGrowth> {
    let grown = delta(before, alone);
    let mut grown: Vec<(ResourceId, MoneyRange, MoneyRange)> = grown
        .changes
        .iter()
        .filter_map(|change| {
            let id = change.after?;
            let (was, is) = (cost(before, change.before), cost(alone, Some(id)));
            exceeds(is, was).then_some((id, was, is))
        })
        .collect();
    if grown.is_empty() {
        return None;
    }
    let later = delta(alone, after);
    grown.retain(|(id, was, is)| {
        let later = later.changes.iter().find(|change| change.before == Some(*id)).and_then(|it| it.after);
        let later = cost(after, later);
        // A new part may get its number from a new caller; then the caller decides, if there is anything.
        let is_composed = *was == MoneyRange::ZERO && exceeds(later, MoneyRange::ZERO);
        exceeds(*is, later) && !is_composed
    });
    let largest = grown.into_iter().max_by_key(|(id, was, is)| (is.ceiling - was.ceiling, std::cmp::Reverse(*id)))?;
    let (id, was, is) = largest;
    let missing = (is.expected - was.expected).max(is.ceiling - was.ceiling);
    Some(HiddenGrowth { address: alone.resource(id).address.clone(), missing })
}

/// Returns the cost of a resource per month; zero if the totals exclude it or its cost is unknown.
fn cost(side: Side, id: Option<ResourceId>) -> MoneyRange {
    let item = id.filter(|id| side.resource(*id).is_added()).and_then(|id| side.item(id));
    item.and_then(|item| item.monthly.or(item.amount)).unwrap_or(MoneyRange::ZERO)
}

fn exceeds(cost: MoneyRange, other: MoneyRange) -> bool {
    let is_above = |cost: Money, other: Money| (cost - other).usd() > SMALL;
    is_above(cost.expected, other.expected) || is_above(cost.ceiling, other.ceiling)
}

impl HiddenGrowth {
    /// Returns the entry of a report that fails the change. `hiding` are the files without which the growth shows.
    pub(crate) fn entry(&self, path: &str, hiding: &[String], amount: impl Fn(Money) -> String) -> Unjudged {
        let files = match hiding {
            [] => "the other files of this change".to_owned(),
            files => files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(" and "),
        };
        let reason = format!(
            "this file alone adds {}/month to {}, and {files} of the same change {} it from the total",
            amount(self.missing),
            self.address,
            if hiding.len() == 1 { "removes" } else { "remove" },
        );
        let cure = "make the two changes in separate pull requests, or let a reviewer accept this one";
        let entry = Unjudged::new(SkipKind::HiddenGrowth, path, reason).with_cure(cure);
        Unjudged { standing: UnjudgedStatus::Lost, ..entry }
    }
}
