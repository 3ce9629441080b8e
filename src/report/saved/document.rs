//! Defines the part of gpulint's JSON reports that is read back. Unknown keys of later versions are ignored.

use serde::Deserialize;

use crate::catalog::{Money, MoneyRange};
use crate::compare::BudgetUsage;
use crate::inventory::ResourceId;
use crate::pricing::{CostChange, CostSum, Ending, HOURS_PER_MONTH, OpenCause, OpenPart, PastShelfLife};
use crate::rules::RuleTotal;

#[derive(Deserialize)]
pub(super) struct CheckDocument {
    pub(super) findings: Vec<SavedFinding>,
    #[serde(default)]
    pub(super) resources: Vec<SavedResource>,
    #[serde(default)]
    pub(super) runs: Vec<SavedRun>,
    #[serde(default)]
    pub(super) undetermined: Vec<SavedUnknown>,
    #[serde(default)]
    pub(super) totals: Vec<SavedTotal>,
    #[serde(default)]
    pub(super) unknown_machines: Vec<SavedMachine>,
    #[serde(default)]
    pub(super) assumed: Vec<SavedMachine>,
    #[serde(default)]
    pub(super) skipped: Vec<SavedSkipped>,
    pub(super) bill: SavedBill,
    pub(super) catalog: SavedCatalog,
    #[serde(default)]
    pub(super) verdict: String,
    #[serde(default)]
    pub(super) not_judged: Vec<SavedUnjudged>,
}

#[derive(Deserialize)]
pub(super) struct DifferenceDocument {
    pub(super) base: String,
    #[serde(default)]
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    pub(super) cost: SavedCost,
    pub(super) changes: Vec<SavedChange>,
    #[serde(default)]
    pub(super) runs: Vec<SavedRun>,
    #[serde(default)]
    pub(super) teams: Vec<SavedTeam>,
    #[serde(default)]
    pub(super) budgets: Vec<SavedBudget>,
    pub(super) new: Vec<SavedFinding>,
    #[serde(default)]
    pub(super) grown: Vec<SavedFinding>,
    pub(super) unchanged: Vec<SavedFinding>,
    pub(super) fixed: Vec<SavedFinding>,
    #[serde(default)]
    pub(super) undetermined: Vec<SavedUnknown>,
    #[serde(default)]
    pub(super) accepted: Vec<SavedFinding>,
    #[serde(default)]
    pub(super) unpriced: Vec<SavedMachine>,
    #[serde(default)]
    pub(super) unknown_machines: Vec<SavedMachine>,
    #[serde(default)]
    pub(super) assumed: Vec<SavedMachine>,
    #[serde(default)]
    pub(super) skipped: Vec<SavedSkipped>,
    pub(super) catalog: Option<SavedCatalog>,
    pub(super) blocked: bool,
    pub(super) decided_by: String,
    #[serde(default)]
    pub(super) verdict: String,
    #[serde(default)]
    pub(super) not_judged: Vec<SavedUnjudged>,
}

