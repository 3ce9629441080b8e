//! Reads the scripts of the tree that machines download and start, for how they end the machine.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::programs::{MachineEnd, machine_end};
use crate::inventory::{Inventory, Key};
use crate::source::{SourceFiles, file_name};

/// Sets how a machine ends from the script that it starts last, if the tree contains one file of that name, or several
/// that end in the same way.
pub(super) fn follow_started_scripts(inventory: &mut Inventory, sources: &SourceFiles, paths: &[String]) {
    let wanted: BTreeSet<String> = inventory
        .resources
        .iter()
        .filter_map(|it| it.started.last())
        .map(|started| file_name(&started.path).to_owned())
        .collect();
    if wanted.is_empty() {
        return;
    }
    let mut found: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for path in paths.iter().filter(|path| wanted.contains(file_name(path))) {
        found.entry(file_name(path)).or_default().push(path);
    }
    for resource in &mut inventory.resources {
        let Some(started) = resource.started.last() else { continue };
        let same = found.get(file_name(&started.path)).map(Vec::as_slice).unwrap_or_default();
        let mut ends = best_matches(&started.path, same).into_iter().map(|path| {
            let text = sources.open(path).map(|file| sources.text(file)).ok()?;
            let end = machine_end(&text, BTreeMap::new(), &started.machine).0?;
            Some((end, path))
        });
        let Some(Some((end, path))) = ends.next() else { continue };
        let agree = ends.all(|other| other.is_some_and(|(other, _)| is_alike(&other, &end)));
        let (key, fact) = end.fact(&format!("the script `{path}` that it starts"), started.span);
        if agree && resource.fact(key).is_absent() && resource.fact(Key::EndsByItself).is_absent() {
            resource.set(key, fact);
        }
    }
}

/// Returns the paths that share most of their last parts with the path on the machine.
fn best_matches<'p>(on_machine: &str, paths: &[&'p String]) -> Vec<&'p String> {
    let shared = |path: &str| {
        let parts = on_machine.rsplit('/').zip(path.rsplit('/'));
        parts.take_while(|(one, other)| one == other).count()
    };
    let most = paths.iter().map(|path| shared(path)).max().unwrap_or_default();
    paths.iter().copied().filter(|path| shared(path) == most).collect()
}

fn is_alike(one: &MachineEnd, other: &MachineEnd) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}
