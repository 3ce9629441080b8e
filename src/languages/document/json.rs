//! Converts values to JSON, for functions that output it.

use serde_json::Value as Json;

use crate::languages::hcl::value::{HclData, HclValue};

/// Returns a value as JSON; `None` if a part of it is unknown.
pub(crate) fn as_json(value: &HclValue) -> Option<Json> {
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
