//! Lists resources of unsupported types, with their machine types and accelerators.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::inventory::{UnsupportedResource, accelerators, is_open_map, is_type_of_accelerators};
use crate::languages::hcl::value::{HclData, HclValue};
use crate::source::Span;

use super::address::base;
use super::block::EvaluatedBlock;
use super::harmless::rents_nothing;
use super::load::roots::RootOverview;
use super::{embedded, rows};

/// The maximum depth of the search for machine types.
const DEEPEST: usize = 6;

/// Returns each block once, with all of its instances. Several deployments of a block are alternatives, and the largest
/// number counts. `known` has the results of earlier roots, by the number of their first block.
pub(super) fn of(
    blocks: &[EvaluatedBlock],
    roots: &[RootOverview],
    mut known: HashMap<usize, Vec<UnsupportedResource>>,
) -> Vec<UnsupportedResource> {
    let mut all: BTreeMap<(Span, String), UnsupportedResource> = BTreeMap::new();
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
pub(super) fn of_run(blocks: &[EvaluatedBlock]) -> Vec<UnsupportedResource> {
    let mut found: BTreeMap<(Span, &str), UnsupportedResource> = BTreeMap::new();
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
        let mut unlisted = UnsupportedResource::new(&block.address, kind, block.span, block.body);
        unlisted.count = instances;
        add_fields(&mut unlisted, block, 0);
        unlisted.is_by_type = is_type_of_accelerators(kind);
        if unlisted.is_by_type || !unlisted.fields.is_empty() {
            unlisted.is_by_name = is_named_for_accelerators(block);
            found.insert((block.span, own), unlisted);
        }
    }
    found.into_values().collect()
}

/// Returns true if the address of a resource, or the known start of its name, contains a word for accelerators.
fn is_named_for_accelerators(block: &EvaluatedBlock) -> bool {
    let name = block.attributes.get("name");
    let known = name.and_then(|it| it.value.as_text().or_else(|| it.beginning.as_deref().map(Into::into)));
    accelerators::are_in_name(&block.address) || known.is_some_and(|name| accelerators::are_in_name(&name))
}

fn add_fields(unlisted: &mut UnsupportedResource, block: &EvaluatedBlock, depth: usize) {
    add_pair(unlisted, block.attributes.iter().map(|(name, attribute)| (&**name, &attribute.value)));
    for (name, attribute) in &block.attributes {
        add(unlisted, name, &attribute.value, depth);
    }
    for inner in block.blocks.iter().filter(|it| depth < DEEPEST && !is_open_map(&it.keyword)) {
        add_fields(unlisted, inner, depth + 1);
    }
}

fn add(unlisted: &mut UnsupportedResource, name: &str, value: &HclValue, depth: usize) {
    match &value.data {
        HclData::Null => {}
        _ if is_open_map(name) => {}
        HclData::Unknown(_) => unlisted.add(name, None),
        HclData::Bool(_) | HclData::Number(_) | HclData::Text(_) => {
            unlisted.add(name, value.as_text().filter(|_| !value.sensitive).as_deref());
        }
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) if depth < DEEPEST => {
            items.iter().for_each(|item| add(unlisted, name, item, depth + 1));
        }
        HclData::Map(entries) | HclData::Object(entries) if depth < DEEPEST => {
            add_pair(unlisted, entries.iter().map(|(name, value)| (&**name, value)));
            entries.iter().for_each(|(name, value)| add(unlisted, name, value, depth + 1));
        }
        HclData::List(_) | HclData::Set(_) | HclData::Tuple(_) | HclData::Map(_) | HclData::Object(_) => {}
    }
}

/// Records an entry such as `{ OptionName = "InstanceType", Value = "g5.xlarge" }` as a field of that name.
fn add_pair<'v>(unlisted: &mut UnsupportedResource, entries: impl Iterator<Item = (&'v str, &'v HclValue)>) {
    const NAMES: [&str; 3] = ["optionname", "parameterkey", "key"];
    const VALUES: [&str; 2] = ["value", "parametervalue"];
    let (mut name, mut value) = (None, None);
    for (key, entry) in entries {
        let is = |word: &&str| {
            let letters = key.bytes().filter(|it| *it != b'_').map(|it| it.to_ascii_lowercase());
            letters.eq(word.bytes())
        };
        if NAMES.iter().any(is) {
            name = entry.as_text();
        } else if VALUES.iter().any(is) {
            value = Some(entry.as_text());
        }
    }
    if let (Some(name), Some(value)) = (name, value) {
        unlisted.add(&name, value.as_deref());
    }
}

#[cfg(test)]
mod tests {
    use crate::source::{MemoryTree, SourceFiles};
    use crate::terraform::{self, TerraformOptions};

    #[test]
    fn the_keys_of_calls_are_no_keys_of_blocks() {
        let tree = MemoryTree::new()
            .with("main.tf", "module \"m\" {\n  source   = \"./m\"\n  for_each = toset([\"a[1]\", \"b\"])\n}\n")
            .with("m/main.tf", "resource \"acme_vm\" \"x\" {\n  count = 2\n  gpus  = 1\n}\n");
        let sources = SourceFiles::new(tree);
        let read = terraform::read(&sources, &["main.tf".into(), "m/main.tf".into()], &TerraformOptions::default());
        let mut found: Vec<_> = read.inventory.unlisted.iter().map(|it| (it.address.as_str(), it.count)).collect();
        found.sort_by_key(|(address, _)| *address);
        let expected = [("module.m[\"a[1]\"].acme_vm.x", Some(2.0)), ("module.m[\"b\"].acme_vm.x", Some(2.0))];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_several_runs_make_is_not_added_up() {
        let tree = MemoryTree::new()
            .with(
                "main.tf",
                "variable \"n\" { default = 2 }\nresource \"acme_vm\" \"x\" {\n  count = var.n\n  gpus = 1\n}\n",
            )
            .with("dev.tfvars", "n = 1\n")
            .with("prod.tfvars", "n = 3\n");
        let sources = SourceFiles::new(tree);
        let paths = ["main.tf".into(), "dev.tfvars".into(), "prod.tfvars".into()];
        let read = terraform::read(&sources, &paths, &TerraformOptions::default());
        assert!(read.roots.len() > 1, "a run for each file");
        let told: Vec<Option<f64>> = read.inventory.unlisted.iter().map(|it| it.count).collect();
        assert_eq!(told, [Some(3.0)]);
    }
}
