//! Collects the evaluated values of blocks, so that a comparison detects changes of them.

use crate::terraform::{EvaluatedBlock, HclData, HclValue};

/// The limit on values of a call that are compared. Beyond it, only the snippet of the call is compared.
const MOST_VALUES: usize = 10_000;

/// Adds the names and values of all arguments of a block.
pub(super) fn add_blocks(values: &mut Vec<String>, block: &EvaluatedBlock) {
    for (name, attribute) in &block.attributes {
        values.push(name.clone());
        add(values, &attribute.value);
    }
    for inner in &block.blocks {
        add_blocks(values, inner);
    }
}

/// Adds the known parts of a value.
pub(super) fn add(values: &mut Vec<String>, value: &HclValue) {
    if values.len() >= MOST_VALUES {
        return;
    }
    match &value.data {
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            items.iter().for_each(|it| add(values, it))
        }
        HclData::Map(entries) | HclData::Object(entries) => entries.iter().for_each(|(name, it)| {
            values.push(name.to_string());
            add(values, it);
        }),
        // The reason why a value is unknown is not part of the value.
        HclData::Unknown(_) => values.push("?".to_owned()),
        HclData::Null => {}
        HclData::Bool(_) | HclData::Number(_) | HclData::Text(_) => {
            values.extend(value.as_text().map(|it| it.into_owned()))
        }
    }
}
