//! What a change does to cost and to findings, in each format that can tell it.

mod headline;
mod html;
mod json;
mod markdown;
mod outputs;
pub(super) mod render;
mod rows;
mod text;

use std::borrow::Cow;
use std::cmp::Reverse;

use super::views::basis::basis;
use super::views::money::mark;
use super::{Head, Report, Team};
use crate::catalog::{Money, MoneyRange};
use crate::compare::Spent;
use crate::decide::{Decided, Verdict};
use crate::inventory::{Resource, Role, Unjudged, UnjudgedStatus};
use crate::pricing::{Change, ChangeKind, Delta, Known, Period};

/// Two states of a tree, and what lies between them.
pub struct Difference<'a> {
    pub before: Report<'a>,
    pub after: Report<'a>,
    pub delta: &'a Delta,
    pub new: Vec<&'a Decided>,
    /// Those that were there before, about what costs clearly more now, or about more of the same text.
    pub grown: Vec<&'a Decided>,
    pub unchanged: Vec<&'a Decided>,
    pub fixed: Vec<&'a Decided>,
    /// Those that the change suppresses.
    pub accepted: Vec<&'a Decided>,
    /// What each team pays.
    pub teams: Vec<Team>,
    pub budgets: Vec<Spent>,
    /// What the change is compared with, as it was named.
    pub base: String,
    pub head: Option<Head>,
    /// What a reader must know about the comparison.
    pub notes: Vec<String>,
    pub gate: Gate,
}

/// Whether the gate is closed, and which setting made it so. The verdict stands in the report of the later state.
#[derive(Debug, Clone)]
pub struct Gate {
    pub blocked: bool,
    pub setting: String,
}

impl<'a> Difference<'a> {
    /// There is nothing that would be worth a first comment: at most, things have another name or place.
    pub fn is_quiet(&self) -> bool {
        !self.has_something_to_tell() && self.delta.visible().all(|change| change.kind == ChangeKind::Moved)
    }

    fn has_something_to_tell(&self) -> bool {
        let is_news = |it: &Unjudged| it.standing != UnjudgedStatus::AsBefore;
        self.brought().next().is_some()
            || !self.fixed.is_empty()
            || !self.accepted.is_empty()
            || self.after.inventory.unjudged.iter().any(is_news)
    }

    /// The gate is closed although nothing that was read fails.
    fn fails_for_the_unread(&self) -> bool {
        self.gate.blocked && self.after.verdict == Verdict::NotJudged
    }

