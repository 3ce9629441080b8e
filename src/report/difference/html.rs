//! Writes a comparison as a page: first the change, then the later state.

use super::headline::Headline;
use super::rows::{DifferenceRow, rows};
use super::{Cost, Difference};
use crate::catalog::Money;
use crate::decide::Decided;
use crate::pricing::{ChangeKind, Period};
use crate::report::html::bars::{MarkColor, Scale, interval, picture};
use crate::report::html::markup::Html;
use crate::report::html::page::PageSection;
use crate::report::html::table::{Column, HtmlTable, left_out, name, number};
use crate::report::html::{Rest, findings, page, sentences};
use crate::report::views::budgets::BudgetText;
use crate::report::views::not_read::not_read_line;
use std::borrow::Cow;

pub(in crate::report) fn difference(it: &Difference) -> String {
    let headline = Headline::new(it);
    let fails = if it.fails_for_the_unread() { ", exit code 1" } else { "" };
    let counts = headline.counts().map(|counts| format!("{counts}. ")).unwrap_or_default();
    let mut lines = vec![format!("{counts}Verdict: {}{fails}.", it.after.verdict.in_words())];
    lines.extend(sentences(headline.rows));
    lines.push(format!("Compared with {}.", it.base));
    lines.extend(it.all_notes().map(Cow::into_owned).chain(not_read_line(&it.not_read)));
    let first = [changes(it), payers(it), brought(it), gone(it)];
    let heading = format!("GPU cost: {}", headline.money);
    let first: Vec<PageSection> = first.into_iter().flatten().collect();
    page(&it.after, &heading, lines, first, Rest::Everything).print()
}

fn changes(it: &Difference) -> Option<PageSection> {
    let mut rows = rows(it);
    if rows.is_empty() {
        return None;
    }
    // Resources in the total come before excluded ones.
    rows.sort_by_key(|row| apart(it, row).is_some());
    let mut body = Html::new();
    let costs = rows.iter().flat_map(|row| [row.before, row.after]).flatten().filter(|it| it.per == Period::Month);
    let scale = Scale::of(costs.map(|cost| cost.range).collect::<Vec<_>>().into_iter());
    let columns = [
        ("resource", Column::Text),
        ("before above, after below", Column::Picture),
        ("before", Column::Number),
        ("after", Column::Number),
        ("difference", Column::Number),
    ];
    let caption = "Changes: resources in the total first, then by amount";
    let table = HtmlTable { id: "changes-table", caption, columns: &columns, is_searchable: true };
    let rest = table.print(&mut body, rows, |page, row| changed(page, it, scale, &row));
    left_out(&mut body, rest, "changes");
    Some(PageSection { id: "changes", title: "What changes?", answer: None, body })
}

/// Returns the reason why the total excludes the resource.
fn apart(it: &Difference, row: &DifferenceRow) -> Option<&'static str> {
    let change = row.first;
    let resource = it.after.resource(change.after).or_else(|| it.before.resource(change.before))?;
    (!resource.is_added()).then(|| match resource.version_of {
        Some(_) => "another version",
        None => resource.counted.name(),
    })
}

