//! Contracts with a provider.

use crate::catalog::{Machine, Money, covers};

use super::Scenario;
use super::unit::dollars;
use crate::complete::plain;

/// A lower price for some machines in one way of buying. The fields are patterns; an empty one matches everything.
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
    /// The discount on list prices, as a share from 0 to 1.
    Discount(f64),
    /// The price per accelerator and hour.
    Rate(Money),
    /// A savings plan, reserved instances or committed use for 1 or 3 years.
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

    /// Returns the price under the contract, and its explanation. `list` returns the price without the contract.
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
