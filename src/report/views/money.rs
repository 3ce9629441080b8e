//! Formats amounts for people. This is the only place that rounds them.

use crate::catalog::{Currency, Money, MoneyRange, grouped};
use crate::inventory::BillingRole;
use crate::pricing::{Bill, BillItem, CostSum, Period};
use crate::rules::Finding;

/// Formats a number with at most two decimals.
pub(in crate::report) fn plain_number(n: f64) -> String {
    let text = format!("{n:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the name of a role in tables for people.
pub(in crate::report) fn role_heading(role: BillingRole) -> &'static str {
    match role {
        BillingRole::Rented => "provisioned machines",
        BillingRole::Requested => "requested by pods",
    }
}

impl Currency {
    /// Formats money: `$39,821`, `$8.50`, `-$120`.
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

    /// Formats the minimum and the maximum, or one number if they are equal.
    pub(in crate::report) fn range(&self, range: MoneyRange) -> String {
        if range.floor == range.ceiling {
            self.amount(range.expected)
        } else if range.expected == range.floor || range.expected == range.ceiling {
            format!("{}–{}", self.amount(range.floor), self.amount(range.ceiling))
        } else {
            format!("{} ({}–{})", self.amount(range.expected), self.amount(range.floor), self.amount(range.ceiling))
        }
    }

    /// Returns text such as `at least $36,199/month`, `~$36,199/month, maximum $74,132`; `unknown` if nothing has a
    /// price. The maximum of an incomplete sum is marked `at least`.
    pub(in crate::report) fn monthly(&self, sum: &CostSum, mark: &str) -> String {
        let range = sum.minimum();
        if range == MoneyRange::ZERO && !sum.is_whole() {
            return "unknown".to_owned();
        }
        let most = if sum.is_unlimited() {
            Some(", no maximum".to_owned())
        } else {
            // If two amounts round to the same number, it is shown once.
            (self.amount(range.ceiling) != self.amount(range.expected)).then(|| {
                let mark = if sum.is_whole() { mark } else { "at least " };
                format!(", maximum {mark}{}", self.amount(range.ceiling))
            })
        };
        let most = most.unwrap_or_default();
        match (sum.is_whole(), range.expected.is_zero()) {
            (false, true) => format!("unknown{most}"),
            _ => format!("{}/month{most}", self.at_least(sum, mark)),
        }
    }

    /// Returns the monthly cost, with its minimum if that is lower than expected.
    pub(in crate::report) fn monthly_with_floor(&self, sum: &CostSum, mark: &str) -> String {
        let range = sum.minimum();
        let floor =
            (sum.is_whole() && range.floor < range.expected).then(|| format!(", minimum {}", self.amount(range.floor)));
        format!("{}{}", self.monthly(sum, mark), floor.unwrap_or_default())
    }

    /// Returns text such as `~$3,620`, `at least $3,620`, `unknown`. An amount has one mark.
    pub(in crate::report) fn at_least(&self, sum: &CostSum, mark: &str) -> String {
        let expected = sum.minimum().expected;
        match (sum.is_whole(), expected.is_zero()) {
            (true, true) => self.amount(expected),
            (true, false) => format!("{mark}{}", self.amount(expected)),
            (false, true) => "unknown".to_owned(),
            (false, false) => format!("at least {}", self.amount(expected)),
        }
    }

    /// Returns text such as `$3`, `$1.59 to $44.25`.
    pub(in crate::report) fn least_to_most(&self, range: MoneyRange, mark: &str) -> String {
        let most = range.expected.max(range.ceiling);
        match range.floor == most {
            true => format!("{mark}{}", self.amount(most)),
            false => format!("{mark}{} to {}", self.amount(range.floor), self.amount(most)),
        }
    }

    /// Returns the cost of pods that request an accelerator without naming its type: `without an accelerator type:
    /// $1,032 to $16,149 (2 workloads)`.
    pub(in crate::report) fn unnamed(&self, bill: &Bill) -> Option<String> {
        let workloads = match bill.unnamed.resources {
            0 => return None,
            1 => "1 workload".to_owned(),
            n => format!("{n} workloads"),
        };
        Some(format!("without an accelerator type: {} ({workloads})", self.least_to_most(bill.unnamed.amount, "")))
    }

    /// Returns what a finding saves if you follow its help, with the period: `$120/month`, `$8.50/run`, `up to
    /// $640/month`.
    pub(in crate::report) fn saved(&self, finding: &Finding) -> Option<String> {
        let mark = mark(finding.is_estimated);
        Some(format!("{}/{}", self.saving(finding.saves?, mark), finding.per.name()))
    }

    /// Returns the expected saving, or `up to` the maximum saving if the expected cost is zero.
    pub(in crate::report) fn saving(&self, saves: MoneyRange, mark: &str) -> String {
        // The expected amount may be the best case, such as one machine where several may be needed.
        let is_best = saves.expected >= saves.ceiling && saves.floor.usd() < saves.expected.usd() / 2.0;
        match saves.expected.is_zero() || is_best {
            true => format!("up to {}", self.amount(saves.ceiling)),
            false => format!("{mark}{}", self.amount(saves.expected)),
        }
    }

    /// Returns the cost of an item, with the period. If the expected cost is zero: the hourly price of one, and the
    /// maximum of all.
    pub(in crate::report) fn costs(&self, item: &BillItem) -> Option<String> {
        let (amount, mark) = (item.amount?, mark_of(item));
        if amount.expected.is_zero() && amount.ceiling > Money::ZERO {
            let each = item.hourly().map(|it| format!("{mark}{}/h each, ", self.amount(it.expected)));
            return Some(format!(
                "{} expected, {}maximum {mark}{}/{}",
                self.amount(Money::ZERO),
                each.unwrap_or_default(),
                self.amount(amount.ceiling),
                item.per.name()
            ));
        }
        Some(format!("{mark}{}/{}", self.range(amount), item.per.name()))
    }

    /// Returns the currency of the amounts and its rate; nothing for dollars.
    pub(in crate::report) fn rate(&self) -> Option<String> {
        let rate = || format!("amounts in {}: {} per dollar, from the settings", self.code(), self.per_usd);
        (*self != Currency::USD).then(rate)
    }

    /// Formats an amount exact to the cent at any size, so that readers can check a calculation.
    pub(in crate::report) fn exact_to_the_cent(&self, money: Money) -> String {
        let (symbol, money) = (self.symbol(), self.exchanged(money));
        let cents = (money.micros().unsigned_abs() + 5_000) / 10_000;
        let sign = if money < Money::ZERO { "-" } else { "" };
        match cents % 100 {
            0 => format!("{sign}{symbol}{}", grouped(cents / 100)),
            rest => format!("{sign}{symbol}{}.{rest:02}", grouped(cents / 100)),
        }
    }

    /// Returns the price per hour, rounded to a hundredth of a cent.
    pub(in crate::report) fn per_hour(&self, money: Money) -> String {
        let (symbol, money) = (self.symbol(), self.exchanged(money));
        with_decimals(&symbol, money, 4)
    }
}

/// Marks an amount that is estimated from other prices or from an assumption.
pub(in crate::report) const MARK: &str = "~";

pub(in crate::report) fn mark(is_estimated: bool) -> &'static str {
    if is_estimated { MARK } else { "" }
}

/// Returns the mark for the cost of a resource.
pub(in crate::report) fn mark_of(item: &BillItem) -> &'static str {
    mark(item.is_estimated())
}

/// Returns the period of an amount, in words.
pub(in crate::report) fn while_running(per: Period) -> &'static str {
    match per {
        Period::Hour => "per hour of running",
        Period::Run => "per run",
        Period::Month => "per month",
    }
}

/// Returns all digits in dollars, so that readers can check a calculation.
pub(in crate::report) fn exact(money: Money) -> String {
    with_decimals("$", money, 6)
}

/// Writes at least two decimals, and at most this many.
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
