//! Converts values to JSON, for functions that output it.

use serde_json::Value as Json;

use super::EvaluationState;
use crate::languages::hcl::value::{HclData, HclValue};
use crate::source::Span;

/// Returns a value as JSON text; `None` if a part of it is unknown. `Err` is the unknown value if the budget is
/// exhausted.
pub(crate) fn as_json_text(state: &EvaluationState, value: &HclValue, at: Span) -> Result<Option<String>, HclValue> {
    state.pay_members(value, at)?;
    state.pay_text(json_bytes(value), at)?;
    Ok(as_json(value).map(|json| json.to_string()))
}

/// Returns about the most bytes that a value needs as JSON. Quotes need two.
fn json_bytes(value: &HclValue) -> usize {
    let sum = |sizes: &mut dyn Iterator<Item = usize>| sizes.fold(2, usize::saturating_add);
    match &value.data {
        HclData::Text(text) => text.len().saturating_mul(2).saturating_add(2),
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => sum(&mut items.iter().map(json_bytes)),
        HclData::Map(entries) | HclData::Object(entries) => {
            sum(&mut entries.iter().map(|(key, value)| key.len().saturating_add(json_bytes(value)).saturating_add(4)))
        }
        _ => 32,
    }
}

/// Returns a value as JSON; `None` if a part of it is unknown.
fn as_json(value: &HclValue) -> Option<Json> {
    Some(match &value.data {
        HclData::Null => Json::Null,
        HclData::Bool(flag) => Json::Bool(*flag),
        HclData::Text(text) => Json::String(text.to_string()),
        HclData::Number(number) => match number.as_i64() {
            Some(n) => n.into(),
            None => serde_json::Number::from_f64(number.as_f64())?.into(),
        },
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            Json::Array(items.iter().map(as_json).collect::<Option<_>>()?)
        }
        HclData::Map(entries) | HclData::Object(entries) if entries.rest.is_none() => {
            let members = entries.iter().map(|(key, value)| Some((key.to_string(), as_json(value)?)));
            Json::Object(members.collect::<Option<_>>()?)
        }
        HclData::Map(_) | HclData::Object(_) | HclData::Unknown(_) => return None,
    })
}
