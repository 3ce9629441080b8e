//! Writes the comment on a pull request. It escapes everything from the repository, and shortens long comments in a
//! fixed order.

use super::headline::Headline;
use super::rows::{DifferenceRow, environments, rows};
use super::{Cost, Difference, most_important_first};
use crate::compare::BudgetUsage;
use crate::decide::Verdict;
use crate::inventory::BillingRole;
use crate::pricing::{ChangeKind, KnownSides, ResourceCostChange};
use crate::report::CommentLimits;
use crate::report::Team;
use crate::report::formats::markdown::{count_of, unknown, write_findings};
use crate::report::views::budgets::BudgetText;
use crate::report::views::judged;
use crate::report::views::markup::{self, Address, Markdown, cell_code, code, figures, linked, markdown};
use crate::report::views::not_read::not_read_markdown;
use crate::rules::in_the_book;

/// The number of table rows that are always visible.
const ROWS: usize = 10;

/// The maximum number of table rows in the folded part.
const MOST_ROWS: usize = 200;

/// The maximum number of environments in the table.
const MOST_ENVIRONMENTS: usize = 12;

/// The maximum number of teams in the table.
const MOST_TEAMS: usize = 8;

/// The maximum number of budgets in the table.
const MOST_BUDGETS: usize = 12;

/// The maximum number of accepted findings in the list.
const MOST_ACCEPTED: usize = 20;

/// The maximum number of fixed findings in the list.
const MOST_FIXED: usize = 50;

/// The maximum number of characters of an address.
const LONGEST_NAME: usize = 200;

/// The maximum number of characters of a value before and after, and of a team name.
const LONGEST_VALUE: usize = 60;

/// The maximum number of characters of a note.
const LONGEST_NOTE: usize = 1_000;

pub(in crate::report) fn difference(it: &Difference, room: CommentLimits) -> String {
    if it.is_nothing() {
        return nothing(it, room);
    }
    // The order of cuts: fixed findings, then details of cost and unknown values, then new findings from the last one
    // on. The headline, the first table rows and the verdict always stay.
    let mut kept = Shown { new: it.new.len() + it.grown.len(), fixed: true, details: true };
    loop {
        let text = compose(it, room, kept);
        if text.characters() <= room.characters {
            return text.into_string();
        }
        if kept.fixed {
            kept.fixed = false;
        } else if kept.details {
            kept.details = false;
        } else if kept.new == 0 {
            return text.into_string().chars().take(room.characters).collect();
        } else {
            kept.new = fitting(it, room, kept);
        }
    }
}

/// The parts of the comment that are not cut yet.
#[derive(Debug, Clone, Copy)]
struct Shown {
    new: usize,
    fixed: bool,
    details: bool,
}

/// Returns the most new findings that fit.
fn fitting(it: &Difference, room: CommentLimits, kept: Shown) -> usize {
    let (mut fits, mut too_many) = (0, kept.new);
    while too_many - fits > 1 {
        let new = fits + (too_many - fits) / 2;
        let fit = compose(it, room, Shown { new, ..kept }).characters() <= room.characters;
        if fit { fits = new } else { too_many = new }
    }
    fits
}

/// Returns the comment if nothing changed: it may replace a longer one about an earlier commit.
fn nothing(it: &Difference, room: CommentLimits) -> String {
    let mut text = Markdown::default();
    text.push("### GPU cost: nothing changed");
    if let Some(open) = judged::in_numbers(&it.after) {
        markdown!(text, " – ", figures(&open));
    }
    text.push("\n\n");
    notes(&mut text, it);
    if !it.unchanged.is_empty() {
        markdown!(text, count_of(it.unchanged.len()), " unchanged.\n\n");
    }
    not_read_markdown(&mut text, &it.not_read, room);
    gate(&mut text, it);
    text.into_string()
}

fn notes(text: &mut Markdown, it: &Difference) {
    for note in it.all_notes() {
        markdown!(text, "> ", markup::text(&note, LONGEST_NOTE), "\n\n");
    }
}

