//! Defines the common form of documents that declare resources, in any language: a tree of known and unknown values
//! with places, and the resources.
//!
//! Languages that are written as data (cloud templates) are evaluated to this form, and the resource definitions are
//! applied to it. An unknown value has its cause. It is never replaced by a default of its type.

mod evaluation;
mod json;
mod placeholder;
mod texts;

use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers};
use crate::source::Span;

#[cfg(test)]
pub(crate) use evaluation::EmptyLibrary;
pub(crate) use evaluation::{DocLibrary, EvaluatedOnce, EvaluationState, NestingKind, NestingProblem};
pub(crate) use json::as_json_text;
pub(crate) use placeholder::{among_allowed, filled_in};
pub(crate) use texts::{PART_BYTES, joined, longest, pay_for_arguments, replaced};

/// A value with its place in the document.
#[derive(Debug, Clone)]
pub(crate) struct DocValue {
    /// The place of its key, or of the value itself without a key.
    pub(crate) key: Span,
    /// The place of the expression, which may be a function.
    pub(crate) at: Span,
    /// Whether the value is a literal and not a function.
    pub(crate) literal: bool,
    pub(crate) data: DocData,
}

#[derive(Debug, Clone)]
pub(crate) enum DocData {
    /// Entries in the order of the file, with the reason why there may be more.
    Map(Vec<(Arc<str>, DocValue)>, Option<Arc<Cause>>),
    List(Vec<DocValue>),
    /// Any other value, or the result of a function.
    Value(HclValue),
}

/// Whether a resource exists.
#[derive(Debug, Clone)]
pub(crate) enum Presence {
    Sure,
    /// A condition at this place does not hold.
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
    /// The name of the resource, after the names of its parent documents: `Child.Machine`.
    pub(crate) address: Arc<str>,
    /// The type in the language: `AWS::EC2::Instance`.
    pub(crate) kind: Arc<str>,
    pub(crate) head: Span,
    pub(crate) body: Span,
    pub(crate) presence: Presence,
    pub(crate) properties: DocValue,
    /// The metadata of the resource for other programs.
    pub(crate) remarks: Vec<(Arc<str>, DocValue)>,
    /// Addresses of the resources that it refers to, with their places.
    pub(crate) references: Vec<(Arc<str>, Span)>,
}

impl DocResource {
    /// Returns a resource of a nested document, which exists only if the document does.
    #[must_use]
    pub(crate) fn within(self, outer: &Presence) -> Self {
        let presence = match (&self.presence, outer) {
            (Presence::Never(span), _) | (_, Presence::Never(span)) => Presence::Never(*span),
            (Presence::Sure, outer) => outer.clone(),
            (own, _) => own.clone(),
        };
        DocResource { presence, ..self }
    }
}

impl DocValue {
    pub(crate) fn known(value: HclValue, literal: bool) -> Self {
        DocValue { key: value.span, at: value.span, literal, data: DocData::Value(value) }
    }

    /// Returns the result of a function at this place.
    pub(crate) fn generated(value: HclValue, at: Span) -> Self {
        DocValue { key: at, at, literal: false, data: DocData::Value(value) }
    }

    /// Returns a value whose members have their own nodes.
    pub(crate) fn spread_out(value: HclValue, at: Span) -> Self {
        let each = |value: &HclValue| DocValue::spread_out(value.clone(), value.span);
        let data = match &value.data {
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
                DocData::List(items.iter().map(each).collect())
            }
            HclData::Map(entries) | HclData::Object(entries) => DocData::Map(
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

    /// Returns the number of values in it, including itself.
    pub(crate) fn nodes(&self) -> usize {
        match &self.data {
            DocData::Map(entries, _) => 1 + entries.iter().map(|(_, value)| value.nodes()).sum::<usize>(),
            DocData::List(items) => 1 + items.iter().map(DocValue::nodes).sum::<usize>(),
            DocData::Value(value) => value.weight() as usize,
        }
    }

    /// Returns one value whose parts have their places.
    pub(crate) fn value(&self) -> HclValue {
        match &self.data {
            DocData::Value(value) => value.clone(),
            DocData::List(items) => HclValue::tuple(items.iter().map(DocValue::value).collect(), self.at),
            DocData::Map(entries, rest) => {
                let known = entries.iter().map(|(key, value)| (key.clone(), value.value())).collect();
                HclValue::new(HclData::Object(Arc::new(ObjectMembers { known, rest: rest.clone() })), self.at)
            }
        }
    }
}
