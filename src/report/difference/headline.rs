//! Writes the effect of a change: one line with the answer, such as
//! `fail – $3,620 → $8,077/month (+$4,457, +123%)`,
//! and lines for everything else that changes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cost, Difference};
use crate::catalog::{Money, MoneyRange};
use crate::decide::Verdict;
use crate::inventory::{BillingRole, CountedAs, Unjudged, UnjudgedStatus};
use crate::pricing::{ChangeKind, CostChange, CostSum, Period};
use crate::report::views::cost_line::{in_words, marked};
use crate::report::views::money::{mark, while_running};
use crate::report::views::scorecard::best_of;
use crate::report::views::{excluded, judged, worst};

/// The maximum number of words of the money in the headline; title and verdict come on top.
const MOST_WORDS: usize = 13;

/// The parts of the headline: some formats print them in other places.
pub(super) struct Headline {
    /// `$3,620 → $8,077/month (+$4,457, +123%)`: machines and pods together.
    pub(super) money: String,
    /// The other changes: `provisioned machines $3,000 → $7,000/month`, `maximum $8,000 → $16,200 (+$8,200)`.
    pub(super) rows: Vec<String>,
    /// `2 findings are new`, `1 finding is fixed`
    pub(super) findings: Vec<String>,
    /// `1 file not evaluated`
    pub(super) open: Option<String>,
    /// `possible savings up to $2,908/month`: of the findings that are new or worse
    pub(super) savings: Option<String>,
}

impl Headline {
    pub(super) fn new(it: &Difference) -> Headline {
        let all = &it.delta.combined;
        let mut rows = moved_beside(it);
        let money = match became(it, all) {
            Some(money) => money,
            // If the expected amount stays the same, another change becomes the answer.
            None if rows.is_empty() => as_it_was(it, true),
            None if all.after.minimum() == MoneyRange::ZERO => rows.remove(0),
            None => {
                let (stays, moves) = (as_it_was(it, false), rows.remove(0));
                let both = format!("{stays}; {moves}");
                if both.split_whitespace().count() <= MOST_WORDS {
                    both
                } else {
                    // The answer shows the change, so the unchanged amount moves to the lines below.
                    rows.insert(0, stays);
                    moves
                }
            }
        };
        let money = match hidden(it) {
            None => money,
            Some(hidden) => {
                rows.insert(0, format!("without the hidden growth: {money}"));
                hidden
            }
        };
        rows.extend(worst::change(&it.before, &it.after));
        Headline { money, rows, findings: findings(it), open: open(it), savings: savings(it) }
    }

    /// Returns the verdict and the answer.
    pub(super) fn line(&self, verdict: Verdict) -> String {
        format!("{} – {}", verdict.in_words(), self.money)
    }

    /// Returns findings, savings and what was not evaluated in one line.
    pub(super) fn counts(&self) -> Option<String> {
        let counts: Vec<String> = self.findings.iter().chain(&self.savings).chain(&self.open).cloned().collect();
        Some(counts.join("; ")).filter(|it| !it.is_empty())
    }

    /// Returns the lines below: the counts, then the rows.
    pub(super) fn below(&self) -> Vec<String> {
        self.counts().into_iter().chain(self.rows.iter().cloned()).collect()
    }
}

/// Returns text such as `at least $3,620 → $8,077/month (+$4,457, +123%, $500 became known)`; nothing if the expected
/// amount stays the same.
fn became(it: &Difference, sum: &CostChange) -> Option<String> {
    let (difference, known, lost) = (sum.difference.expected, sum.became_known.expected, sum.no_longer_known.expected);
    if difference.is_zero() && known.is_zero() && lost.is_zero() {
        return None;
    }
    let (total, moved) = (marked(&it.after), mark(is_estimated(it)));
    let mut parts = Vec::new();
    if !difference.is_zero() {
        parts.push(format!("{moved}{}{}", it.signed(difference), percent(sum)));
    }
    for (amount, what) in [(known, "became known"), (lost, "no longer known")] {
        if !amount.is_zero() {
            parts.push(format!("{moved}{} {what}", it.amount(amount)));
        }
    }
    let currency = it.after.currency;
    let before = currency.at_least(&sum.before, marked(&it.before));
    Some(format!("{before} → {}/month ({})", currency.at_least(&sum.after, total), parts.join(", ")))
}

