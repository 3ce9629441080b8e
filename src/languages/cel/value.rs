//! Defines values of the expression language.

use std::sync::Arc;

use crate::source::Span;

use super::map::CelMap;
use super::opaque::Thing;
use super::time::{CelDuration, Timestamp};
use super::types::RecordSchema;

#[derive(Debug, Clone, Default)]
pub(crate) enum CelValue {
    Null,
    /// The value that is not set.
    #[default]
    Absent,
    Flag(bool),
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Arc<[CelValue]>),
    Map(Arc<CelMap>),
    Duration(CelDuration),
    Timestamp(Timestamp),
    /// The name of a type.
    Kind(&'static str),
    Optional(Option<Arc<CelValue>>),
    Opaque(Arc<Thing>),
    Record(Handle),
    /// Member of a list that may not exist, with the reason.
    Perhaps(Arc<(CelValue, Arc<UnknownValue>)>),
    Unknown(Arc<UnknownValue>),
}

/// A value of the host, whose fields are evaluated when needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Handle {
    pub(crate) schema: &'static RecordSchema,
    /// The index that the host assigns.
    pub(crate) id: u32,
}

/// A value that is set but unknown.
#[derive(Debug, Clone)]
pub(crate) struct UnknownValue {
    pub(crate) why: Arc<str>,
    pub(crate) span: Option<Span>,
    pub(crate) about: UnknownSubject,
    /// All values that it can have, if they are known.
    pub(crate) candidates: Vec<CelValue>,
    /// Known beginning of a string.
    pub(crate) beginning: Option<Arc<str>>,
}

/// The kind of an unknown value. An unknown fact makes a rule's result unknown; an unknown price does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownSubject {
    Price,
    Fact,
}

macro_rules! from {
    ($($type:ty, $variant:ident;)+) => {
        $(impl From<$type> for CelValue {
            fn from(it: $type) -> CelValue {
                CelValue::$variant(it)
            }
        })+
    };
}

from! { bool, Flag; i64, Integer; f64, Double; }

impl CelValue {
    pub(crate) fn text(text: impl Into<Arc<str>>) -> CelValue {
        CelValue::Text(text.into())
    }

    pub(crate) fn list(items: impl IntoIterator<Item = CelValue>) -> CelValue {
        CelValue::List(items.into_iter().collect())
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            CelValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            CelValue::Integer(n) => Some(*n as f64),
            CelValue::Unsigned(n) => Some(*n as f64),
            CelValue::Double(n) => Some(*n),
            _ => None,
        }
    }

    /// Returns the name of its type in the language.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            CelValue::Null | CelValue::Absent => "null_type",
            CelValue::Flag(_) => "bool",
            CelValue::Integer(_) => "int",
            CelValue::Unsigned(_) => "uint",
            CelValue::Double(_) => "double",
            CelValue::Text(_) => "string",
            CelValue::Bytes(_) => "bytes",
            CelValue::List(_) => "list",
            CelValue::Map(_) => "map",
            CelValue::Duration(_) => "google.protobuf.Duration",
            CelValue::Timestamp(_) => "google.protobuf.Timestamp",
            CelValue::Kind(_) => "type",
            CelValue::Optional(_) => "optional_type",
            CelValue::Opaque(thing) => thing.kind().name(),
            CelValue::Record(handle) => handle.schema.name,
            CelValue::Perhaps(perhaps) => perhaps.0.kind(),
            CelValue::Unknown(_) => "unknown",
        }
    }

    /// Returns the value as a member of a list that may not exist.
    pub(crate) fn perhaps(self, why: Arc<UnknownValue>) -> CelValue {
        match self {
            CelValue::Perhaps(_) => self,
            value => CelValue::Perhaps(Arc::new((value, why))),
        }
    }

    /// Returns the value under the condition that it exists, and the reason why it may not.
    pub(crate) fn if_there(&self) -> (&CelValue, Option<&Arc<UnknownValue>>) {
        match self {
            CelValue::Perhaps(perhaps) => (&perhaps.0, Some(&perhaps.1)),
            value => (value, None),
        }
    }

    /// Returns why the number and the order of a list's members are unknown.
    pub(super) fn open_list(&self) -> Option<&Arc<UnknownValue>> {
        match self {
            CelValue::List(items) => items.iter().find_map(|item| item.if_there().1),
            _ => None,
        }
    }
}

impl UnknownValue {
    pub(crate) fn new(why: impl Into<Arc<str>>, span: Option<Span>) -> UnknownValue {
        UnknownValue { why: why.into(), span, about: UnknownSubject::Fact, candidates: Vec::new(), beginning: None }
    }

    /// Returns true if the known beginning excludes this string.
    pub(super) fn excludes(&self, value: &CelValue) -> bool {
        match (&self.beginning, value) {
            (Some(beginning), CelValue::Text(text)) => !text.starts_with(&**beginning),
            _ => false,
        }
    }

    /// Returns the more important of two causes: an unknown fact ranks before an unknown price.
    pub(crate) fn or_weightier(first: Option<Arc<UnknownValue>>, second: Arc<UnknownValue>) -> Arc<UnknownValue> {
        match first {
            Some(first) if first.about == UnknownSubject::Fact || second.about == UnknownSubject::Price => first,
            _ => second,
        }
    }

    /// Returns the same cause for a computed value.
    pub(super) fn derived(self: &Arc<UnknownValue>) -> Arc<UnknownValue> {
        match self.candidates.is_empty() && self.beginning.is_none() {
            true => self.clone(),
            false => Arc::new(UnknownValue { candidates: Vec::new(), beginning: None, ..UnknownValue::clone(self) }),
        }
    }
}