fn changed(page: &mut Html, it: &Difference, scale: Scale, row: &DifferenceRow) {
    let change = row.first;
    page.element("th", &[("scope", "row")], |page| {
        page.text(&format!("{}{}", row.name(it), row.number()));
        page.raw(" ");
        page.leaf("span", &[("class", "tag")], change.word());
        if let Some(why) = apart(it, row) {
            page.raw(" ");
            page.leaf("span", &[("class", "tag")], &format!("excluded from the total: {why}"));
        }
        let shown = |value: &str| if value.is_empty() { "–".to_owned() } else { value.to_owned() };
        for detail in &change.details {
            page.raw("<br>");
            let told = format!("{} {} → {}", detail.what, shown(&detail.before), shown(&detail.after));
            page.leaf("span", &[("class", "soft small")], &told);
        }
    });
    page.element("td", &[("class", "bar")], |page| {
        picture(page, 32, |page| {
            for (cost, y, color) in [(row.before, 2, MarkColor::Grey), (row.after, 18, MarkColor::Blue)] {
                if let Some(cost) = cost.filter(|cost| cost.per == Period::Month) {
                    interval(page, scale, cost.range, y, 12, color);
                }
            }
        });
    });
    let cell = |page: &mut Html, cost: Option<Cost>, is_there: bool| {
        let sorted_by = cost.map_or(0.0, |cost| cost.range.expected.usd());
        number(page, &it.cost_in_words(change, cost, is_there, "–"), sorted_by);
    };
    cell(page, row.before, change.before.is_some());
    cell(page, row.after, change.after.is_some());
    let expected = |cost: Option<Cost>| cost.map_or(Money::ZERO, |it| it.range.expected);
    let moved = expected(row.after) - expected(row.before);
    let told = match change.kind {
        ChangeKind::Moved => it.signed(Money::ZERO),
        _ => it.increase(change, row.before, row.after),
    };
    number(page, &told, moved.usd());
}

/// Returns the section about teams and budgets.
fn payers(it: &Difference) -> Option<PageSection> {
    let has_names = it.teams.iter().any(|team| team.name.is_some());
    let teams: Vec<_> = it.teams.iter().filter(|team| has_names && team.before != team.after).collect();
    let budgets: Vec<_> = it.budgets.iter().filter(|budget| budget.is_worth_telling()).collect();
    if teams.is_empty() && budgets.is_empty() {
        return None;
    }
    let mut body = Html::new();
    let columns = [
        ("team or budget", Column::Text),
        ("before", Column::Number),
        ("after", Column::Number),
        ("difference or limit", Column::Number),
    ];
    let table =
        HtmlTable { id: "teams", caption: "Teams and budgets, per month", columns: &columns, is_searchable: false };
    let amount = |page: &mut Html, money: Money| number(page, &it.amount(money), money.usd());
    let rest = table.print(&mut body, teams, |page, team| {
        name(page, &team.name.as_ref().map_or_else(|| "no team".to_owned(), |name| format!("team {name}")));
        amount(page, team.before.minimum().expected);
        amount(page, team.after.minimum().expected);
        let difference = team.difference().expected;
        number(page, &it.signed(difference), difference.usd());
    });
    left_out(&mut body, rest, "teams");
    if !budgets.is_empty() {
        let table = HtmlTable { id: "budgets", caption: "Budgets", columns: &columns, is_searchable: false };
        table.print(&mut body, budgets, |page, spent| {
            name(page, &format!("budget of {} ({})", spent.name, spent.counted_by(it.after.currency)));
            amount(page, spent.before.unwrap_or(spent.after));
            amount(page, spent.after);
            let left = spent.remainder(it.after.currency).unwrap_or_else(|| "no limit".to_owned());
            number(page, &left, spent.limit.unwrap_or_default().usd());
        });
    }
    Some(PageSection { id: "paid-by", title: "Which teams and budgets change?", answer: None, body })
}

fn brought(it: &Difference) -> Option<PageSection> {
    let brought: Vec<&Decided> = it.brought().collect();
    if brought.is_empty() {
        return None;
    }
    let mut body = Html::new();
    findings::list(&mut body, &it.after, it.head.as_ref(), "new-findings", &brought);
    let answer = match (it.new.len(), it.grown.len()) {
        (new, 0) => format!("New: {new}."),
        (new, worse) => format!("New: {new}; worse than before: {worse}."),
    };
    Some(PageSection { id: "new", title: "Which findings are new or worse?", answer: Some(answer), body })
}

fn gone(it: &Difference) -> Option<PageSection> {
    if it.fixed.is_empty() {
        return None;
    }
    let mut body = Html::new();
    body.element("ul", &[("class", "dense")], |page| {
        for decided in &it.fixed {
            let address = decided.finding.address(it.before.inventory).unwrap_or_default();
            page.leaf("li", &[], &format!("{} {address}", decided.finding.rule));
        }
    });
    Some(PageSection { id: "fixed", title: "Which findings are fixed?", answer: None, body })
}
