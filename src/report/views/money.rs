//! Amounts as people read them: the one place that rounds.

use crate::catalog::{Currency, Money, MoneyRange, grouped};
use crate::inventory::Role;
use crate::pricing::{Bill, BillItem, CostSum, Period};
use crate::rules::Finding;

/// What the ends of an amount come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Ends {
    /// How many machines there are, and for how long.
    Scale,
    /// How far old prices may have moved, too.
    PricesToo,
}

impl Ends {
    pub(in crate::report) fn of(bill: &Bill, role: Role) -> Ends {
        if bill.past_shelf_life.has_moved(role) { Ends::PricesToo } else { Ends::Scale }
    }

    /// Of machines and pods together.
    pub(in crate::report) fn of_all(bill: &Bill) -> Ends {
        let has_moved = [Role::Rented, Role::Requested].into_iter().any(|role| bill.past_shelf_life.has_moved(role));
        if has_moved { Ends::PricesToo } else { Ends::Scale }
    }

    pub(in crate::report) fn names(self) -> (&'static str, &'static str) {
        match self {
            Ends::Scale => ("floor", "full scale"),
            Ends::PricesToo => ("at the least", "at most"),
        }
    }

    pub(in crate::report) fn at_full_scale(self) -> &'static str {
        match self {
            Ends::Scale => " at full scale",
            Ends::PricesToo => "",
        }
    }
}

impl Currency {
    /// Money as people write it: `$39,821`, `$8.50`, `-$120`.
    pub(crate) fn amount(&self, money: Money) -> String {
        let (symbol, money) = (self.symbol(), self.exchanged(money));
        let sign = if money < Money::ZERO { "-" } else { "" };
        let micros = money.micros().unsigned_abs();
        if micros >= 100_000_000 {
            return format!("{sign}{symbol}{}", grouped((micros + 500_000) / 1_000_000));
        }
        let cents = (micros + 5_000) / 10_000;
        if cents.is_multiple_of(100) {
            format!("{sign}{symbol}{}", cents / 100)
        } else {
            format!("{sign}{symbol}{}.{:02}", cents / 100, cents % 100)
        }
    }

    /// From the least to the most, or one number where they are the same.
    pub(in crate::report) fn range(&self, range: MoneyRange) -> String {
        if range.floor == range.ceiling {
            self.amount(range.expected)
        } else if range.expected == range.floor || range.expected == range.ceiling {
            format!("{}–{}", self.amount(range.floor), self.amount(range.ceiling))
        } else {
            format!("{} ({}–{})", self.amount(range.expected), self.amount(range.floor), self.amount(range.ceiling))
        }
    }

    /// `at least ~$36,199 a month`, `~$36,199 a month, up to $74,132 at full scale`; where nothing has a price, that it is not
    /// known. Of an open sum, full scale is no limit.
    pub(in crate::report) fn monthly(&self, sum: &CostSum, ends: Ends, mark: &str) -> String {
        let range = sum.minimum();
        if range == MoneyRange::ZERO && !sum.is_whole() {
            return "not known".to_owned();
        }
        let most = if sum.is_unlimited() {
            Some(", no upper limit".to_owned())
        } else {
            // What reads alike is one amount.
            (self.amount(range.ceiling) != self.amount(range.expected)).then(|| {
                let (up_to, or_more) = if sum.is_whole() { ("up to ", "") } else { ("", " or more") };
                format!(", {up_to}{mark}{}{or_more}{}", self.amount(range.ceiling), ends.at_full_scale())
            })
        };
        let at_rest = if range.expected.is_zero() && most.is_some() { " at rest" } else { "" };
        let most = most.unwrap_or_default();
        match (sum.is_whole(), range.expected.is_zero()) {
            (false, true) => format!("a month not known at rest{most}"),
            _ => format!("{} a month{at_rest}{most}", self.at_least(sum, mark)),
        }
    }

    /// The same with the least of it, where that is less.
    pub(in crate::report) fn monthly_with_floor(&self, sum: &CostSum, ends: Ends, mark: &str) -> String {
        let range = sum.minimum();
        let floor = (sum.is_whole() && range.floor < range.expected).then(|| {
            let (least, _) = ends.names();
            format!(", {least} {}", self.amount(range.floor))
        });
        format!("{}{}", self.monthly(sum, ends, mark), floor.unwrap_or_default())
    }

    /// `$3,620`, `at least ~$3,620`, `not known`
    pub(in crate::report) fn at_least(&self, sum: &CostSum, mark: &str) -> String {
        let expected = sum.minimum().expected;
        match (sum.is_whole(), expected.is_zero()) {
            (true, true) => self.amount(expected),
            (true, false) => format!("{mark}{}", self.amount(expected)),
            (false, true) => "not known".to_owned(),
            (false, false) => format!("at least {mark}{}", self.amount(expected)),
        }
    }

    /// `$3`, `$1.59 to $44.25`
    pub(in crate::report) fn least_to_most(&self, range: MoneyRange, mark: &str) -> String {
        let most = range.expected.max(range.ceiling);
        match range.floor == most {
            true => format!("{mark}{}", self.amount(most)),
            false => format!("{mark}{} to {}", self.amount(range.floor), self.amount(most)),
        }
    }

