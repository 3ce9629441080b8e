//! Writes tables with aligned columns.

use std::ops::Range;

use crate::catalog::Currency;
use crate::report::one_line;
use crate::report::views::table::Cell;

/// The gap between columns.
const GAP: &str = "  ";

/// The indentation of continued rows.
const INDENT: &str = "    ";

/// The most rows, with the headings, of a table that is turned if it is too wide.
const MOST_TURNED: usize = 4;

/// Aligned columns: names to the left, numbers to the right.
pub(in crate::report) struct TextTable {
    rows: Vec<Vec<String>>,
    /// Columns aligned to the right.
    numbers: Range<usize>,
}

impl TextTable {
    pub(in crate::report) fn new(headings: &[&str], numbers: Range<usize>) -> Self {
        TextTable { rows: vec![headings.iter().map(|heading| (*heading).to_owned()).collect()], numbers }
    }

    /// Returns a table of all rows.
    pub(in crate::report) fn of<Row, Read: Fn(&Row) -> Cell>(
        columns: &[(&str, Read)],
        numbers: Range<usize>,
        rows: impl IntoIterator<Item = Row>,
        currency: &Currency,
    ) -> Self {
        let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
        let mut table = TextTable::new(&headings, numbers);
        for row in rows {
            table.row(columns.iter().map(|(_, read)| read(&row).shown(currency)).collect());
        }
        table
    }

    /// Adds a row. Cells are escaped, because names come from files: none can move a cursor or begin a line.
    pub(in crate::report) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// Returns the table as a string; empty if it has no rows.
    pub(in crate::report) fn print(&self) -> String {
        self.print_within(None)
    }

    /// Returns the table for a limited width. If it does not fit, long names get a line of their own, a table of few rows
    /// is turned, and otherwise rows continue on the next line, at the same column in all rows.
    pub(in crate::report) fn print_within(&self, columns: Option<usize>) -> String {
        if self.rows.len() < 2 {
            return String::new();
        }
        let most = columns.unwrap_or(usize::MAX);
        let mut widths = self.widths();
        if width_of(&widths) > most {
            if let Some(names) = self.width_of_names(&widths, most) {
                widths[0] = names;
            } else if let Some(turned) = self.turned().filter(|it| width_of(&it.widths()) <= most) {
                return turned.print();
            }
        }
        let parts = parts(&widths, most);
        let mut text = String::new();
        for row in &self.rows {
            for (number, part) in parts.iter().enumerate() {
                let mut line = String::from(if number == 0 { "" } else { INDENT });
                for column in part.clone() {
                    let (Some(cell), Some(width)) = (row.get(column), widths.get(column)) else { continue };
                    match width {
                        0 => {}
                        width if self.numbers.contains(&column) => line.push_str(&format!("{cell:>width$}{GAP}")),
                        width if cell.chars().count() > *width => {
                            line.push_str(&format!("{cell}\n{:<width$}{GAP}", ""));
                        }
                        width => line.push_str(&format!("{cell:<width$}{GAP}")),
                    }
                }
                if number == 0 || !line.trim().is_empty() {
                    text.push_str(line.trim_end());
                    text.push('\n');
                }
            }
        }
        text
    }

    /// Returns the width for the first column with which the table fits; none if too few names would fit into it.
    fn width_of_names(&self, widths: &[usize], most: usize) -> Option<usize> {
        let names = widths.first()?;
        let left = (most + names).checked_sub(width_of(widths))?;
        let fits = self.rows.iter().filter(|row| row.first().is_some_and(|it| it.chars().count() <= left)).count();
        (!self.numbers.contains(&0) && fits * 2 >= self.rows.len()).then_some(left)
    }

    /// Returns the table with a column for each row; none if it has many rows.
    fn turned(&self) -> Option<TextTable> {
        if self.rows.len() > MOST_TURNED {
            return None;
        }
        let cell = |row: &Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
        let lines = (0..self.widths().len()).map(|column| self.rows.iter().map(|row| cell(row, column)).collect());
        let lines = lines.filter(|line: &Vec<String>| line.iter().skip(1).any(|cell| !cell.is_empty()));
        Some(TextTable { rows: lines.collect(), numbers: 0..0 })
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }
}

/// Returns the width of a line with all columns.
fn width_of(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|width| **width > 0);
    shown.map(|width| width + GAP.len()).sum::<usize>().saturating_sub(GAP.len())
}

/// Returns the columns of each line.
fn parts(widths: &[usize], most: usize) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut used) = (Vec::new(), 0, 0);
    for (column, width) in widths.iter().enumerate() {
        let needs = if used > 0 { GAP.len() } else { 0 } + width;
        if used > 0 && *width > 0 && used + needs > most {
            parts.push(start..column);
            (start, used) = (column, INDENT.len() + width);
        } else if *width > 0 {
            used += needs;
        }
    }
    parts.push(start..widths.len());
    parts
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
        assert_eq!(table.print_within(Some(14)), table.print());
        assert_eq!(table.print_within(Some(12)), "name   floor\na         $1\nlonger\n      $1,000\n");
    }

    #[test]
    fn few_rows_that_are_too_wide_become_columns() {
        let mut table = TextTable::new(&["case", "count", "hour", "month", "note"], 1..4);
        table.row(["now", "2", "$1", "$730", ""].map(str::to_owned).into());
        table.row(["then", "1", "$4", "$2,920", ""].map(str::to_owned).into());
        let turned = "case   now   then\ncount  2     1\nhour   $1    $4\nmonth  $730  $2,920\n";
        assert_eq!(table.print_within(Some(20)), turned);
        assert_eq!(table.print_within(Some(10)).lines().next(), Some("case"));
    }
}
