//! The comment on a pull request. Everything from the repository is escaped; what is too long is cut in a stated order.

use std::fmt::Write;

use super::{Difference, headline, signed};
use crate::catalog::MoneyRange;
use crate::pricing::Change;
use crate::report::escape;
use crate::report::markdown::{code, count_of, finding, plain, unknown};
use crate::report::money::usd_range;

/// Room for the marker that a host adds to our 60,000.
const LONGEST: usize = 59_500;

/// Rows of the table before the fold.
const ROWS: usize = 10;

/// Rows behind the fold.
const MOST_ROWS: usize = 200;

pub(super) fn difference(it: &Difference) -> String {
    if it.is_nothing() && it.unchanged.is_empty() {
        return format!("### GPU cost: nothing changed\n\n{}\n", gate(it));
    }
    // The order of cutting: fixed findings, details of cost, then new findings from the last one on.
    let mut most_new = it.new.len();
    let (mut with_fixed, mut with_details) = (true, true);
    loop {
        let text = compose(it, most_new, with_fixed, with_details);
        if text.chars().count() <= LONGEST {
            return text;
        }
        if with_fixed {
            with_fixed = false;
        } else if with_details {
            with_details = false;
        } else if most_new == 0 {
            return text.chars().take(LONGEST).collect();
        } else {
            most_new /= 2;
        }
    }
}

fn compose(it: &Difference, most_new: usize, with_fixed: bool, with_details: bool) -> String {
    let (first, second) = headline(it.delta);
    let mut text = format!("### {first}\n\n");
    if let Some(second) = second {
        let _ = writeln!(text, "{second}\n");
    }
    for note in &it.notes {
        let _ = writeln!(text, "> {}\n", plain(note));
    }
    changes(&mut text, it, with_details);
    new_findings(&mut text, it, most_new);
    if with_fixed {
        fixed(&mut text, it);
    } else if !it.fixed.is_empty() {
        let _ = writeln!(text, "{} fixed; the full report lists them.\n", count_of(it.fixed.len()));
    }
    if !it.unchanged.is_empty() {
        let _ = writeln!(text, "{} as before.\n", count_of(it.unchanged.len()));
    }
    if with_details {
        unknown(&mut text, &it.after);
    }
    let _ = writeln!(text, "{}", gate(it));
    text
}

fn changes(text: &mut String, it: &Difference, with_details: bool) {
    let changes = it.largest_first();
    if changes.is_empty() {
        return;
    }
    const HEAD: &str = "| change | resource | before | after | a month |\n|---|---|---:|---:|---:|\n";
    text.push_str(HEAD);
    for change in changes.iter().take(ROWS) {
        row(text, it, change);
    }
    text.push('\n');
    let rest = changes.get(ROWS..).unwrap_or_default();
    if rest.is_empty() {
        return;
    }
    if !with_details {
        let _ = writeln!(text, "and {} more\n", rest.len());
        return;
    }
    let _ = writeln!(text, "<details><summary>{} more</summary>\n\n{HEAD}", rest.len());
    text.pop();
    for change in rest.iter().take(MOST_ROWS) {
        row(text, it, change);
    }
    if rest.len() > MOST_ROWS {
        let _ = writeln!(text, "\nand {} more", rest.len() - MOST_ROWS);
    }
    text.push_str("\n</details>\n\n");
}

fn row(text: &mut String, it: &Difference, change: &Change) {
    let (before, after) = it.monthly(change);
    let shown = |range: Option<MoneyRange>, there: bool| match range {
        Some(range) => usd_range(range),
        None if there => "unpriced".to_owned(),
        None => "–".to_owned(),
    };
    let expected = |range: Option<MoneyRange>| range.unwrap_or_default().expected;
    let priced = (before.is_some() || change.before.is_none()) && (after.is_some() || change.after.is_none());
    let difference = if priced { signed(expected(after) - expected(before)) } else { "?".to_owned() };
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {difference} |",
        change.kind.name(),
        code(&escape::shortened(it.address(change), 100)),
        shown(before, change.before.is_some()),
        shown(after, change.after.is_some()),
    );
}

fn new_findings(text: &mut String, it: &Difference, most: usize) {
    if it.new.is_empty() {
        return;
    }
    let _ = writeln!(text, "#### {} new\n", count_of(it.new.len()));
    for decided in it.new.iter().take(most) {
        finding(text, &it.after, it.head.as_ref(), decided);
    }
    if it.new.len() > most {
        let _ = writeln!(text, "\nand {} more; the full report lists them", it.new.len() - most);
    }
    text.push('\n');
}

fn fixed(text: &mut String, it: &Difference) {
    if it.fixed.is_empty() {
        return;
    }
    let _ = writeln!(text, "<details><summary>{} fixed</summary>\n", count_of(it.fixed.len()));
    for decided in &it.fixed {
        let resource = decided.finding.address(it.before.inventory).unwrap_or_default();
        let _ = writeln!(text, "- {} {}", decided.finding.rule, code(&escape::shortened(resource, 200)));
    }
    text.push_str("\n</details>\n\n");
}

fn gate(it: &Difference) -> String {
    let word = match (it.verdict.blocked, it.new.is_empty()) {
        (true, _) => "blocked",
        (false, false) => "warn",
        (false, true) => "pass",
    };
    format!("**{word}** ({})", plain(&it.verdict.setting))
}
