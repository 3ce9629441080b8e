//! Writes the cost over the commits for a terminal: the answer, then the course, then the commits that changed it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use super::sparkline::sparkline;
use crate::catalog::{Currency, Money};
use crate::inventory::BillingRole;
use crate::pricing::CostChange;
use crate::report::escape::{one_line, shortened};
use crate::report::formats::text::TextTable;
use crate::report::views::history::{
    Blame, BlamedCommit, BranchCommit, Commit, CostStep, CostStepKind, HistoryMonth, StepChange,
    course as steps_course, months as history_months, unknown_points,
};
use crate::report::views::money::{plain_number, role_heading};
use crate::report::views::table::{Cell, Columns, columns};
use crate::report::{CostHistory, EntryDetail, HistoryPoint, Most, ReportStyle, Snapshot};

/// Months and steps that are shown by default.
const MONTHS: usize = 13;
const STEPS: usize = 10;
/// Resources that are shown by default.
const RESOURCES: usize = 20;
/// The limit on gaps that are listed.
const GAPS: usize = 5;
/// The width of the sparkline.
const SPARKS: usize = 60;

const LONGEST_SUBJECT: usize = 60;
const LONGEST_AUTHOR: usize = 24;
const LONGEST_ADDRESS: usize = 60;

pub(super) fn history(history: &CostHistory, style: ReportStyle) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", bold(&answer(history), style));
    if style.choice.detail > EntryDetail::Quiet {
        drawn(&mut text, history, style);
        months(&mut text, history, style);
        steps(&mut text, history, style);
    }
    gaps(&mut text, history);
    basis(&mut text, history);
    text
}

fn bold(line: &str, style: ReportStyle) -> String {
    if style.color { format!("\u{1b}[1m{line}\u{1b}[0m") } else { line.to_owned() }
}

/// Returns the cost that became known in a step, minus the cost that is no longer known.
pub(in crate::report) fn unsure(it: &CostStep) -> Money {
    it.combined.became_known.expected - it.combined.no_longer_known.expected
}

/// Returns text such as `+$2,000`; if one of the states does not know the cost: `$2,000 became known`, `$2,000 no
/// longer known`.
pub(in crate::report) fn step_money(currency: Currency, it: &CostStep) -> String {
    if is_still(&it.combined) && it.changes.iter().any(|it| it.delta().is_none()) {
        return "?".to_owned();
    }
    change_money(currency, &it.combined)
}

pub(in crate::report) fn change_money(currency: Currency, it: &CostChange) -> String {
    let (known, lost) = (it.became_known.expected, it.no_longer_known.expected);
    let mut parts = Vec::new();
    if !it.difference.expected.is_zero() || known.is_zero() && lost.is_zero() {
        parts.push(signed(currency, it.difference.expected));
    }
    if !known.is_zero() {
        parts.push(format!("{} became known", currency.amount(known)));
    }
    if !lost.is_zero() {
        parts.push(format!("{} no longer known", currency.amount(lost)));
    }
    parts.join(", ")
}

/// Returns the expected monthly cost of machines and pods, as far as it is known. Each dollar counts once.
pub(in crate::report) fn expected(it: &Snapshot) -> Money {
    it.combined().minimum().expected
}

/// Returns how much the cost that both states know increases in a step.
pub(in crate::report) fn moved(it: &CostStep) -> Money {
    it.combined.difference.expected
}

