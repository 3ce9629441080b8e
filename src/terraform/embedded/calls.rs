//! Calls of modules whose code is not at hand: charts that they install take their values through the arguments.

use std::collections::HashSet;

use crate::languages::hcl::value::{Data, Value};

use super::super::block::Block;
use super::super::rows::module_of;
use super::texts_of;

/// Under this key stands a text, or a list of them, as `helm_release` takes it.
const VALUES: &str = "values";
/// Arguments are searched this deep.
const DEEPEST: usize = 6;

/// The calls among the blocks whose code is on disk: it carries the values itself.
pub(super) fn expanded(blocks: &[Block]) -> HashSet<&str> {
    blocks.iter().filter_map(|block| module_of(block).strip_suffix('.')).collect()
}

/// The texts of values in the arguments of a call, without those of what an argument beside them switches off.
pub(super) fn values(call: &Block) -> Vec<Value> {
    let mut found = Vec::new();
    for (name, attribute) in &call.attributes {
        let feature = name.strip_suffix("_helm_config").unwrap_or(name);
        let switch = call.attributes.get(&format!("enable_{feature}")).map(|it| &it.value.data);
        if !matches!(switch, Some(Data::Bool(false))) {
            gather(&attribute.value, 0, &mut found);
        }
    }
    found
}

fn gather(value: &Value, depth: usize, found: &mut Vec<Value>) {
    let (Data::Map(entries) | Data::Object(entries)) = &value.data else { return };
    for (key, below) in entries.iter() {
        if &**key == VALUES {
            found.extend(texts_of(below));
        } else if depth < DEEPEST {
            gather(below, depth + 1, found);
        }
    }
}
