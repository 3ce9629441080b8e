//! Formats the usage of budgets.

use crate::catalog::{Currency, Money};
use crate::compare::BudgetUsage;

impl BudgetUsage {
    pub(in crate::report) fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.after > limit)
    }

    /// Returns true if the change affects the total, or if the total exceeds its limit.
    pub(in crate::report) fn is_worth_telling(&self) -> bool {
        self.is_over() || self.before.is_some_and(|before| before != self.after)
    }

    /// Returns text such as `exceeded-budget, 730 hours`: the rule that checks the budget, and the hours of its month.
    pub(in crate::report) fn counted_by(&self) -> String {
        format!("{}, {} hours", self.rule, self.hours)
    }

    /// Returns text such as `$7,000 left`, `$7,000 over`.
    pub(in crate::report) fn remainder(&self, currency: Currency) -> Option<String> {
        let left = self.limit? - self.after;
        Some(match left < Money::ZERO {
            true => format!("{} over", currency.amount(-left)),
            false => format!("{} left", currency.amount(left)),
        })
    }
}