fn compose(it: &Difference, room: CommentLimits, kept: Shown) -> Markdown {
    let mut text = Markdown::default();
    let headline = Headline::new(it);
    markdown!(text, "### GPU cost: ", figures(&headline.line(it.after.verdict)), "\n\n");
    let below = headline.below();
    for row in &below {
        markdown!(text, "- ", figures(row), "\n");
    }
    if !below.is_empty() {
        text.push("\n");
    }
    notes(&mut text, it);
    changes(&mut text, it, room, kept.details);
    by_environment(&mut text, it);
    teams(&mut text, it);
    budgets(&mut text, it);
    judged::in_markdown(&mut text, &it.after, room, kept.details);
    not_read_markdown(&mut text, &it.not_read, room);
    new_findings(&mut text, it, kept.new);
    accepted(&mut text, it);
    if kept.fixed {
        fixed(&mut text, it, room);
    } else if !it.fixed.is_empty() {
        markdown!(text, count_of(it.fixed.len()), " fixed; the full report lists them.\n\n");
    }
    if !it.unchanged.is_empty() {
        markdown!(text, count_of(it.unchanged.len()), " unchanged.\n\n");
    }
    if kept.details {
        unknown(&mut text, &it.after, room);
    }
    gate(&mut text, it);
    text
}

/// The money comes first, and three columns fit on a phone.
const HEAD: &str = "| per month | resource | change |\n|---:|---|---|\n";

fn changes(text: &mut Markdown, it: &Difference, room: CommentLimits, with_details: bool) {
    let rows = rows(it);
    if rows.is_empty() {
        return;
    }
    text.push(HEAD);
    for one in rows.iter().take(ROWS) {
        row(text, it, one);
    }
    text.push("\n");
    let rest = rows.get(ROWS..).unwrap_or_default();
    if rest.is_empty() {
        return;
    }
    if !with_details {
        markdown!(text, "and ", rest.len(), " more\n\n");
        return;
    }
    room.open_fold(text, figures(&format!("{} more", rest.len())));
    text.push(HEAD);
    for one in rest.iter().take(MOST_ROWS) {
        row(text, it, one);
    }
    if rest.len() > MOST_ROWS {
        markdown!(text, "\nand ", rest.len() - MOST_ROWS, " more\n");
    }
    room.close_fold(text);
}

fn row(text: &mut Markdown, it: &Difference, row: &DifferenceRow) {
    let change = row.first;
    let shown = |cost: Option<Cost>, is_there: bool| it.cost_in_words(change, cost, is_there, "–");
    let difference = match change.kind {
        ChangeKind::Moved => "–".to_owned(),
        _ => it.increase(change, row.before, row.after),
    };
    let (before, after) = (shown(row.before, change.before.is_some()), shown(row.after, change.after.is_some()));
    markdown!(text, "| ", figures(&difference), " | ");
    resource(text, it, row);
    text.push(" | ");
    what(text, it, change);
    text.push("<br>");
    from_to(text, &before, &after);
    text.push(" |\n");
}

/// Writes `$1 → $2`, or `$1` if both are equal.
fn from_to(text: &mut Markdown, before: &str, after: &str) {
    if before != after {
        markdown!(text, figures(before), " → ");
    }
    text.push(figures(after));
}

/// Writes the change of a resource, such as `changed: count 1 → 3, bought spot → on-demand`.
fn what(text: &mut Markdown, it: &Difference, change: &ResourceCostChange) {
    if change.kind == ChangeKind::Moved && is_renamed(it, change) {
        return text.push("renamed");
    }
    if change.kind != ChangeKind::Changed || change.details.is_empty() && change.known != KnownSides::Both {
        return text.push(change.word());
    }
    if change.details.is_empty() {
        return text.push("new price");
    }
    let shown = |value: &str| if value.is_empty() { figures("–") } else { markup::text(value, LONGEST_VALUE) };
    for (at, detail) in change.details.iter().enumerate() {
        let (what, before, after) = (figures(&detail.what), shown(&detail.before), shown(&detail.after));
        markdown!(text, if at == 0 { "" } else { ", " }, what, " ", before, " → ", after);
    }
}

/// Returns true if only the name at the end of the address differs.
fn is_renamed(it: &Difference, change: &ResourceCostChange) -> bool {
    let (Some(earlier), Some(later)) = (it.before.resource(change.before), it.after.resource(change.after)) else {
        return false;
    };
    let place = |address: &str| address.rfind(['.', '/']).map(|at| address.get(..at).unwrap_or_default().to_owned());
    earlier.address != later.address && place(&earlier.address) == place(&later.address)
}

