//! The comment on a pull request. Everything from the repository is escaped; what is too long is cut in a stated order.

use std::fmt::Write;

use super::headline::Headline;
use super::rows::{DifferenceRow, environments, rows};
use super::{Cost, Difference, most_important_first};
use crate::compare::Spent;
use crate::decide::Verdict;
use crate::inventory::Role;
use crate::pricing::{Change, ChangeKind};
use crate::report::Team;
use crate::report::formats::markdown::{count_of, tildes, told, unknown};
use crate::report::views::judged;
use crate::report::views::markup::{code, plain};
use crate::report::{Room, escape};
use crate::rules::in_the_book;

/// Rows of the table before the fold.
const ROWS: usize = 10;

/// Rows behind the fold.
const MOST_ROWS: usize = 200;

/// Environments that are told apart.
const MOST_ENVIRONMENTS: usize = 12;

/// Teams that are told apart.
const MOST_TEAMS: usize = 8;

/// Budgets that are told apart.
const MOST_BUDGETS: usize = 12;

/// Accepted findings that are named.
const MOST_ACCEPTED: usize = 20;

/// Fixed findings that are named.
const MOST_FIXED: usize = 50;

pub(super) fn difference(it: &Difference, room: Room) -> String {
    if it.is_nothing() {
        return nothing(it);
    }
    // The order of cutting: what was fixed, then the details of cost and what is not known, then new findings from the
    // last one on. The headline, the first rows of the table and the gate always stay.
    let mut kept = Shown { new: it.new.len() + it.grown.len(), fixed: true, details: true };
    loop {
        let text = compose(it, room, kept);
        if text.chars().count() <= room.characters {
            return text;
        }
        if kept.fixed {
            kept.fixed = false;
        } else if kept.details {
            kept.details = false;
        } else if kept.new == 0 {
            return text.chars().take(room.characters).collect();
        } else {
            kept.new = fitting(it, room, kept);
        }
    }
}

/// What was not cut yet.
#[derive(Debug, Clone, Copy)]
struct Shown {
    new: usize,
    fixed: bool,
    details: bool,
}

/// The most new findings for which there is room.
fn fitting(it: &Difference, room: Room, kept: Shown) -> usize {
    let (mut fits, mut too_many) = (0, kept.new);
    while too_many - fits > 1 {
        let new = fits + (too_many - fits) / 2;
        let fit = compose(it, room, Shown { new, ..kept }).chars().count() <= room.characters;
        if fit { fits = new } else { too_many = new }
    }
    fits
}

/// One line is enough where nothing changed: it may stand in the place of a longer comment about an earlier commit.
fn nothing(it: &Difference) -> String {
    let open = judged::in_numbers(&it.after).map(|it| format!(" – {it}")).unwrap_or_default();
    let mut text = format!("### GPU cost: nothing changed{open}\n\n");
    notes(&mut text, it);
    match it.unchanged.len() {
        0 => {}
        n => _ = writeln!(text, "{} as before.\n", count_of(n)),
    }
    let _ = writeln!(text, "{}", gate(it));
    text
}

fn notes(text: &mut String, it: &Difference) {
    for note in &it.notes {
        let _ = writeln!(text, "> {}\n", plain(note));
    }
}

fn compose(it: &Difference, room: Room, kept: Shown) -> String {
    let mut text = format!("### GPU cost: {}\n\n", tildes(&Headline::new(it).line(it.after.verdict)));
    notes(&mut text, it);
    changes(&mut text, it, room, kept.details);
    by_environment(&mut text, it);
    teams(&mut text, it);
    budgets(&mut text, it);
    judged::in_markdown(&mut text, &it.after, room, kept.details);
    new_findings(&mut text, it, kept.new);
    accepted(&mut text, it);
    if kept.fixed {
        fixed(&mut text, it, room);
    } else if !it.fixed.is_empty() {
        let _ = writeln!(text, "{} fixed; the full report lists them.\n", count_of(it.fixed.len()));
    }
    if !it.unchanged.is_empty() {
        let _ = writeln!(text, "{} as before.\n", count_of(it.unchanged.len()));
    }
    if kept.details {
        unknown(&mut text, &it.after, room);
    }
    let _ = writeln!(text, "{}", gate(it));
    text
}

/// What a phone shows without scrolling comes first: the money, and of what.
const HEAD: &str = "| a month | resource | change | before → after |\n|---:|---|---|---|\n";

fn changes(text: &mut String, it: &Difference, room: Room, with_details: bool) {
    let rows = rows(it);
    if rows.is_empty() {
        return;
    }
    text.push_str(HEAD);
    for one in rows.iter().take(ROWS) {
        row(text, it, one);
    }
    text.push('\n');
    let rest = rows.get(ROWS..).unwrap_or_default();
    if rest.is_empty() {
        return;
    }
    if !with_details {
        let _ = writeln!(text, "and {} more\n", rest.len());
        return;
    }
    room.open_fold(text, &format!("{} more", rest.len()));
    text.push_str(HEAD);
    for one in rest.iter().take(MOST_ROWS) {
        row(text, it, one);
    }
    if rest.len() > MOST_ROWS {
        let _ = writeln!(text, "\nand {} more", rest.len() - MOST_ROWS);
    }
    room.close_fold(text);
}