#[derive(Deserialize, Clone, Copy)]
pub(super) struct SavedBounds {
    pub(super) floor: Option<f64>,
    pub(super) expected: Option<f64>,
    pub(super) ceiling: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct SavedFinding {
    pub(super) rule: String,
    pub(super) group: String,
    pub(super) layer: String,
    pub(super) level: String,
    pub(super) confidence: String,
    pub(super) risk: String,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) address: Option<String>,
    #[serde(default)]
    pub(super) root: Option<String>,
    #[serde(default)]
    pub(super) run: Option<String>,
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) total: Option<SavedTotal>,
    pub(super) message: String,
    pub(super) help: Option<String>,
    pub(super) saves_usd_per_month: Option<SavedBounds>,
    pub(super) saves_usd: Option<SavedBounds>,
    pub(super) saves_per: Option<String>,
    /// Older reports do not contain this field.
    pub(super) counted: Option<String>,
    #[serde(default)]
    pub(super) related: Vec<SavedRelated>,
    pub(super) suppressed: Option<SavedSuppression>,
    pub(super) baseline: Option<SavedBaseline>,
    #[serde(default)]
    pub(super) fix: Option<SavedFix>,
    pub(super) fix_safety: Option<String>,
    pub(super) fix_declined: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct SavedTotal {
    pub(super) rule: String,
    pub(super) name: String,
    pub(super) amount_usd: Option<f64>,
    pub(super) limit_usd: Option<f64>,
    /// Older reports contain neither this field nor the fields below.
    #[serde(default)]
    pub(super) hours_per_month: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct SavedBudget {
    pub(super) rule: String,
    pub(super) name: String,
    pub(super) limit_usd: Option<f64>,
    pub(super) before_usd: Option<f64>,
    pub(super) after_usd: f64,
    #[serde(default)]
    pub(super) hours_per_month: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct SavedRelated {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) message: String,
}

#[derive(Deserialize)]
pub(super) struct SavedSuppression {
    pub(super) reason: Option<String>,
    pub(super) until: Option<String>,
    pub(super) path: String,
    pub(super) line: usize,
}

#[derive(Deserialize)]
pub(super) struct SavedBaseline {
    pub(super) since: String,
}

#[derive(Deserialize)]
pub(super) struct SavedFix {
    pub(super) path: String,
    pub(super) first_line: usize,
    pub(super) last_line: usize,
    pub(super) replacement: String,
}

#[derive(Deserialize)]
pub(super) struct SavedUnknown {
    pub(super) rule: String,
    pub(super) address: Option<String>,
    #[serde(default)]
    pub(super) root: Option<String>,
    #[serde(default)]
    pub(super) run: Option<String>,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) cause: String,
}

#[derive(Deserialize)]
pub(super) struct SavedMachine {
    pub(super) address: String,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) cause: String,
}

#[derive(Deserialize)]
pub(super) struct SavedSkipped {
    pub(super) path: String,
    /// Older reports do not contain this field.
    #[serde(default)]
    pub(super) kind: String,
    pub(super) reason: String,
}

#[derive(Deserialize)]
pub(super) struct SavedUnjudged {
    pub(super) path: String,
    pub(super) line: Option<usize>,
    /// Older reports do not contain this field.
    pub(super) address: Option<String>,
    /// Older reports do not contain this field.
    #[serde(default)]
    pub(super) kind: String,
    pub(super) reason: String,
    pub(super) cure: Option<String>,
    pub(super) standing: String,
}

#[derive(Deserialize)]
pub(super) struct SavedCatalog {
    pub(super) version: String,
    pub(super) as_of: String,
    #[serde(default)]
    pub(super) oldest_row_used: Option<String>,
    #[serde(default)]
    pub(super) past_shelf_life: SavedPastShelfLife,
    #[serde(default)]
    pub(super) currency: Option<SavedCurrency>,
}

#[derive(Deserialize, Default, Clone, Copy)]
pub(super) struct SavedPastShelfLife {
    rented: f64,
    requested: f64,
    /// Older reports do not contain this field.
    #[serde(default)]
    rented_today: Option<SavedBounds>,
    #[serde(default)]
    requested_today: Option<SavedBounds>,
}

impl From<SavedPastShelfLife> for PastShelfLife {
    fn from(it: SavedPastShelfLife) -> Self {
        let range = |today: Option<SavedBounds>, usd| {
            today.map_or_else(|| MoneyRange::exactly(Money::from_usd(usd)), MoneyRange::from)
        };
        PastShelfLife::new(range(it.rented_today, it.rented), range(it.requested_today, it.requested))
    }
}

#[derive(Deserialize)]
pub(super) struct SavedCurrency {
    pub(super) code: String,
    pub(super) per_usd: f64,
}

#[derive(Deserialize)]
pub(super) struct SavedBill {
    pub(super) rented: SavedCostSum,
    pub(super) requested: SavedCostSum,
    /// Older reports do not contain this field.
    #[serde(default)]
    pub(super) combined: Option<SavedCostSum>,
    #[serde(default)]
    pub(super) attached: Option<SavedCostSum>,
    pub(super) unpriced: usize,
    #[serde(default)]
    pub(super) unnamed: Option<SavedUnnamed>,
    #[serde(default)]
    pub(super) stale: usize,
    #[serde(default)]
    pub(super) apart: Vec<SavedApart>,
}

