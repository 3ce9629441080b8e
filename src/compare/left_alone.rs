//! Handles reductions that Terraform does not apply: if `ignore_changes` names the number or the machine type,
//! Terraform keeps the old value. Such a reduction saves nothing.

use super::state::ComparedStates;
use crate::inventory::{Fact, Key, KnownFact, ResourceId, UnknownFact};
use crate::pricing::{ChangeKind, Delta, FactChange};
use crate::source::Span;

/// The facts that depend on the machine type. They get their old values together.
const KEPT: [Key; 4] = [Key::Machine, Key::Accelerator, Key::AcceleratorCount, Key::AcceleratorMemory];

/// Restores the old values that Terraform keeps, if the new values would cost less. Returns the ignored reductions.
pub(super) fn keep(states: &mut ComparedStates, change: &Delta) -> Vec<(ResourceId, Vec<FactChange>)> {
    let (before, after) = (states.before, &mut *states.after);
    let mut kept = Vec::new();
    for change in change.changes.iter().filter(|it| it.kind == ChangeKind::Changed) {
        let (Some(earlier), Some(later)) = (change.before, change.after) else { continue };
        let (Some(was), Some(paid)) = (before.inventory.resources.get(earlier.0), before.bill.items.get(earlier.0))
        else {
            continue;
        };
        let (Some(is), Some(item)) = (after.inventory.resources.get_mut(later.0), after.bill.items.get_mut(later.0))
        else {
            continue;
        };
        let is_left = |detail: &FactChange| match detail.what.as_str() {
            FactChange::COUNT => is.left_alone.count,
            FactChange::MACHINE | FactChange::ACCELERATORS => is.left_alone.machine,
            _ => false,
        };
        let costs_less = [paid, &*item].map(|it| it.amount.map(|it| (it.expected, it.ceiling)));
        if costs_less[0] <= costs_less[1] || change.details.is_empty() || !change.details.iter().all(is_left) {
            continue;
        }
        is.count = fact_at(&was.count, is.span);
        KEPT.iter().for_each(|key| is.set(*key, fact_at(was.fact(*key), is.span)));
        item.clone_from(paid);
        kept.push((later, change.details.clone()));
    }
    if !kept.is_empty() {
        after.bill.sum_up(&after.inventory);
    }
    kept
}

/// Returns a fact of the earlier state with a place in the later state, because places of the earlier state are not
/// valid there.
fn fact_at<T: Clone>(fact: &Fact<T>, span: Span) -> Fact<T> {
    match fact.clone() {
        Fact::Known(known) => Fact::Known(KnownFact { span, defined: None, ..known }),
        Fact::Unknown(unknown) => Fact::Unknown(UnknownFact { span, ..unknown }),
        Fact::Absent => Fact::Absent,
    }
}

/// Adds to each change the reductions that Terraform ignores.
pub(super) fn keep_ignored_changes(change: &mut Delta, kept: Vec<(ResourceId, Vec<FactChange>)>) {
    for (later, details) in kept {
        if let Some(it) = change.changes.iter_mut().find(|it| it.after == Some(later)) {
            it.kind = ChangeKind::Changed;
            let ignored = |it: FactChange| FactChange {
                what: format!("only in the file, because Terraform ignores this change: {}", it.what),
                ..it
            };
            it.details.extend(details.into_iter().map(ignored));
        }
    }
}
