use std::fmt;

use crate::report::harmless;

/// Why a run could not be done: bad usage, bad configuration, a path that does not exist. Exit code 2.
#[derive(Debug)]
pub(super) struct Failure {
    /// The lines in question, ready to print.
    details: String,
    message: String,
    help: Option<String>,
}

impl Failure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Failure { details: String::new(), message: message.into(), help: None }
    }

    #[must_use]
    pub(super) fn with_details(mut self, details: String) -> Self {
        self.details = details;
        self
    }

    #[must_use]
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
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
