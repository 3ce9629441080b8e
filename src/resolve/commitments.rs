//! Handles commitments for accelerators only. They cover the accelerators of machines in their region, up to their
//! number.

use std::collections::HashMap;
use std::sync::Arc;

use crate::inventory::{BillingRole, Fact, FactOrigin, Inventory, Key, KnownFact, Purchase, Range, Resource};

/// Subtracts the accelerators that machines use from the commitments that cover them.
pub(super) fn subtract_commitments(inventory: &mut Inventory) {
    let mut waiting: HashMap<Covered, Vec<(usize, f64)>> = HashMap::new();
    for (at, machine) in inventory.resources.iter().enumerate().filter(|(_, it)| is_by_the_hour(it)) {
        if let Some((covered, used)) = Covered::by(machine).zip(accelerators(machine)) {
            waiting.entry(covered).or_default().push((at, used));
        }
    }
    for commitment in 0..inventory.resources.len() {
        let Some(kept) = inventory.resources.get(commitment).filter(|it| is_for_accelerators(it)) else { continue };
        let Some((machines, committed)) = Covered::by(kept).and_then(|it| waiting.get_mut(&it)).zip(kept.count.value())
        else {
            continue;
        };
        let (mut left, mut paid) = (committed.expected, Vec::new());
        machines.retain(|(at, used)| {
            let is_paid = *used <= left;
            if is_paid {
                left -= used;
                paid.push(*at);
            }
            !is_paid
        });
        pay(inventory, commitment, left, &paid);
    }
}

fn pay(inventory: &mut Inventory, commitment: usize, left: f64, machines: &[usize]) {
    let Some(kept) = inventory.resources.get_mut(commitment).filter(|_| !machines.is_empty()) else { return };
    kept.count = std::mem::take(&mut kept.count).map(|_| Range::exactly(left));
    let (span, years) = (kept.span, kept.fact(Key::CommitmentYears).clone());
    let reserved = KnownFact { value: Purchase::Reserved.into(), span, defined: None, origin: FactOrigin::Resolved };
    for at in machines {
        if let Some(machine) = inventory.resources.get_mut(*at) {
            machine.set(Key::Purchase, Fact::Known(reserved.clone()));
            machine.set(Key::CommitmentYears, years.clone());
        }
    }
}

/// The fields that a commitment and the machines that it covers have in common.
#[derive(PartialEq, Eq, Hash)]
struct Covered {
    root: Option<Arc<str>>,
    words: [String; 3],
}

impl Covered {
    fn by(it: &Resource) -> Option<Covered> {
        let word = |key: Key| it.text(key).map(str::to_owned);
        let words = [word(Key::Provider)?, word(Key::Region)?, word(Key::Accelerator)?];
        Some(Covered { root: it.root.clone(), words })
    }
}

fn is_for_accelerators(it: &Resource) -> bool {
    it.role == BillingRole::Rented
        && it.is_added()
        && it.purchase() == Some(Purchase::Reserved)
        && matches!(it.fact(Key::Machine), Fact::Unknown(_))
}

fn is_by_the_hour(it: &Resource) -> bool {
    it.role == BillingRole::Rented && it.is_added() && it.purchase() == Some(Purchase::OnDemand)
}

/// Returns the accelerators of all instances of the resource together.
fn accelerators(it: &Resource) -> Option<f64> {
    let used = it.count.value()?.expected * it.number(Key::AcceleratorCount)?;
    Some(used).filter(|used| *used > 0.0)
}
