//! What documents that declare resources have in common, whatever their language: a tree of values, known or not, in which
//! everything has its place, and the resources that it makes.
//!
//! Follows no program: languages that are written as data (templates of clouds) are evaluated to this, and it is all that
//! those need who make rows of it. What is not known is a value that says why; it is never a default of a type.

mod json;
mod texts;

use std::sync::Arc;

use crate::languages::hcl::value::{Cause, Data, Entries, Value};
use crate::source::Span;

pub(crate) use json::as_json;
pub(crate) use texts::joined;

/// A value, with where the document says it.
#[derive(Debug, Clone)]
pub(crate) struct DocValue {
    /// The key before it; the value itself where there is none.
    pub(crate) key: Span,
    /// What is written there, which may be a function.
    pub(crate) at: Span,
    /// It is written there in full, and no function.
    pub(crate) literal: bool,
    pub(crate) data: DocData,
}

#[derive(Debug, Clone)]
pub(crate) enum DocData {
    /// In the order of the text; with why there may be more.
    Map(Vec<(Arc<str>, DocValue)>, Option<Arc<Cause>>),
    List(Vec<DocValue>),
    /// Anything else, and what a function made.
    Value(Value),
}

/// Whether there is such a resource.
#[derive(Debug, Clone)]
pub(crate) enum Presence {
    Sure,
    /// A condition does not hold, which is said here.
    Never(Span),
    Unknown {
        why: String,
        span: Span,
    },
}

/// A resource that a document declares.
#[derive(Debug, Clone)]
pub(crate) struct DocResource {
    pub(crate) name: Arc<str>,
    /// The name behind those of the documents around it: `Child.Machine`.
    pub(crate) address: Arc<str>,
    /// As the language calls it: `AWS::EC2::Instance`.
    pub(crate) kind: Arc<str>,
    pub(crate) head: Span,
    pub(crate) body: Span,
    pub(crate) presence: Presence,
    pub(crate) properties: DocValue,
    /// What it says of itself to programs that read it.
    pub(crate) remarks: Vec<(Arc<str>, DocValue)>,
    /// Addresses of the resources that its text names, with the place.
    pub(crate) references: Vec<(Arc<str>, Span)>,
}

impl DocValue {
    pub(crate) fn known(value: Value, literal: bool) -> Self {
        DocValue { key: value.span, at: value.span, literal, data: DocData::Value(value) }
    }

    /// What a function made of what is written here.
    pub(crate) fn made(value: Value, at: Span) -> Self {
        DocValue { key: at, at, literal: false, data: DocData::Value(value) }
    }

    /// A value of which the members are looked at one by one.
    pub(crate) fn spread_out(value: Value, at: Span) -> Self {
        let each = |value: &Value| DocValue::spread_out(value.clone(), value.span);
        let data = match &value.data {
            Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
                DocData::List(items.iter().map(each).collect())
            }
            Data::Map(entries) | Data::Object(entries) => DocData::Map(
                entries.iter().map(|(key, value)| (key.clone(), each(value))).collect(),
                entries.rest.clone(),
            ),
            _ => DocData::Value(value),
        };
        DocValue { key: at, at, literal: false, data }
    }

    #[must_use]
    pub(crate) fn named(self, key: Span) -> Self {
        DocValue { key, ..self }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.data, DocData::Value(value) if value.is_null())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&DocValue> {
        match &self.data {
            DocData::Map(entries, _) => entries.iter().find(|(key, _)| &**key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// As one value, whose parts know their places.
    pub(crate) fn value(&self) -> Value {
        match &self.data {
            DocData::Value(value) => value.clone(),
            DocData::List(items) => Value::tuple(items.iter().map(DocValue::value).collect(), self.at),
            DocData::Map(entries, rest) => {
                let known = entries.iter().map(|(key, value)| (key.clone(), value.value())).collect();
                Value::new(Data::Object(Arc::new(Entries { known, rest: rest.clone() })), self.at)
            }
        }
    }
}
