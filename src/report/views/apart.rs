//! What sums do not count, told beside them: examples, bases, what the settings exclude.

use super::money::{mark, usd, usd_range};
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

/// What runs and ends, as a sentence each.
pub(in crate::report) fn ending_lines(report: &Report) -> Vec<String> {
    let said = |((role, per), it): ((Role, Period), Ending)| {
        let mark = mark(report.is_estimated(role, per));
        let (amount, per, role) = (format!("{mark}{}", usd_range(it.amount)), per.name(), role.name());
        format!("Beside it, what runs and ends, {role}: {amount}/{per} ({})", it.resources)
    };
    report.bill.endings(report.inventory).into_iter().map(said).collect()
}
