//! What matters and was not judged: while there is any, nobody may say that all is well.

use crate::diagnostic::SkipKind;
use crate::source::Span;

/// Text that could hold or change accelerators, and of which nobody knows what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Unjudged {
    /// The file, or the directory, as a path of the tree.
    pub path: String,
    /// The part of the file; all of it where there is none.
    pub span: Option<Span>,
    /// Where the first word of it stands, if it is all of the file and that has many lines.
    pub shown_at: Option<Span>,
    /// The resource or the call of a module.
    pub address: Option<String>,
    pub kind: SkipKind,
    /// What was not judged and why: a lower-case statement.
    pub reason: String,
    /// What would cure it: a command, or what to write.
    pub cure: Option<String>,
    /// What is known of it all the same, so that a change of that is seen: values that are handed to a module.
    pub known: String,
    pub standing: UnjudgedStatus,
}

/// What a change did to it. Where nothing is compared, everything is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnjudgedStatus {
    /// It was judged before the change, and is not any more: that fails.
    Lost,
    Open,
    /// The change leaves it as it was.
    AsBefore,
}

impl UnjudgedStatus {
    pub const ALL: [UnjudgedStatus; 3] = [UnjudgedStatus::Lost, UnjudgedStatus::Open, UnjudgedStatus::AsBefore];

    pub fn name(self) -> &'static str {
        match self {
            UnjudgedStatus::Lost => "lost",
            UnjudgedStatus::Open => "open",
            UnjudgedStatus::AsBefore => "as-before",
        }
    }
}

impl Unjudged {
    pub fn new(kind: SkipKind, path: impl Into<String>, reason: impl Into<String>) -> Self {
        let (path, reason) = (path.into(), reason.into());
        Unjudged {
            kind,
            path,
            span: None,
            shown_at: None,
            address: None,
            reason,
            cure: None,
            known: String::new(),
            standing: UnjudgedStatus::Open,
        }
    }

    #[must_use]
    pub fn at(self, span: Span) -> Self {
        Unjudged { span: Some(span), ..self }
    }

    /// Whether a resource of that address may be hidden by it.
    pub fn may_hide(&self, address: &str, path: &str) -> bool {
        match (&self.address, self.span) {
            (Some(own), _) => address
                .strip_prefix(own.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']) || rest.starts_with(" (")),
            (None, None) => self.path == path,
            (None, Some(_)) => false,
        }
    }

    #[must_use]
    pub fn about(self, address: &str) -> Self {
        Unjudged { address: Some(address.to_owned()), ..self }
    }

    #[must_use]
    pub fn with_cure(self, cure: impl Into<String>) -> Self {
        Unjudged { cure: Some(cure.into()), ..self }
    }
}
