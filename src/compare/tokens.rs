//! Computes the effect of a change on the cost of tokens.

use crate::analysis::Analysis;
use crate::fit::UnitCosts;
use crate::fit::speed::SpeedRange;
use crate::inventory::{Fact, ResourceId};
use crate::pricing::{ChangeKind, Delta, FactChange};

/// Adds the cost per million tokens before and after to a changed server.
pub(super) fn note_token_costs(delta: &mut Delta, before: &Analysis, after: &Analysis) {
    for change in delta.changes.iter_mut().filter(|it| it.kind == ChangeKind::Changed) {
        let of = |analysis, id| unit_costs(analysis, id).unwrap_or_default();
        let (earlier, later) = (of(before, change.before), of(after, change.after));
        let kinds = [
            ("$/M tokens at your traffic", earlier.per_million_at_traffic, later.per_million_at_traffic),
            ("$/M tokens at full load", earlier.per_million_at_full_load, later.per_million_at_full_load),
        ];
        // Real servers never reach full load, so the cost at full load is shown only if the traffic is unknown.
        let told = kinds.into_iter().find(|(_, earlier, later)| earlier.is_some() || later.is_some());
        let Some((what, earlier, later)) = told else { continue };
        let (before, after) = (shown(earlier), shown(later));
        if before != after {
            change.details.push(FactChange { what: what.to_owned(), before, after });
        }
    }
}

fn unit_costs(analysis: &Analysis, id: Option<ResourceId>) -> Option<UnitCosts> {
    let at = id?.0;
    let (resource, item) = (analysis.inventory.resources.get(at)?, analysis.bill.items.get(at)?);
    Some(UnitCosts::new(resource, item, analysis.fits.get(at).unwrap_or(&Fact::Absent)))
}

fn shown(range: Option<SpeedRange>) -> String {
    range.map_or_else(|| "?".to_owned(), SpeedRange::format_range)
}