fn is_estimated(it: &Difference) -> bool {
    [BillingRole::Rented, BillingRole::Requested].into_iter().any(|role| it.is_estimated(role))
}

/// Returns text such as `$3,620/month, unchanged`; `as before` if resources of the same cost were exchanged, or if
/// another amount changes.
fn as_it_was(it: &Difference, nothing_moves: bool) -> String {
    let sum = &it.delta.combined.after;
    let amount = it.after.currency.at_least(sum, marked(&it.after));
    let a_month = if sum.is_whole() || !sum.minimum().expected.is_zero() { "/month" } else { "" };
    let is_same = nothing_moves && it.delta.visible().all(|change| change.kind == ChangeKind::Moved);
    // An unknown part may have changed: only a complete total is unchanged.
    let stays = match (sum.is_whole(), sum.minimum().expected.is_zero()) {
        (false, true) => "",
        (true, _) if is_same => ", unchanged",
        _ => " as before",
    };
    format!("{amount}{a_month}{stays}")
}

/// Changes other than the expected total, the most important first.
fn moved_beside(it: &Difference) -> Vec<String> {
    let delta = it.delta;
    let mut rows = Vec::new();
    rows.extend(ends(it, &delta.combined));
    rows.extend(jobs(it));
    rows.extend(starts(it));
    rows.extend(without_price(it));
    rows.extend(by_role(it));
    rows.extend(disks(it));
    rows.extend(set_apart(it));
    rows
}

/// Returns text such as `maximum $12,000 → $16,200 (+$4,200)`.
fn ends(it: &Difference, sum: &CostChange) -> Vec<String> {
    let (before, after) = (sum.before.minimum(), sum.after.minimum());
    let mark = marked(&it.after);
    let shown = |range: MoneyRange, open: &CostSum, end: Money| {
        let at_least = if open.is_whole() || end <= range.expected { "" } else { "at least " };
        format!("{at_least}{mark}{}", it.amount(end))
    };
    let mut rows = Vec::new();
    if sum.before.is_unlimited() != sum.after.is_unlimited() {
        let shown = |sum: &CostSum| match sum.is_unlimited() {
            true => "no maximum".to_owned(),
            false => format!("maximum {mark}{}", it.amount(sum.minimum().ceiling)),
        };
        rows.push(format!("{} → {}", shown(&sum.before), shown(&sum.after)));
    }
    let is_limited = !sum.before.is_unlimited() && !sum.after.is_unlimited();
    let is_open = |range: MoneyRange| range.ceiling > range.expected && is_limited;
    let moves = sum.difference.ceiling != sum.difference.expected;
    if (is_open(before) || is_open(after)) && (moves || !sum.difference.ceiling.is_zero()) {
        let (from, to) = (shown(before, &sum.before, before.ceiling), shown(after, &sum.after, after.ceiling));
        let lost = sum.no_longer_known.ceiling;
        let lost = if lost.is_zero() { String::new() } else { format!(", {} no longer known", it.amount(lost)) };
        let by = format!("{}{lost}", it.signed(sum.difference.ceiling));
        rows.push(format!("maximum {from} → {to} ({by})"));
    }
    let has_floor = |range: MoneyRange| range.floor < range.expected;
    let is_whole = sum.before.is_whole() && sum.after.is_whole();
    if is_whole && (has_floor(before) || has_floor(after)) && !sum.difference.floor.is_zero() {
        let by = it.signed(sum.difference.floor);
        rows.push(format!("minimum {} → {} ({by})", it.amount(before.floor), it.amount(after.floor)));
    }
    rows
}

