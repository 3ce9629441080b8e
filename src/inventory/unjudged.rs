//! Describes relevant files, blocks and resources that were not evaluated. If there are any, the verdict cannot be a
//! pass.

use crate::diagnostic::SkipKind;
use crate::source::Span;

/// A relevant file, block or resource that gpulint could not evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct Unjudged {
    /// The path of the file or directory.
    pub path: String,
    /// The part of the file; not set for the whole file.
    pub span: Option<Span>,
    /// The place of the first match, if the whole file is not evaluated and has many lines.
    pub shown_at: Option<Span>,
    /// The address of the resource or module call.
    pub address: Option<String>,
    pub kind: SkipKind,
    /// Reason: a lower-case statement about what was not evaluated.
    pub reason: String,
    /// Next step: a command or an edit.
    pub cure: Option<String>,
    /// Known values, such as the arguments of a module call, so that a comparison detects changes of them.
    pub known: String,
    pub standing: UnjudgedStatus,
}

/// Effect of a change on the entry. Without a comparison, every entry is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnjudgedStatus {
    /// The entry was evaluated before the change, and is no longer: this fails the run.
    Lost,
    Open,
    /// The entry was not evaluated before either, and the change does not affect it.
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

    /// Returns true if the unevaluated entry may contain a resource with this address.
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
