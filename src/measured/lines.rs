//! Reads files of rows: their places and errors.

use crate::diagnostic::Diagnostic;
use crate::inventory::Inventory;
use crate::source::{Span, csv_records};

/// An error in a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// The line number, from 1.
    pub line: usize,
    pub message: String,
}

/// Reports each unreadable line as an error at that line.
pub(super) fn wrong_rows(inventory: &mut Inventory, wrong: Vec<UsageError>, place: impl Fn(usize) -> Span, help: &str) {
    for error in wrong {
        inventory.diagnostics.push(Diagnostic::unreadable(error.message, place(error.line)).with_help(help));
    }
}

/// Returns the rows of a file that begins with this header, and the errors of other rows. A file of another version,
/// or with an invalid heading, is an error as a whole.
pub(super) fn read_rows<Columns, Row>(
    text: &str,
    header: &str,
    columns: impl Fn(&[String]) -> Result<Columns, String>,
    row: impl Fn(&Columns, Vec<String>, usize) -> Result<Row, String>,
) -> Result<(Vec<Row>, Vec<UsageError>), UsageError> {
    let at = |line: usize, message: String| UsageError { line, message };
    let first = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default().trim_end();
    if first != header {
        return Err(at(
            1,
            format!("the first line is not `{header}`, so this version of gpulint cannot read the file"),
        ));
    }
    let mut lines = csv_records(text);
    let Some((line, heading)) = lines.next() else { return Ok((Vec::new(), Vec::new())) };
    let heading = heading.map_err(|why| at(line, why))?;
    let columns = columns(&heading).map_err(|why| at(line, why))?;
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for (line, cells) in lines {
        match cells.and_then(|cells| row(&columns, cells, line)) {
            Ok(row) => rows.push(row),
            Err(message) => wrong.push(at(line, message)),
        }
    }
    Ok((rows, wrong))
}

/// Returns the start and the end of each line.
pub(super) fn spans_of_lines(text: &str) -> Vec<(usize, usize)> {
    let mut start = 0;
    let line = |line: &str| {
        let (from, to) = (start, start + line.trim_end_matches(['\n', '\r']).len());
        start += line.len();
        (from, to)
    };
    text.split_inclusive('\n').map(line).collect()
}
