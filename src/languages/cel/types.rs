//! Defines types of values in the expression language.

use std::fmt;

use super::opaque::Opaque;

/// The type of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
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
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Optional(Box<Type>),
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
    pub(crate) holds: Type,
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

impl Type {
    pub(crate) fn list(of: Type) -> Type {
        Type::List(Box::new(of))
    }

    pub(crate) fn map(key: Type, value: Type) -> Type {
        Type::Map(Box::new(key), Box::new(value))
    }

    /// Returns true if a value of this type is accepted for the other type.
    pub(super) fn suits(&self, wanted: &Type) -> bool {
        match (self, wanted) {
            (Type::Any, _) | (_, Type::Any) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => a.suits(b),
            (Type::Map(k, v), Type::Map(l, w)) => k.suits(l) && v.suits(w),
            (a, b) => a == b,
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Type::Integer | Type::Unsigned | Type::Double)
    }

    /// Returns true if `==` between the two types can be true.
    pub(super) fn may_equal(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Null, _) | (_, Type::Null) => true,
            (Type::List(a), Type::List(b)) => a.may_equal(b),
            (Type::Map(k, v), Type::Map(l, w)) => k.may_equal(l) && v.may_equal(w),
            (a, b) => a.suits(b) || a.is_number() && b.is_number(),
        }
    }

    /// Returns the type that covers both.
    pub(super) fn join(self, other: Type) -> Type {
        match (self, other) {
            (a, b) if a == b => a,
            (Type::List(a), Type::List(b)) => Type::list(a.join(*b)),
            (Type::Map(k, v), Type::Map(l, w)) => Type::map(k.join(*l), v.join(*w)),
            (Type::Optional(a), Type::Optional(b)) => Type::Optional(Box::new(a.join(*b))),
            _ => Type::Any,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Any => write!(f, "any value"),
            Type::Null => write!(f, "null"),
            Type::Flag => write!(f, "bool"),
            Type::Integer => write!(f, "int"),
            Type::Unsigned => write!(f, "uint"),
            Type::Double => write!(f, "double"),
            Type::Text => write!(f, "string"),
            Type::Bytes => write!(f, "bytes"),
            Type::Duration => write!(f, "duration"),
            Type::Timestamp => write!(f, "timestamp"),
            Type::Kind => write!(f, "type"),
            Type::List(of) => write!(f, "list({of})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Optional(of) => write!(f, "optional({of})"),
            Type::Opaque(opaque) => write!(f, "{}", opaque.name()),
            Type::Record(schema) => write!(f, "{}", schema.name),
        }
    }
}