/// Returns text such as `GPU cost $9,000/month; $3,000 more than on 2026-01-02; largest change by 1a2b3c4d5e of
/// 2026-03-04 (Ada): add a pool, +$2,000`.
pub(super) fn answer(history: &CostHistory) -> String {
    let Some((newest, now)) = history.newest() else {
        return "GPU cost unknown: no commit could be read".to_owned();
    };
    let (currency, cost) = (history.currency, now.combined());
    let mut text = match now.added().next() {
        None if cost.is_whole() && now.not_judged.is_empty() => "no accelerators found".to_owned(),
        None if cost.is_whole() => format!("no accelerators with a price; not evaluated: {}", now.not_judged.len()),
        _ => format!("GPU cost {}", currency.monthly(&cost, "")),
    };
    let last = history.points.last().map(|it| &it.commit.id);
    if last != Some(&newest.commit.id) {
        let _ = write!(text, " as of {}; the commits after it could not be read", newest.commit.date());
    }
    let Some((oldest, then)) = history.oldest().filter(|(it, _)| it.commit.id != newest.commit.id) else {
        return text;
    };
    let course = steps_course(then, now);
    let grown = course.difference.expected;
    if course.before.is_whole() && course.after.is_whole() {
        let _ = write!(text, "; {} on {}", compared(currency, grown), oldest.commit.date());
    } else {
        let _ = write!(text, "; {} on {}", currency.at_least(&course.before, ""), oldest.commit.date());
    }
    let most = history
        .steps
        .iter()
        .filter(|it| it.from.is_some())
        .max_by_key(|it| (towards(moved(it), grown), Reverse(it.to)));
    if let Some((step, point)) = most.and_then(|it| Some((it, history.points.get(it.to)?)))
        && !moved(step).is_zero()
    {
        let _ = write!(text, "; largest change by {}, {}", named(&point.commit, step), signed(currency, moved(step)));
    }
    text
}

/// Returns the part of a change in the direction of `grown`; the whole change if `grown` is zero.
fn towards(delta: Money, grown: Money) -> Money {
    let is_against = if grown.is_zero() { delta < Money::ZERO } else { grown < Money::ZERO };
    if is_against { -delta } else { delta }
}

fn compared(currency: Currency, grown: Money) -> String {
    if grown.is_zero() {
        "as much as".to_owned()
    } else if grown < Money::ZERO {
        format!("{} less than", currency.amount(-grown))
    } else {
        format!("{} more than", currency.amount(grown))
    }
}

pub(in crate::report) fn signed(currency: Currency, money: Money) -> String {
    let plus = if money > Money::ZERO { "+" } else { "" };
    format!("{plus}{}", currency.amount(money))
}

/// Returns text such as `1a2b3c4d5e of 2026-03-04 (Ada): add a pool`.
fn named(commit: &Commit, step: &CostStep) -> String {
    let one_of = if step.between == 0 { String::new() } else { format!("{} commits up to ", step.between) };
    let (author, subject) = (author(commit, step.by()), subject(commit, step.by()));
    format!("{one_of}{} of {} ({author}): {subject}", commit.short(), commit.date())
}

/// Returns text such as `add a pool`; for a merge, its pull request and the commit that made the change: `#7 Add
/// pools (1a2b3c4d5e: add a pool)`.
pub(in crate::report) fn subject(commit: &Commit, by: Option<&BranchCommit>) -> String {
    let own = |it: &str| shortened(&one_line(it), LONGEST_SUBJECT);
    let title = commit.request.as_ref().map_or(Some(&commit.subject), |it| it.title.as_ref());
    let name = commit.request.as_ref().map(|it| it.name.as_str());
    let mut text = [name.map(own), title.map(|it| own(it))].into_iter().flatten().collect::<Vec<_>>().join(" ");
    match by {
        Some(by) if Some(&by.subject) == title => {
            let _ = write!(text, " ({})", by.short());
        }
        Some(by) => {
            let _ = write!(text, " ({}: {})", by.short(), own(&by.subject));
        }
        None => {}
    }
    text
}

/// Returns the author; for a merge, the author of the commit that made the change.
pub(in crate::report) fn author(commit: &Commit, by: Option<&BranchCommit>) -> String {
    shortened(&one_line(by.map_or(&commit.author, |it| &it.author)), LONGEST_AUTHOR)
}

fn drawn(text: &mut String, history: &CostHistory, style: ReportStyle) {
    if style.plain {
        return;
    }
    let line = sparkline(history, SPARKS, &unknown_points(history), expected);
    let known = || history.points.iter().filter_map(HistoryPoint::snapshot);
    if let (Some(first), Some(last), Some(most)) =
        (history.points.first(), history.points.last(), known().map(|it| expected(it)).max())
        && !line.is_empty()
        && !most.is_zero()
    {
        let (from, to) = (first.commit.date(), last.commit.date());
        let peak = if known().all(|it| it.combined().is_whole()) { "maximum" } else { "maximum at least" };
        let _ = writeln!(text, "\n{from} {line} {to}, {peak} {}", history.currency.amount(most));
    }
}

