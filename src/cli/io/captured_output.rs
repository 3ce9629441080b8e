//! Captures the output of a subcommand in memory instead of printing it. This applies to one thread: subcommands
//! print on the thread that they are called on.

use std::cell::RefCell;

use crate::report::Format;

/// The output of a subcommand.
#[derive(Debug, Default)]
pub(in crate::cli) struct CapturedOutput {
    /// Reports, each in its format.
    pub(in crate::cli) reports: Vec<(Format, String)>,
    /// Text that is not a report.
    pub(in crate::cli) printed: String,
    /// The lines for standard error.
    pub(in crate::cli) complaints: Vec<String>,
}

impl CapturedOutput {
    pub(in crate::cli) fn report(&self, wanted: Format) -> Option<&str> {
        self.reports.iter().find(|(format, _)| *format == wanted).map(|(_, text)| text.as_str())
    }
}

thread_local! {
    static KEPT: RefCell<Option<CapturedOutput>> = const { RefCell::new(None) };
}

/// Runs some work, and captures its output.
pub(in crate::cli) fn keeping<T>(work: impl FnOnce() -> T) -> (T, CapturedOutput) {
    KEPT.set(Some(CapturedOutput::default()));
    let done = work();
    (done, KEPT.take().unwrap_or_default())
}

pub(super) fn is_keeping() -> bool {
    KEPT.with_borrow(Option::is_some)
}

pub(super) fn report(format: Format, text: String) {
    add(|kept| kept.reports.push((format, text)));
}

/// Returns whether the string was captured.
pub(super) fn printed(text: &str) -> bool {
    add(|kept| kept.printed.push_str(text))
}

/// Returns whether the string was captured.
pub(super) fn complained(text: &str) -> bool {
    add(|kept| kept.complaints.push(text.to_owned()))
}

fn add(what: impl FnOnce(&mut CapturedOutput)) -> bool {
    KEPT.with_borrow_mut(|kept| kept.as_mut().map(what).is_some())
}
