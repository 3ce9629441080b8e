//! Writes a comparison as lines `name=value`.

use super::Difference;
use crate::pricing::CostChange;
use crate::report::formats::outputs::{cost, dollars, lines, verdict};

/// Returns the state after the change, and the effect of the change.
pub(in crate::report) fn difference(it: &Difference) -> String {
    let delta = it.delta;
    let (rented, requested, total) = (delta.rented.difference, delta.requested.difference, delta.combined.difference);
    let changed = verdict(&it.after)
        + &lines(&[
            ("findings", (it.brought().count() + it.unchanged.len()).to_string()),
            ("new-findings", it.new.len().to_string()),
            ("worse-findings", it.grown.len().to_string()),
            ("fixed-findings", it.fixed.len().to_string()),
            ("monthly-delta", dollars(rented.expected)),
            ("monthly-delta-floor", dollars(rented.floor)),
            ("monthly-delta-ceiling", ceiling(&delta.rented)),
            ("requested-delta", dollars(requested.expected)),
            ("requested-delta-ceiling", ceiling(&delta.requested)),
            ("total-delta", dollars(total.expected)),
            ("total-delta-floor", dollars(total.floor)),
            ("total-delta-ceiling", ceiling(&delta.combined)),
            ("became-known", dollars(delta.combined.became_known.expected)),
            ("no-longer-known", dollars(delta.combined.no_longer_known.expected)),
            ("not-read", it.not_read.len().to_string()),
            // True if the change does not need a comment.
            ("quiet", it.is_quiet().to_string()),
        ]);
    changed + &cost(&it.after)
}

/// Returns the change of the maximum; empty if one of the states has no maximum.
fn ceiling(change: &CostChange) -> String {
    let is_unlimited = change.before.is_unlimited() || change.after.is_unlimited();
    if is_unlimited { String::new() } else { dollars(change.difference.ceiling) }
}
