//! What a change does to cost and to findings, in each format that can tell it.

mod json;
mod markdown;
mod text;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;

use super::views::judged;
use super::views::money::mark;
use super::{Format, Report, Room, Style, Team};
use crate::catalog::{Money, MoneyRange};
use crate::decide::{Decided, Verdict};
use crate::inventory::{Role, Standing, Unjudged};
use crate::pricing::{BeforeAfter, Change, ChangeKind, Delta, Period};
use crate::source::Date;

/// Two states of a tree, and what lies between them.
pub struct Difference<'a> {
    pub before: Report<'a>,
    pub after: Report<'a>,
    pub delta: &'a Delta,
    pub new: Vec<&'a Decided>,
    pub unchanged: Vec<&'a Decided>,
    pub fixed: Vec<&'a Decided>,
    /// Those that the change suppresses.
    pub accepted: Vec<&'a Decided>,
    /// What each team pays.
    pub teams: Vec<Team>,
    /// What the change is compared with, as it was named.
    pub base: String,
    pub head: Option<Head>,
    /// What a reader must know about the comparison.
    pub notes: Vec<String>,
    pub gate: Gate,
}

/// The commit under review, for links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    url: String,
}

impl Head {
    /// The address of the repository's files at the commit; nothing in it could end a link in Markdown.
    pub fn new(url: &str) -> Option<Head> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/%:@+=,".contains(c);
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        (is_web && url.chars().all(plain)).then(|| Head { url: url.trim_end_matches('/').to_owned() })
    }

    /// Without a slash at the end.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

/// Whether the gate is closed, and which setting made it so. The verdict stands in the report of the later state.
#[derive(Debug, Clone)]
pub struct Gate {
    pub blocked: bool,
    pub setting: String,
}

/// The difference in a format; `None` where the format is one of findings alone.
pub fn difference(format: Format, difference: &Difference, style: Style) -> Option<String> {
    match format {
        Format::Text => Some(text::difference(difference, style)),
        Format::Json => Some(json::difference(difference)),
        Format::Markdown => Some(markdown::difference(difference, Room::default())),
        Format::Outputs => Some(super::formats::outputs::difference(difference)),
        // SARIF tells everything, and what of it was there before.
        Format::Sarif => {
            let there: HashSet<*const Decided> =
                difference.unchanged.iter().map(|it| std::ptr::from_ref(*it)).collect();
            let was_there = |decided: &Decided| there.contains(&std::ptr::from_ref(decided));
            let mark = |decided: &Decided| {
                let mut marked = decided.clone();
                if was_there(decided) {
                    marked.baselined = Some(Date::default());
                }
                marked
            };
            let after = &difference.after;
            let all: Vec<Decided> = after.findings.iter().map(mark).collect();
            let report = Report { findings: &all, catalog: after.catalog.clone(), ..*after };
            Some(super::render(format, &report, style))
        }
        // What knows no change is told what the change brought.
        format => {
            let new: Vec<Decided> = difference.new.iter().map(|decided| (*decided).clone()).collect();
            let after = &difference.after;
            let report = Report { findings: &new, catalog: after.catalog.clone(), ..*after };
            Some(super::render(format, &report, style))
        }
    }
}

/// The difference as a comment.
pub fn comment_on_change(difference: &Difference, room: Room) -> String {
    markdown::difference(difference, room)
}

impl<'a> Difference<'a> {
    /// There is nothing that would be worth a first comment: at most, things have another name or place.
    pub fn is_quiet(&self) -> bool {
        !self.has_something_to_tell() && self.delta.visible().all(|change| change.kind == ChangeKind::Moved)
    }

    fn has_something_to_tell(&self) -> bool {
        let is_news = |it: &Unjudged| it.standing != Standing::AsBefore;
        !self.new.is_empty()
            || !self.fixed.is_empty()
            || !self.accepted.is_empty()
            || self.after.inventory.unjudged.iter().any(is_news)
    }

    /// The gate is closed although nothing that was read fails.
    fn fails_for_the_unread(&self) -> bool {
        self.gate.blocked && self.after.verdict == Verdict::NotJudged
    }