/// Writes the address, with the earlier one if it differs. Pods are marked if the table also contains machines.
fn resource(text: &mut Markdown, it: &Difference, row: &DifferenceRow) {
    let change = row.first;
    let (earlier, later) = (it.before.resource(change.before), it.after.resource(change.after));
    let shown = |address: &str| cell_code(address, LONGEST_NAME);
    match (earlier, later) {
        (Some(earlier), Some(later)) if earlier.address != later.address => {
            markdown!(text, shown(&earlier.address), " → ", shown(&later.address));
        }
        _ => text.push(shown(&row.name(it))),
    }
    text.push(figures(&row.number()));
    let is_mixed = !it.delta.rented.is_nothing() && !it.delta.requested.is_nothing();
    if is_mixed && later.or(earlier).is_some_and(|it| it.role == BillingRole::Requested) {
        text.push(" (pods)");
    }
    if let Some(basis) = it.basis(change) {
        markdown!(text, "<br><sub>", markup::text(&basis, 200), "</sub>");
    }
}

/// Writes the effect on each environment, if the change affects several.
fn by_environment(text: &mut Markdown, it: &Difference) {
    let all = environments(it);
    if all.is_empty() {
        return;
    }
    text.push("| per month | environment | before → after |\n|---:|---|---|\n");
    for one in all.iter().take(MOST_ENVIRONMENTS) {
        let difference = it.signed(one.after.expected - one.before.expected);
        markdown!(text, "| ", figures(&difference), " | ", cell_code(&one.name, LONGEST_NAME), " | ");
        markdown!(text, figures(&it.after.currency.range(one.before)), " → ");
        markdown!(text, figures(&it.after.currency.range(one.after)), " |\n");
    }
    if all.len() > MOST_ENVIRONMENTS {
        markdown!(text, "\nand ", all.len() - MOST_ENVIRONMENTS, " more\n");
    }
    text.push("\n");
}

/// Writes the cost of each team that the change affects, if labels name teams.
fn teams(text: &mut Markdown, it: &Difference) {
    let moved: Vec<&Team> = it.teams.iter().filter(|team| team.before != team.after).collect();
    let name = |team: &Team| team.name.as_deref().map(|name| markup::text(name, LONGEST_VALUE));
    let amounts = |text: &mut Markdown, team: &Team| {
        let (before, after) =
            (it.after.currency.range(team.before.minimum()), it.after.currency.range(team.after.minimum()));
        markdown!(text, figures(&before), " → ", figures(&after));
    };
    match moved.as_slice() {
        [] => {}
        [team] => {
            if let Some(name) = name(team) {
                markdown!(text, "Cost of team ", name, ": ");
                amounts(text, team);
                text.push(" per month\n\n");
            }
        }
        moved if moved.iter().any(|team| team.name.is_some()) => {
            text.push("| per month | team | before → after |\n|---:|---|---|\n");
            for team in moved.iter().take(MOST_TEAMS) {
                let difference = it.signed(team.difference().expected);
                markdown!(text, "| ", figures(&difference), " | ");
                match name(team) {
                    Some(name) => text.push(name),
                    None => text.push("_no team_"),
                }
                text.push(" | ");
                amounts(text, team);
                text.push(" |\n");
            }
            if moved.len() > MOST_TEAMS {
                markdown!(text, "\nand ", moved.len() - MOST_TEAMS, " more teams\n");
            }
            text.push("\n");
        }
        _ => {}
    }
}

/// Writes the remaining amount of each budget that the change affects or that is exceeded.
fn budgets(text: &mut Markdown, it: &Difference) {
    let told: Vec<&BudgetUsage> = it.budgets.iter().filter(|it| it.is_worth_telling()).collect();
    if told.is_empty() {
        return;
    }
    text.push("| left | budget | limit per month | before → after |\n|---:|---|---:|---|\n");
    for one in told.iter().take(MOST_BUDGETS) {
        let left = figures(&one.remainder(it.after.currency).unwrap_or_default());
        let bold = if one.is_over() { "**" } else { "" };
        let limit = one.limit.map(|limit| it.amount(limit)).unwrap_or_default();
        markdown!(
            text,
            "| ",
            bold,
            left,
            bold,
            " | ",
            markup::text(&one.name, LONGEST_VALUE),
            " (",
            markup::text(&one.counted_by(it.after.currency), LONGEST_VALUE),
            ") | ",
            figures(&limit),
            " | "
        );
        let (before, after) = (one.before.unwrap_or(one.after), one.after);
        from_to(text, &it.amount(before), &it.amount(after));
        text.push(" |\n");
    }
    if told.len() > MOST_BUDGETS {
        markdown!(text, "\nand ", told.len() - MOST_BUDGETS, " more budgets\n");
    }
    text.push("\n");
}

