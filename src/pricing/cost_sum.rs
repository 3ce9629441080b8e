//! Cost totals that show unknown parts: the known range, and the list of parts with unknown cost.

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::sync::Arc;

use crate::catalog::MoneyRange;
use crate::inventory::ResourceId;

/// A sum of costs. Callers choose what happens to unknown parts: `minimum` leaves them out, and `whole` returns `None`
/// if there are any.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostSum {
    known: MoneyRange,
    open: BTreeSet<OpenPart>,
    /// Whether the number of some resource has no limit.
    is_unlimited: bool,
}

/// A part of a total with unknown cost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenPart {
    /// The address of the resource, or the path of the file.
    pub of: Arc<str>,
    /// The resource in the state of this sum. `None` for a file.
    pub resource: Option<ResourceId>,
    pub cause: OpenCause,
    pub why: Arc<str>,
}

impl OpenPart {
    /// Returns the part for a block that may be a machine, or for a whole file, that was not evaluated.
    pub fn unread(address: Option<&str>, path: &str, why: &str) -> OpenPart {
        let cause = if address.is_some() { OpenCause::Machine } else { OpenCause::File };
        OpenPart { of: address.unwrap_or(path).into(), resource: None, cause, why: why.into() }
    }
}

/// The unknown value that makes the cost unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpenCause {
    /// The price of one machine or pod.
    Price,
    /// The number of machines or pods.
    Count,
    /// Whether the resource has accelerators, and which ones.
    Machine,
    /// The length of each run.
    Hours,
    /// The content of a file.
    File,
}

impl OpenCause {
    pub const ALL: [OpenCause; 5] =
        [OpenCause::Price, OpenCause::Count, OpenCause::Machine, OpenCause::Hours, OpenCause::File];

    pub fn from_name(name: &str) -> Option<OpenCause> {
        OpenCause::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            OpenCause::Price => "price",
            OpenCause::Count => "count",
            OpenCause::Machine => "machine",
            OpenCause::Hours => "hours",
            OpenCause::File => "file",
        }
    }
}

impl CostSum {
    pub fn new(known: MoneyRange, open: impl IntoIterator<Item = OpenPart>) -> CostSum {
        CostSum { known, open: open.into_iter().collect(), is_unlimited: false }
    }

    /// Marks the sum as unlimited if the number of its resources has no limit.
    #[must_use]
    pub fn unlimited(self, is_unlimited: bool) -> CostSum {
        CostSum { is_unlimited: self.is_unlimited || is_unlimited, ..self }
    }

    pub fn leave_open(&mut self, part: OpenPart) {
        self.open.insert(part);
    }

    /// Returns the known part: the sum itself if it is complete, and otherwise its minimum.
    pub fn minimum(&self) -> MoneyRange {
        self.known
    }

    /// Returns the sum, or `None` if a part is unknown.
    pub fn whole(&self) -> Option<MoneyRange> {
        self.is_whole().then_some(self.known)
    }

    pub fn is_whole(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether the cost is zero, complete and limited.
    pub fn is_nothing(&self) -> bool {
        self.is_whole() && !self.is_unlimited && self.known == MoneyRange::ZERO
    }

    /// Whether a number has no limit. The maximum then contains the expected cost of the parts without a limit.
    pub fn is_unlimited(&self) -> bool {
        self.is_unlimited
    }

    pub fn open(&self) -> impl Iterator<Item = &OpenPart> {
        self.open.iter()
    }

    /// Replaces the unknown parts without a resource: files, and blocks that may be machines.
    pub(super) fn set_unread(&mut self, parts: &[OpenPart]) {
        self.open.retain(|it| it.resource.is_some());
        self.open.extend(parts.iter().cloned());
    }
}

impl AddAssign<MoneyRange> for CostSum {
    fn add_assign(&mut self, other: MoneyRange) {
        self.known += other;
    }
}

impl AddAssign<&CostSum> for CostSum {
    fn add_assign(&mut self, other: &CostSum) {
        self.known += other.known;
        self.is_unlimited |= other.is_unlimited;
        self.open.extend(other.open.iter().cloned());
    }
}

/// The effect of a change on a sum. The difference covers only costs that both states know.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostChange {
    pub before: CostSum,
    pub after: CostSum,
    /// The difference of costs that both states know: added, removed and changed resources.
    pub difference: MoneyRange,
    /// The part of `after` whose cost is unknown in the earlier state. It was not added.
    pub became_known: MoneyRange,
    /// The part of `before` whose cost is unknown in the later state. It was not saved.
    pub no_longer_known: MoneyRange,
}

impl CostChange {
    /// Whether both sums are zero, complete and limited.
    pub fn is_nothing(&self) -> bool {
        self.before.is_nothing() && self.after.is_nothing()
    }

    /// Whether both states know the cost of the same resources.
    pub fn covers_all(&self) -> bool {
        self.became_known == MoneyRange::ZERO && self.no_longer_known == MoneyRange::ZERO
    }

    /// Whether the later state has a number without a limit, and the earlier state has none.
    pub fn becomes_unlimited(&self) -> bool {
        self.after.is_unlimited && !self.before.is_unlimited
    }

    pub fn is_same(&self) -> bool {
        self.difference == MoneyRange::ZERO && self.covers_all() && self.before.is_unlimited == self.after.is_unlimited
    }

    /// If one state has no limit, the maximum cannot be compared. The difference of the maximum is then the expected
    /// difference.
    #[must_use]
    pub fn use_expected_without_maximum(mut self) -> CostChange {
        if self.before.is_unlimited || self.after.is_unlimited {
            self.difference.ceiling = self.difference.expected;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Money;

    fn part(of: &str) -> OpenPart {
        OpenPart { of: of.into(), resource: Some(ResourceId(0)), cause: OpenCause::Price, why: "x".into() }
    }

    #[test]
    fn a_sum_is_whole_until_a_part_is_open() {
        let mut sum = CostSum::default();
        assert!(sum.is_nothing());
        sum += MoneyRange::exactly(Money::from_usd(5.0));
        assert_eq!(sum.whole(), Some(sum.minimum()));
        let mut other = CostSum::default();
        other.leave_open(part("a"));
        assert!(!other.is_nothing(), "an open part is not nothing");
        sum += &other;
        sum += &other;
        assert_eq!((sum.whole(), sum.open().count()), (None, 1));
        assert_eq!(sum.minimum().expected, Money::from_usd(5.0));
    }
}
