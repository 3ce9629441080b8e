//! Lists resources of unsupported types, with their machine types and accelerators.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::inventory::{Unlisted, is_open_map, is_type_of_accelerators};
use crate::languages::hcl::value::{Data, Value};
use crate::source::Span;

use super::address::base;
use super::block::Block;
use super::code::modules::rents_nothing;
use super::{Root, embedded, rows};

/// The maximum depth of the search for machine types.
const DEEPEST: usize = 6;

/// Returns each block once, with all of its instances. Several deployments of a block are alternatives, and the largest
/// number counts. `known` has the results of earlier roots, by the number of their first block.
pub(super) fn of(blocks: &[Block], roots: &[Root], mut known: HashMap<usize, Vec<Unlisted>>) -> Vec<Unlisted> {
    let mut all: BTreeMap<(Span, String), Unlisted> = BTreeMap::new();
    let of_plans = roots.last().map_or(0, |root| root.blocks.end)..blocks.len();
    for run in roots.iter().map(|root| root.blocks.clone()).chain([of_plans]) {
        let blocks = blocks.get(run.clone()).unwrap_or_default();
        let known = known.remove(&run.start).filter(|_| !blocks.is_empty());
        for found in known.unwrap_or_else(|| of_run(blocks)) {
            match all.entry((found.span, base(&found.address).to_owned())) {
                Entry::Vacant(place) => {
                    place.insert(found);
                }
                Entry::Occupied(mut place) => {
                    let before = place.get_mut();
                    before.count = before.count.zip(found.count).map(|(before, other)| before.max(other));
                }
            }
        }
    }
    all.into_values().collect()
}

/// Returns the results for the blocks of one deployment.
pub(super) fn of_run(blocks: &[Block]) -> Vec<Unlisted> {
    let mut found: BTreeMap<(Span, &str), Unlisted> = BTreeMap::new();
    let resources = blocks.iter().filter(|it| it.keyword == "resource" && !it.is_none());
    for (block, kind) in resources.filter_map(|block| Some((block, block.labels.first()?))) {
        if rows::has_row(kind) || embedded::carries_manifests(kind) || rents_nothing(kind) {
            continue;
        }
        let own = base(&block.address);
        let instances = block.instances.value().filter(|it| it.floor == it.ceiling).map(|it| it.ceiling);
        if let Some(before) = found.get_mut(&(block.span, own)) {
            own.clone_into(&mut before.address);
            before.count = before.count.zip(instances).map(|(before, more)| before + more);
            continue;
        }
        let mut unlisted = Unlisted::new(&block.address, kind, block.span, block.body);
        unlisted.count = instances;
        add_fields(&mut unlisted, block, 0);
        unlisted.is_by_type = is_type_of_accelerators(kind);
        if unlisted.is_by_type || !unlisted.fields.is_empty() {
            found.insert((block.span, own), unlisted);
        }
    }
    found.into_values().collect()
}

fn add_fields(unlisted: &mut Unlisted, block: &Block, depth: usize) {
    for (name, attribute) in &block.attributes {
        add(unlisted, name, &attribute.value, depth);
    }
    for inner in block.blocks.iter().filter(|it| depth < DEEPEST && !is_open_map(&it.keyword)) {
        add_fields(unlisted, inner, depth + 1);
    }
}

fn add(unlisted: &mut Unlisted, name: &str, value: &Value, depth: usize) {
    match &value.data {
        Data::Null => {}
        _ if is_open_map(name) => {}
        Data::Unknown(_) => unlisted.add(name, None),
        Data::Bool(_) | Data::Number(_) | Data::Text(_) => {
            unlisted.add(name, value.as_text().filter(|_| !value.sensitive).as_deref());
        }
        Data::List(items) | Data::Set(items) | Data::Tuple(items) if depth < DEEPEST => {
            items.iter().for_each(|item| add(unlisted, name, item, depth + 1));
        }
        Data::Map(entries) | Data::Object(entries) if depth < DEEPEST => {
            entries.iter().for_each(|(name, value)| add(unlisted, name, value, depth + 1));
        }
        Data::List(_) | Data::Set(_) | Data::Tuple(_) | Data::Map(_) | Data::Object(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::source::{MemoryTree, Sources};
    use crate::terraform::{self, Options};

    #[test]
    fn the_keys_of_calls_are_no_keys_of_blocks() {
        let tree = MemoryTree::new()
            .with("main.tf", "module \"m\" {\n  source   = \"./m\"\n  for_each = toset([\"a[1]\", \"b\"])\n}\n")
            .with("m/main.tf", "resource \"cudo_vm\" \"x\" {\n  count = 2\n  gpus  = 1\n}\n");
        let sources = Sources::new(tree);
        let read = terraform::read(&sources, &["main.tf".into(), "m/main.tf".into()], &Options::default());
        let mut found: Vec<_> = read.inventory.unlisted.iter().map(|it| (it.address.as_str(), it.count)).collect();
        found.sort_by_key(|(address, _)| *address);
        let expected = [("module.m[\"a[1]\"].cudo_vm.x", Some(2.0)), ("module.m[\"b\"].cudo_vm.x", Some(2.0))];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_several_runs_make_is_not_added_up() {
        let tree = MemoryTree::new()
            .with(
                "main.tf",
                "variable \"n\" { default = 2 }\nresource \"cudo_vm\" \"x\" {\n  count = var.n\n  gpus = 1\n}\n",
            )
            .with("dev.tfvars", "n = 1\n")
            .with("prod.tfvars", "n = 3\n");
        let sources = Sources::new(tree);
        let paths = ["main.tf".into(), "dev.tfvars".into(), "prod.tfvars".into()];
        let read = terraform::read(&sources, &paths, &Options::default());
        assert!(read.roots.len() > 1, "a run for each file");
        let told: Vec<Option<f64>> = read.inventory.unlisted.iter().map(|it| it.count).collect();
        assert_eq!(told, [Some(3.0)]);
    }
}
