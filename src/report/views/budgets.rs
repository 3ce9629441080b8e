//! What each budget has to pay, before and after a change.

use super::money::usd;
use crate::catalog::Money;
use crate::report::Report;
use crate::rules::Total;

/// A total that a rule about everything looks at, and what it may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    pub rule: String,
    /// Whose it is: `team search`.
    pub name: String,
    pub limit: Option<Money>,
    /// None where there was none.
    pub before: Option<Money>,
    pub after: Money,
}

impl Spent {
    /// It is what the rule says of this total.
    pub fn is_of(&self, rule: &str, total: &Total) -> bool {
        self.rule == rule && self.name == *total.name
    }

    pub(in crate::report) fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.after > limit)
    }

    /// The change moves it, or it is too much.
    pub(in crate::report) fn is_worth_telling(&self) -> bool {
        self.is_over() || self.before.is_some_and(|before| before != self.after)
    }

    /// `$7,000 left`, `$7,000 over`
    pub(in crate::report) fn left(&self) -> Option<String> {
        let left = self.limit? - self.after;
        Some(if left < Money::ZERO { format!("{} over", usd(-left)) } else { format!("{} left", usd(left)) })
    }
}

/// The totals of both states that have a limit.
pub fn budgets(before: &Report, after: &Report) -> Vec<Spent> {
    let earlier = |rule: &str, name: &str| {
        let same = before.totals.iter().find(|(of, total)| of == rule && &*total.name == name);
        same.and_then(|(_, total)| total.amount)
    };
    let spent = after.totals.iter().filter_map(|(rule, total)| {
        let (after, limit) = (total.amount?, Some(total.limit?));
        let before = earlier(rule, &total.name);
        Some(Spent { rule: rule.clone(), name: total.name.to_string(), limit, before, after })
    });
    spent.collect()
}
