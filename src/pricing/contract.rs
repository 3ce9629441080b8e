//! What a user agreed with a provider, and hardware that a user owns.

use crate::catalog::{Machine, Money, covers};

use super::Scenario;
use super::unit::dollars;
use crate::complete::plain;

/// A lower price for some machines, bought in one way. Patterns; empty covers everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    pub provider: String,
    pub machine: String,
    pub accelerator: String,
    pub region: String,
    pub way: Scenario,
    pub terms: Terms,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Terms {
    /// The share by which list prices are lowered, 0 to 1.
    Discount(f64),
    /// For one accelerator and hour.
    Rate(Money),
    /// A savings plan, reserved instances or committed use for so many years: 1 or 3.
    Committed(f64),
}

impl Contract {
    pub(super) fn covers(&self, machine: &Machine<'_>, region: &str) -> bool {
        let one = |pattern: &str, name: &str| pattern.is_empty() || covers(pattern, name);
        one(&self.provider, &machine.provider)
            && one(&self.machine, &machine.name)
            && one(&self.accelerator, &machine.accelerator)
            && one(&self.region, region)
    }

    /// The price under the contract, and how it is made.
    /// `list` says what the price was until here.
    pub(super) fn price(
        &self,
        machine: &Machine<'_>,
        list: impl Fn(Scenario) -> Option<Money>,
    ) -> Option<(Money, String)> {
        match self.terms {
            Terms::Committed(3.0) => {
                Some((list(Scenario::Reserved3y)?, "committed to for three years by contract".to_owned()))
            }
            Terms::Committed(_) => {
                Some((list(Scenario::Reserved1y)?, "committed to for a year by contract".to_owned()))
            }
            Terms::Discount(share) => {
                let keep = ((1.0 - share.clamp(0.0, 1.0)) * 1e6).round() as i64;
                Some((list(self.way)?.scaled(keep), format!("{}% off by contract", plain(share * 100.0))))
            }
            Terms::Rate(rate) => {
                let text = format!("{} x {} an accelerator by contract", plain(machine.count), dollars(rate));
                Some((rate.times(machine.count), text))
            }
        }
    }
}

/// Hardware that is owned: what an hour of one accelerator costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Owned {
    /// A pattern of canonical names.
    pub accelerator: String,
    pub per_accelerator_hour: Money,
    /// The sum behind it.
    pub how: String,
}

/// What a machine cost and costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Purchased {
    pub usd: f64,
    pub accelerators: f64,
    pub years: f64,
    pub watts: f64,
    pub usd_per_kwh: f64,
    /// The share of the hours in which it works, 0 to 1.
    pub utilization: f64,
}

/// Hours of a year of 365 days.
const HOURS_PER_YEAR: f64 = 8760.0;

impl Owned {
    pub fn at_rate(accelerator: impl Into<String>, rate: Money) -> Self {
        let how = format!("{} an hour of each, as stated", dollars(rate));
        Owned { accelerator: accelerator.into(), per_accelerator_hour: rate, how }
    }

    /// Spreads the purchase over the hours in which the hardware works, and adds its power. `None` where a number makes
    /// no sense.
    pub fn purchased(accelerator: impl Into<String>, it: Purchased) -> Option<Self> {
        let positive = [it.usd, it.accelerators, it.years, it.utilization].iter().all(|n| n.is_finite() && *n > 0.0);
        if !positive || it.utilization > 1.0 || !(it.watts >= 0.0 && it.usd_per_kwh >= 0.0) {
            return None;
        }
        let hours = it.years * HOURS_PER_YEAR * it.utilization;
        let power = it.watts / 1000.0 * it.usd_per_kwh;
        let rate = Money::from_usd((it.usd / hours + power) / it.accelerators);
        let how = format!(
            "(${} / ({} years x {} h x {}% used) + {} kW x ${}/kWh) / {} accelerators",
            plain(it.usd),
            plain(it.years),
            plain(HOURS_PER_YEAR),
            plain(it.utilization * 100.0),
            plain(it.watts / 1000.0),
            plain(it.usd_per_kwh),
            plain(it.accelerators)
        );
        Some(Owned { accelerator: accelerator.into(), per_accelerator_hour: rate, how })
    }
}
