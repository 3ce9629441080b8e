//! How old the prices are that stand behind the amounts.

use crate::catalog::{Money, MoneyRange};
use crate::report::{Report, one_line};

/// `prices of 2025-11-04 to 2026-10-19, past their shelf life for $32,058 a month rented, which may be $25,422 to $32,058 today
/// (`gpulint catalog update`)`
pub(in crate::report) fn price_age(report: &Report) -> String {
    let newest = &report.catalog.as_of;
    let dated = match report.bill.oldest_row.as_deref() {
        Some(oldest) if oldest != newest => format!("prices of {} to {newest}", one_line(oldest)),
        _ => format!("prices of {newest}"),
    };
    let old = report.bill.past_shelf_life;
    let amounts = [(old.rented, "rented"), (old.requested, "requested by pods")];
    let amounts = amounts.into_iter().filter(|(amount, _)| amount.expected > Money::ZERO);
    let told = |(amount, whose): (MoneyRange, _)| {
        let money = |money| report.currency.amount(money);
        let today = match amount.floor == amount.ceiling {
            true => String::new(),
            false => format!(", which may be {} to {} today", money(amount.floor), money(amount.ceiling)),
        };
        format!("{} a month {whose}{today}", money(amount.expected))
    };
    let amounts: Vec<String> = amounts.map(told).collect();
    match amounts.as_slice() {
        [] => dated,
        amounts => format!("{dated}, past their shelf life for {} (`gpulint catalog update`)", amounts.join(", ")),
    }
}
