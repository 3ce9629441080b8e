//! The costs of resources before and after the fixes.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Currency, Money};
use crate::cli::session::judged::JudgedTree;
use crate::inventory::BillingRole;

/// The expected cost of each resource per month, by address.
pub(super) struct Costs {
    by_address: BTreeMap<String, (BillingRole, Money)>,
    currency: Currency,
}

impl Costs {
    pub(super) fn of(state: &JudgedTree) -> Costs {
        let (analysis, currency) = (&state.analysis, state.session.settings.pricing.currency);
        let mut by_address = BTreeMap::new();
        for (resource, item) in analysis.inventory.resources.iter().zip(&analysis.bill.items) {
            let Some(monthly) = item.monthly else { continue };
            by_address.entry(resource.address.clone()).or_insert((resource.role, Money::ZERO)).1 += monthly.expected;
        }
        Costs { by_address, currency }
    }

    /// Returns the saving of these resources as the end of a sentence. The costs of machines and of the pods on them
    /// are never added, because they are the same dollars.
    pub(super) fn saved(&self, after: &Costs, addresses: &BTreeSet<String>) -> String {
        let of = |role: BillingRole| -> f64 {
            let both = addresses
                .iter()
                .filter_map(|address| Some((self.by_address.get(address)?, after.by_address.get(address)?)));
            both.filter(|(before, _)| before.0 == role).map(|(before, after)| before.1.usd() - after.1.usd()).sum()
        };
        let all = [(of(BillingRole::Rented), "provisioned machines"), (of(BillingRole::Requested), "pods")];
        let told = all.into_iter().filter(|(saved, _)| *saved >= 0.5).map(|(saved, what)| {
            format!("{what} cost about {} less per month", self.currency.amount(Money::from_usd(saved)))
        });
        match told.collect::<Vec<_>>().join(", ") {
            told if told.is_empty() => told,
            told => format!("; {told}"),
        }
    }
}
