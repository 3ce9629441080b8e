//! How old the prices are that stand behind the amounts.

use crate::catalog::Money;
use crate::report::{Report, one_line};

/// `prices of 2025-11-04 to 2026-10-19, past their shelf life for $32,058 a month rented (`gpulint catalog update`)`
pub(in crate::report) fn price_age(report: &Report) -> String {
    let newest = &report.catalog.as_of;
    let dated = match report.bill.oldest_row.as_deref() {
        Some(oldest) if oldest != newest => format!("prices of {} to {newest}", one_line(oldest)),
        _ => format!("prices of {newest}"),
    };
    let old = report.bill.past_shelf_life;
    let amounts = [(old.rented, "rented"), (old.requested, "requested by pods")];
    let amounts = amounts.into_iter().filter(|(amount, _)| *amount > Money::ZERO);
    let told = |(amount, whose)| format!("{} a month {whose}", report.currency.amount(amount));
    let amounts: Vec<String> = amounts.map(told).collect();
    match amounts.as_slice() {
        [] => dated,
        amounts => format!("{dated}, past their shelf life for {} (`gpulint catalog update`)", amounts.join(", ")),
    }
}
