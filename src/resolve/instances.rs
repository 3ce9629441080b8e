//! Counts the machines that one block creates with its count. Each is a resource, and together they may do one job.

use std::collections::HashMap;
use std::sync::Arc;

use crate::inventory::{BillingRole, Fact, FactOrigin, FactValue, Inventory, Key, Resource, RunId};

/// Sets on each machine the number of equal machines that its block creates.
pub(super) fn count_instances(inventory: &mut Inventory) {
    let is_one = |it: &Resource| it.role == BillingRole::Rented && it.declared.block != it.declared.address;
    let block = |it: &Resource| (it.run.clone(), it.declared.block.clone());
    let mut instances: HashMap<(Option<RunId>, Arc<str>), i64> = HashMap::new();
    for resource in inventory.resources.iter().filter(|it| is_one(it) && it.is_added()) {
        *instances.entry(block(resource)).or_default() += 1;
    }
    for resource in inventory.resources.iter_mut().filter(|it| is_one(it)) {
        if let Some(number) = instances.get(&block(resource)).filter(|number| **number > 1) {
            let fact = Fact::known(FactValue::Integer(*number), resource.span, FactOrigin::Resolved);
            resource.set(Key::Instances, fact);
        }
    }
}