    /// What the change brings: findings that are new, and those that are worse.
    pub(super) fn brought(&self) -> impl Iterator<Item = &'a Decided> {
        self.new.iter().chain(&self.grown).copied()
    }

    /// Neither cost nor findings changed.
    pub(super) fn is_nothing(&self) -> bool {
        !self.has_something_to_tell() && self.delta.visible().next().is_none()
    }

    fn address(&self, change: &Change) -> Cow<'_, str> {
        let after = self.after.resource(change.after).map(|it| self.after.called(it));
        after.or_else(|| self.before.resource(change.before).map(|it| self.before.called(it))).unwrap_or_default()
    }

    /// What it costs before and after, and for what; none for what is not there or not priced.
    fn costs(&self, change: &Change) -> (Option<Cost>, Option<Cost>) {
        let of = |report: &Report, id: Option<crate::inventory::ResourceId>| {
            let item = id.and_then(|id| report.bill.items.get(id.0))?;
            let is_unlimited = report.resource(id).is_some_and(Resource::is_unlimited);
            Some(Cost { per: item.per, range: item.amount?, is_estimated: item.is_estimated(), is_unlimited })
        };
        (of(&self.before, change.before), of(&self.after, change.after))
    }

    /// Both states are told in the currency of the later one.
    fn amount(&self, money: Money) -> String {
        self.after.currency.amount(money)
    }

    /// `+$4,180`, `-$120`, `$0`.
    fn signed(&self, money: Money) -> String {
        let sign = if money > Money::ZERO { "+" } else { "" };
        format!("{sign}{}", self.amount(money))
    }

    fn cost(&self, cost: Cost) -> String {
        let or_more = if cost.is_unlimited { " or more" } else { "" };
        format!("{}{}{or_more}{}", mark(cost.is_estimated), self.after.currency.range(cost.range), suffix(cost.per))
    }

    /// What one state says of the cost; `nothing` where the resource is not in it.
    fn cost_in_words(&self, change: &Change, cost: Option<Cost>, is_there: bool, nothing: &str) -> String {
        match cost {
            Some(cost) => self.cost(cost),
            None if matches!(change.known, Known::BecameKnown | Known::NoLongerKnown) => "not known".to_owned(),
            None if is_there => "unpriced".to_owned(),
            None => nothing.to_owned(),
        }
    }

    /// What the amount is made of, as it is after the change.
    fn basis(&self, change: &Change) -> Option<String> {
        let (report, id) = match change.after {
            Some(id) => (&self.after, id),
            None => (&self.before, change.before?),
        };
        basis(report.resource(Some(id))?, report.bill.items.get(id.0)?, self.after.currency)
    }

    /// Something that the change moves is estimated before or after it.
    fn is_estimated(&self, role: Role) -> bool {
        let is_of = |change: &Change| {
            let resource = self.after.resource(change.after).or_else(|| self.before.resource(change.before));
            resource.is_some_and(|it| it.role == role)
        };
        let changes = self.delta.visible().filter(|change| is_of(change));
        let costs = changes.map(|change| self.costs(change));
        costs.flat_map(|(before, after)| [before, after]).flatten().any(|it| it.is_estimated && it.per == Period::Month)
    }

    /// By how much it became dearer from this to that, where both are for the same.
    fn increase(&self, change: &Change, before: Option<Cost>, after: Option<Cost>) -> String {
        let known = (before.is_some() || change.before.is_none()) && (after.is_some() || change.after.is_none());
        let costs = || [before, after].into_iter().flatten();
        let per = after.or(before).map_or(Period::Month, |it| it.per);
        let same = costs().all(|it| it.per == per);
        let mark = mark(costs().any(|it| it.is_estimated));
        let expected = |cost: Option<Cost>| cost.map_or(Money::ZERO, |it| it.range.expected);
        match known && same {
            _ if change.known != Known::Both => "not known".to_owned(),
            true => format!("{mark}{}{}", self.signed(expected(after) - expected(before)), suffix(per)),
            false => "?".to_owned(),
        }
    }

    /// Changes that people want to see, the largest first.
    fn largest_first(&self) -> Vec<&Change> {
        let mut changes: Vec<&Change> = self.delta.visible().collect();
        let size = |change: &Change| {
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

/// What fails before what does not, then the most money.
fn most_important_first<'a>(report: &Report, findings: &[&'a Decided]) -> Vec<&'a Decided> {
    let mut findings = findings.to_vec();
    findings.sort_by_cached_key(|decided| {
        let finding = &decided.finding;
        let saves = finding.saves.map(|saves| saves.expected);
        (decided.counted, Reverse(finding.level), Reverse(saves), report.order(finding), finding.rule.clone())
    });
    findings
}

/// An amount and what it is for.
#[derive(Debug, Clone, Copy)]
struct Cost {
    per: Period,
    range: MoneyRange,
    is_estimated: bool,
    /// Nothing limits how many there are.
    is_unlimited: bool,
}

/// Nothing behind what is for a month, as nearly all is.
fn suffix(per: Period) -> String {
    if per == Period::Month { String::new() } else { format!("/{}", per.name()) }
}

fn of_month(cost: Option<Cost>) -> Option<MoneyRange> {
    cost.filter(|it| it.per == Period::Month).map(|it| it.range)
}
