//! Machines that one block makes by its count: each is a resource, and together they may do one work.

use std::collections::HashMap;

use crate::inventory::{Fact, Inventory, Key, Origin, Resource, Role, Value};

/// The block of an instance: its address without the last key.
fn block_of(resource: &Resource) -> Option<(Option<&str>, &str)> {
    let (block, _) = resource.declared.address.strip_suffix(']')?.rsplit_once('[')?;
    Some((resource.root.as_deref(), block))
}

/// Tells each machine how many like it its block makes.
pub(super) fn count_instances(inventory: &mut Inventory) {
    let rented = |it: &&Resource| it.role == Role::Rented && it.is_added();
    let mut instances: HashMap<(Option<String>, String), i64> = HashMap::new();
    for (root, block) in inventory.resources.iter().filter(rented).filter_map(block_of) {
        *instances.entry((root.map(str::to_owned), block.to_owned())).or_default() += 1;
    }
    for resource in inventory.resources.iter_mut().filter(|it| it.role == Role::Rented) {
        let key = block_of(resource).map(|(root, block)| (root.map(str::to_owned), block.to_owned()));
        if let Some(number) = key.and_then(|key| instances.get(&key)).filter(|number| **number > 1) {
            let fact = Fact::known(Value::Integer(*number), resource.span, Origin::Resolved);
            resource.set(Key::Instances, fact);
        }
    }
}
