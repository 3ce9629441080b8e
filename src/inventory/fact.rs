//! Facts: known with their place and origin, unknown with a cause, or absent.

use std::sync::Arc;

use crate::source::Span;

/// Something a text may say about a resource.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Fact<T> {
    Known(Known<T>),
    Unknown(Unknown<T>),
    /// The text says nothing, and the provider has no default that is known.
    #[default]
    Absent,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Known<T> {
    pub value: T,
    /// Where the resource says it: the attribute or key an author would point at.
    pub span: Span,
    /// Where the value itself stands, when that is elsewhere: the default of a variable, a line of a tfvars file.
    pub defined: Option<Span>,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Unknown<T> {
    pub span: Span,
    /// Lower-case, without a full stop: "variable `size` has no value".
    pub why: Arc<str>,
    /// The values it can only be one of, where these are known: a list of machine types in one pool.
    pub candidates: Vec<T>,
}

/// How a value is known, from the strongest to the weakest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    Written,
    /// Through variables, locals, modules or links.
    Resolved,
    /// The provider's own documented default.
    Default,
    /// Concluded from something else; the text says from what.
    Inferred(Arc<str>),
    /// Concluded from the name under which a model is served.
    ServedName,
    /// Taken from a setting of gpulint because the text does not say; the text names the setting.
    Assumed(Arc<str>),
}

impl Origin {
    pub fn name(&self) -> &'static str {
        match self {
            Origin::Written => "written",
            Origin::Resolved => "resolved",
            Origin::Default => "default",
            Origin::Inferred(_) | Origin::ServedName => "inferred",
            Origin::Assumed(_) => "assumed",
        }
    }

    /// The weaker of the two.
    #[must_use]
    pub fn weakest(self, other: Origin) -> Origin {
        self.max(other)
    }
}

impl<T> Fact<T> {
    pub fn written(value: T, span: Span) -> Self {
        Self::known(value, span, Origin::Written)
    }

    pub fn known(value: T, span: Span, origin: Origin) -> Self {
        Fact::Known(Known { value, span, defined: None, origin })
    }

    pub fn unknown(why: impl Into<Arc<str>>, span: Span) -> Self {
        Fact::Unknown(Unknown { span, why: why.into(), candidates: Vec::new() })
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

    /// Where the value stands: its definition if that is elsewhere.
    pub fn defined(&self) -> Option<Span> {
        match self {
            Fact::Known(Known { defined: Some(span), .. }) => Some(*span),
            _ => self.span(),
        }
    }

    pub fn origin(&self) -> Option<&Origin> {
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

    /// It is one of several that are known.
    pub fn is_open(&self) -> bool {
        matches!(self, Fact::Unknown(unknown) if !unknown.candidates.is_empty())
    }

    pub fn is_absent(&self) -> bool {
        matches!(self, Fact::Absent)
    }

    /// It is known, or one of a few.
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
            Fact::Known(Known { value, span, defined, origin }) => {
                Fact::Known(Known { value: change(value), span, defined, origin })
            }
            Fact::Unknown(Unknown { span, why, candidates }) => {
                Fact::Unknown(Unknown { span, why, candidates: candidates.into_iter().map(change).collect() })
            }
            Fact::Absent => Fact::Absent,
        }
    }

    /// This one, or the other where this one says nothing.
    #[must_use]
    pub fn or(self, other: impl FnOnce() -> Fact<T>) -> Fact<T> {
        match self {
            Fact::Absent => other(),
            said => said,
        }
    }
}
