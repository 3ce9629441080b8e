//! Reads calls of modules that are not downloaded. Their arguments may contain the values of charts that they install.

use std::collections::HashSet;

use crate::languages::hcl::value::{HclData, HclValue};

use super::super::block::EvaluatedBlock;
use super::super::rows::module_of;
use super::texts_of;

/// The key of a string, or a list of strings, in the form of `helm_release`.
const VALUES: &str = "values";
/// The maximum depth of the search in arguments.
const DEEPEST: usize = 6;

/// Returns the calls whose code was read. Their own blocks contain the values.
pub(super) fn expanded(blocks: &[EvaluatedBlock]) -> HashSet<&str> {
    blocks.iter().filter_map(|block| module_of(block).strip_suffix('.')).collect()
}

/// Returns the values strings in the arguments of a call, except those that another argument disables.
pub(super) fn values(call: &EvaluatedBlock) -> Vec<HclValue> {
    let mut found = Vec::new();
    for (name, attribute) in &call.attributes {
        let feature = name.strip_suffix("_helm_config").unwrap_or(name);
        let switch = call.attributes.get(&format!("enable_{feature}")).map(|it| &it.value.data);
        if !matches!(switch, Some(HclData::Bool(false))) {
            gather(&attribute.value, 0, &mut found);
        }
    }
    found
}

fn gather(value: &HclValue, depth: usize, found: &mut Vec<HclValue>) {
    let (HclData::Map(entries) | HclData::Object(entries)) = &value.data else { return };
    for (key, below) in entries.iter() {
        if &**key == VALUES {
            found.extend(texts_of(below));
        } else if depth < DEEPEST {
            gather(below, depth + 1, found);
        }
    }
}
