//! Contracts with a provider.

use crate::catalog::{CatalogMachine, Money, covers};

use super::CostScenario;
use super::unit::dollars;
use crate::resolve::plain;

/// A lower price for some machines in one way of buying. The fields are patterns; an empty one matches everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    pub provider: String,
    pub machine: String,
    pub accelerator: String,
    pub region: String,
    pub way: CostScenario,
    pub terms: ContractTerms,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ContractTerms {
    /// The discount on list prices, as a share from 0 to 1.
    Discount(f64),
    /// The price per accelerator and hour.
    Rate(Money),
    /// A savings plan, reserved instances or committed use for 1 or 3 years.
    Committed(f64),
}

impl Contract {
    pub(super) fn covers(&self, machine: &CatalogMachine<'_>, region: &str) -> bool {
        let one = |pattern: &str, name: &str| pattern.is_empty() || covers(pattern, name);
        one(&self.provider, &machine.provider)
            && one(&self.machine, &machine.name)
            && one(&self.accelerator, &machine.accelerator)
            && one(&self.region, region)
    }

    /// Returns the price under the contract, and its explanation. `list` returns the price without the contract.
    pub(super) fn price(
        &self,
        machine: &CatalogMachine<'_>,
        list: impl Fn(CostScenario) -> Option<Money>,
    ) -> Option<(Money, String)> {
        match self.terms {
            ContractTerms::Committed(3.0) => {
                Some((list(CostScenario::Reserved3y)?, "committed to for three years by contract".to_owned()))
            }
            ContractTerms::Committed(_) => {
                Some((list(CostScenario::Reserved1y)?, "committed to for a year by contract".to_owned()))
            }
            ContractTerms::Discount(share) => {
                let keep = ((1.0 - share.clamp(0.0, 1.0)) * 1e6).round() as i64;
                Some((list(self.way)?.scaled(keep), format!("{}% off by contract", plain(share * 100.0))))
            }
            ContractTerms::Rate(rate) => {
                let text = format!("{} x {} an accelerator by contract", plain(machine.count), dollars(rate));
                Some((rate.times(machine.count), text))
            }
        }
    }
}
