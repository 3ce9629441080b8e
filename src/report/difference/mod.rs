//! Writes the effect of a change on cost and findings, in each format for comparisons.

mod headline;
pub(super) mod html;
pub(super) mod json;
pub(super) mod markdown;
pub(super) mod outputs;
pub(super) mod render;
mod rows;
pub(super) mod text;

use std::borrow::Cow;
use std::cmp::Reverse;

use super::views::basis::basis;
use super::views::money::mark;
use super::{Report, ReviewCommit, Team};
use crate::catalog::{Money, MoneyRange};
use crate::compare::BudgetUsage;
use crate::decide::{Decided, Verdict};
use crate::inventory::{BillingRole, Resource, Unjudged, UnjudgedStatus};
use crate::pricing::{ChangeKind, Delta, KnownSides, Period, ResourceCostChange};

/// The number of notes about limits that reports for people list.
const MOST_LIMITS: usize = 10;

/// Two states of a tree, and the difference between them.
pub struct Difference<'a> {
    pub before: Report<'a>,
    pub after: Report<'a>,
    pub delta: &'a Delta,
    pub new: Vec<&'a Decided>,
    /// Findings that existed before and got worse: their cost clearly rose, or they cover more.
    pub grown: Vec<&'a Decided>,
    pub unchanged: Vec<&'a Decided>,
    pub fixed: Vec<&'a Decided>,
    /// Findings that the change suppresses.
    pub accepted: Vec<&'a Decided>,
    /// The cost of each team.
    pub teams: Vec<Team>,
    pub budgets: Vec<BudgetUsage>,
    /// The base of the comparison, as the user named it.
    pub base: String,
    pub head: Option<ReviewCommit>,
    /// Notes about the comparison for the reader.
    pub notes: Vec<String>,
    /// Notes about limits on accelerators that the change removes or raises.
    pub removed_limits: Vec<String>,
    /// The changed files that were not read, as paths for people.
    pub not_read: Vec<String>,
    pub gate: GateResult,
}

/// Whether the comparison fails, and the setting that decides this. The verdict is in the report of the later state.
#[derive(Debug, Clone)]
pub struct GateResult {
    pub blocked: bool,
    pub setting: String,
}

impl<'a> Difference<'a> {
    /// Returns true if the change does not need a comment: at most, resources were moved or renamed.
    pub fn is_quiet(&self) -> bool {
        !self.has_something_to_tell() && self.delta.visible().all(|change| change.kind == ChangeKind::Moved)
    }

    fn has_something_to_tell(&self) -> bool {
        let is_news = |it: &Unjudged| it.standing != UnjudgedStatus::AsBefore;
        self.brought().next().is_some()
            || !self.fixed.is_empty()
            || !self.accepted.is_empty()
            || !self.removed_limits.is_empty()
            || self.after.inventory.unjudged.iter().any(is_news)
    }

    /// Returns the notes and the removed limits.
    fn all_notes(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let more = self.removed_limits.len().saturating_sub(MOST_LIMITS);
        let more = (more > 0).then(|| Cow::from(format!("{more} more notes about limits; --format json lists all")));
        let all = self.notes.iter().chain(self.removed_limits.iter().take(MOST_LIMITS));
        all.map(|note| Cow::from(note.as_str())).chain(more)
    }

    /// Returns true if the comparison fails only because something was not evaluated.
    fn fails_for_the_unread(&self) -> bool {
        self.gate.blocked && self.after.verdict == Verdict::NotJudged
    }

