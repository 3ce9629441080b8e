//! What a change comes to, in one line that is enough for who reads no other.
//!
//! `fail – $3,620 → $8,077 a month (+$4,457, +123%), up to $16,200 at full scale; 2 findings are new; 1 file not judged`

use std::collections::{BTreeMap, BTreeSet};

use super::{Cost, Difference};
use crate::catalog::{Money, MoneyRange};
use crate::decide::Verdict;
use crate::inventory::{Role, Unjudged, UnjudgedStatus};
use crate::pricing::{BeforeAfter, ChangeKind, Period};
use crate::report::views::judged;
use crate::report::views::money::{Ends, mark, while_running};

/// The parts of the line, for formats that say some of them elsewhere.
pub(super) struct Headline {
    /// `GPU cost $3,620 → $8,077 a month (+$4,457, +123%), up to $16,200 at full scale`
    pub(super) money: String,
    /// `2 findings are new`, `1 finding is fixed`
    pub(super) findings: Vec<String>,
    /// `1 file not judged`
    pub(super) open: Option<String>,
}

impl Headline {
    pub(super) fn new(it: &Difference) -> Headline {
        let mut parts = of_roles(it);
        let disks = it.delta.attached.difference();
        if disks != MoneyRange::ZERO {
            let disks = if disks.expected.is_zero() { disks.ceiling } else { disks.expected };
            parts.push(format!("disks {}", it.signed(disks)));
        }
        parts.extend(jobs(it));
        parts.extend(without_price(it));
        if parts.is_empty() {
            parts.push(as_it_was(it));
        }
        Headline { money: parts.join(", "), findings: findings(it), open: open(it) }
    }

    /// Everything, behind the verdict.
    pub(super) fn line(&self, verdict: Verdict) -> String {
        let parts = std::iter::once(&self.money).chain(&self.findings).chain(&self.open);
        format!("{} – {}", verdict.name(), parts.cloned().collect::<Vec<_>>().join("; "))
    }
}

/// What moves, machines before pods; where only pods ask for more, the machines stand behind them.
fn of_roles(it: &Difference) -> Vec<String> {
    let delta = it.delta;
    let (rented, requested) = (&delta.rented, &delta.requested);
    let moves = |sum: &BeforeAfter| sum.difference() != MoneyRange::ZERO || sum.lost != MoneyRange::ZERO;
    let mut parts = Vec::new();
    if moves(rented) {
        parts.push(became(it, rented, Role::Rented));
    }
    if moves(requested) {
        parts.push(format!("requested by pods {}", became(it, requested, Role::Requested)));
        parts.extend(it.after.currency.unnamed(it.after.bill));
        if !moves(rented) && !rented.is_nothing() {
            let mark = mark(it.after.is_estimated(Role::Rented, Period::Month));
            parts.push(format!("machines as before, {mark}{} a month", it.amount(rented.after.expected)));
        }
    }
    parts
}

/// `$3,620 a month, unchanged`; something may have come and gone that costs the same.
fn as_it_was(it: &Difference) -> String {
    let delta = it.delta;
    let of_pods = delta.rented.is_nothing() && !delta.requested.is_nothing();
    let (sum, role, whose) = match of_pods {
        true => (&delta.requested, Role::Requested, "requested by pods "),
        false => (&delta.rented, Role::Rented, ""),
    };
    let is_at_least = delta.unpriced_after > 0 || judged::is_at_least(&it.after, role);
    let ends = Ends::of(it.after.bill, role);
    let mark = mark(it.after.is_estimated(role, Period::Month));
    let amount = it.after.currency.monthly(sum.after, ends, is_at_least, mark);
    let nothing_moved = delta.visible().all(|change| change.kind == ChangeKind::Moved);
    let word = if nothing_moved { "unchanged" } else { "the same as before" };
    format!("{whose}{amount}, {word}")
}

/// What has no price is in no sum: `1 resource without a price is new`.
fn without_price(it: &Difference) -> Option<String> {
    let open = it.delta.visible().filter(|change| {
        let (before, after) = it.costs(change);
        let is_open = |there: bool, cost: Option<Cost>| there && cost.is_none();
        let (is_open_before, is_open_after) =
            (is_open(change.before.is_some(), before), is_open(change.after.is_some(), after));
        change.kind != ChangeKind::Moved && is_open_after && (change.before.is_none() || is_open_before)
    });
    match open.count() {
        0 => None,
        1 => Some("1 changed resource has no price".to_owned()),
        n => Some(format!("{n} changed resources have no price")),
    }
}

