//! A comparison as lines `name=value`.

use super::Difference;
use crate::report::formats::outputs::{cost, dollars, lines, verdict};

/// What holds after the change, and what the change did.
pub(super) fn difference(it: &Difference) -> String {
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
            ("monthly-delta-ceiling", dollars(rented.ceiling)),
            ("requested-delta", dollars(requested.expected)),
            ("requested-delta-ceiling", dollars(requested.ceiling)),
            ("total-delta", dollars(total.expected)),
            ("total-delta-floor", dollars(total.floor)),
            ("total-delta-ceiling", dollars(total.ceiling)),
            ("became-known", dollars(delta.combined.became_known.expected)),
            ("no-longer-known", dollars(delta.combined.no_longer_known.expected)),
            // Nothing that would be worth a first comment.
            ("quiet", it.is_quiet().to_string()),
        ]);
    changed + &cost(&it.after)
}
