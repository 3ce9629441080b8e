//! Writes the age of the prices behind the amounts.

use crate::catalog::{Money, MoneyRange};
use crate::report::{Report, one_line};

/// Returns text such as `prices from 2025-11-04 to 2026-10-19, outdated for provisioned machines $32,058/month, today
/// $25,422 to $32,058 (update: `gpulint catalog update`)`
pub(in crate::report) fn price_age(report: &Report) -> String {
    let newest = &report.catalog.as_of;
    let dated = match report.bill.oldest_row.as_deref() {
        Some(oldest) if oldest != newest => format!("prices from {} to {newest}", one_line(oldest)),
        _ => format!("prices from {newest}"),
    };
    let old = report.bill.past_shelf_life;
    let amounts = [(old.rented, "provisioned machines"), (old.requested, "pods")];
    let amounts = amounts.into_iter().filter(|(amount, _)| amount.expected > Money::ZERO);
    let told = |(amount, whose): (MoneyRange, _)| {
        let money = |money| report.currency.amount(money);
        let today = match amount.floor == amount.ceiling {
            true => String::new(),
            false => format!(", today {} to {}", money(amount.floor), money(amount.ceiling)),
        };
        format!("{whose} {}/month{today}", money(amount.expected))
    };
    let amounts: Vec<String> = amounts.map(told).collect();
    match amounts.as_slice() {
        [] => dated,
        amounts => format!("{dated}, outdated for {} (update: `gpulint catalog update`)", amounts.join("; ")),
    }
}
