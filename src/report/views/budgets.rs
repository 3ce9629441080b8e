//! Formats the usage of budgets.

use crate::catalog::{Currency, Money};
use crate::compare::BudgetUsage;

/// The form in which reports show the usage of a budget.
pub(in crate::report) trait BudgetText {
    fn is_over(&self) -> bool;

    /// Returns true if the change affects the total, or if the total exceeds its limit.
    fn is_worth_telling(&self) -> bool;

    /// Returns text such as `exceeded-budget, 730 hours, $2,000 in other repositories`: the rule that checks the budget, the
    /// hours of its month, and the part that these files do not contain.
    fn counted_by(&self, currency: Currency) -> String;

    /// Returns text such as `$7,000 left`, `$7,000 over`.
    fn remainder(&self, currency: Currency) -> Option<String>;
}

impl BudgetText for BudgetUsage {
    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.after > limit)
    }

    fn is_worth_telling(&self) -> bool {
        self.is_over() || self.before.is_some_and(|before| before != self.after)
    }

    fn counted_by(&self, currency: Currency) -> String {
        let elsewhere = match self.elsewhere > Money::ZERO {
            true => format!(", {} in other repositories", currency.amount(self.elsewhere)),
            false => String::new(),
        };
        format!("{}, {} hours{elsewhere}", self.rule, self.hours)
    }

    fn remainder(&self, currency: Currency) -> Option<String> {
        let left = self.limit? - self.after;
        Some(match left < Money::ZERO {
            true => format!("{} over", currency.amount(-left)),
            false => format!("{} left", currency.amount(left)),
        })
    }
}
