//! Computes the budgets before and after a change.

use crate::catalog::Money;
use crate::rules::RuleTotal;

/// A total that a rule checks, with its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetUsage {
    pub rule: String,
    /// The owner of the budget: `team search`.
    pub name: String,
    pub limit: Option<Money>,
    /// The total before the change; `None` if it did not exist.
    pub before: Option<Money>,
    pub after: Money,
    /// The part of both in other repositories.
    pub elsewhere: Money,
    /// The hours of the month on which the amounts are based.
    pub hours: f64,
}

impl BudgetUsage {
    /// Returns true if this is the total that a budget rule checks.
    pub fn is_of(&self, rule: &str, total: &RuleTotal) -> bool {
        self.rule == rule && self.name == *total.name
    }
}

/// The totals of one state, each with the rule that checks it.
type Totals = [(String, RuleTotal)];

/// Returns the totals of both states that have a limit.
pub fn budgets(before: &Totals, after: &Totals) -> Vec<BudgetUsage> {
    let earlier = |rule: &str, name: &str| {
        let same = before.iter().find(|(of, total)| of == rule && &*total.name == name);
        same.and_then(|(_, total)| total.amount)
    };
    let spent = after.iter().filter_map(|(rule, total)| {
        let (after, limit) = (total.amount?, Some(total.limit?));
        let before = earlier(rule, &total.name);
        let (elsewhere, hours) = (total.elsewhere, total.hours);
        Some(BudgetUsage { rule: rule.clone(), name: total.name.to_string(), limit, before, after, elsewhere, hours })
    });
    spent.collect()
}