#[derive(Deserialize)]
pub(super) struct SavedUnnamed {
    pub(super) resources: usize,
    pub(super) usd: SavedBounds,
}

#[derive(Deserialize)]
pub(super) struct SavedApart {
    pub(super) counted: String,
    pub(super) resources: usize,
    pub(super) rented: SavedCostSum,
    pub(super) requested: SavedCostSum,
    #[serde(default)]
    pub(super) unpriced: usize,
}

#[derive(Deserialize)]
pub(super) struct SavedCostSum {
    #[serde(flatten)]
    pub(super) known: SavedBounds,
    /// Older reports do not contain this field.
    pub(super) whole: Option<bool>,
    #[serde(default)]
    pub(super) unlimited: bool,
    #[serde(default)]
    pub(super) open: Vec<SavedOpenPart>,
}

#[derive(Deserialize)]
pub(super) struct SavedOpenPart {
    of: String,
    cause: String,
    why: String,
}

/// A deployment, as far as reports contain it.
#[derive(Deserialize)]
pub(super) struct SavedRun {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) folder: String,
    pub(super) variant: Option<String>,
    pub(super) counted: String,
    #[serde(default)]
    pub(super) inputs: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct SavedResource {
    pub(super) address: String,
    #[serde(default)]
    pub(super) run: Option<String>,
    #[serde(default)]
    pub(super) counted: Option<String>,
    #[serde(default)]
    pub(super) root: Option<String>,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) kind: String,
    pub(super) role: String,
    pub(super) provider: Option<String>,
    pub(super) region: Option<String>,
    pub(super) machine: Option<String>,
    pub(super) accelerator: Option<String>,
    pub(super) accelerator_count: Option<f64>,
    pub(super) purchase: Option<String>,
    pub(super) team: Option<String>,
    pub(super) count: SavedCount,
    pub(super) price: SavedPrice,
}

