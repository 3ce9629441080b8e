//! Resources of types without a row, with what they say of machines and accelerators.

use std::collections::BTreeMap;

use crate::inventory::{Unlisted, is_open_map, is_type_of_accelerators};
use crate::languages::hcl::value::{Data, Value};
use crate::source::Span;

use super::block::Block;
use super::{embedded, rows};

/// Deeper than anybody nests what says which machine it is.
const DEEPEST: usize = 6;

/// Each block once, with all of its instances.
pub(super) fn of(blocks: &[Block]) -> Vec<Unlisted> {
    let mut found: BTreeMap<(Span, &str), Unlisted> = BTreeMap::new();
    let resources = blocks.iter().filter(|it| it.keyword == "resource" && !it.is_none());
    for (block, kind) in resources.filter_map(|block| Some((block, block.labels.first()?))) {
        if rows::has_row(kind) || embedded::carries_manifests(kind) {
            continue;
        }
        let own = block.address.rsplit_once('[').map_or(block.address.as_str(), |(address, _)| address);
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
