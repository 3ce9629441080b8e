//! A message with a place, a level, notes and help. Knows nothing of what it is about.

use crate::source::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Note,
    Warning,
    Error,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Note, Level::Warning, Level::Error];

    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Something to tell about the input itself: a file that does not parse, a module that is not on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    pub level: Level,
    /// A lower-case statement that contains its numbers.
    pub message: String,
    pub span: Option<Span>,
    pub notes: Vec<(Option<Span>, String)>,
    pub help: Option<String>,
    /// Terraform or kubectl would refuse this text: a finding of the rule `unreadable`.
    pub unreadable: bool,
}

impl Diagnostic {
    pub fn new(level: Level, message: impl Into<String>, span: Option<Span>) -> Self {
        Diagnostic { level, message: message.into(), span, notes: Vec::new(), help: None, unreadable: false }
    }

    /// Text that the tool it is written for would refuse.
    pub fn unreadable(message: impl Into<String>, span: Span) -> Self {
        Diagnostic { unreadable: true, ..Self::new(Level::Error, message, Some(span)) }
    }

    pub fn warning(message: impl Into<String>, span: Span) -> Self {
        Self::new(Level::Warning, message, Some(span))
    }

    pub fn note(message: impl Into<String>, span: Span) -> Self {
        Self::new(Level::Note, message, Some(span))
    }

    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub fn with_note(mut self, span: Option<Span>, note: impl Into<String>) -> Self {
        self.notes.push((span, note.into()));
        self
    }
}