/// Writes the last known state of each month.
fn months(text: &mut String, history: &CostHistory, style: ReportStyle) {
    let rows = history_months(history);
    let at_least = |it: &Snapshot| match it.combined().is_whole() {
        true => "",
        false if style.plain => "at least ",
        false => "≥ ",
    };
    let unknown = || Cell::from("?");
    let amount = |it: &Snapshot| history.currency.amount(expected(it));
    let columns: &Columns<'_, &HistoryMonth<'_>> = &columns![
        "month" => |it| it.month.to_string(),
        "cost at month end" => |it| it.state.map_or_else(unknown, |it| (at_least(it).to_owned() + &amount(it)).into()),
        "change" => |it| it.moved.as_ref().filter(|it| !is_still(it)).map(|it| change_money(history.currency, it)),
        "accelerators" => |it| it.state.map_or_else(unknown, |it| plain_number(it.accelerators()).into()),
        "findings" => |it| it.state.map_or_else(unknown, |it| it.finding_count().into()),
        "possible savings" => |it| it.state.map_or_else(unknown, |it| it.saves.expected.into()),
        "not evaluated" => |it| it.state.map_or_else(unknown, |it| it.not_judged.len().into()),
        "commits" => |it| it.commits,
    ];
    let left_out = rows.len().saturating_sub(most(style, MONTHS));
    let table = TextTable::of(columns, 1..8, rows.iter().skip(left_out), &history.currency);
    if !rows.is_empty() {
        let _ = write!(text, "\n{}", table.print_within(style.columns));
        not_shown(text, left_out, "earlier month");
    }
}

/// Returns true if the expected cost does not differ.
fn is_still(it: &CostChange) -> bool {
    [it.difference, it.became_known, it.no_longer_known].iter().all(|it| it.expected.is_zero())
}

fn most(style: ReportStyle, usual: usize) -> usize {
    match style.choice.most {
        Most::Top(most) => most,
        Most::All => usize::MAX,
        Most::Screen => usual,
    }
}

fn not_shown(text: &mut String, count: usize, what: &str) {
    if count > 0 {
        let _ =
            writeln!(text, "not shown: {count} {what}{}; --all shows everything", if count == 1 { "" } else { "s" });
    }
}

/// Writes the commits that changed the cost, the largest change first.
fn steps(text: &mut String, history: &CostHistory, style: ReportStyle) {
    let size = |it: &CostStep| {
        let size = |money: Money| if money < Money::ZERO { -money } else { money };
        Reverse((size(moved(it)).max(size(unsure(it))), it.to))
    };
    let mut steps: Vec<&CostStep> = history.steps.iter().collect();
    steps.sort_by_key(|it| size(it));
    if steps.is_empty() {
        return;
    }
    let most = most(style, STEPS);
    let points = steps.iter().take(most).filter_map(|step| Some((*step, &history.points.get(step.to)?.commit)));
    let columns: &Columns<'_, (&CostStep, &Commit)> = &columns![
        "commit" => |(step, commit)| one_of(commit, step.between),
        "date" => |(_, commit)| commit.date(),
        "per month" => |(step, _)| step_money(history.currency, step),
        "accelerators" => |(step, _)| match step.accelerators {
            0.0 => None,
            n => Some(format!("{}{}", if n > 0.0 { "+" } else { "" }, plain_number(n))),
        },
        "author" => |(step, commit)| author(commit, step.by()),
        "subject" => |(step, commit)| subject(commit, step.by()),
        "changes" => |(step, _)| did(&step.changes),
    ];
    let table = TextTable::of(columns, 2..4, points, &history.currency);
    let _ = write!(text, "\n{}", table.print_within(style.columns));
    if style.choice.detail == EntryDetail::Verbose {
        steps.iter().take(most).for_each(|step| each_change(text, history, step));
    }
    not_shown(text, steps.len().saturating_sub(most), "smaller step");
}