#[derive(Deserialize)]
pub(super) struct SavedCount {
    pub(super) floor: Option<f64>,
    pub(super) expected: Option<f64>,
    pub(super) ceiling: Option<f64>,
    pub(super) unknown: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct SavedPrice {
    pub(super) status: String,
    pub(super) reason: Option<String>,
    pub(super) usd_per_hour: Option<f64>,
    pub(super) usd_per_month: Option<SavedBounds>,
    /// Older reports do not contain this field.
    pub(super) usd_in_sum: Option<SavedBounds>,
    pub(super) per: Option<String>,
    pub(super) usd: Option<SavedBounds>,
    pub(super) hours: Option<f64>,
    pub(super) as_of: Option<String>,
    pub(super) stale: Option<String>,
    pub(super) starts_per_month: Option<f64>,
    #[serde(default)]
    pub(super) accelerator_unnamed: bool,
}

#[derive(Deserialize)]
pub(super) struct SavedAmount {
    pub(super) per: String,
    pub(super) usd: SavedBounds,
    #[serde(default)]
    pub(super) estimated: bool,
}

#[derive(Deserialize)]
pub(super) struct SavedCost {
    pub(super) rented: SavedSum,
    pub(super) requested: SavedSum,
    /// Older reports do not contain this field.
    pub(super) combined: Option<SavedSum>,
    /// Older reports do not contain this field.
    pub(super) attached: Option<SavedSum>,
    pub(super) unpriced_before: usize,
    pub(super) unpriced_after: usize,
    pub(super) unnamed_after: Option<SavedUnnamed>,
}

#[derive(Deserialize)]
pub(super) struct SavedSum {
    pub(super) before: SavedCostSum,
    pub(super) after: SavedCostSum,
    pub(super) difference: Option<SavedBounds>,
    /// Older reports do not contain this field.
    pub(super) became_known: Option<SavedBounds>,
    pub(super) no_longer_known: Option<SavedBounds>,
}

#[derive(Deserialize)]
pub(super) struct SavedTeam {
    pub(super) team: Option<String>,
    pub(super) before: SavedCostSum,
    pub(super) after: SavedCostSum,
}

#[derive(Deserialize)]
pub(super) struct SavedChange {
    pub(super) change: String,
    pub(super) address: String,
    pub(super) address_before: Option<String>,
    #[serde(default)]
    pub(super) run: Option<String>,
    pub(super) kind: String,
    pub(super) role: String,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) usd_per_month_before: Option<SavedBounds>,
    pub(super) usd_per_month_after: Option<SavedBounds>,
    pub(super) cost_before: Option<SavedAmount>,
    pub(super) cost_after: Option<SavedAmount>,
    #[serde(default)]
    pub(super) details: Vec<SavedDetail>,
    /// Older reports do not contain this field.
    pub(super) resource: Option<SavedResource>,
    #[serde(default)]
    pub(super) lost: bool,
    pub(super) known: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct SavedDetail {
    pub(super) what: String,
    pub(super) before: String,
    pub(super) after: String,
}

impl From<SavedBounds> for MoneyRange {
    /// Converts the bounds of a saved report, in which a missing maximum is null.
    fn from(bounds: SavedBounds) -> Self {
        let money = |usd: Option<f64>| Money::from_usd(usd.unwrap_or(f64::INFINITY));
        MoneyRange { floor: money(bounds.floor), expected: money(bounds.expected), ceiling: money(bounds.ceiling) }
    }
}

impl From<SavedTotal> for RuleTotal {
    fn from(saved: SavedTotal) -> Self {
        let (amount, limit) = (saved.amount_usd.map(Money::from_usd), saved.limit_usd.map(Money::from_usd));
        let hours = saved.hours_per_month.unwrap_or(HOURS_PER_MONTH);
        RuleTotal { name: saved.name.into(), amount, limit, hours }
    }
}

impl From<SavedBudget> for BudgetUsage {
    fn from(saved: SavedBudget) -> Self {
        BudgetUsage {
            rule: saved.rule,
            name: saved.name,
            limit: saved.limit_usd.map(Money::from_usd),
            before: saved.before_usd.map(Money::from_usd),
            after: Money::from_usd(saved.after_usd),
            hours: saved.hours_per_month.unwrap_or(HOURS_PER_MONTH),
        }
    }
}

impl From<SavedUnnamed> for Ending {
    fn from(saved: SavedUnnamed) -> Self {
        Ending { resources: saved.resources, amount: saved.usd.into(), ..Ending::default() }
    }
}

impl SavedCostSum {
    /// Returns the sum. An older report contains only the number of resources with an unknown cost.
    pub(super) fn sum(self, unpriced: usize) -> CostSum {
        let open = self.open.into_iter().enumerate().map(|(at, it)| OpenPart {
            of: it.of.into(),
            resource: Some(ResourceId(at)),
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

impl SavedSum {
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

impl SavedFinding {
    fn check(&self) -> Result<(), String> {
        check(&[&self.rule, &self.group, &self.layer])
    }
}

impl SavedCatalog {
    fn words(&self) -> Vec<&str> {
        let code = self.currency.as_ref().map(|it| it.code.as_str());
        std::iter::once(self.as_of.as_str()).chain(self.oldest_row_used.as_deref()).chain(code).collect()
    }
}

impl CheckDocument {
    pub(super) fn check(&self) -> Result<(), String> {
        check(&self.catalog.words())?;
        self.undetermined.iter().try_for_each(|it| check(&[&it.rule]))?;
        self.findings.iter().try_for_each(SavedFinding::check)
    }
}

impl DifferenceDocument {
    pub(super) fn check(&self) -> Result<(), String> {
        self.catalog.iter().try_for_each(|it| check(&it.words()))?;
        self.undetermined.iter().try_for_each(|it| check(&[&it.rule]))?;
        let findings = [&self.new, &self.grown, &self.unchanged, &self.fixed, &self.accepted];
        findings.into_iter().flatten().try_for_each(SavedFinding::check)
    }
}
