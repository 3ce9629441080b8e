//! Converts the JSON of reports to the values of an analysis, and checks the words in it.

use crate::catalog::{Money, MoneyRange};
use crate::compare::BudgetUsage;
use crate::inventory::ResourceId;
use crate::pricing::{CostChange, CostSum, Ending, HOURS_PER_MONTH, OpenCause, OpenPart, PastShelfLife};
use crate::report::difference::json::DifferenceDocument;
use crate::report::formats::json::{
    CatalogAge, CheckDocument, Unnamed, WireAmountSum, WireBounds, WireBudget, WireFinding, WireNumber,
    WirePastShelfLife, WireSumChange, WireTotal,
};
use crate::rules::RuleTotal;

impl From<WirePastShelfLife> for PastShelfLife {
    fn from(it: WirePastShelfLife) -> Self {
        let range = |today: Option<WireBounds>, usd: WireNumber| {
            today.map_or_else(|| MoneyRange::exactly(usd.into()), MoneyRange::from)
        };
        PastShelfLife::new(range(it.rented_today, it.rented), range(it.requested_today, it.requested))
    }
}

impl From<WireNumber> for Money {
    fn from(usd: WireNumber) -> Self {
        Money::from_usd(usd.0)
    }
}

impl From<WireBounds> for MoneyRange {
    /// Converts the bounds of a saved report, in which a missing maximum is null.
    fn from(bounds: WireBounds) -> Self {
        let money = |usd: Option<WireNumber>| usd.unwrap_or(WireNumber(f64::INFINITY)).into();
        MoneyRange { floor: money(bounds.floor), expected: money(bounds.expected), ceiling: money(bounds.ceiling) }
    }
}

impl From<WireTotal<'_>> for RuleTotal {
    fn from(saved: WireTotal<'_>) -> Self {
        let (amount, limit) = (saved.amount_usd.map(Into::into), saved.limit_usd.map(Into::into));
        let hours = saved.hours_per_month.map_or(HOURS_PER_MONTH, |it| it.0);
        let elsewhere = saved.elsewhere_usd.map(Into::into).unwrap_or_default();
        RuleTotal { name: saved.name.into(), amount, limit, size: None, elsewhere, hours }
    }
}

impl From<WireBudget<'_>> for BudgetUsage {
    fn from(saved: WireBudget<'_>) -> Self {
        BudgetUsage {
            rule: saved.rule.into_owned(),
            name: saved.name.into_owned(),
            limit: saved.limit_usd.map(Into::into),
            before: saved.before_usd.map(Into::into),
            after: saved.after_usd.into(),
            elsewhere: saved.elsewhere_usd.map(Into::into).unwrap_or_default(),
            hours: saved.hours_per_month.map_or(HOURS_PER_MONTH, |it| it.0),
        }
    }
}

impl From<Unnamed> for Ending {
    fn from(saved: Unnamed) -> Self {
        Ending { resources: saved.resources, amount: saved.usd.into(), ..Ending::default() }
    }
}

impl WireAmountSum {
    /// Returns the sum. An older report contains only the number of resources with an unknown cost.
    pub(super) fn sum(self, unpriced: usize) -> CostSum {
        self.numbered(0, unpriced)
    }

    /// Returns the sum of pods. Its resources have other numbers than those of machines, so that both can be counted together.
    pub(super) fn sum_of_pods(self) -> CostSum {
        self.numbered(usize::MAX / 2, 0)
    }

    fn numbered(self, first: usize, unpriced: usize) -> CostSum {
        let open = self.open.into_iter().enumerate().map(|(at, it)| OpenPart {
            of: it.of.into(),
            resource: Some(ResourceId(first + at)),
            cause: OpenCause::from_name(&it.cause).unwrap_or(OpenCause::File),
            why: it.why.into(),
        });
        let mut sum = CostSum::new(self.known.into(), open).unlimited(self.unlimited);
        let unsaid = if self.whole.is_some() { 0 } else { unpriced };
        for at in 0..unsaid {
            sum.leave_open(unsaid_part(Some(ResourceId(at)), OpenCause::Price));
        }
        if self.whole == Some(false) && sum.is_whole() {
            sum.leave_open(unsaid_part(None, OpenCause::File));
        }
        sum
    }
}

fn unsaid_part(resource: Option<ResourceId>, cause: OpenCause) -> OpenPart {
    OpenPart { of: "".into(), resource, cause, why: "the report contains no reason".into() }
}

impl WireSumChange {
    pub(super) fn change(self, unpriced: (usize, usize)) -> CostChange {
        let (before, after) = (self.before.sum(unpriced.0), self.after.sum(unpriced.1));
        let plain = after.minimum() - before.minimum();
        let difference = self.difference.map_or(plain, Into::into);
        // An older report shows cost that is no longer known only by a difference that is smaller than that of the
        // totals.
        let unsaid = difference - plain;
        let became_known = self.became_known.map_or(MoneyRange::ZERO, Into::into);
        let no_longer_known = self.no_longer_known.map_or(unsaid, Into::into);
        CostChange { before, after, difference, became_known, no_longer_known }
    }
}

/// Checks that a value is one of gpulint's own words. These words are printed unescaped, and anyone may have written
/// the file.
pub(super) fn check(words: &[&str]) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' ');
    match words.iter().find(|word| word.len() > 100 || !word.chars().all(plain)) {
        Some(word) => {
            let word: String = word.chars().take(40).collect();
            Err(format!("gpulint does not know the value `{}`", word.escape_debug()))
        }
        None => Ok(()),
    }
}

impl WireFinding<'_> {
    fn check(&self) -> Result<(), String> {
        check(&[&self.rule, &self.group, &self.layer])
    }
}

impl CatalogAge<'_> {
    fn words(&self) -> Vec<&str> {
        let code = self.currency.as_ref().map(|it| &*it.code);
        std::iter::once(&*self.as_of).chain(self.oldest_row_used.as_deref()).chain(code).collect()
    }
}

impl CheckDocument<'_> {
    pub(super) fn check(&self) -> Result<(), String> {
        check(&self.catalog.words())?;
        self.undetermined.iter().try_for_each(|it| check(&[&it.rule]))?;
        self.findings.iter().try_for_each(WireFinding::check)
    }
}

impl DifferenceDocument<'_> {
    pub(super) fn check(&self) -> Result<(), String> {
        self.catalog.iter().try_for_each(|it| check(&it.words()))?;
        self.undetermined.iter().try_for_each(|it| check(&[&it.rule]))?;
        let findings = [&self.new, &self.grown, &self.unchanged, &self.fixed, &self.accepted];
        findings.into_iter().flatten().try_for_each(WireFinding::check)
    }
}