    /// New findings: what fails before what does not, then the most money.
    fn most_important_first(&self) -> Vec<&'a Decided> {
        let mut new = self.new.clone();
        new.sort_by_key(|decided| {
            let finding = &decided.finding;
            let saves = finding.saves.map(|saves| saves.expected);
            (Reverse(finding.level), Reverse(saves), finding.span, finding.rule.clone())
        });
        new
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
            Some(Cost { per: item.per, range: item.amount?, is_estimated: item.is_estimated() })
        };
        (of(&self.before, change.before), of(&self.after, change.after))
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

    /// By how much it became dearer, where both are for the same.
    fn increase(&self, change: &Change) -> String {
        let (before, after) = self.costs(change);
        let known = (before.is_some() || change.before.is_none()) && (after.is_some() || change.after.is_none());
        let costs = || [before, after].into_iter().flatten();
        let per = after.or(before).map_or(Period::Month, |it| it.per);
        let same = costs().all(|it| it.per == per);
        let mark = mark(costs().any(|it| it.is_estimated));
        let expected = |cost: Option<Cost>| cost.map_or(Money::ZERO, |it| it.range.expected);
        match known && same {
            _ if change.lost => "not known".to_owned(),
            true => format!("{mark}{}{}", signed(expected(after) - expected(before)), suffix(per)),
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

/// An amount and what it is for.
#[derive(Debug, Clone, Copy)]
struct Cost {
    per: Period,
    range: MoneyRange,
    is_estimated: bool,
}

/// Nothing behind what is for a month, as nearly all is.
fn suffix(per: Period) -> String {
    if per == Period::Month { String::new() } else { format!("/{}", per.name()) }
}

fn shown(cost: Cost) -> String {
    format!("{}{}{}", mark(cost.is_estimated), super::views::money::usd_range(cost.range), suffix(cost.per))
}

fn of_month(cost: Option<Cost>) -> Option<MoneyRange> {
    cost.filter(|it| it.per == Period::Month).map(|it| it.range)
}

/// `+$4,180`, `-$120`, `$0`.
fn signed(money: Money) -> String {
    let sign = if money > Money::ZERO { "+" } else { "" };
    format!("{sign}{}", super::views::money::usd(money))
}

/// `+$4,180/month (+32%)`
fn change_of(sum: &BeforeAfter) -> String {
    let difference = sum.difference().expected;
    let before = sum.before.expected;
    let percent = if before.is_zero() || difference.is_zero() {
        String::new()
    } else {
        let percent = difference.micros() as f64 / before.micros() as f64 * 100.0;
        format!(" ({}{percent:.0}%)", if percent > 0.0 { "+" } else { "" })
    };
    format!("{}/month{percent}", signed(difference))
}

/// What becomes of the full scale, where the bill itself stays as it is.
fn scale(sum: &BeforeAfter) -> String {
    let difference = sum.difference();
    match difference.expected.is_zero() && !difference.ceiling.is_zero() {
        true => format!(" ({})", signed(difference.ceiling)),
        false => String::new(),
    }
}

/// What the change does to the bill, in one line; in further ones, where pods ask for machines that are billed above, and
/// where disks beside them cost something else.
///
/// `GPU cost +$4,180/month (+32%): $0 floor, $71,500 at full scale`
fn headline(it: &Difference) -> (String, Vec<String>) {
    let delta = it.delta;
    let is_at_least = delta.unpriced_after > 0 || judged::is_at_least(&it.after);
    let at_least = if is_at_least { "at least " } else { "" };
    let open = judged::in_numbers(&it.after).map(|it| format!(" – {it}")).unwrap_or_default();
    let is_open = it.after.inventory.unjudged.iter().any(|it| it.standing != Standing::AsBefore);
    let line = |sum: &BeforeAfter, role: Role| {
        let (total, moved) = (mark(it.after.is_estimated(role, Period::Month)), mark(it.is_estimated(role)));
        let (floor, ceiling) = (super::views::money::usd(sum.after.floor), super::views::money::usd(sum.after.ceiling));
        // Less is no saving while something went out of sight.
        let is_dark = is_open && sum.difference().expected < Money::ZERO;
        let what = if is_dark {
            let before = super::views::money::usd(sum.before.expected);
            format!(
                "not known: at least {total}{}/month, {before} before",
                super::views::money::usd(sum.after.expected)
            )
        } else if sum.difference().expected.is_zero() {
            let word = if sum.lost == MoneyRange::ZERO { "unchanged at " } else { "not known: " };
            format!("{word}{at_least}{total}{}/month", super::views::money::usd(sum.after.expected))
        } else {
            format!("{at_least}{moved}{}", change_of(sum))
        };
        format!("{what}: {floor} floor, {ceiling} at full scale{}", scale(sum))
    };
    let mut further = Vec::new();
    let mut first = match delta.rented.is_nothing() && !delta.requested.is_nothing() {
        true => format!("GPU cost requested by pods {}", line(&delta.requested, Role::Requested)),
        false => format!("GPU cost {}", line(&delta.rented, Role::Rented)),
    };
    first.push_str(&open);
    if !delta.rented.is_nothing() && !delta.requested.is_nothing() {
        let requested = match delta.requested.difference().expected.is_zero() {
            true => {
                let mark = mark(it.after.is_estimated(Role::Requested, Period::Month));
                let amount = super::views::money::usd(delta.requested.after.expected);
                format!("unchanged at {at_least}{mark}{amount}/month")
            }
            false => format!("{}{}", mark(it.is_estimated(Role::Requested)), change_of(&delta.requested)),
        };
        further.push(format!("Requested by pods, another view of the same machines: {requested}"));
    }
    if delta.attached.difference() != MoneyRange::ZERO {
        further.push(format!("Their disks, beside it: {}{}", change_of(&delta.attached), scale(&delta.attached)));
    }
    (first, further)
}