fn row(text: &mut String, it: &Difference, row: &DifferenceRow) {
    let change = row.first;
    let shown = |cost: Option<Cost>, there: bool| match cost {
        Some(cost) => tildes(&it.cost(cost)),
        None if there => "unpriced".to_owned(),
        None => "–".to_owned(),
    };
    let difference = match change.kind {
        ChangeKind::Moved => "–".to_owned(),
        _ => tildes(&it.increase(change, row.before, row.after)),
    };
    let (before, after) = (shown(row.before, change.before.is_some()), shown(row.after, change.after.is_some()));
    let _ = writeln!(
        text,
        "| {difference} | {} | {} | {} |",
        resource(it, row),
        what(it, change),
        if before == after { before } else { format!("{before} → {after}") },
    );
}

/// `changed: count 1 → 3, bought spot → on-demand`
fn what(it: &Difference, change: &Change) -> String {
    if change.kind == ChangeKind::Moved && is_renamed(it, change) {
        return "renamed".to_owned();
    }
    if change.kind != ChangeKind::Changed {
        return change.kind.name().to_owned();
    }
    if change.details.is_empty() {
        return "another price".to_owned();
    }
    let shown = |value: &str| if value.is_empty() { "–".to_owned() } else { plain(&escape::shortened(value, 60)) };
    let details = change.details.iter();
    let details: Vec<String> =
        details.map(|it| format!("{} {} → {}", it.what, shown(&it.before), shown(&it.after))).collect();
    details.join(", ")
}

/// Only the name at the end of the address is another one.
fn is_renamed(it: &Difference, change: &Change) -> bool {
    let (Some(earlier), Some(later)) = (it.before.resource(change.before), it.after.resource(change.after)) else {
        return false;
    };
    let place = |address: &str| address.rfind(['.', '/']).map(|at| address.get(..at).unwrap_or_default().to_owned());
    earlier.address != later.address && place(&earlier.address) == place(&later.address)
}

/// The address; where it was another one before, that one too. What pods ask for is marked where machines stand beside it.
fn resource(it: &Difference, row: &DifferenceRow) -> String {
    let change = row.first;
    let (earlier, later) = (it.before.resource(change.before), it.after.resource(change.after));
    let shown = |address: &str| code(&escape::shortened(address, 100));
    let mut text = match (earlier, later) {
        (Some(earlier), Some(later)) if earlier.address != later.address => {
            format!("{} → {}", shown(&earlier.address), shown(&later.address))
        }
        _ => shown(&row.name(it)),
    };
    text.push_str(&row.number());
    let is_mixed = !it.delta.rented.is_nothing() && !it.delta.requested.is_nothing();
    if is_mixed && later.or(earlier).is_some_and(|it| it.role == Role::Requested) {
        text.push_str(" (requested)");
    }
    if let Some(basis) = it.basis(change) {
        let _ = write!(text, "<br><sub>{}</sub>", plain(&escape::shortened(&basis, 200)));
    }
    text
}

/// What the change does to each environment, where it touches several.
fn by_environment(text: &mut String, it: &Difference) {
    let all = environments(it);
    if all.is_empty() {
        return;
    }
    text.push_str("| a month | in | before → after |\n|---:|---|---|\n");
    for one in all.iter().take(MOST_ENVIRONMENTS) {
        let name = code(&escape::shortened(&one.name, 100));
        let difference = it.signed(one.after.expected - one.before.expected);
        let (before, after) = (it.after.currency.range(one.before), it.after.currency.range(one.after));
        let _ = writeln!(text, "| {difference} | {name} | {before} → {after} |");
    }
    if all.len() > MOST_ENVIRONMENTS {
        let _ = writeln!(text, "\nand {} more", all.len() - MOST_ENVIRONMENTS);
    }
    text.push('\n');
}

/// Who pays, where the change moves that and a label says whose it is.
fn teams(text: &mut String, it: &Difference) {
    let moved: Vec<&Team> = it.teams.iter().filter(|team| team.before != team.after).collect();
    let name = |team: &Team| team.name.as_deref().map(|name| plain(&escape::shortened(name, 60)));
    match moved.as_slice() {
        [] => {}
        [team] => {
            if let Some(name) = name(team) {
                let (before, after) = (it.after.currency.range(team.before), it.after.currency.range(team.after));
                let _ = writeln!(text, "Paid by {name}: {before} → {after} a month\n");
            }
        }
        moved if moved.iter().any(|team| team.name.is_some()) => {
            text.push_str("| a month | team | before → after |\n|---:|---|---|\n");
            for team in moved.iter().take(MOST_TEAMS) {
                let name = name(team).unwrap_or_else(|| "_no team_".to_owned());
                let difference = it.signed(team.after.expected - team.before.expected);
                let (before, after) = (it.after.currency.range(team.before), it.after.currency.range(team.after));
                let _ = writeln!(text, "| {difference} | {name} | {before} → {after} |");
            }
            if moved.len() > MOST_TEAMS {
                let _ = writeln!(text, "\nand {} more teams", moved.len() - MOST_TEAMS);
            }
            text.push('\n');
        }
        _ => {}
    }
}