/// Returns text such as `provisioned machines $3,000 → $7,000/month`, `pods …`: if there are both.
fn by_role(it: &Difference) -> Vec<String> {
    let delta = it.delta;
    let mut rows = Vec::new();
    let is_there = |sum: &CostChange| [&sum.before, &sum.after].iter().any(|it| it.minimum() != MoneyRange::ZERO);
    if is_there(&delta.rented) && is_there(&delta.requested) {
        for (sum, role, name) in [
            (&delta.rented, BillingRole::Rented, "provisioned machines"),
            (&delta.requested, BillingRole::Requested, "pods"),
        ] {
            let (before, after) = (sum.before.minimum().expected, sum.after.minimum().expected);
            if before != after {
                let mark = mark(it.after.is_estimated(role, Period::Month));
                let currency = it.after.currency;
                let to = currency.at_least(&sum.after, mark);
                rows.push(format!("{name} {} → {to}/month", currency.at_least(&sum.before, mark)));
            }
        }
    }
    if !delta.requested.is_same() {
        rows.extend(it.after.currency.unnamed(it.after.bill).map(|it| format!("pods {it}")));
    }
    rows
}

fn disks(it: &Difference) -> Option<String> {
    let disks = &it.delta.attached;
    let (from, to) = (disks.before.minimum(), disks.after.minimum());
    let moves = [(from.expected, to.expected), (from.ceiling, to.ceiling)].into_iter().find(|(from, to)| from != to);
    let (from, to) = moves?;
    Some(format!("disks {} → {}/month ({})", it.amount(from), it.amount(to), it.signed(to - from)))
}

/// Returns text such as `excluded from the total, in examples and tests: maximum $0 → $1,900,000/month`.
fn set_apart(it: &Difference) -> Vec<String> {
    let (before, after) = (&it.before.bill.apart, &it.after.bill.apart);
    let counted: BTreeSet<CountedAs> = before.keys().chain(after.keys()).copied().collect();
    let mut rows = Vec::new();
    for counted in counted {
        for (role, whose) in [(BillingRole::Rented, ""), (BillingRole::Requested, "pods ")] {
            let of = |all: &BTreeMap<CountedAs, crate::pricing::ExcludedTotal>| {
                all.get(&counted).map_or(MoneyRange::ZERO, |it| it.of_role(role).minimum())
            };
            let (from, to) = (of(before), of(after));
            let (from, to, when) = match from.expected == to.expected {
                true => (from.ceiling, to.ceiling, "maximum "),
                false => (from.expected, to.expected, ""),
            };
            if from != to {
                let (from, to) = (it.amount(from), it.amount(to));
                rows.push(format!(
                    "excluded from the total, {}: {whose}{when}{from} → {to}/month",
                    excluded::place(counted)
                ));
            }
        }
    }
    rows
}

/// Returns text such as `1 changed resource has no price`: the total does not contain it.
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

/// The percentage from which the change is shown as a factor, which is clearer.
const MOST_PERCENT: f64 = 1_000.0;

/// Returns text such as `, +32%`; `, 22 times as much`: of the cost that is known before and after.
fn percent(sum: &CostChange) -> String {
    let before = sum.before.minimum().expected - sum.no_longer_known.expected;
    let difference = sum.difference.expected;
    if before <= Money::ZERO || difference.is_zero() {
        return String::new();
    }
    let percent = difference.micros() as f64 / before.micros() as f64 * 100.0;
    if percent >= MOST_PERCENT {
        return format!(", {:.0} times as much", percent / 100.0 + 1.0);
    }
    format!(", {}{percent:.0}%", if percent > 0.0 { "+" } else { "" })
}

