//! A failure of a subcommand: its message and its help.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::report::harmless;

/// A failure with exit code 2: wrong usage, wrong settings, or a path that does not exist.
#[derive(Debug)]
pub(in crate::cli) struct Failure {
    /// The lines in question, ready to print.
    details: String,
    message: String,
    help: Option<String>,
    /// The positions of the errors, for editors.
    places: Vec<FailurePlace>,
}

/// The position of an error in a file.
#[derive(Debug)]
pub(in crate::cli) struct FailurePlace {
    /// A path of the tree.
    pub(in crate::cli) path: String,
    pub(in crate::cli) text: Arc<str>,
    pub(in crate::cli) range: Range<usize>,
    pub(in crate::cli) message: String,
}

impl Failure {
    pub(in crate::cli) fn new(message: impl Into<String>) -> Self {
        Failure { details: String::new(), message: message.into(), help: None, places: Vec::new() }
    }

    /// Converts a panic into a failure with exit code 2, so that it never looks like a finding.
    pub(in crate::cli) fn from_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        match text {
            Some(text) if text.contains("spawn thread") || text.contains("thread pool") => {
                Failure::new("the system cannot start another thread")
                    .with_help("allow more processes (`ulimit -u`), or run fewer programs at once")
            }
            _ => Failure::new("this is a bug in gpulint").with_help("please report it with the output above"),
        }
    }

    #[must_use]
    pub(in crate::cli) fn at(mut self, places: Vec<FailurePlace>) -> Self {
        self.places = places;
        self
    }

    pub(in crate::cli) fn places(&self) -> &[FailurePlace] {
        &self.places
    }

    /// Returns the failure in one line, without source lines.
    pub(in crate::cli) fn in_short(&self) -> String {
        let help = self.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
        harmless(&format!("{}{help}", self.message)).replace('\n', " ")
    }

    pub(in crate::cli) fn message(&self) -> &str {
        &self.message
    }

    #[must_use]
    pub(in crate::cli) fn with_details(mut self, details: String) -> Self {
        self.details = details;
        self
    }

    #[must_use]
    pub(in crate::cli) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A quoted name can come from a list of changed files, so control characters are removed.
        write!(f, "{}error: {}", self.details, harmless(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {}", harmless(help)),
            None => Ok(()),
        }
    }
}
