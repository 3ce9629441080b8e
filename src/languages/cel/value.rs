//! Values of the expression language.

use std::sync::Arc;

use crate::source::Span;

use super::map::Map;
use super::opaque::Thing;
use super::time::{Duration, Timestamp};
use super::types::RecordSchema;

#[derive(Debug, Clone, Default)]
pub(crate) enum CelValue {
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
    List(Arc<[CelValue]>),
    Map(Arc<Map>),
    Duration(Duration),
    Timestamp(Timestamp),
    /// The name of a type.
    Kind(&'static str),
    Optional(Option<Arc<CelValue>>),
    Opaque(Arc<Thing>),
    Record(Handle),
    /// A member of a list that may not be there.
    Perhaps(Arc<(CelValue, Arc<UnknownValue>)>),
    Unknown(Arc<UnknownValue>),
}

/// Something that the host knows; its fields are asked for when they are needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Handle {
    pub(crate) schema: &'static RecordSchema,
    /// Which one: chosen and understood by the host.
    pub(crate) id: u32,
}

/// A value that the text has but that cannot be known.
#[derive(Debug, Clone)]
pub(crate) struct UnknownValue {
    pub(crate) why: Arc<str>,
    pub(crate) span: Option<Span>,
    pub(crate) about: About,
    /// All that it can be, where that is known.
    pub(crate) candidates: Vec<CelValue>,
    /// What it begins with, where it is a text of which that much is known.
    pub(crate) beginning: Option<Arc<str>>,
}

/// A price that is missing silences no rule, a fact that is missing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
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

    /// The name of its type as the language writes it.
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

    /// The same, as a member of a list that may not be there.
    pub(crate) fn perhaps(self, why: Arc<UnknownValue>) -> CelValue {
        match self {
            CelValue::Perhaps(_) => self,
            value => CelValue::Perhaps(Arc::new((value, why))),
        }
    }

    /// What it is where it is there, and why it may not be.
    pub(crate) fn if_there(&self) -> (&CelValue, Option<&Arc<UnknownValue>>) {
        match self {
            CelValue::Perhaps(perhaps) => (&perhaps.0, Some(&perhaps.1)),
            value => (value, None),
        }
    }

    /// Why the number and the order of a list's members are not known.
    pub(super) fn open_list(&self) -> Option<&Arc<UnknownValue>> {
        match self {
            CelValue::List(items) => items.iter().find_map(|item| item.if_there().1),
            _ => None,
        }
    }
}

impl UnknownValue {
    pub(crate) fn new(why: impl Into<Arc<str>>, span: Option<Span>) -> UnknownValue {
        UnknownValue { why: why.into(), span, about: About::Fact, candidates: Vec::new(), beginning: None }
    }

    /// It cannot be this text: it begins with another.
    pub(super) fn excludes(&self, value: &CelValue) -> bool {
        match (&self.beginning, value) {
            (Some(beginning), CelValue::Text(text)) => !text.starts_with(&**beginning),
            _ => false,
        }
    }

    /// The one of two to tell about: a fact silences a rule, a price does not.
    pub(crate) fn or_weightier(first: Option<Arc<UnknownValue>>, second: Arc<UnknownValue>) -> Arc<UnknownValue> {
        match first {
            Some(first) if first.about == About::Fact || second.about == About::Price => first,
            _ => second,
        }
    }

    /// The same cause for a value that was computed from it.
    pub(super) fn derived(self: &Arc<UnknownValue>) -> Arc<UnknownValue> {
        match self.candidates.is_empty() && self.beginning.is_none() {
            true => self.clone(),
            false => Arc::new(UnknownValue { candidates: Vec::new(), beginning: None, ..UnknownValue::clone(self) }),
        }
    }
}
