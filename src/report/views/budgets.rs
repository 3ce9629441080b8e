//! How it is said what each budget has to pay.

use super::money::usd;
use crate::catalog::Money;
use crate::compare::Spent;

impl Spent {
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