/// What is left of the budgets that the change touches, and of those that are spent.
fn budgets(text: &mut String, it: &Difference) {
    let told: Vec<&Spent> = it.budgets.iter().filter(|it| it.is_worth_telling()).collect();
    if told.is_empty() {
        return;
    }
    text.push_str("| left | budget | a month | before → after |\n|---:|---|---:|---|\n");
    for one in told.iter().take(MOST_BUDGETS) {
        let left = one.remainder(it.after.currency).unwrap_or_default();
        let left = if one.is_over() { format!("**{left}**") } else { left };
        let limit = one.limit.map(|limit| it.amount(limit)).unwrap_or_default();
        let before = one.before.filter(|before| *before != one.after);
        let before = before.map(|before| format!("{} → ", it.amount(before))).unwrap_or_default();
        let name = plain(&escape::shortened(&one.name, 60));
        let _ = writeln!(text, "| {left} | {name} | {limit} | {before}{} |", it.amount(one.after));
    }
    if told.len() > MOST_BUDGETS {
        let _ = writeln!(text, "\nand {} more budgets", told.len() - MOST_BUDGETS);
    }
    text.push('\n');
}

fn new_findings(text: &mut String, it: &Difference, most: usize) {
    let mut most = most;
    for (findings, what) in
        [(&it.new, ("is new", "are new")), (&it.grown, ("is worse than before", "are worse than before"))]
    {
        if findings.is_empty() {
            continue;
        }
        let what = if findings.len() == 1 { what.0 } else { what.1 };
        let _ = writeln!(text, "#### {} {what}\n", count_of(findings.len()));
        let left_out = told(text, &it.after, it.head.as_ref(), &most_important_first(findings), most);
        most = most.saturating_sub(findings.len());
        if left_out > 0 {
            let _ = writeln!(text, "\nand {left_out} more; the full report lists them");
        }
        text.push('\n');
    }
    if it.brought().next().is_some() {
        let _ = writeln!(text, "{HOW_TO_ACCEPT} ([how]({})).</sub>\n", in_the_book("accepting"));
    }
}

/// For whoever knows why something is as it is.
const HOW_TO_ACCEPT: &str =
    "<sub>To accept one, say why on its line: `# gpulint: ignore[RULE] until=2027-01-31 -- the reason`";

/// What somebody says is all right as it is, and why.
fn accepted(text: &mut String, it: &Difference) {
    if it.accepted.is_empty() {
        return;
    }
    let _ = writeln!(text, "#### {} accepted by this change\n", count_of(it.accepted.len()));
    for decided in it.accepted.iter().take(MOST_ACCEPTED) {
        let Some(by) = &decided.suppressed else { continue };
        let resource = it.after.resource(decided.finding.resource).map_or("", |it| it.address.as_str());
        let until = by.until.map(|date| format!(", until {date}")).unwrap_or_default();
        let reason = by.reason.as_deref().unwrap_or("no reason is given");
        let resource = code(&escape::shortened(resource, 200));
        let reason = plain(&escape::shortened(reason, 300));
        let _ = writeln!(text, "- **{}** {resource}{until}: {reason}", decided.finding.rule);
    }
    if it.accepted.len() > MOST_ACCEPTED {
        let _ = writeln!(text, "\nand {} more", it.accepted.len() - MOST_ACCEPTED);
    }
    text.push('\n');
}

fn fixed(text: &mut String, it: &Difference, room: Room) {
    if it.fixed.is_empty() {
        return;
    }
    room.open_fold(text, &format!("{} fixed", count_of(it.fixed.len())));
    for decided in it.fixed.iter().take(MOST_FIXED) {
        let resource = decided.finding.address(it.before.inventory).unwrap_or_default();
        let _ = writeln!(text, "- {} {}", decided.finding.rule, code(&escape::shortened(resource, 200)));
    }
    if it.fixed.len() > MOST_FIXED {
        let _ = writeln!(text, "- and {} more", it.fixed.len() - MOST_FIXED);
    }
    room.close_fold(text);
}

/// Which setting decided; the verdict itself is the first word of the comment.
fn gate(it: &Difference) -> String {
    let setting = code(&it.gate.setting);
    let below = match (it.after.verdict, it.new.len() + it.grown.len()) {
        (Verdict::Fail, _) | (_, 0) => String::new(),
        _ => " – what the change brings is below the level".to_owned(),
    };
    match it.fails_for_the_unread() {
        true => format!("**{}** fails here – decided by {setting}", it.after.verdict.name()),
        false => format!("**{}**{below} – decided by {setting}", it.after.verdict.name()),
    }
}