/// Returns the cost of jobs that end, which no monthly total contains: `jobs $1.59 to $44.25 → $3.18 to $88.50 per
/// run`.
fn jobs(it: &Difference) -> Vec<String> {
    let mut sums: BTreeMap<Period, [MoneyRange; 2]> = BTreeMap::new();
    for (place, state) in [&it.before, &it.after].into_iter().enumerate() {
        for ((_, per), ending) in state.bill.endings(state.inventory) {
            sums.entry(per).or_default()[place] += ending.amount;
        }
    }
    // A resource without a price may be a job.
    let is_whole = [&it.delta.combined.before, &it.delta.combined.after].map(CostSum::is_whole);
    let shown = |range: MoneyRange, is_whole: bool| {
        let amount = it.after.currency.least_to_most(range, "");
        match (is_whole, range == MoneyRange::ZERO) {
            (true, _) => amount,
            (false, true) => "unknown".to_owned(),
            (false, false) => format!("at least {amount}"),
        }
    };
    let moved: Vec<_> = sums.into_iter().filter(|(_, [before, after])| before != after).collect();
    if let [(one, [from, MoneyRange::ZERO]), (other, [MoneyRange::ZERO, to])]
    | [(other, [MoneyRange::ZERO, to]), (one, [from, MoneyRange::ZERO])] = moved.as_slice()
    {
        let (from, to) = (shown(*from, is_whole[0]), shown(*to, is_whole[1]));
        return vec![format!("jobs {from} {} → {to} {}", while_running(*one), while_running(*other))];
    }
    let row = |(per, [before, after]): (Period, [MoneyRange; 2])| {
        let (before, after) = (shown(before, is_whole[0]), shown(after, is_whole[1]));
        format!("jobs {before} → {after} {}", while_running(per))
    };
    moved.into_iter().map(row).collect()
}

/// Returns text such as `jobs start 30 → 43,800 times per month, $55.04 per hour of running`: the duration is unknown.
fn starts(it: &Difference) -> Option<String> {
    let mut sums = (0.0, 0.0);
    let mut hourly = MoneyRange::ZERO;
    for change in it.delta.visible() {
        let (before, after) = (
            change.before.and_then(|id| it.before.bill.items.get(id.0)),
            change.after.and_then(|id| it.after.bill.items.get(id.0)),
        );
        let starts = |item: Option<&crate::pricing::BillItem>| item.and_then(|item| item.starts);
        if starts(before) == starts(after) {
            continue;
        }
        sums.0 += starts(before).unwrap_or_default();
        sums.1 += starts(after).unwrap_or_default();
        hourly += after.filter(|it| it.per == Period::Hour).and_then(|it| it.amount).unwrap_or_default();
    }
    if sums.0 == sums.1 {
        return None;
    }
    let each = match hourly == MoneyRange::ZERO {
        true => String::new(),
        false => format!(", {} {}", it.after.currency.least_to_most(hourly, ""), while_running(Period::Hour)),
    };
    Some(format!("jobs start {} → {} times per month{each}", in_words(sums.0), in_words(sums.1)))
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

/// Returns what the findings that are new or worse save per month together.
fn savings(it: &Difference) -> Option<String> {
    let counted = it.brought().filter(|decided| decided.counted == CountedAs::Deployed);
    let saving = counted.map(|decided| &decided.finding).filter(|it| it.per == Period::Month && it.saves.is_some());
    let best = best_of(&it.after, saving);
    let sum: Money = best.values().filter_map(|it| it.saves).map(|saves| saves.expected).sum();
    (!sum.is_zero()).then(|| format!("possible savings up to {}/month", it.amount(sum)))
}

/// Returns text such as `the growth of 2 files is hidden`. The total lacks it.
fn hidden(it: &Difference) -> Option<String> {
    match it.after.inventory.unjudged.iter().filter(|it| judged::is_hidden(it)).count() {
        0 => None,
        1 => Some("the growth of 1 file is hidden".to_owned()),
        n => Some(format!("the growth of {n} files is hidden")),
    }
}

fn open(it: &Difference) -> Option<String> {
    let files =
        |all: &mut dyn Iterator<Item = &Unjudged>| all.map(|it| it.path.as_str()).collect::<BTreeSet<_>>().len();
    let all = &it.after.inventory.unjudged;
    let open = files(&mut all.iter().filter(|it| it.standing != UnjudgedStatus::AsBefore && !judged::is_hidden(it)));
    let before = files(&mut all.iter().filter(|it| it.standing == UnjudgedStatus::AsBefore));
    let said = |n: usize| if n == 1 { "1 file not evaluated".to_owned() } else { format!("{n} files not evaluated") };
    match (open, before) {
        (0, 0) => None,
        (0, n) => Some(format!("{}, as before the change", said(n))),
        (n, 0) => Some(said(n)),
        (n, more) => Some(format!("{}, and {more} as before the change", said(n))),
    }
}