    /// Returns the findings that the change adds or makes worse.
    pub(super) fn brought(&self) -> impl Iterator<Item = &'a Decided> {
        self.new.iter().chain(&self.grown).copied()
    }

    /// Returns true if neither cost nor findings changed.
    pub(super) fn is_nothing(&self) -> bool {
        !self.has_something_to_tell() && self.delta.visible().next().is_none()
    }

    fn address(&self, change: &ResourceCostChange) -> Cow<'_, str> {
        let after = self.after.resource(change.after).map(|it| self.after.called(it));
        after.or_else(|| self.before.resource(change.before).map(|it| self.before.called(it))).unwrap_or_default()
    }

    /// Returns the cost before and after; none if the resource does not exist or has no price.
    fn costs(&self, change: &ResourceCostChange) -> (Option<Cost>, Option<Cost>) {
        let of = |report: &Report, id: Option<crate::inventory::ResourceId>| {
            let item = id.and_then(|id| report.bill.items.get(id.0))?;
            let is_unlimited = report.resource(id).is_some_and(Resource::is_unlimited);
            Some(Cost { per: item.per, range: item.amount?, is_estimated: item.is_estimated(), is_unlimited })
        };
        (of(&self.before, change.before), of(&self.after, change.after))
    }

    /// Formats amounts of both states in the currency of the later one.
    fn amount(&self, money: Money) -> String {
        self.after.currency.amount(money)
    }

    /// Returns text such as `+$4,180`, `-$120`, `$0`.
    fn signed(&self, money: Money) -> String {
        let sign = if money > Money::ZERO { "+" } else { "" };
        format!("{sign}{}", self.amount(money))
    }

    fn cost(&self, cost: Cost) -> String {
        let or_more = if cost.is_unlimited { " or more" } else { "" };
        format!("{}{}{or_more}{}", mark(cost.is_estimated), self.after.currency.range(cost.range), suffix(cost.per))
    }

    /// Returns the cost in one state; `nothing` if the resource is not in it.
    fn cost_in_words(&self, change: &ResourceCostChange, cost: Option<Cost>, is_there: bool, nothing: &str) -> String {
        match cost {
            Some(cost) => self.cost(cost),
            None if matches!(change.known, KnownSides::BecameKnown | KnownSides::NoLongerKnown) => "unknown".to_owned(),
            None if is_there => "unpriced".to_owned(),
            None => nothing.to_owned(),
        }
    }

    /// Returns the calculation of the amount, as it is after the change.
    fn basis(&self, change: &ResourceCostChange) -> Option<String> {
        let (report, id) = match change.after {
            Some(id) => (&self.after, id),
            None => (&self.before, change.before?),
        };
        basis(report.resource(Some(id))?, report.bill.items.get(id.0)?, self.after.currency)
    }

    /// Returns true if a changed resource of this role has an estimated price, before or after.
    fn is_estimated(&self, role: BillingRole) -> bool {
        let is_of = |change: &ResourceCostChange| {
            let resource = self.after.resource(change.after).or_else(|| self.before.resource(change.before));
            resource.is_some_and(|it| it.role == role)
        };
        let changes = self.delta.visible().filter(|change| is_of(change));
        let costs = changes.map(|change| self.costs(change));
        costs.flat_map(|(before, after)| [before, after]).flatten().any(|it| it.is_estimated && it.per == Period::Month)
    }

    /// Returns the increase from `before` to `after`; `?` if they are for different periods.
    fn increase(&self, change: &ResourceCostChange, before: Option<Cost>, after: Option<Cost>) -> String {
        let known = (before.is_some() || change.before.is_none()) && (after.is_some() || change.after.is_none());
        let costs = || [before, after].into_iter().flatten();
        let per = after.or(before).map_or(Period::Month, |it| it.per);
        let same = costs().all(|it| it.per == per);
        let mark = mark(costs().any(|it| it.is_estimated));
        let expected = |cost: Option<Cost>| cost.map_or(Money::ZERO, |it| it.range.expected);
        match known && same {
            _ if change.known != KnownSides::Both => "unknown".to_owned(),
            true => format!("{mark}{}{}", self.signed(expected(after) - expected(before)), suffix(per)),
            false => "?".to_owned(),
        }
    }

    /// Returns the visible changes, the largest first.
    fn largest_first(&self) -> Vec<&ResourceCostChange> {
        let mut changes: Vec<&ResourceCostChange> = self.delta.visible().collect();
        let size = |change: &ResourceCostChange| {
            let (before, after) = self.costs(change);
            let expected = |cost: Option<Cost>| cost.map_or(Money::ZERO, |it| it.range.expected);
            let ceiling = |cost: Option<Cost>| cost.map_or(Money::ZERO, |it| it.range.ceiling);
            let distance = |a: Money, b: Money| (a - b).micros().unsigned_abs();
            (distance(expected(after), expected(before)), distance(ceiling(after), ceiling(before)))
        };
        changes.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| self.address(a).cmp(&self.address(b))));
        changes
    }
}

/// Sorts findings: failing ones first, then by saving.
fn most_important_first<'a>(report: &Report, findings: &[&'a Decided]) -> Vec<&'a Decided> {
    let mut findings = findings.to_vec();
    findings.sort_by_cached_key(|decided| {
        let finding = &decided.finding;
        let saves = finding.saves.map(|saves| saves.expected);
        (decided.counted, Reverse(finding.level), Reverse(saves), report.order(finding), finding.rule.clone())
    });
    findings
}

/// An amount with its period.
#[derive(Debug, Clone, Copy)]
struct Cost {
    per: Period,
    range: MoneyRange,
    is_estimated: bool,
    /// True if nothing limits the number of machines or pods.
    is_unlimited: bool,
}

/// Returns the period behind an amount; empty for a month.
fn suffix(per: Period) -> String {
    if per == Period::Month { String::new() } else { format!("/{}", per.name()) }
}

fn of_month(cost: Option<Cost>) -> Option<MoneyRange> {
    cost.filter(|it| it.per == Period::Month).map(|it| it.range)
}
