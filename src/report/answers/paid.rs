//! Shows the total of a bill, and how each cent was attributed.

use std::collections::BTreeMap;

use crate::measured::paid::{BilledAmount, PaidRow};
use crate::report::formats::text::TextTable;

/// One sum in the summary of a bill.
pub struct SumOfBill<'a> {
    pub currency: &'a str,
    pub what: &'a str,
    pub is_written: bool,
    pub rows: u64,
    pub amount: BilledAmount,
}

/// Returns the columns of the file.
pub fn paid_columns() -> String {
    let mut table = TextTable::new(&["column", "content"], 2..2);
    for (name, meaning) in PaidRow::columns() {
        table.row(vec![name.to_owned(), meaning.to_owned()]);
    }
    table.print()
}

/// Returns for each currency the amounts that were read, written and not attributed. The last two add up to the first
/// exactly.
pub fn bill_sums<'a>(sums: impl Iterator<Item = SumOfBill<'a>>) -> String {
    let mut by_currency: BTreeMap<&str, Vec<SumOfBill<'a>>> = BTreeMap::new();
    for sum in sums {
        by_currency.entry(sum.currency).or_default().push(sum);
    }
    let mut table = TextTable::new(&["", "", "rows", "amount"], 2..4);
    for (currency, sums) in by_currency {
        let row = |begin: &str, what: &str, rows: u64, amount: BilledAmount| {
            vec![begin.to_owned(), what.to_owned(), rows.to_string(), format!("{currency} {amount}")]
        };
        let rows = sums.iter().map(|it| it.rows).sum();
        table.row(row("read", "", rows, sums.iter().map(|it| it.amount).sum()));
        for is_written in [true, false] {
            let begin = if is_written { "written" } else { "not attributed" };
            for sum in sums.iter().filter(|it| it.is_written == is_written) {
                table.row(row(begin, sum.what, sum.rows, sum.amount));
            }
        }
    }
    table.print()
}
