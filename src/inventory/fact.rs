//! Defines facts: known with their place and origin, unknown with a cause, or absent.

use std::sync::Arc;

use crate::source::Span;

/// A value that the files may set for a resource.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Fact<T> {
    Known(KnownFact<T>),
    Unknown(UnknownFact<T>),
    /// The files do not set the value, and the provider has no known default.
    #[default]
    Absent,
}

#[derive(Debug, Clone, PartialEq)]
pub struct KnownFact<T> {
    pub value: T,
    /// Place where the resource sets the value: the attribute or key.
    pub span: Span,
    /// The place of the value itself, if it is elsewhere: the default of a variable or a line of a tfvars file.
    pub defined: Option<Span>,
    pub origin: FactOrigin,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnknownFact<T> {
    pub span: Span,
    /// The cause, in lower case and without a period: "variable `size` has no value".
    pub why: Arc<str>,
    /// All values that the fact can have, if they are known: the machine types listed for one pool.
    pub candidates: Vec<T>,
}

/// How gpulint knows a value, from the strongest origin to the weakest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactOrigin {
    Written,
    /// The value was resolved through variables, locals, modules or links.
    Resolved,
    /// The default that the provider documents.
    Default,
    /// The value was inferred from another value, which the string names.
    Inferred(Arc<str>),
    /// The value was inferred from the name under which a model is served.
    ServedName,
    /// The value was assumed, because the files do not set it. The string names the gpulint setting that supplied it.
    Assumed(Arc<str>),
}

impl FactOrigin {
    pub fn name(&self) -> &'static str {
        match self {
            FactOrigin::Written => "written",
            FactOrigin::Resolved => "resolved",
            FactOrigin::Default => "default",
            FactOrigin::Inferred(_) | FactOrigin::ServedName => "inferred",
            FactOrigin::Assumed(_) => "assumed",
        }
    }

    /// Returns the weaker of the two origins.
    #[must_use]
    pub fn weakest(self, other: FactOrigin) -> FactOrigin {
        self.max(other)
    }
}

impl<T> Fact<T> {
    pub fn written(value: T, span: Span) -> Self {
        Self::known(value, span, FactOrigin::Written)
    }

    pub fn known(value: T, span: Span, origin: FactOrigin) -> Self {
        Fact::Known(KnownFact { value, span, defined: None, origin })
    }

    pub fn unknown(why: impl Into<Arc<str>>, span: Span) -> Self {
        Fact::Unknown(UnknownFact { span, why: why.into(), candidates: Vec::new() })
    }

    pub fn value(&self) -> Option<&T> {
        match self {
            Fact::Known(known) => Some(&known.value),
            _ => None,
        }
    }

    pub fn span(&self) -> Option<Span> {
        match self {
            Fact::Known(known) => Some(known.span),
            Fact::Unknown(unknown) => Some(unknown.span),
            Fact::Absent => None,
        }
    }

    /// Returns the place of the value: its definition if that is elsewhere.
    pub fn defined(&self) -> Option<Span> {
        match self {
            Fact::Known(KnownFact { defined: Some(span), .. }) => Some(*span),
            _ => self.span(),
        }
    }

    pub fn origin(&self) -> Option<&FactOrigin> {
        match self {
            Fact::Known(known) => Some(&known.origin),
            _ => None,
        }
    }

    pub fn why(&self) -> Option<&str> {
        match self {
            Fact::Unknown(unknown) => Some(&unknown.why),
            _ => None,
        }
    }

    /// Returns true if the value is unknown and its candidates are known.
    pub fn is_open(&self) -> bool {
        matches!(self, Fact::Unknown(unknown) if !unknown.candidates.is_empty())
    }

    pub fn is_absent(&self) -> bool {
        matches!(self, Fact::Absent)
    }

    /// Returns true if the value is known or has a few known candidates.
    pub fn is_narrowed(&self) -> bool {
        match self {
            Fact::Known(_) => true,
            Fact::Unknown(unknown) => !unknown.candidates.is_empty(),
            Fact::Absent => false,
        }
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self, Fact::Unknown(_))
    }

    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> Fact<U> {
        match self {
            Fact::Known(KnownFact { value, span, defined, origin }) => {
                Fact::Known(KnownFact { value: change(value), span, defined, origin })
            }
            Fact::Unknown(UnknownFact { span, why, candidates }) => {
                Fact::Unknown(UnknownFact { span, why, candidates: candidates.into_iter().map(change).collect() })
            }
            Fact::Absent => Fact::Absent,
        }
    }

    /// Returns this fact, or the other one if this one is absent.
    #[must_use]
    pub fn or(self, other: impl FnOnce() -> Fact<T>) -> Fact<T> {
        match self {
            Fact::Absent => other(),
            said => said,
        }
    }
}
