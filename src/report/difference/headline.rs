//! What a change comes to, in one line that is enough for who reads no other.
//!
//! `fail – $3,620 → $8,077 a month (+$4,457, +123%), up to $16,200 at full scale; 2 findings are new; 1 file not judged`

use std::collections::{BTreeMap, BTreeSet};

use super::{Difference, signed};
use crate::catalog::{Money, MoneyRange};
use crate::decide::Verdict;
use crate::inventory::{Role, Standing, Unjudged};
use crate::pricing::{BeforeAfter, Period};
use crate::report::views::judged;
use crate::report::views::money::{mark, usd};

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
    pub(super) fn of(it: &Difference) -> Headline {
        let delta = it.delta;
        let of_pods = delta.rented.is_nothing() && !delta.requested.is_nothing();
        let mut money = match of_pods {
            true => format!("requested by pods {}", became(it, &delta.requested, Role::Requested)),
            false => became(it, &delta.rented, Role::Rented),
        };
        let ending = ending(it);
        if delta.rented.is_nothing() && delta.requested.is_nothing() && !ending.is_empty() {
            "nothing by the month".clone_into(&mut money);
        }
        let mut beside = Vec::new();
        let requested = delta.requested.difference().expected;
        if !of_pods && !delta.rented.is_nothing() && !requested.is_zero() {
            let mark = mark(it.is_estimated(Role::Requested));
            beside.push(format!("requested by pods {mark}{}", signed(requested)));
        }
        let disks = delta.attached.difference();
        if disks != MoneyRange::ZERO {
            let disks = if disks.expected.is_zero() { disks.ceiling } else { disks.expected };
            beside.push(format!("disks {}", signed(disks)));
        }
        beside.extend(ending);
        for part in beside {
            money.push_str(&format!(", {part}"));
        }
        Headline { money, findings: findings(it), open: open(it) }
    }

    /// Everything, behind the verdict.
    pub(super) fn line(&self, verdict: Verdict) -> String {
        let parts = std::iter::once(&self.money).chain(&self.findings).chain(&self.open);
        format!("{} – {}", verdict.name(), parts.cloned().collect::<Vec<_>>().join("; "))
    }
}

/// `$3,620 → $8,077 a month (+$4,457, +123%), up to $16,200 at full scale`
fn became(it: &Difference, sum: &BeforeAfter, role: Role) -> String {
    let is_at_least = it.delta.unpriced_after > 0 || judged::is_at_least(&it.after);
    let at_least = if is_at_least { "at least " } else { "" };
    let is_open = it.after.inventory.unjudged.iter().any(|it| it.standing != Standing::AsBefore);
    let difference = sum.difference();
    let (total, moved) = (mark(it.after.is_estimated(role, Period::Month)), mark(it.is_estimated(role)));
    let (before, after) = (usd(sum.before.expected), usd(sum.after.expected));
    // Less is no saving while something went out of sight.
    let mut text = if is_open && difference.expected < Money::ZERO {
        format!("not known: at least {total}{after} a month, {before} before")
    } else if difference.expected.is_zero() {
        let word = if sum.lost == MoneyRange::ZERO { "unchanged at " } else { "not known: " };
        format!("{word}{at_least}{total}{after} a month")
    } else {
        let by = format!("{moved}{}{}", signed(difference.expected), percent(sum));
        format!("{total}{before} → {at_least}{total}{after} a month ({by})")
    };
    if sum.after.ceiling > sum.after.expected {
        let more = if difference.expected.is_zero() && !difference.ceiling.is_zero() {
            format!(" ({})", signed(difference.ceiling))
        } else {
            String::new()
        };
        text.push_str(&format!(", up to {total}{} at full scale{more}", usd(sum.after.ceiling)));
    }
    text
}

/// `, +32%`
fn percent(sum: &BeforeAfter) -> String {
    let (difference, before) = (sum.difference().expected, sum.before.expected);
    if before.is_zero() || difference.is_zero() {
        return String::new();
    }
    let percent = difference.micros() as f64 / before.micros() as f64 * 100.0;
    format!(", {}{percent:.0}%", if percent > 0.0 { "+" } else { "" })
}

/// What runs and ends stands in no month: `+$4/hour while it runs`, `+$120/run`.
fn ending(it: &Difference) -> Vec<String> {
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
    moved
        .map(|(per, sum)| match per {
            Period::Hour => format!("{}/hour of what runs and ends", signed(sum)),
            _ => format!("{}/{} of what runs and ends", signed(sum), per.name()),
        })
        .collect()
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
    let open = files(&mut all.iter().filter(|it| it.standing != Standing::AsBefore));
    let before = files(&mut all.iter().filter(|it| it.standing == Standing::AsBefore));
    let said = |n: usize| if n == 1 { "1 file not judged".to_owned() } else { format!("{n} files not judged") };
    match (open, before) {
        (0, 0) => None,
        (0, n) => Some(format!("{}, as before", said(n))),
        (n, 0) => Some(said(n)),
        (n, more) => Some(format!("{}, and {more} as before", said(n))),
    }
}