/// Returns text such as `added aws_instance.a and 3 more`.
pub(in crate::report) fn did(changes: &[StepChange]) -> String {
    let Some(first) = changes.first() else { return String::new() };
    let address = |it: &str| shortened(&one_line(it), LONGEST_ADDRESS);
    let more = changes.len() - 1;
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let told = match (&first.before, &first.after, first.kind) {
        (Some(was), Some(is), CostStepKind::Moved) if was.address != is.address => {
            format!("{} to {}", address(&was.address), address(&is.address))
        }
        _ => address(first.address()),
    };
    format!("{} {told}{more}", first.kind.name())
}

fn each_change(text: &mut String, history: &CostHistory, step: &CostStep) {
    let Some(point) = history.points.get(step.to) else { return };
    let _ = writeln!(text, "\n{}", named(&point.commit, step));
    for change in &step.changes {
        let delta = match change.kind {
            CostStepKind::BecameKnown => history.currency.amount(change.known_after()),
            CostStepKind::NoLongerKnown => history.currency.amount(change.known_before()),
            _ => change.delta().map_or("?".to_owned(), |it| signed(history.currency, it)),
        };
        // The first line names the commit of the largest change.
        let by = change.by.as_ref().filter(|it| Some(*it) != step.by());
        let by = by.map(|it| format!(", by {} ({})", it.short(), author(&point.commit, Some(it)))).unwrap_or_default();
        let unpriced = change.after.as_ref().and_then(|it| it.unpriced.as_deref());
        let why = unpriced.map(|why| format!(", no price: {}", shortened(&one_line(why), 120))).unwrap_or_default();
        let _ = writeln!(text, "  {delta}  {}{why}{by}", did(std::slice::from_ref(change)));
    }
}

fn gaps(text: &mut String, history: &CostHistory) {
    let all: Vec<(&HistoryPoint, &str)> = history.gaps().collect();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nnot readable: {}", commits(all.len()));
    for (point, why) in all.iter().take(GAPS) {
        let _ =
            writeln!(text, "  {} of {}: {}", point.commit.short(), point.commit.date(), shortened(&one_line(why), 160));
    }
    if all.len() > GAPS {
        let _ = writeln!(text, "  and {} more; --format json lists them all", all.len() - GAPS);
    }
}

/// Returns text such as `1 commit`, `12 commits`.
pub(in crate::report) fn commits(n: usize) -> String {
    if n == 1 { "1 commit".to_owned() } else { format!("{n} commits") }
}

/// Writes how the numbers were computed.
fn basis(text: &mut String, history: &CostHistory) {
    text.push('\n');
    if let Some((_, now)) = history.newest()
        && !now.not_judged.is_empty()
    {
        let _ = writeln!(text, "not evaluated in the newest commit: {}; reasons: `gpulint cost`", now.not_judged.len());
    }
    for note in &history.notes {
        let _ = writeln!(text, "{}", one_line(note));
    }
    let looked = history.points.len();
    let of =
        if looked == history.commits { commits(looked) } else { format!("{looked} of {}", commits(history.commits)) };
    let settings = one_line(&history.settings_of);
    let _ = writeln!(
        text,
        "{of} along first parents; all at the prices of {}; settings and rules: {settings}; a month is 730 hours",
        history.today
    );
}

