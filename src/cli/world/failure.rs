//! Why a run could not be done, as people are told.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::report::harmless;

/// Why a run could not be done: bad usage, bad configuration, a path that does not exist. Exit code 2.
#[derive(Debug)]
pub(in crate::cli) struct Failure {
    /// The lines in question, ready to print.
    details: String,
    message: String,
    help: Option<String>,
    /// Where it stands, for whoever shows it there.
    places: Vec<FailurePlace>,
}

/// A place of a file that kept a run from being done.
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

    /// What nobody expected ends a run like bad usage does, and never like one that found something.
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

    /// In one line, without the lines in question.
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
        // A name that is quoted may come from a list of changed files.
        write!(f, "{}error: {}", self.details, harmless(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {}", harmless(help)),
            None => Ok(()),
        }
    }
}
