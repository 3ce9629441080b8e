//! Defines the content of a monthly review, for all formats.

use std::cmp::Reverse;

use super::month::Month;
use super::paid::paid;
use crate::catalog::Money;
use crate::pricing::CostSum;
use crate::report::formats::text::found;
use crate::report::history::words::{author, change_money, did, moved, step_money, subject};
use crate::report::message::{ChatMessage, first_steps, titled};
use crate::report::views::cost_line::{cost_line, cost_rows};
use crate::report::views::history::course;
use crate::report::views::judged;
use crate::report::views::price_age::price_age;
use crate::report::views::sentence::sentence;
use crate::report::{CostHistory, CostStep, HistoryPoint, Report, ReviewCommit, Snapshot};

/// The state of a tree, with its history.
pub struct CostReview<'a> {
    pub month: Month,
    pub report: &'a Report<'a>,
    pub history: &'a CostHistory,
    /// The address of the full report, for messages.
    pub url: Option<ReviewCommit>,
    /// The address of the files, for links to lines.
    pub files: Option<ReviewCommit>,
    /// Whether to write only a few sentences.
    pub is_summary: bool,
}

/// The change of cost in a month, with its commits.
pub(super) struct Moved<'a> {
    /// The cost at the beginning and the end of the month; none if nothing of that time is known.
    before: Option<&'a Snapshot>,
    after: Option<&'a Snapshot>,
    commits: usize,
    unknown: usize,
    /// The steps of the month, the largest first.
    pub(super) steps: Vec<&'a CostStep>,
}

impl<'a> Moved<'a> {
    /// Returns the cost at the beginning and at the end of the month, if both are known.
    pub(super) fn ends(&self) -> Option<(&'a Snapshot, &'a Snapshot)> {
        self.before.zip(self.after)
    }
}

impl<'a> CostReview<'a> {
    pub(super) fn moved(&self) -> Moved<'a> {
        let month = self.month;
        let points = &self.history.points;
        let last = |is_in: &dyn Fn(&HistoryPoint) -> bool| -> Option<&'a Snapshot> {
            points.iter().rev().filter(|it| is_in(it)).find_map(HistoryPoint::snapshot).map(|it| &**it)
        };
        let is_of = |point: &&HistoryPoint| month.holds(point.commit.date());
        let in_month = |step: &&CostStep| {
            !step.combined.is_same() && points.get(step.to).is_some_and(|point| month.holds(point.commit.date()))
        };
        let mut steps: Vec<&CostStep> = self.history.steps.iter().filter(in_month).collect();
        let size = |money: Money| if money < Money::ZERO { -money } else { money };
        steps.sort_by_key(|it| (Reverse(size(moved(it))), it.to));
        Moved {
            before: last(&|it| it.commit.date() < month.first()),
            after: last(&|it| it.commit.date() <= month.last()),
            commits: points.iter().filter(is_of).map(|it| 1 + it.passed_over).sum(),
            unknown: points.iter().filter(is_of).filter(|it| it.snapshot().is_none()).count(),
            steps,
        }
    }

    /// Returns text such as `at least $9,000/month`.
    fn stated(&self, sum: &CostSum) -> String {
        match sum.is_whole() || !sum.minimum().expected.is_zero() {
            true => format!("{}/month", self.history.currency.at_least(sum, "")),
            false => "unknown".to_owned(),
        }
    }

    /// Returns text such as `In 2026-10: $3,000/month → $9,000/month (+$6,000), 12 commits`.
    pub(super) fn format_month(&self, moved: &Moved) -> String {
        let currency = self.history.currency;
        let commits = if moved.commits == 1 { "1 commit".to_owned() } else { format!("{} commits", moved.commits) };
        let course = match (moved.before, moved.after) {
            (Some(before), Some(after)) => {
                let course = course(before, after);
                let stated = self.stated(&course.after);
                if course.is_same() {
                    format!("{stated} as before")
                } else {
                    let by = change_money(currency, &course);
                    format!("{} → {stated} ({by})", self.stated(&course.before))
                }
            }
            (None, Some(after)) => format!("{} at its end", self.stated(&after.combined())),
            _ => "unknown".to_owned(),
        };
        let unknown = match moved.unknown {
            0 => String::new(),
            n => format!("; {n} of them could not be read"),
        };
        format!("In {}: {course}, {commits}{unknown}", self.month)
    }

    /// Returns text such as `+$6,000 of 2026-10-12 by Ada: add a pool (added aws_instance.a)`.
    pub(super) fn format_step(&self, step: &CostStep) -> Option<String> {
        let commit = &self.history.points.get(step.to)?.commit;
        Some(format!(
            "{} of {} by {}: {} ({})",
            step_money(self.history.currency, step),
            commit.date(),
            author(commit, step.by()),
            subject(commit, step.by()),
            did(&step.changes)
        ))
    }

    pub(super) fn message(&self) -> ChatMessage {
        const STEPS: usize = 5;
        let moved = self.moved();
        let mut lines = vec![format!("Now: {}", cost_line(self.report))];
        lines.extend(cost_rows(self.report));
        lines.push(sentence(&found(self.report)));
        lines.extend(judged::in_numbers(self.report).map(|it| sentence(&it)));
        lines.extend(self.history.notes.iter().cloned());
        let steps: Vec<String> = moved.steps.iter().take(STEPS).filter_map(|step| self.format_step(step)).collect();
        let mut lists: Vec<(String, Vec<String>)> = first_steps(self.report).into_iter().collect();
        if !steps.is_empty() {
            lists.push(("What changed the cost".to_owned(), steps));
        }
        if let Some((sums, resources)) = paid(self.report, self.month) {
            lines.extend(sums);
            lists.push(("What was billed".to_owned(), resources));
        }
        ChatMessage {
            title: titled(self.report, &self.format_month(&moved)),
            lines,
            lists,
            url: self.url.as_ref().map(|it| it.url().to_owned()),
            footer: format!("gpulint, {}", price_age(self.report)),
        }
    }
}
