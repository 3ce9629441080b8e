//! Lists files, blocks and resources that were not evaluated, as each format shows them next to its verdict.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::markup::{self, Markdown, markdown};
use crate::diagnostic::SkipKind;
use crate::inventory::{Unjudged, UnjudgedStatus};
use crate::report::escape::{one_line, shortened};
use crate::report::{CommentLimits, Report};

/// The limit on entries that are named in one line.
const NAMED: usize = 2;

/// The limit on entries that are listed for people. JSON lists all of them.
const LISTED: usize = 10;

/// Returns the sorted entries: first those that are no longer evaluated, then other gaps, then unchanged gaps.
pub(in crate::report) fn listed<'a>(report: &Report<'a>) -> Vec<&'a Unjudged> {
    let mut all: Vec<&Unjudged> = report.inventory.unjudged.iter().collect();
    all.sort_by_key(|it| it.standing);
    all
}

/// Returns text such as `not evaluated: env/prod.tfvars: no root reads it; and 2 more`; nothing if everything was
/// evaluated.
pub fn in_short(report: &Report) -> Option<String> {
    let all = listed(report);
    let first = all.first()?;
    let as_before = if first.standing == UnjudgedStatus::AsBefore { ", as before the change" } else { "" };
    let named = all.iter().take(NAMED).map(|it| {
        let (path, reason) = (one_line(&place(report, it)), one_line(&it.reason));
        format!("{}: {}", shortened(&path, 120), shortened(&reason, 160))
    });
    let mut text = format!("{}{as_before}: {}", heading(first), named.collect::<Vec<_>>().join("; "));
    if all.len() > NAMED {
        let _ = write!(text, "; and {} more", all.len() - NAMED);
    }
    Some(text)
}

/// The entries by what reports say about them.
struct EntryGroups<'a> {
    /// Files whose growth another file hides.
    hidden: Vec<&'a Unjudged>,
    open: Vec<&'a Unjudged>,
    as_before: Vec<&'a Unjudged>,
}

impl<'a> EntryGroups<'a> {
    fn of(report: &Report<'a>) -> Self {
        let (hidden, other): (Vec<&Unjudged>, Vec<_>) = listed(report).into_iter().partition(|it| is_hidden(it));
        let (as_before, open) = other.into_iter().partition(|it| it.standing == UnjudgedStatus::AsBefore);
        EntryGroups { hidden, open, as_before }
    }
}

pub(in crate::report) fn is_hidden(it: &Unjudged) -> bool {
    it.kind == SkipKind::HiddenGrowth
}

/// Returns the words before the reason of an entry.
pub(in crate::report) fn heading(it: &Unjudged) -> &'static str {
    if is_hidden(it) { "hidden growth" } else { "not evaluated" }
}

