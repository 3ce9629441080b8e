//! What a month in review tells, whatever the format.

use std::cmp::Reverse;

use super::month::Month;
use super::paid::paid;
use crate::catalog::Money;
use crate::report::formats::text::found;
use crate::report::history::words::{Sum, author, did, signed, subject};
use crate::report::message::{Message, first_steps, titled};
use crate::report::views::cost_line::cost_line;
use crate::report::views::judged;
use crate::report::views::price_age::price_age;
use crate::report::views::sentence::sentence;
use crate::report::{Head, History, Point, Report, Snapshot, Step};

/// The state of a tree, and how it came to be.
pub struct Review<'a> {
    pub month: Month,
    pub report: &'a Report<'a>,
    pub history: &'a History,
    /// Where the whole report is, for messages.
    pub url: Option<Head>,
}

/// What a month did, by the commits of it.
pub(super) struct Moved<'a> {
    /// At its beginning and at its end; none where nothing of that time is known.
    before: Option<&'a Snapshot>,
    after: Option<&'a Snapshot>,
    commits: usize,
    unknown: usize,
    /// The largest first.
    pub(super) steps: Vec<&'a Step>,
}

impl<'a> Review<'a> {
    fn sum(&self) -> Sum {
        Sum::of(self.history)
    }

    pub(super) fn moved(&self) -> Moved<'a> {
        let (sum, month) = (self.sum(), self.month);
        let points = &self.history.points;
        let last = |is_in: &dyn Fn(&Point) -> bool| -> Option<&'a Snapshot> {
            points.iter().rev().filter(|it| is_in(it)).find_map(Point::snapshot).map(|it| &**it)
        };
        let is_of = |point: &&Point| month.holds(point.commit.date());
        let in_month = |step: &&Step| {
            let moves = !sum.step(step).is_zero() || !step.requested.expected.is_zero();
            moves && points.get(step.to).is_some_and(|point| month.holds(point.commit.date()))
        };
        let mut steps: Vec<&Step> = self.history.steps.iter().filter(in_month).collect();
        let size = |money: Money| if money < Money::ZERO { -money } else { money };
        steps.sort_by_key(|it| (Reverse(size(sum.step(it))), Reverse(size(it.combined.expected)), it.to));
        Moved {
            before: last(&|it| it.commit.date() < month.first()),
            after: last(&|it| it.commit.date() <= month.last()),
            commits: points.iter().filter(is_of).map(|it| 1 + it.passed_over).sum(),
            unknown: points.iter().filter(is_of).filter(|it| it.snapshot().is_none()).count(),
            steps,
        }
    }

    /// `at least $9,000 a month`: a state of which something was not judged costs no less, and maybe more.
    fn stated(&self, state: &Snapshot) -> String {
        let amount = self.sum().amount(state);
        match (state.is_at_least(), amount.is_zero()) {
            (true, true) => "not known".to_owned(),
            (true, false) => format!("at least {} a month", self.history.currency.amount(amount)),
            (false, _) => format!("{} a month", self.history.currency.amount(amount)),
        }
    }

    /// `In 2026-10: $3,000 a month → $9,000 a month (+$6,000), 12 commits`
    pub(super) fn said(&self, moved: &Moved) -> String {
        let currency = self.history.currency;
        let commits = if moved.commits == 1 { "1 commit".to_owned() } else { format!("{} commits", moved.commits) };
        let whose = if self.sum() == Sum::Requested { "requested by pods, " } else { "" };
        let course = match (moved.before, moved.after) {
            (Some(before), Some(after)) if self.sum().amount(before) == self.sum().amount(after) => {
                format!("{} as before", self.stated(after))
            }
            (Some(before), Some(after)) => {
                let by = signed(currency, self.sum().amount(after) - self.sum().amount(before));
                format!("{} → {} ({by})", self.stated(before), self.stated(after))
            }
            (None, Some(after)) => format!("{} at its end", self.stated(after)),
            _ => "not known".to_owned(),
        };
        let unknown = match moved.unknown {
            0 => String::new(),
            n => format!("; {n} of them could not be read"),
        };
        format!("In {}: {whose}{course}, {commits}{unknown}", self.month)
    }

    /// `+$6,000 of 2026-10-12 by Ada: add a pool (added aws_instance.a)`
    pub(super) fn told(&self, step: &Step) -> Option<String> {
        let commit = &self.history.points.get(step.to)?.commit;
        let moved = self.sum().step(step);
        let (amount, whose) = match moved.is_zero() {
            true => (step.requested.expected, " requested"),
            false => (moved, ""),
        };
        Some(format!(
            "{}{whose} of {} by {}: {} ({})",
            signed(self.history.currency, amount),
            commit.date(),
            author(commit),
            subject(commit),
            did(&step.changes)
        ))
    }

    pub(super) fn message(&self) -> Message {
        const STEPS: usize = 5;
        let moved = self.moved();
        let mut lines = vec![format!("Now: {}", cost_line(self.report))];
        lines.push(sentence(&found(self.report)));
        lines.extend(judged::in_numbers(self.report).map(|it| sentence(&it)));
        lines.extend(self.history.notes.iter().cloned());
        let steps: Vec<String> = moved.steps.iter().take(STEPS).filter_map(|step| self.told(step)).collect();
        let mut lists: Vec<(String, Vec<String>)> = first_steps(self.report).into_iter().collect();
        if !steps.is_empty() {
            lists.push(("What moved it".to_owned(), steps));
        }
        if let Some((sums, resources)) = paid(self) {
            lines.extend(sums);
            lists.push(("What was paid".to_owned(), resources));
        }
        Message {
            title: titled(self.report, &self.said(&moved)),
            lines,
            lists,
            url: self.url.as_ref().map(|it| it.url().to_owned()),
            footer: format!("gpulint, {}", price_age(self.report)),
        }
    }
}
