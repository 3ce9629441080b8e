//! Defines types of values in the expression language.

use std::fmt;

use super::opaque::Opaque;

/// The type of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CelType {
    /// The type is known only at evaluation.
    Any,
    Null,
    Flag,
    Integer,
    Unsigned,
    Double,
    Text,
    Bytes,
    Duration,
    Timestamp,
    Kind,
    List(Box<CelType>),
    Map(Box<CelType>, Box<CelType>),
    Optional(Box<CelType>),
    Opaque(Opaque),
    Record(&'static RecordSchema),
}

/// The fields of a kind of record.
#[derive(Debug)]
pub(crate) struct RecordSchema {
    pub(crate) name: &'static str,
    /// The number by which the host identifies the kind.
    pub(crate) number_of_kind: usize,
    pub(crate) fields: Vec<SchemaField>,
    /// The field whose value is used if the record is used as a number.
    pub(crate) number: Option<usize>,
    /// Whether its fields are facts.
    pub(crate) has_facts: bool,
}

#[derive(Debug)]
pub(crate) struct SchemaField {
    pub(crate) name: &'static str,
    pub(crate) holds: CelType,
    /// All values that a string can have; empty for arbitrary values.
    pub(crate) values: &'static [&'static str],
    /// Whether the number counts or measures something.
    pub(crate) is_never_negative: bool,
    pub(crate) meaning: &'static str,
}

impl PartialEq for RecordSchema {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl RecordSchema {
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

impl CelType {
    pub(crate) fn list(of: CelType) -> CelType {
        CelType::List(Box::new(of))
    }

    pub(crate) fn map(key: CelType, value: CelType) -> CelType {
        CelType::Map(Box::new(key), Box::new(value))
    }

    /// Returns true if a value of this type is accepted for the other type.
    pub(super) fn suits(&self, wanted: &CelType) -> bool {
        match (self, wanted) {
            (CelType::Any, _) | (_, CelType::Any) => true,
            (CelType::List(a), CelType::List(b)) | (CelType::Optional(a), CelType::Optional(b)) => a.suits(b),
            (CelType::Map(k, v), CelType::Map(l, w)) => k.suits(l) && v.suits(w),
            (a, b) => a == b,
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, CelType::Integer | CelType::Unsigned | CelType::Double)
    }

    /// Returns true if `==` between the two types can be true.
    pub(super) fn may_equal(&self, other: &CelType) -> bool {
        match (self, other) {
            (CelType::Null, _) | (_, CelType::Null) => true,
            (CelType::List(a), CelType::List(b)) => a.may_equal(b),
            (CelType::Map(k, v), CelType::Map(l, w)) => k.may_equal(l) && v.may_equal(w),
            (a, b) => a.suits(b) || a.is_number() && b.is_number(),
        }
    }

    /// Returns the type that covers both.
    pub(super) fn join(self, other: CelType) -> CelType {
        match (self, other) {
            (a, b) if a == b => a,
            (CelType::List(a), CelType::List(b)) => CelType::list(a.join(*b)),
            (CelType::Map(k, v), CelType::Map(l, w)) => CelType::map(k.join(*l), v.join(*w)),
            (CelType::Optional(a), CelType::Optional(b)) => CelType::Optional(Box::new(a.join(*b))),
            _ => CelType::Any,
        }
    }
}

impl fmt::Display for CelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CelType::Any => write!(f, "any value"),
            CelType::Null => write!(f, "null"),
            CelType::Flag => write!(f, "bool"),
            CelType::Integer => write!(f, "int"),
            CelType::Unsigned => write!(f, "uint"),
            CelType::Double => write!(f, "double"),
            CelType::Text => write!(f, "string"),
            CelType::Bytes => write!(f, "bytes"),
            CelType::Duration => write!(f, "duration"),
            CelType::Timestamp => write!(f, "timestamp"),
            CelType::Kind => write!(f, "type"),
            CelType::List(of) => write!(f, "list({of})"),
            CelType::Map(key, value) => write!(f, "map({key}, {value})"),
            CelType::Optional(of) => write!(f, "optional({of})"),
            CelType::Opaque(opaque) => write!(f, "{}", opaque.name()),
            CelType::Record(schema) => write!(f, "{}", schema.name),
        }
    }
}
