//! What a verb says, kept in memory instead of being printed, for a caller that passes it on. It holds for one thread: verbs
//! print on the thread that they are called on.

use std::cell::RefCell;

use crate::report::Format;

/// What a verb said.
#[derive(Debug, Default)]
pub(in crate::cli) struct Kept {
    /// Reports, each in its format.
    pub(in crate::cli) reports: Vec<(Format, String)>,
    /// Text that is no report.
    pub(in crate::cli) printed: String,
    /// What standard error would have got.
    pub(in crate::cli) complaints: Vec<String>,
}

impl Kept {
    pub(in crate::cli) fn report(&self, wanted: Format) -> Option<&str> {
        self.reports.iter().find(|(format, _)| *format == wanted).map(|(_, text)| text.as_str())
    }
}

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Does some work, and keeps what it says.
pub(in crate::cli) fn keeping<T>(work: impl FnOnce() -> T) -> (T, Kept) {
    KEPT.set(Some(Kept::default()));
    let done = work();
    (done, KEPT.take().unwrap_or_default())
}

pub(super) fn is_keeping() -> bool {
    KEPT.with_borrow(Option::is_some)
}

pub(super) fn report(format: Format, text: String) {
    add(|kept| kept.reports.push((format, text)));
}

/// Whether the text was kept.
pub(super) fn printed(text: &str) -> bool {
    add(|kept| kept.printed.push_str(text))
}

/// Whether the text was kept.
pub(super) fn complained(text: &str) -> bool {
    add(|kept| kept.complaints.push(text.to_owned()))
}

fn add(what: impl FnOnce(&mut Kept)) -> bool {
    KEPT.with_borrow_mut(|kept| kept.as_mut().map(what).is_some())
}
