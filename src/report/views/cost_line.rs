//! The first line of a report about one tree: what it costs, and of what that is not known.

use super::money::{Ends, mark, while_running};
use super::{apart, judged};
use crate::catalog::MoneyRange;
use crate::inventory::Role;
use crate::pricing::Period;
use crate::report::Report;

/// `GPU cost at least ~$36,199 a month (floor $4,141, full scale $74,132); requested by pods ~$2,336 a month`
pub(in crate::report) fn cost_line(report: &Report) -> String {
    if report.is_empty {
        return "nothing to check here".to_owned();
    }
    let is_there = |role| report.inventory.resources.iter().any(|it| it.is_added() && it.role == role);
    if !is_there(Role::Rented) && !is_there(Role::Requested) {
        return apart::only(report).unwrap_or_else(|| "no accelerators found".to_owned());
    }
    let mark_of = |role, per| mark(report.is_estimated(role, per));
    let endings = report.bill.endings(report.inventory);
    let is_by_month = |role, range: MoneyRange| {
        is_there(role) && (range != MoneyRange::ZERO || !endings.keys().any(|(of, _)| *of == role))
    };
    let currency = report.currency;
    let mut parts = Vec::new();
    for (role, range, whose) in
        [(Role::Rented, report.bill.rented, ""), (Role::Requested, report.bill.requested, "requested by pods ")]
    {
        if is_by_month(role, range) {
            let is_at_least = judged::is_at_least(report, role);
            let amount =
                currency.monthly(range, Ends::of(report.bill, role), is_at_least, mark_of(role, Period::Month));
            let unnamed = currency.unnamed(report.bill).filter(|_| role == Role::Requested);
            parts.push(match unnamed {
                Some(unnamed) if report.bill.unnamed.amount == range => format!("{whose}not known, {unnamed}"),
                Some(unnamed) => format!("{whose}{amount}, {unnamed}"),
                None if role == Role::Rented && range == MoneyRange::ZERO && is_at_least => {
                    "of machines not known".to_owned()
                }
                None => format!("{whose}{amount}"),
            });
        }
    }
    for ((role, per), ending) in &endings {
        let most = ending.amount.expected.max(ending.amount.ceiling);
        let jobs = if *role == Role::Rented { "rented jobs" } else { "jobs" };
        let mark = mark_of(*role, *per);
        parts.push(match ending.each_uncounted {
            _ if *per == Period::Hour && ending.amount.floor < most => {
                format!(
                    "{jobs} {mark}{}–{} {}",
                    currency.amount(ending.amount.floor),
                    currency.amount(most),
                    while_running(*per)
                )
            }
            each if most.is_zero() => {
                format!("{jobs} {mark}{} per hour each, and nothing says how many", currency.amount(each))
            }
            _ => format!("{jobs} {mark}{} {}", currency.amount(most), while_running(*per)),
        });
    }
    let text = parts.join("; ");
    // Where there is nothing but jobs, it is their cost.
    let of = if text.starts_with("jobs ") || text.starts_with("rented jobs ") { "of " } else { "" };
    format!("GPU cost {of}{text}")
}
