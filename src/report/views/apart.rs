//! What sums do not count, told beside them: examples, bases, what the settings exclude.

use std::collections::BTreeMap;

use super::money::{usd, usd_range};
use crate::catalog::MoneyRange;
use crate::inventory::{Counted, Role};
use crate::pricing::{Ending, Period};
use crate::report::Report;

/// A line for each: `in examples and tests, not added: 2, $81,000/month rented`.
pub(in crate::report) fn lines(report: &Report) -> Vec<String> {
    let line = |(counted, sum): (&Counted, &crate::pricing::Apart)| {
        let mut parts = vec![sum.resources.to_string()];
        for (range, role) in [(sum.rented, "rented"), (sum.requested, "requested")] {
            if range != MoneyRange::ZERO {
                parts.push(format!("{}/month {role}", usd(range.expected)));
            }
        }
        if sum.unpriced > 0 {
            parts.push(format!("{} unpriced", sum.unpriced));
        }
        format!("{}, not added: {}", place(*counted), parts.join(", "))
    };
    report.bill.apart.iter().map(line).collect()
}

fn place(counted: Counted) -> &'static str {
    match counted {
        Counted::Deployed => "deployed",
        Counted::Base => "in bases that others stand in for",
        Counted::Module => "in modules",
        Counted::Example => "in examples and tests",
        Counted::Excluded => "excluded by the settings",
    }
}

/// What runs and ends, added up by what its amounts are for.
pub(in crate::report) fn endings(report: &Report) -> BTreeMap<(Role, Period), Ending> {
    let mut all: BTreeMap<(Role, Period), Ending> = BTreeMap::new();
    for (resource, item) in report.inventory.resources.iter().zip(&report.bill.items) {
        let Some(amount) = item.amount.filter(|_| item.per != Period::Month && resource.is_added()) else { continue };
        let ending = all.entry((resource.role, item.per)).or_default();
        ending.resources += 1;
        ending.amount += amount;
    }
    all
}

/// The same as a sentence each.
pub(in crate::report) fn ending_lines(report: &Report) -> Vec<String> {
    let said = |((role, per), it): ((Role, Period), Ending)| {
        let (amount, per, role) = (usd_range(it.amount), per.name(), role.name());
        format!("Beside it, what runs and ends, {role}: {amount}/{per} ({})", it.resources)
    };
    endings(report).into_iter().map(said).collect()
}
