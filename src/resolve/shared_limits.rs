//! Applies a cluster's limit for an accelerator to all of its pools together. The limit itself adds no machines.

use crate::inventory::{CountedIn, Inventory, Key, Range, Resource};

/// Returns the resources that limit the number of accelerators of one kind in a cluster.
pub(super) fn limits_of_clusters(inventory: &Inventory) -> Vec<usize> {
    let all = inventory.resources.iter().enumerate();
    all.filter(|(_, it)| it.counted_in == CountedIn::Accelerators).map(|(at, _)| at).collect()
}

/// Reduces a limit by what the pools of its cluster use, and limits each pool to it.
pub(super) fn share_limits(inventory: &mut Inventory, limits: &[usize]) {
    for &limit in limits {
        let Some(cluster) = inventory.resources.get(limit) else { continue };
        let Some(most) = accelerators(cluster).map(|it| it.ceiling).filter(|it| it.is_finite()) else { continue };
        let pools: Vec<usize> =
            (0..inventory.resources.len()).filter(|at| *at != limit && is_pool_of(inventory, *at, cluster)).collect();
        let mut taken = Range::exactly(0.0);
        for at in pools {
            let Some(pool) = inventory.resources.get_mut(at) else { continue };
            let Some(own) = accelerators(pool) else { continue };
            if own.ceiling > most {
                bound(pool, most.max(own.floor));
            }
            taken = taken.plus(accelerators(pool).unwrap_or(own));
        }
        if let Some(cluster) = inventory.resources.get_mut(limit).filter(|_| taken.ceiling > 0.0) {
            bound(cluster, (most - taken.ceiling).max(0.0));
        }
    }
}

/// Returns the accelerators of all machines of the resource.
fn accelerators(it: &Resource) -> Option<Range> {
    let each = it.number(Key::AcceleratorCount).filter(|each| *each > 0.0)?;
    Some(it.count.value()?.map(|count| count * each))
}

/// Returns whether the resource is a pool of that cluster with accelerators of that kind.
fn is_pool_of(inventory: &Inventory, at: usize, cluster: &Resource) -> bool {
    inventory.resources.get(at).is_some_and(|it| {
        let names = it.links.iter().any(|link| *link.to == *cluster.declared.address);
        let is_part = it.declared.address == cluster.declared.address;
        it.run == cluster.run
            && (names || is_part)
            && it.text(Key::Accelerator).is_some_and(|name| cluster.text(Key::Accelerator) == Some(name))
    })
}

/// Limits the resource to this number of accelerators.
fn bound(it: &mut Resource, most: f64) {
    let each = it.number(Key::AcceleratorCount).unwrap_or(1.0);
    let machines = (most / each).floor();
    it.count = std::mem::take(&mut it.count).map(|range| Range {
        floor: range.floor.min(machines),
        expected: range.expected.min(machines),
        ceiling: range.ceiling.min(machines),
    });
}
