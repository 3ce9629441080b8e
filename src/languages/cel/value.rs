//! Values of the expression language.

use std::sync::Arc;

use crate::source::Span;

use super::map::Map;
use super::opaque::Thing;
use super::time::{Duration, Timestamp};
use super::types::Schema;

#[derive(Debug, Clone, Default)]
pub(crate) enum Value {
    Null,
    /// What the text does not say.
    #[default]
    Absent,
    Flag(bool),
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Arc<[Value]>),
    Map(Arc<Map>),
    Duration(Duration),
    Timestamp(Timestamp),
    /// The name of a type.
    Kind(&'static str),
    Optional(Option<Arc<Value>>),
    Opaque(Arc<Thing>),
    Record(Handle),
    Unknown(Arc<Unknown>),
}

/// Something that the host knows; its fields are asked for when they are needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Handle {
    pub(crate) schema: &'static Schema,
    /// Which one: chosen and understood by the host.
    pub(crate) id: u32,
}

/// A value that the text has but that cannot be known.
#[derive(Debug, Clone)]
pub(crate) struct Unknown {
    pub(crate) why: Arc<str>,
    pub(crate) span: Option<Span>,
    pub(crate) about: About,
    /// All that it can be, where that is known.
    pub(crate) candidates: Vec<Value>,
}

/// A price that is missing silences no rule, a fact that is missing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    Price,
    Fact,
}

impl Value {
    pub(crate) fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    pub(crate) fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List(items.into_iter().collect())
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Value::Integer(n) => Some(*n as f64),
            Value::Unsigned(n) => Some(*n as f64),
            Value::Double(n) => Some(*n),
            _ => None,
        }
    }

    /// The name of its type as the language writes it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null | Value::Absent => "null_type",
            Value::Flag(_) => "bool",
            Value::Integer(_) => "int",
            Value::Unsigned(_) => "uint",
            Value::Double(_) => "double",
            Value::Text(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::Kind(_) => "type",
            Value::Optional(_) => "optional_type",
            Value::Opaque(thing) => thing.kind().name(),
            Value::Record(handle) => handle.schema.name,
            Value::Unknown(_) => "unknown",
        }
    }
}

impl Unknown {
    /// The one of two to tell about: a fact silences a rule, a price does not.
    pub(crate) fn or_weightier(first: Option<Arc<Unknown>>, second: Arc<Unknown>) -> Arc<Unknown> {
        match first {
            Some(first) if first.about == About::Fact || second.about == About::Price => first,
            _ => second,
        }
    }

    /// The same cause for a value that was computed from it.
    pub(super) fn derived(self: &Arc<Unknown>) -> Arc<Unknown> {
        match self.candidates.is_empty() {
            true => self.clone(),
            false => Arc::new(Unknown { candidates: Vec::new(), ..Unknown::clone(self) }),
        }
    }
}
