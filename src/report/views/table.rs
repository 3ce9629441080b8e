//! Defines tables by columns, each with its heading and its cells in one place, and writes them as CSV.

use super::markup::{self, Markdown, markdown};
use crate::catalog::{Currency, Money};
use crate::inventory::{Fact, Key, Resource};
use crate::measured::paid::BilledAmount;
use crate::report::escape::{begins_command, one_line, shortened};
use crate::source::{Date, csv_quoted};

/// The value of a row in a column.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::report) enum Cell {
    /// The value is unknown, because zero would be a number.
    Blank,
    /// A string that a file can contain.
    Text(String),
    /// A number, a date or a flag.
    Exact(String),
    Money(Money),
}

impl Cell {
    fn csv(&self) -> String {
        match self {
            Cell::Blank => String::new(),
            Cell::Text(text) => csv_text(text),
            Cell::Exact(exact) => exact.clone(),
            Cell::Money(money) => money.usd().to_string(),
        }
    }

    /// Returns the cell for people.
    pub(in crate::report) fn shown(self, currency: &Currency) -> String {
        match self {
            Cell::Blank => String::new(),
            Cell::Text(text) | Cell::Exact(text) => text,
            Cell::Money(money) => currency.amount(money),
        }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Blank, T::into)
    }
}

impl From<Money> for Cell {
    fn from(money: Money) -> Self {
        Cell::Money(money)
    }
}

macro_rules! cells {
    ($variant:ident: $($type:ty),+) => {
        $(impl From<$type> for Cell {
            fn from(value: $type) -> Self {
                Cell::$variant(value.to_string())
            }
        })+
    };
}

cells!(Text: &str, &String, String);
cells!(Exact: bool, usize, f64, Date, BilledAmount);

/// Columns that need more than the row.
pub(in crate::report) type Columns<'a, Row> = [(&'static str, &'a dyn Fn(&Row) -> Cell)];

/// Columns that need only the row. `Read` is `dyn Fn(&Row) -> Cell` for any lifetime of the row.
pub(in crate::report) type ConstColumns<Read> = [(&'static str, &'static Read)];

/// Creates columns: for each, the heading, the row and its cell.
macro_rules! columns {
    ($($heading:expr => |$row:pat_param| $cell:expr),+ $(,)?) => {
        [$(($heading, &|$row| $crate::report::views::table::Cell::from($cell))),+]
    };
}
pub(in crate::report) use columns;

/// Returns a table as CSV.
pub(in crate::report) fn csv<Row, Read: Fn(&Row) -> Cell>(
    columns: &[(&str, Read)],
    rows: impl IntoIterator<Item = Row>,
) -> String {
    let headings = csv_line(columns.iter().map(|(heading, _)| (*heading).into()));
    rows.into_iter().fold(headings, |text, row| text + &csv_line(columns.iter().map(|(_, read)| read(&row))))
}

/// Returns a line of CSV.
pub(in crate::report) fn csv_line(cells: impl Iterator<Item = Cell>) -> String {
    cells.map(|cell| cell.csv()).collect::<Vec<_>>().join(",") + "\n"
}

/// Appends a table to Markdown, with cells of at most this many characters.
pub(in crate::report) fn markdown_table<Row, Read: Fn(&Row) -> Cell>(
    out: &mut Markdown,
    columns: &[(&'static str, Read)],
    rows: impl IntoIterator<Item = Row>,
    currency: &Currency,
    most: usize,
) {
    out.push("|");
    columns.iter().for_each(|(heading, _)| markdown!(out, " ", *heading, " |"));
    out.push("\n|");
    columns.iter().for_each(|_| out.push(" --- |"));
    out.push("\n");
    for row in rows {
        out.push("|");
        columns.iter().for_each(|(_, read)| markdown!(out, " ", markup::text(&read(&row).shown(currency), most), " |"));
        out.push("\n");
    }
}

/// Returns the value of a fact as text, `?` if it is unknown, and nothing if it is absent.
pub(in crate::report) fn fact_text(resource: &Resource, key: Key) -> String {
    match resource.fact(key) {
        Fact::Known(known) => known.value.to_string(),
        Fact::Unknown(_) => "?".to_owned(),
        Fact::Absent => String::new(),
    }
}

/// Spreadsheets cut cells at 32,767 characters.
const LONGEST_CELL: usize = 30_000;

/// Characters with which a formula can begin. Some programs convert full-width characters to normal ones.
const FORMULAS: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// Returns text so that a spreadsheet does not run it as a formula.
fn csv_text(text: &str) -> String {
    let text = shortened(&one_line(text), LONGEST_CELL);
    let begins = text.trim_start();
    let text = if begins.starts_with(FORMULAS) || begins_command(begins) { format!("'{text}") } else { text };
    if text.contains([',', '"', '\'']) { csv_quoted(&text) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_commas_and_no_formulas() {
        assert_eq!(csv_text("a,b"), "\"a,b\"");
        assert_eq!(csv_text("say \"a\"\nb"), "\"say \"\"a\"\" b\"");
        assert_eq!(csv_text("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        assert_eq!(csv_text("-1+1"), "\"'-1+1\"");
        for cell in ["\t=1", "\r@a", "＝1", "＋1", "－1", "＠a", "::error::a"] {
            assert!(csv_text(cell).starts_with("\"'"), "{cell}: {}", csv_text(cell));
        }
    }
}
