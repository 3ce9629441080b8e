//! Writes a comparison for a terminal.

use std::fmt::Write;

use super::Difference;
use super::headline::Headline;
use super::rows::{DifferenceRow, rows};
use crate::catalog::Money;
use crate::compare::BudgetUsage;
use crate::decide::Decided;
use crate::pricing::{ChangeKind, ResourceCostChange};
use crate::report::formats::text::{AlreadyPrinted, FindingRenderer, TextTable};
use crate::report::views::budgets::BudgetText;
use crate::report::views::judged;
use crate::report::views::not_read::not_read_line;
use crate::report::views::repeats::grouped_repeats;
use crate::report::views::table::{Columns, columns};
use crate::report::{EntryDetail, ReportStyle, escape};

pub(in crate::report) fn difference(it: &Difference, style: ReportStyle) -> String {
    let headline = Headline::new(it);
    let line = headline.line(it.after.verdict);
    let mut text = format!("GPU cost vs {}: {line}\n", escape::one_line(&it.base));
    for row in headline.below() {
        let _ = writeln!(text, "{row}");
    }
    for note in it.all_notes() {
        let _ = writeln!(text, "note: {}", escape::one_line(&note));
    }
    let not_read = not_read_line(&it.not_read).map(|line| line + "\n").unwrap_or_default();
    if style.choice.detail == EntryDetail::Quiet {
        judged::text(&mut text, &it.after);
        text.push_str(&not_read);
        let _ = writeln!(text, "{}", gate(it));
        return text;
    }
    let renderer = FindingRenderer::new(style);
    let brought: Vec<&Decided> = it.brought().collect();
    let mut told = AlreadyPrinted::default();
    for (decided, others) in grouped_repeats(&it.after, &brought) {
        renderer.finding(&mut text, &it.after, decided, &others, &told);
        told.add(&it.after, decided);
    }
    costs(&mut text, it, style);
    if !it.unchanged.is_empty() {
        let _ = writeln!(text, "unchanged findings: {}", it.unchanged.len());
    }
    for spent in it.budgets.iter().filter(|it| it.is_worth_telling()) {
        let _ = writeln!(text, "{}", budget(it, spent));
    }
    judged::text(&mut text, &it.after);
    text.push_str(&not_read);
    for decided in &it.fixed {
        let resource = decided.finding.address(it.before.inventory).unwrap_or_default();
        let _ = writeln!(text, "  fixed: {} {}", decided.finding.rule, escape::one_line(resource));
    }
    for decided in &it.accepted {
        let resource = it.after.resource(decided.finding.resource).map_or("", |it| it.address.as_str());
        let reason = decided.suppressed.as_ref().and_then(|by| by.reason.as_deref()).unwrap_or("no reason given");
        let _ = writeln!(
            text,
            "  accepted: {} {}: {}",
            decided.finding.rule,
            escape::shortened(&escape::one_line(resource), 200),
            escape::shortened(&escape::one_line(reason), 300)
        );
    }
    let _ = writeln!(text, "{}", gate(it));
    text
}

/// Returns text such as `budget of team search (exceeded-budget, 730 hours): $32,000 → $47,000/month, limit $40,000,
/// $7,000 over`.
fn budget(it: &Difference, spent: &BudgetUsage) -> String {
    let amount = |money| it.after.currency.amount(money);
    let before = spent.before.filter(|before| *before != spent.after);
    let before = before.map(|before| format!("{} → ", amount(before))).unwrap_or_default();
    let limit = spent.limit.map(|limit| format!(", limit {}", amount(limit))).unwrap_or_default();
    let left = spent.remainder(it.after.currency).map(|left| format!(", {left}")).unwrap_or_default();
    let name = escape::shortened(&escape::one_line(&spent.name), 60);
    let by = escape::one_line(&spent.counted_by(it.after.currency));
    format!("budget of {name} ({by}): {before}{}/month{limit}{left}", amount(spent.after))
}

fn gate(it: &Difference) -> String {
    let fails = if it.fails_for_the_unread() { ", exit code 1" } else { "" };
    format!("verdict: {}{fails}", it.after.verdict.in_words())
}

fn costs(text: &mut String, it: &Difference, style: ReportStyle) {
    let rows = rows(it);
    if rows.is_empty() {
        return;
    }
    let columns: &Columns<'_, DifferenceRow> = &columns![
        "change" => |row| row.first.word(),
        "" => |row| format!("{}{}", escape::shortened(&escape::one_line(&row.name(it)), 60), row.number()),
        "before" => |row| it.cost_in_words(row.first, row.before, row.first.before.is_some(), ""),
        "after" => |row| it.cost_in_words(row.first, row.after, row.first.after.is_some(), ""),
        "difference" => |row| match row.first.kind {
            ChangeKind::Moved => it.signed(Money::ZERO),
            _ => it.increase(row.first, row.before, row.after),
        },
        "" => |row| details(row.first),
    ];
    let table = TextTable::of(columns, 2..5, rows, &it.after.currency);
    let _ = writeln!(text, "{}", table.print_within(style.columns));
}

/// Returns text such as `count 1 → 3, bought spot → on-demand`.
fn details(change: &ResourceCostChange) -> String {
    let shown = |value: &str| match value {
        "" => "–".to_owned(),
        value => escape::shortened(&escape::one_line(value), 40),
    };
    let details = change.details.iter();
    let details: Vec<String> = details
        .map(|it| format!("{} {} → {}", escape::one_line(&it.what), shown(&it.before), shown(&it.after)))
        .collect();
    details.join(", ")
}
