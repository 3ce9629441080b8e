//! Commitments for accelerators alone: they pay for those of the machines that run in their region, up to their number.

use crate::inventory::{Fact, Inventory, Key, Known, Origin, Purchase, Range, Resource, Role, Value};

/// Takes the accelerators that machines use away from the commitments that pay for them.
pub(super) fn settle_commitments(inventory: &mut Inventory) {
    let positions = |is: fn(&Resource) -> bool| {
        let all = inventory.resources.iter().enumerate().filter(|(_, it)| it.role == Role::Rented && it.is_added());
        all.filter(|(_, it)| is(it)).map(|(at, _)| at).collect::<Vec<_>>()
    };
    let (commitments, machines) = (positions(is_for_accelerators), positions(is_by_the_hour));
    for commitment in commitments {
        for machine in machines.iter().copied() {
            let (Some(user), Some(kept)) = (inventory.resources.get(machine), inventory.resources.get(commitment))
            else {
                continue;
            };
            let Some(left) = left_beside(user, kept) else { continue };
            let (place, years) = (kept.span, kept.fact(Key::CommitmentYears).clone());
            if let Some(kept) = inventory.resources.get_mut(commitment) {
                kept.count = kept.count.clone().map(|_| Range::exactly(left));
            }
            if let Some(user) = inventory.resources.get_mut(machine) {
                let value = Value::text(Purchase::Reserved.name());
                user.set(
                    Key::Purchase,
                    Fact::Known(Known { value, span: place, defined: None, origin: Origin::Resolved }),
                );
                user.set(Key::CommitmentYears, years);
            }
        }
    }
}

fn is_for_accelerators(it: &Resource) -> bool {
    it.purchase() == Some(Purchase::Reserved) && matches!(it.fact(Key::Machine), Fact::Unknown(_))
}

fn is_by_the_hour(it: &Resource) -> bool {
    it.purchase() == Some(Purchase::OnDemand)
}

/// What is left of the commitment when it pays for all accelerators of the machines.
fn left_beside(user: &Resource, kept: &Resource) -> Option<f64> {
    let same = |key: Key| user.text(key).is_some() && user.text(key) == kept.text(key);
    if user.root != kept.root || ![Key::Provider, Key::Region, Key::Accelerator].into_iter().all(same) {
        return None;
    }
    let used = user.count.value()?.expected * user.number(Key::AcceleratorCount)?;
    let left = kept.count.value()?.expected - used;
    (is_by_the_hour(user) && used > 0.0 && left >= 0.0).then_some(left)
}
