//! Lines of files of rows: where they stand, and what is wrong with some.

use super::row::UsageError;
use crate::diagnostic::Diagnostic;
use crate::inventory::Inventory;
use crate::source::Span;

/// A line that cannot be read is an error at that line.
pub(super) fn wrong_rows(inventory: &mut Inventory, wrong: Vec<UsageError>, place: impl Fn(usize) -> Span, help: &str) {
    for error in wrong {
        inventory.diagnostics.push(Diagnostic::unreadable(error.message, place(error.line)).with_help(help));
    }
}

/// Where each line begins and ends.
pub(super) fn spans_of_lines(text: &str) -> Vec<(usize, usize)> {
    let mut start = 0;
    let line = |line: &str| {
        let (from, to) = (start, start + line.trim_end_matches(['\n', '\r']).len());
        start += line.len();
        (from, to)
    };
    text.split_inclusive('\n').map(line).collect()
}