/// `$3,620 → $8,077 a month (+$4,457, +123%), up to $16,200 at full scale`
fn became(it: &Difference, sum: &BeforeAfter, role: Role) -> String {
    let is_at_least = it.delta.unpriced_after > 0 || judged::is_at_least(&it.after, role);
    let at_least = if is_at_least { "at least " } else { "" };
    let is_open = it.after.inventory.unjudged.iter().any(|it| it.standing != UnjudgedStatus::AsBefore);
    let difference = sum.difference();
    let (total, moved) = (mark(it.after.is_estimated(role, Period::Month)), mark(it.is_estimated(role)));
    let (before, after) = (it.amount(sum.before.expected), it.amount(sum.after.expected));
    // Less is no saving while something went out of sight.
    let mut text = if is_open && difference.expected < Money::ZERO {
        format!("not known: at least {total}{after} a month, {before} before")
    } else if sum.lost != MoneyRange::ZERO && difference.expected.is_zero() {
        format!("not known: {at_least}{total}{after} a month, {before} before")
    } else if difference.expected.is_zero() {
        format!("{at_least}{total}{after} a month as before")
    } else {
        let by = format!("{moved}{}{}", it.signed(difference.expected), percent(sum));
        format!("{total}{before} → {at_least}{total}{after} a month ({by})")
    };
    if difference.expected.is_zero() && !difference.floor.is_zero() {
        text.push_str(&format!(", at the least {} ({})", it.amount(sum.after.floor), it.signed(difference.floor)));
    }
    if sum.after.ceiling > sum.after.expected || difference.expected.is_zero() && !difference.ceiling.is_zero() {
        let more = if difference.expected.is_zero() && !difference.ceiling.is_zero() {
            format!(" ({})", it.signed(difference.ceiling))
        } else {
            String::new()
        };
        let when = Ends::of(it.after.bill, role).at_full_scale();
        text.push_str(&format!(", up to {total}{}{when}{more}", it.amount(sum.after.ceiling)));
    }
    text
}

/// From here on, times say more than percent.
const MOST_PERCENT: f64 = 1_000.0;

/// `, +32%`; `, 22 times as much`
fn percent(sum: &BeforeAfter) -> String {
    let (difference, before) = (sum.difference().expected, sum.before.expected);
    if before.is_zero() || difference.is_zero() {
        return String::new();
    }
    let percent = difference.micros() as f64 / before.micros() as f64 * 100.0;
    if percent >= MOST_PERCENT {
        return format!(", {:.0} times as much", percent / 100.0 + 1.0);
    }
    format!(", {}{percent:.0}%", if percent > 0.0 { "+" } else { "" })
}

/// What runs and ends stands in no month: `jobs +$4 per hour while they run`, `jobs +$120 per run`.
fn jobs(it: &Difference) -> Vec<String> {
    let mut sums: BTreeMap<Period, Money> = BTreeMap::new();
    for change in it.delta.visible() {
        let (before, after) = it.costs(change);
        for (cost, is_after) in [(before, false), (after, true)] {
            let Some(cost) = cost.filter(|cost| cost.per != Period::Month) else { continue };
            // Of a run only the most is known.
            let most = cost.range.expected.max(cost.range.ceiling);
            let sum = sums.entry(cost.per).or_insert(Money::ZERO);
            *sum = if is_after { *sum + most } else { *sum - most };
        }
    }
    let moved = sums.into_iter().filter(|(_, sum)| !sum.is_zero());
    moved.map(|(per, sum)| format!("jobs {} {}", it.signed(sum), while_running(per))).collect()
}

fn findings(it: &Difference) -> Vec<String> {
    let said = |n: usize, what: &str| match n {
        0 => None,
        1 => Some(format!("1 finding is {what}")),
        n => Some(format!("{n} findings are {what}")),
    };
    [
        said(it.new.len(), "new"),
        said(it.grown.len(), "worse"),
        said(it.fixed.len(), "fixed"),
        said(it.accepted.len(), "accepted"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn open(it: &Difference) -> Option<String> {
    let files =
        |all: &mut dyn Iterator<Item = &Unjudged>| all.map(|it| it.path.as_str()).collect::<BTreeSet<_>>().len();
    let all = &it.after.inventory.unjudged;
    let open = files(&mut all.iter().filter(|it| it.standing != UnjudgedStatus::AsBefore));
    let before = files(&mut all.iter().filter(|it| it.standing == UnjudgedStatus::AsBefore));
    let said = |n: usize| if n == 1 { "1 file not judged".to_owned() } else { format!("{n} files not judged") };
    match (open, before) {
        (0, 0) => None,
        (0, n) => Some(format!("{}, as before", said(n))),
        (n, 0) => Some(said(n)),
        (n, more) => Some(format!("{}, and {more} as before", said(n))),
    }
}