fn new_findings(text: &mut Markdown, it: &Difference, most: usize) {
    let mut most = most;
    for (findings, what) in
        [(&it.new, [" is new", " are new"]), (&it.grown, [" is worse than before", " are worse than before"])]
    {
        if findings.is_empty() {
            continue;
        }
        let [one, several] = what;
        markdown!(text, "#### ", count_of(findings.len()), if findings.len() == 1 { one } else { several }, "\n\n");
        let left_out =
            write_findings(text, &it.after, it.head.as_ref(), &most_important_first(&it.after, findings), most);
        most = most.saturating_sub(findings.len());
        if left_out > 0 {
            markdown!(text, "\nand ", left_out, " more; the full report lists them\n");
        }
        text.push("\n");
    }
    if it.brought().next().is_some() {
        let how = linked(figures("how"), &Address::new(&in_the_book("accepting")));
        markdown!(text, HOW_TO_ACCEPT, " (", how, ").</sub>\n\n");
    }
}

/// Explains to readers how to accept a finding.
const HOW_TO_ACCEPT: &str =
    "<sub>To accept a finding, write on its line: `# gpulint: ignore[RULE] until=2027-01-31 -- the reason`";

/// Writes the findings that the change accepts, with the reasons.
fn accepted(text: &mut Markdown, it: &Difference) {
    if it.accepted.is_empty() {
        return;
    }
    markdown!(text, "#### ", count_of(it.accepted.len()), " accepted by this change\n\n");
    for decided in it.accepted.iter().take(MOST_ACCEPTED) {
        let Some(by) = &decided.suppressed else { continue };
        let resource = it.after.resource(decided.finding.resource).map_or("", |it| it.address.as_str());
        let until = by.until.map(|date| format!(", until {date}")).unwrap_or_default();
        let reason = by.reason.as_deref().unwrap_or("no reason given");
        markdown!(
            text,
            "- **",
            figures(&decided.finding.rule),
            "** ",
            code(resource, LONGEST_NAME),
            figures(&until),
            ": "
        );
        markdown!(text, markup::text(reason, 300), "\n");
    }
    if it.accepted.len() > MOST_ACCEPTED {
        markdown!(text, "\nand ", it.accepted.len() - MOST_ACCEPTED, " more\n");
    }
    text.push("\n");
}

fn fixed(text: &mut Markdown, it: &Difference, room: CommentLimits) {
    if it.fixed.is_empty() {
        return;
    }
    let mut summary = count_of(it.fixed.len());
    summary.push(" fixed");
    room.open_fold(text, summary);
    for decided in it.fixed.iter().take(MOST_FIXED) {
        let resource = decided.finding.address(it.before.inventory).unwrap_or_default();
        markdown!(text, "- ", figures(&decided.finding.rule), " ", code(resource, LONGEST_NAME), "\n");
    }
    if it.fixed.len() > MOST_FIXED {
        markdown!(text, "- and ", it.fixed.len() - MOST_FIXED, " more\n");
    }
    room.close_fold(text);
}

/// Writes the verdict again, with the setting that decides it.
fn gate(text: &mut Markdown, it: &Difference) {
    let below = match (it.after.verdict, it.new.len() + it.grown.len()) {
        (Verdict::Fail, _) | (_, 0) => "",
        _ => " – new and worse findings are below the failing level",
    };
    let how = if it.fails_for_the_unread() { ", exit code 1" } else { below };
    markdown!(
        text,
        "**",
        it.after.verdict.in_words(),
        "**",
        how,
        " – setting: ",
        code(&it.gate.setting, LONGEST_NOTE),
        "\n"
    );
}
