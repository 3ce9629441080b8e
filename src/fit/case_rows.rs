//! Reads CSV files of cases, to evaluate estimates in bulk.

use std::collections::HashMap;
use std::fmt::{Display, Write};

use crate::catalog::TableError;
use crate::source::csv_records;

pub(super) struct CaseRow<'t> {
    cells: HashMap<&'t str, &'t str>,
}

impl CaseRow<'_> {
    pub(super) fn text(&self, column: &str) -> &str {
        self.cells.get(column).copied().unwrap_or_default()
    }

    pub(super) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0)
    }
}

/// Returns one line for each row, in order. The first row contains the column names, of which some are required.
pub(super) fn answers<A: Display>(
    path: &str,
    text: &str,
    needed: &[&str],
    answer: impl Fn(&CaseRow<'_>) -> A,
) -> Result<String, TableError> {
    let error = |line: usize, message: String| TableError { path: path.to_owned(), line, message };
    let mut header: Option<Vec<String>> = None;
    let mut lines = String::new();
    for (line, record) in csv_records(text) {
        let record = record.map_err(|message| error(line, message))?;
        let Some(header) = &header else {
            if let Some(missing) = needed.iter().find(|name| !record.iter().any(|cell| cell == *name)) {
                return Err(error(line, format!("column `{missing}` is missing")));
            }
            header = Some(record);
            continue;
        };
        let cells = header.iter().map(String::as_str).zip(record.iter().map(String::as_str)).collect();
        let _ = writeln!(lines, "{}", answer(&CaseRow { cells }));
    }
    Ok(lines)
}