pub(super) fn blame(history: &CostHistory, told: &[Blame<'_>], style: ReportStyle) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", bold(&brought(history, told), style));
    if style.choice.detail > EntryDetail::Quiet {
        by_commit(&mut text, history, told, style);
        by_resource(&mut text, history, told, style);
    }
    gaps(&mut text, history);
    basis(&mut text, history);
    text
}

/// Returns the resource's share of the total. Pods on counted machines add nothing.
fn share(it: &Blame<'_>) -> Money {
    it.holding.share.map_or(Money::ZERO, |it| it.expected)
}

/// Returns text such as `GPU cost $9,000/month, added by 3 commits; $1,000 of this existed by 2026-01-02`.
fn brought(history: &CostHistory, told: &[Blame<'_>]) -> String {
    let counted = || told.iter().filter(|it| !share(it).is_zero());
    let all: Money = counted().map(share).sum();
    let before: Money = counted().filter(|it| it.since.is_none()).map(share).sum();
    let commits: std::collections::BTreeSet<&str> =
        counted().filter_map(|it| it.since.as_ref()).map(|it| it.commit.id.as_str()).collect();
    let is_whole = history.newest().is_none_or(|(_, now)| now.combined().is_whole());
    let mark = if is_whole { "" } else { "at least " };
    let (all, by) = (history.currency.amount(all), self::commits(commits.len()));
    let mut text = format!("GPU cost {mark}{all}/month, added by {by}");
    if let Some((oldest, _)) = history.oldest().filter(|_| !before.is_zero()) {
        let _ = write!(text, "; {} of this existed by {}", history.currency.amount(before), oldest.commit.date());
    }
    text
}

/// Writes today's cost by the commit that last changed it.
fn by_commit(text: &mut String, history: &CostHistory, told: &[Blame<'_>], style: ReportStyle) {
    // Commits of one merge are listed separately.
    let mut commits: BTreeMap<(&str, Option<&str>), (BlamedCommit<'_>, Money, usize)> = BTreeMap::new();
    for it in told.iter().filter(|it| !share(it).is_zero()) {
        let Some(since) = it.since else { continue };
        let (_, sum, resources) =
            commits.entry((&since.commit.id, since.by.map(|it| &*it.id))).or_insert((since, Money::ZERO, 0));
        *sum += share(it);
        *resources += 1;
    }
    let mut commits: Vec<(BlamedCommit<'_>, Money, usize)> = commits.into_values().collect();
    commits.sort_by_key(|(since, sum, _)| {
        let by = since.by.map(|it| it.id.clone());
        (Reverse(*sum), Reverse(since.commit.time), since.commit.id.clone(), by)
    });
    let most = most(style, STEPS);
    let columns: &Columns<'_, &(BlamedCommit<'_>, Money, usize)> = &columns![
        "per month today" => |(_, sum, _)| *sum,
        "resources" => |(.., resources)| *resources,
        "commit" => |(since, ..)| one_of(since.commit, since.between),
        "date" => |(since, ..)| since.commit.date(),
        "author" => |(since, ..)| author(since.commit, since.by),
        "subject" => |(since, ..)| subject(since.commit, since.by),
    ];
    let table = TextTable::of(columns, 0..2, commits.iter().take(most), &history.currency);
    let _ = write!(text, "\n{}", table.print_within(style.columns));
    not_shown(text, commits.len().saturating_sub(most), "commit");
}

fn one_of(commit: &Commit, between: usize) -> String {
    match between {
        0 => commit.short().to_owned(),
        n => format!("{} or one of {n} before it", commit.short()),
    }
}

fn by_resource(text: &mut String, history: &CostHistory, told: &[Blame<'_>], style: ReportStyle) {
    let most = most(style, RESOURCES);
    for (is_rented, name) in [(true, role_heading(BillingRole::Rented)), (false, role_heading(BillingRole::Requested))]
    {
        let of_role: Vec<&Blame<'_>> = told.iter().filter(|it| it.holding.is_rented == is_rented).collect();
        let commit = |it: Option<BlamedCommit<'_>>| it.map(|it| one_of(it.commit, it.between));
        let date = |it: Option<BlamedCommit<'_>>| it.map_or("before".to_owned(), |it| it.commit.date().to_string());
        let by = |it: Option<BlamedCommit<'_>>| it.map(|it| author(it.commit, it.by));
        let signed = |delta: Option<Money>| delta.map_or("?".to_owned(), |it| signed(history.currency, it));
        let columns: &Columns<'_, &&Blame<'_>> = &columns![
            name => |it| shortened(&one_line(&it.holding.address), LONGEST_ADDRESS),
            "per month" => |it| it.holding.monthly.map_or(Cell::from("?"), |it| it.expected.into()),
            "last change" => |it| date(it.since),
            "commit" => |it| commit(it.since),
            "change" => |it| it.since.map(|it| signed(it.delta)),
            "author" => |it| by(it.since),
            "first added" => |it| date(it.added),
            "commit" => |it| commit(it.added),
            "author" => |it| by(it.added),
        ];
        let table = TextTable::of(columns, 1..2, of_role.iter().take(most), &history.currency);
        if !of_role.is_empty() {
            let _ = write!(text, "\n{}", table.print_within(style.columns));
        }
        not_shown(text, of_role.len().saturating_sub(most), "resource");
    }
}