/// Returns only the number, for headings: `not evaluated: 3`.
pub(in crate::report) fn in_numbers(report: &Report) -> Option<String> {
    let groups = EntryGroups::of(report);
    let hidden = Some(groups.hidden.len()).filter(|n| *n > 0).map(|n| format!("hidden growth: {n}"));
    let open = match (groups.open.len(), groups.as_before.len()) {
        (0, 0) => None,
        (0, n) => Some(format!("not evaluated, as before the change: {n}")),
        (n, 0) => Some(format!("not evaluated: {n}")),
        (n, more) => Some(format!("not evaluated: {n}, and {more} as before the change")),
    };
    let parts: Vec<String> = hidden.into_iter().chain(open).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Writes one entry per line with its next step, for a terminal.
pub(in crate::report) fn text(text: &mut String, report: &Report) {
    let mut all = listed(report);
    all.sort_by_key(|it| !is_hidden(it));
    let Some(count) = in_numbers(report) else { return };
    let _ = writeln!(text, "{count}");
    for it in all.iter().take(LISTED) {
        let lost = if it.standing == UnjudgedStatus::Lost { "no longer evaluated: " } else { "" };
        let (path, reason) = (one_line(&place(report, it)), one_line(&it.reason));
        let _ = writeln!(text, "  {lost}{}: {}", shortened(&path, 200), shortened(&reason, 300));
        if let Some(cure) = &it.cure {
            let _ = writeln!(text, "    help: {}", shortened(&one_line(cure), 300));
        }
    }
    if all.len() > LISTED {
        let _ = writeln!(text, "  and {} more; --format json lists them all", all.len() - LISTED);
    }
}

/// Writes the entries for a comment. Unchanged gaps are folded.
pub(in crate::report) fn in_markdown(text: &mut Markdown, report: &Report, room: CommentLimits, with_details: bool) {
    let EntryGroups { hidden, open, as_before } = EntryGroups::of(report);
    for (title, entries) in [("#### Hidden growth: ", hidden), ("#### Not evaluated: ", open)] {
        if !entries.is_empty() {
            markdown!(text, title, entries.len(), "\n\n");
            lines(text, report, &entries);
            text.push("\n");
        }
    }
    if with_details && !as_before.is_empty() {
        room.open_fold(text, markup::figures(&format!("Not evaluated, as before the change: {}", as_before.len())));
        lines(text, report, &as_before);
        room.close_fold(text);
    }
}

fn lines(text: &mut Markdown, report: &Report, all: &[&Unjudged]) {
    let mut last_cure = None;
    for it in all.iter().take(LISTED) {
        let lost = if it.standing == UnjudgedStatus::Lost { ", **no longer evaluated**: " } else { ": " };
        markdown!(text, "- ", markup::code(&place(report, it), 200), lost, markup::text(&it.reason, 400), "\n");
        // A next step that several entries share is shown once.
        if let Some(cure) = it.cure.as_ref().filter(|cure| last_cure != Some(*cure)) {
            markdown!(text, "  _", markup::text(cure, 400), "_\n");
        }
        last_cure = it.cure.as_ref();
    }
    if all.len() > LISTED {
        markdown!(text, "- and ", all.len() - LISTED, " more; the full report lists them\n");
    }
}

/// An entry of `not_judged` in JSON.
#[derive(Serialize, Deserialize)]
pub(in crate::report) struct NotJudged<'a> {
    pub path: String,
    pub line: Option<usize>,
    /// The address of the resource or module call, if there is one.
    pub address: Option<Cow<'a, str>>,
    /// The cause, for programs.
    #[serde(default)]
    pub kind: Cow<'static, str>,
    pub reason: Cow<'a, str>,
    pub cure: Option<Cow<'a, str>>,
    pub standing: Cow<'static, str>,
}

pub(in crate::report) fn wire<'a>(report: &Report<'a>) -> Vec<NotJudged<'a>> {
    let mut all: Vec<&Unjudged> = report.inventory.unjudged.iter().collect();
    all.sort_by_key(|it| Reverse(it.standing == UnjudgedStatus::Lost));
    let shown = |it: &'a Unjudged| NotJudged {
        path: report.paths.show(&it.path),
        line: line(report, it),
        address: it.address.as_deref().map(Into::into),
        kind: it.kind.name().into(),
        reason: Cow::Borrowed(&it.reason),
        cure: it.cure.as_deref().map(Into::into),
        standing: it.standing.name().into(),
    };
    all.into_iter().map(shown).collect()
}

/// Returns the first line of the part that was not evaluated, or the line of the word that shows it.
pub(in crate::report) fn line(report: &Report, it: &Unjudged) -> Option<usize> {
    it.span.or(it.shown_at).map(|span| report.paths.locate(report.sources, span).line)
}

/// Returns the file, with the line of the word that shows the entry.
pub(in crate::report) fn place(report: &Report, it: &Unjudged) -> String {
    let path = report.paths.show(&it.path);
    match it.shown_at {
        Some(span) => format!("{path}:{}", report.paths.locate(report.sources, span).line),
        None => path,
    }
}
