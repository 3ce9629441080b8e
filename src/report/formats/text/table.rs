//! Columns that are aligned.

use std::ops::Range;

use crate::report::one_line;

/// Columns that line up: the first to the left, numbers to the right.
pub(in crate::report) struct TextTable {
    rows: Vec<Vec<String>>,
    /// Columns that stand to the right.
    numbers: Range<usize>,
}

impl TextTable {
    pub(in crate::report) fn new(headings: &[&str], numbers: Range<usize>) -> Self {
        TextTable { rows: vec![headings.iter().map(|heading| (*heading).to_owned()).collect()], numbers }
    }

    /// Names come from files: none of them moves a cursor or begins a line.
    pub(in crate::report) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// Nothing where there are no rows.
    pub(in crate::report) fn print(&self) -> String {
        if self.rows.len() < 2 {
            return String::new();
        }
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if *width == 0 {
                    continue;
                }
                if self.numbers.contains(&column) {
                    line.push_str(&format!("{cell:>width$}  "));
                } else {
                    line.push_str(&format!("{cell:<width$}  "));
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_empty_ones_vanish() {
        let mut table = TextTable::new(&["name", "", "floor"], 2..3);
        assert_eq!(table.print(), "");
        table.row(vec!["a".into(), String::new(), "$1".into()]);
        table.row(vec!["longer".into(), String::new(), "$1,000".into()]);
        assert_eq!(table.print(), "name     floor\na           $1\nlonger  $1,000\n");
    }
}
