//! Converts values to JSON, for functions that output it.

use serde_json::Value as Json;

use crate::languages::hcl::value::{Data, Value};

/// Returns a value as JSON; `None` if a part of it is unknown.
pub(crate) fn as_json(value: &Value) -> Option<Json> {
    Some(match &value.data {
        Data::Null => Json::Null,
        Data::Bool(flag) => Json::Bool(*flag),
        Data::Text(text) => Json::String(text.to_string()),
        Data::Number(number) => match number.as_i64() {
            Some(n) => n.into(),
            None => serde_json::Number::from_f64(number.as_f64())?.into(),
        },
        Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
            Json::Array(items.iter().map(as_json).collect::<Option<_>>()?)
        }
        Data::Map(entries) | Data::Object(entries) if entries.rest.is_none() => {
            let members = entries.iter().map(|(key, value)| Some((key.to_string(), as_json(value)?)));
            Json::Object(members.collect::<Option<_>>()?)
        }
        Data::Map(_) | Data::Object(_) | Data::Unknown(_) => return None,
    })
}
