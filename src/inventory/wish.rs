//! What a fix wishes a fact to be.

use std::fmt;
use std::sync::Arc;

use super::key::{Key, Value};

/// What a resource should say instead of what it says. A rule wishes it; the front end that read the resource knows how
/// it is written there.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    pub part: Part,
    /// Nothing where the text should not say it at all, so that the default holds.
    pub value: Option<Value>,
}

/// What a wish is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Fact(Key),
    /// The smallest number of machines or pods that there always are.
    Floor,
    /// One of the labels by which cost is attributed.
    Label(Arc<str>),
}

impl Part {
    /// The name of the part in pages: a fact, or `floor`.
    pub fn from_name(name: &str) -> Option<Part> {
        if name == FLOOR {
            return Some(Part::Floor);
        }
        Key::named(name).map(Part::Fact)
    }

    /// Every name that `from_name` knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Key::ALL.iter().map(|key| key.name()).chain([FLOOR])
    }
}

const FLOOR: &str = "floor";

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Fact(key) => f.write_str(key.name()),
            Part::Floor => f.write_str(FLOOR),
            Part::Label(key) => write!(f, "label `{key}`"),
        }
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{} = {value}", self.part),
            None => write!(f, "no {}", self.part),
        }
    }
}

/// Why a wish is not written. Lower-case, without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declined {
    /// This type or kind has no words for it, whatever the text says.
    Inexpressible(String),
    /// It could be written, but not here: the value is computed, shared, generated.
    LeftAlone(String),
}

impl Declined {
    pub fn why(&self) -> &str {
        match self {
            Declined::Inexpressible(why) | Declined::LeftAlone(why) => why,
        }
    }
}
