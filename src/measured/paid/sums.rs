//! Defines the billed cost of one resource in one month.

use super::amount::BilledAmount;
use super::month::BillMonth;
use super::options::PaidOptions;
use super::row::{Charge, PaidRow};
use crate::catalog::Money;

/// The usage charges of a month in dollars; hours are machine hours.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PaidSums {
    pub paid: Money,
    /// The cost at list prices; `None` if a row has no list price.
    pub list: Option<Money>,
    pub hours: Option<BilledAmount>,
    pub on_demand: BilledAmount,
    pub spot: BilledAmount,
    pub committed: BilledAmount,
    /// True if the bill shows for each hour whether it ran on spot.
    pub is_spot_told: bool,
    /// True if the bill shows for each hour whether a commitment covered it.
    pub is_committed_told: bool,
    pub on_demand_paid: Money,
    pub on_demand_list: Money,
    pub corrected: Money,
    /// True if the month has not ended, or is not fully billed.
    pub is_open: bool,
}

/// The reason why a month has no sum.
type NoSum = String;

impl PaidOptions {
    /// Converts an amount to dollars, if the settings know its currency.
    pub fn dollars(&self, row: &PaidRow, amount: BilledAmount) -> Result<Money, NoSum> {
        let dollars = Money::from_trillionths(amount.trillionths());
        let currency = &self.currency;
        match row.currency.as_str() {
            "USD" => Ok(dollars),
            code if code == currency.code() => Ok(dollars.times(1.0 / currency.per_usd)),
            code => Err(format!(
                "billed in {code}: set `prices.currency` and `prices.units_per_usd` to convert it to dollars"
            )),
        }
    }

    /// Returns the sum of the usage rows of a month; none without rows.
    pub fn sums<'r>(
        &self,
        rows: impl Iterator<Item = &'r PaidRow>,
        month: BillMonth,
    ) -> Result<Option<PaidSums>, NoSum> {
        let of_month = rows.filter(|row| row.month == month && row.charge == Charge::Usage);
        let mut all: Option<PaidSums> = None;
        for row in of_month {
            let money = |amount: Option<BilledAmount>| self.dollars(row, amount.unwrap_or_default());
            let is_first = all.is_none();
            let sums =
                all.get_or_insert(PaidSums { is_spot_told: true, is_committed_told: true, ..PaidSums::default() });
            sums.paid += self.dollars(row, row.paid)?;
            sums.list = match (row.list, sums.list, is_first) {
                (Some(list), None, true) => Some(self.dollars(row, list)?),
                (Some(list), Some(before), _) => Some(before + self.dollars(row, list)?),
                _ => None,
            };
            // CPUs and memory that are billed separately have no hours: the hours of their accelerators count for the
            // machine.
            if let Some(hours) = row.hours {
                *sums.hours.get_or_insert_default() += hours;
            }
            sums.on_demand += row.on_demand.unwrap_or_default();
            sums.spot += row.spot.unwrap_or_default();
            sums.committed += row.committed.unwrap_or_default();
            let is_split = row.is_split();
            sums.is_spot_told &= is_split || row.spot.is_some();
            sums.is_committed_told &= is_split || row.committed.is_some();
            sums.on_demand_paid += money(row.on_demand_paid)?;
            sums.on_demand_list += money(row.on_demand_list)?;
            sums.corrected += money(row.corrected)?;
            sums.is_open |= row.open;
        }
        Ok(all)
    }
}

impl PaidSums {
    /// Returns an amount of hours as a share of all hours, if there are any.
    pub fn share(&self, of: BilledAmount) -> Option<f64> {
        let hours = self.hours.filter(|it| *it > BilledAmount::ZERO)?;
        Some(of.as_f64() / hours.as_f64())
    }
}
