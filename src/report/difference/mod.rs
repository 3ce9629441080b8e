//! What a change does to cost and to findings, in each format that can tell it.

mod json;
mod markdown;
mod text;

use super::{Format, Report, Style};
use crate::catalog::{Money, MoneyRange};
use crate::decide::Decided;
use crate::pricing::{BeforeAfter, Change, Delta};

/// Two states of a tree, and what lies between them.
pub struct Difference<'a> {
    pub before: Report<'a>,
    pub after: Report<'a>,
    pub delta: &'a Delta,
    pub new: Vec<&'a Decided>,
    pub unchanged: Vec<&'a Decided>,
    pub fixed: Vec<&'a Decided>,
    /// What the change is compared with, as it was named.
    pub base: String,
    pub head: Option<Head>,
    /// What a reader must know about the comparison.
    pub notes: Vec<String>,
    pub verdict: Verdict,
}

/// The commit under review, for links.
pub struct Head {
    /// Address of the repository's files at the commit, without a slash at the end.
    pub url: String,
}

/// What the gate decided, and which setting made it.
#[derive(Debug, Clone)]
pub struct Verdict {
    pub blocked: bool,
    pub setting: String,
}

/// The difference in a format; `None` where the format is one of findings alone.
pub fn difference(format: Format, difference: &Difference, style: Style) -> Option<String> {
    match format {
        Format::Text => Some(text::difference(difference, style)),
        Format::Json => Some(json::difference(difference)),
        Format::Markdown => Some(markdown::difference(difference)),
        Format::Outputs => Some(super::outputs::difference(difference)),
        // What knows no change is told what the change brought.
        format => {
            let new: Vec<Decided> = difference.new.iter().map(|decided| (*decided).clone()).collect();
            let after = &difference.after;
            let report = Report { findings: &new, catalog: after.catalog.clone(), ..*after };
            Some(super::render(format, &report, style))
        }
    }
}

impl Difference<'_> {
    /// Neither cost nor findings changed.
    pub(super) fn is_nothing(&self) -> bool {
        self.new.is_empty() && self.fixed.is_empty() && self.delta.visible().next().is_none()
    }

    fn address(&self, change: &Change) -> &str {
        let after = self.after.resource(change.after);
        after.or_else(|| self.before.resource(change.before)).map_or("", |it| it.address.as_str())
    }

    /// Dollars a month before and after; none for what is not there or not priced.
    fn monthly(&self, change: &Change) -> (Option<MoneyRange>, Option<MoneyRange>) {
        let of = |report: &Report, id: Option<crate::inventory::ResourceId>| {
            id.and_then(|id| report.bill.items.get(id.0)).and_then(|item| item.monthly)
        };
        (of(&self.before, change.before), of(&self.after, change.after))
    }

    /// Changes that people want to see, the largest first.
    fn largest_first(&self) -> Vec<&Change> {
        let mut changes: Vec<&Change> = self.delta.visible().collect();
        let size = |change: &Change| {
            let (before, after) = self.monthly(change);
            let expected = |range: Option<MoneyRange>| range.unwrap_or_default().expected;
            let ceiling = |range: Option<MoneyRange>| range.unwrap_or_default().ceiling;
            let distance = |a: Money, b: Money| (a - b).micros().unsigned_abs();
            (distance(expected(after), expected(before)), distance(ceiling(after), ceiling(before)))
        };
        changes.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| self.address(a).cmp(self.address(b))));
        changes
    }
}

/// `+$4,180`, `-$120`, `$0`.
fn signed(money: Money) -> String {
    let sign = if money > Money::ZERO { "+" } else { "" };
    format!("{sign}{}", super::money::usd(money))
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

/// What the change does to the bill, in one line, and in a second one where pods ask for machines that are billed above.
///
/// `GPU cost +$4,180/month (+32%): $0 floor, $71,500 at full scale`
fn headline(delta: &Delta) -> (String, Option<String>) {
    let is_nothing = |sum: &BeforeAfter| sum.before == MoneyRange::ZERO && sum.after == MoneyRange::ZERO;
    let at_least = if delta.unpriced_after > 0 { "at least " } else { "" };
    let line = |sum: &BeforeAfter| {
        let (floor, ceiling) = (super::money::usd(sum.after.floor), super::money::usd(sum.after.ceiling));
        format!("{at_least}{}: {floor} floor, {ceiling} at full scale", change_of(sum))
    };
    match (is_nothing(&delta.rented), is_nothing(&delta.requested)) {
        (true, false) => (format!("GPU cost requested by pods {}", line(&delta.requested)), None),
        (_, true) => (format!("GPU cost {}", line(&delta.rented)), None),
        (false, false) => {
            let requested = change_of(&delta.requested);
            (
                format!("GPU cost {}", line(&delta.rented)),
                Some(format!("Requested by pods, another view of the same machines: {requested}")),
            )
        }
    }
}