    /// Of what pods request, the part of those that name no accelerator: `$1,032 to $16,149 for 2 workloads that name no
    /// accelerator`.
    pub(in crate::report) fn unnamed(&self, bill: &Bill) -> Option<String> {
        let workloads = match bill.unnamed.resources {
            0 => return None,
            1 => "1 workload that names no accelerator".to_owned(),
            n => format!("{n} workloads that name no accelerator"),
        };
        Some(format!("{} for {workloads}", self.least_to_most(bill.unnamed.amount, "")))
    }

    /// What acting on a finding saves, with what that is for: `$120/month`, `$8.50/run`, `up to $640/month`.
    pub(in crate::report) fn saved(&self, finding: &Finding) -> Option<String> {
        let mark = mark(finding.is_estimated);
        Some(format!("{}/{}", self.saving(finding.saves?, mark), finding.per.name()))
    }

    /// Of what is at rest as the text sets it, what full scale would save.
    pub(in crate::report) fn saving(&self, saves: MoneyRange, mark: &str) -> String {
        match saves.expected.is_zero() {
            true => format!("up to {mark}{}", self.amount(saves.ceiling)),
            false => format!("{mark}{}", self.amount(saves.expected)),
        }
    }

    /// What something costs, with what that is for. Of what is at rest as the text sets it: one of them for an hour, and all.
    pub(in crate::report) fn costs(&self, item: &BillItem) -> Option<String> {
        let (amount, mark) = (item.amount?, mark_of(item));
        if amount.expected.is_zero() && amount.ceiling > Money::ZERO {
            let each = item.hourly().map(|it| format!("{mark}{} an hour each, ", self.amount(it.expected)));
            return Some(format!(
                "nothing at rest, {}up to {mark}{}/{}",
                each.unwrap_or_default(),
                self.amount(amount.ceiling),
                item.per.name()
            ));
        }
        Some(format!("{mark}{}/{}", self.range(amount), item.per.name()))
    }

    /// In which currency amounts are read, where it is not dollars.
    pub(in crate::report) fn rate(&self) -> Option<String> {
        let rate = || format!("shown in {}: {} for a dollar, as the settings state", self.code(), self.per_usd);
        (*self != Currency::USD).then(rate)
    }

    /// Whatever the size, so that a sum can be redone with it.
    pub(in crate::report) fn exact_to_the_cent(&self, money: Money) -> String {
        let (symbol, money) = (self.symbol(), self.exchanged(money));
        let cents = (money.micros().unsigned_abs() + 5_000) / 10_000;
        let sign = if money < Money::ZERO { "-" } else { "" };
        match cents % 100 {
            0 => format!("{sign}{symbol}{}", grouped(cents / 100)),
            rest => format!("{sign}{symbol}{}.{rest:02}", grouped(cents / 100)),
        }
    }

    /// The price of an hour, to a hundredth of a cent.
    pub(in crate::report) fn per_hour(&self, money: Money) -> String {
        let (symbol, money) = (self.symbol(), self.exchanged(money));
        with_decimals(&symbol, money, 4)
    }
}

/// Stands before money that is not a price of the very thing: estimated from others, or of what is assumed.
pub(in crate::report) const MARK: &str = "~";

pub(in crate::report) fn mark(is_estimated: bool) -> &'static str {
    if is_estimated { MARK } else { "" }
}

/// The same before the money of a resource.
pub(in crate::report) fn mark_of(item: &BillItem) -> &'static str {
    mark(item.is_estimated())
}

/// What the money of something that ends is for.
pub(in crate::report) fn while_running(per: Period) -> &'static str {
    match per {
        Period::Hour => "per hour while they run",
        Period::Run => "per run",
        Period::Month => "a month",
    }
}

/// Every digit, and in dollars, so that a sum can be done again.
pub(in crate::report) fn exact(money: Money) -> String {
    with_decimals("$", money, 6)
}

/// At least two decimals, and at most so many.
fn with_decimals(symbol: &str, money: Money, most: usize) -> String {
    let dollars = format!("{:.most$}", money.usd());
    let kept = dollars.trim_end_matches('0');
    let decimals = kept.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{symbol}{kept}{}", "0".repeat(2usize.saturating_sub(decimals)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_reads_as_people_write_it() {
        let written = |dollars| Currency::USD.amount(Money::from_usd(dollars));
        assert_eq!(written(0.0), "$0");
        assert_eq!(written(8.5), "$8.50");
        assert_eq!(written(99.999), "$100");
        assert_eq!(written(39_821.4), "$39,821");
        assert_eq!(written(-1_234_567.0), "-$1,234,567");
        assert_eq!(Currency::USD.per_hour(Money::from_usd(1.006)), "$1.006");
        assert_eq!(Currency::USD.per_hour(Money::from_usd(55.04)), "$55.04");
        assert_eq!(Currency::USD.per_hour(Money::from_usd(3.0)), "$3.00");
    }
}
