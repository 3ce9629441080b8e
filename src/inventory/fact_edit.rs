//! Defines edits of facts that a fix requests.

use std::fmt;
use std::sync::Arc;

use super::key::{FactValue, Key};

/// The value that a fix sets for a resource. A rule requests it, and the front end that read the resource knows how to
/// write it.
#[derive(Debug, Clone, PartialEq)]
pub struct FactEdit {
    pub part: Part,
    /// The new value; `None` if the fix removes the setting, so that the default applies.
    pub value: Option<FactValue>,
}

/// The part of a resource that a fix edits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Fact(Key),
    /// The minimum number of machines or pods.
    Floor,
    /// The maximum number of machines or pods; of accelerators for a pool that its limits restrict.
    Ceiling,
    /// One of the labels that attribute cost.
    Label(Arc<str>),
}

impl Part {
    /// Parses the name in rule files: a fact, `floor` or `ceiling`.
    pub fn from_name(name: &str) -> Option<Part> {
        match name {
            FLOOR => Some(Part::Floor),
            CEILING => Some(Part::Ceiling),
            _ => Key::named(name).map(Part::Fact),
        }
    }

    /// Returns every name that `from_name` accepts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Key::ALL.iter().map(|key| key.name()).chain([FLOOR, CEILING])
    }
}

const FLOOR: &str = "floor";
const CEILING: &str = "ceiling";

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Fact(key) => f.write_str(key.name()),
            Part::Floor => f.write_str(FLOOR),
            Part::Ceiling => f.write_str(CEILING),
            Part::Label(key) => write!(f, "label `{key}`"),
        }
    }
}

impl fmt::Display for FactEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{} = {value}", self.part),
            None => write!(f, "no {}", self.part),
        }
    }
}

/// The reason why an edit is not written, in lower case and without a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declined {
    /// No setting of this type or kind can express the value.
    Inexpressible(String),
    /// The value can be expressed, but not at this place, because the present value is computed, shared or generated.
    LeftAlone(String),
}

impl Declined {
    pub fn why(&self) -> &str {
        match self {
            Declined::Inexpressible(why) | Declined::LeftAlone(why) => why,
        }
    }
}

impl From<&str> for Declined {
    fn from(why: &str) -> Self {
        Declined::LeftAlone(why.to_owned())
    }
}
