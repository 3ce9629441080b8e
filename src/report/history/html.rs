//! Shows the cost over the commits as a page: its course, the commits that changed it, and what is unknown.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::text::{answer, author, change_money, commits, did, expected, moved, step_money, subject, unsure};
use crate::catalog::Money;
use crate::report::html::area::{Area, AreaState, AxisLabel, area};
use crate::report::html::markup::Html;
use crate::report::html::page::{HtmlPage, PageSection, title};
use crate::report::html::table::{Column, HtmlTable, left_out, name, number};
use crate::report::views::history::months as history_months;
use crate::report::views::money::plain_number;
use crate::report::views::sentence::sentence;
use crate::report::{CostHistory, CostStep, HistoryPoint, Snapshot, escape};

/// The number of series with a separate color.
const SERIES: usize = 4;

/// The number of steps with a mark in the picture.
const MARKED: usize = 5;

pub(super) fn history(history: &CostHistory) -> String {
    let heading = sentence(&answer(history));
    let (heading, more) = heading.split_once("; ").unwrap_or((&heading, ""));
    let page = HtmlPage {
        title: title(history.title.as_deref(), heading),
        about: history.title.clone(),
        heading: heading.to_owned(),
        lines: [more.to_owned()].into_iter().filter(|it| !it.is_empty()).map(|it| sentence(&it)).collect(),
        cards: Html::new(),
        sections: sections(history),
        footer: footer(history),
    };
    page.print()
}

/// Returns the sections about the history.
pub(in crate::report) fn sections(history: &CostHistory) -> Vec<PageSection> {
    [Some(course(history)), added(history), months(history), unknown(history)].into_iter().flatten().collect()
}

fn footer(history: &CostHistory) -> Vec<String> {
    let (looked, all) = (history.points.len(), history.commits);
    let of = if looked == all { commits(looked) } else { format!("{looked} of {}", commits(all)) };
    vec![
        format!(
            "{of} along first parents. All at the prices of {}: the curve shows only changes of the files.",
            history.today
        ),
        format!("Settings and rules: {}. A month is 730 hours.", history.settings_of),
        format!("Made by gpulint {}.", history.catalog.version),
    ]
}

/// Returns the section with the curve, by accelerator.
fn course(history: &CostHistory) -> PageSection {
    let mut body = Html::new();
    let names = largest(history);
    let marked = marked(history);
    let (first, last) = match (history.points.first(), history.points.last()) {
        (Some(first), Some(last)) => (first.commit.time, last.commit.time),
        _ => (0, 0),
    };
    let place = |at: usize| {
        let time = history.points.get(at).map_or(first, |it| it.commit.time);
        if last > first {
            (time - first) as f64 / (last - first) as f64
        } else {
            at as f64 / history.points.len() as f64
        }
    };
    let state = |(at, point): (usize, &HistoryPoint)| AreaState {
        from: place(at),
        values: point.snapshot().map(|it| stacked(it, &names)),
        is_whole: point.snapshot().is_some_and(|it| it.combined().is_whole()),
    };
    let states: Vec<AreaState> = history.points.iter().enumerate().map(state).collect();
    let most =
        history.points.iter().filter_map(HistoryPoint::snapshot).map(|it| expected(it)).max().unwrap_or_default();
    let ticks = ticks(history, most);
    let labels = dates(history, first, last);
    let marks = marked.iter().enumerate().map(|(n, step)| AxisLabel { at: place(step.to), text: (n + 1).to_string() });
    let marks = apart(marks.collect());
    body.element("figure", &[], |page| {
        area(page, &Area { states: &states, most: most.usd(), ticks: &ticks, labels: &labels, marks: &marks });
    });
    legend(&mut body, history, &names);
    let mut answer =
        "Expected monthly cost of machines and pods, by accelerator; each dollar counts once. Numbers mark the \
                      largest steps below."
            .to_owned();
    if states.iter().any(AreaState::is_minimum) {
        answer.push_str(" A dashed line is a minimum: part of the cost is unknown there.");
    }
    PageSection { id: "course", title: "Cost over time", answer: Some(answer), body }
}

/// Merges marks that would overlap.
fn apart(mut marks: Vec<AxisLabel>) -> Vec<AxisLabel> {
    const NEAR: f64 = 0.02;
    marks.sort_by(|a, b| a.at.total_cmp(&b.at));
    let mut apart: Vec<AxisLabel> = Vec::new();
    for mark in marks {
        match apart.last_mut().filter(|it| mark.at - it.at < NEAR) {
            Some(before) => before.text = format!("{}, {}", before.text, mark.text),
            None => apart.push(mark),
        }
    }
    apart
}

/// Returns the value of each series in a state, the lowest first; the last is everything else.
fn stacked(snapshot: &Snapshot, names: &[String]) -> Vec<f64> {
    let mut values = vec![0.0; names.len() + 1];
    for holding in snapshot.added() {
        let money = holding.share.map_or(0.0, |it| it.expected.usd());
        let name = holding.accelerator.as_deref().unwrap_or_default();
        let at = names.iter().position(|it| it == name).unwrap_or(names.len());
        if let Some(value) = values.get_mut(at) {
            *value += money;
        }
    }
    values
}

/// Returns the accelerators with the highest cost over time.
fn largest(history: &CostHistory) -> Vec<String> {
    let mut sums: BTreeMap<&str, Money> = BTreeMap::new();
    for snapshot in history.points.iter().filter_map(HistoryPoint::snapshot) {
        for holding in snapshot.added() {
            if let (Some(name), Some(share)) = (&holding.accelerator, holding.share) {
                *sums.entry(name).or_default() += share.expected;
            }
        }
    }
    let mut all: Vec<(&str, Money)> = sums.into_iter().filter(|(_, sum)| !sum.is_zero()).collect();
    all.sort_by_key(|(name, sum)| (Reverse(*sum), *name));
    all.into_iter().take(SERIES).map(|(name, _)| name.to_owned()).collect()
}

fn ticks(history: &CostHistory, most: Money) -> Vec<AxisLabel> {
    let most = most.usd();
    if most <= 0.0 {
        return Vec::new();
    }
    let rough = most / 3.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|it| it * power).find(|it| *it >= rough).unwrap_or(rough);
    let label = |n: u32| {
        let value = step * f64::from(n);
        AxisLabel { at: value / most, text: history.currency.amount(Money::from_usd(value)) }
    };
    (0..5).map(label).filter(|it| it.at <= 1.0).collect()
}

/// Returns the first and the last day, and the middle if they differ.
fn dates(history: &CostHistory, first: i64, last: i64) -> Vec<AxisLabel> {
    let (Some(from), Some(to)) = (history.points.first(), history.points.last()) else { return Vec::new() };
    let day = |time: i64| crate::source::Date::from_unix_days(time.div_euclid(86_400)).unwrap_or_default().to_string();
    let mut labels = vec![AxisLabel { at: 0.0, text: from.commit.date().to_string() }];
    if last > first {
        labels.push(AxisLabel { at: 0.5, text: day(first + (last - first) / 2) });
        labels.push(AxisLabel { at: 1.0, text: to.commit.date().to_string() });
    }
    labels
}

fn legend(page: &mut Html, history: &CostHistory, names: &[String]) {
    let Some((_, now)) = history.newest() else { return };
    let values = stacked(now, names);
    page.element("ul", &[("class", "legend")], |page| {
        let others = "everything else".to_owned();
        for (at, (name, value)) in names.iter().chain([&others]).zip(values).enumerate() {
            if at == names.len() && value <= 0.0 && !names.is_empty() {
                continue;
            }
            page.element("li", &[], |page| {
                crate::report::html::area::swatch(page, if at == names.len() { SERIES } else { at });
                page.text(&format!("{name}: {} now", history.currency.amount(Money::from_usd(value))));
            });
        }
    });
}

/// Returns the largest steps, sorted by time.
fn marked(history: &CostHistory) -> Vec<&CostStep> {
    let mut steps: Vec<&CostStep> = history.steps.iter().filter(|it| !moved(it).is_zero()).collect();
    steps.sort_by_key(|it| (Reverse(absolute(moved(it))), it.to));
    steps.truncate(MARKED);
    steps
}

fn absolute(money: Money) -> Money {
    if money < Money::ZERO { -money } else { money }
}

const STEPS: [(&str, Column); 4] = [
    ("commit", Column::Text),
    ("per month", Column::Number),
    ("accelerators", Column::Number),
    ("changes", Column::Text),
];

fn added(history: &CostHistory) -> Option<PageSection> {
    let marked = marked(history);
    let moves = |it: &&CostStep| !it.combined.is_same();
    let mut steps: Vec<&CostStep> = history.steps.iter().filter(moves).collect();
    let still = history.steps.len() - steps.len();
    steps.sort_by_key(|it| (Reverse(absolute(moved(it)).max(absolute(unsure(it)))), Reverse(it.to)));
    if steps.is_empty() {
        return None;
    }
    let mut body = Html::new();
    let caption = "Commits that changed the bill, the largest step first";
    let table = HtmlTable { id: "steps", caption, columns: &STEPS, is_searchable: true };
    let rest = table.print(&mut body, steps, |page, step| {
        let mark = marked.iter().position(|it| it.to == step.to);
        row(page, history, step, mark);
    });
    left_out(&mut body, rest, "steps");
    if still > 0 {
        let told =
            format!("{still} more commits changed resources, but not the expected cost; --format json lists them");
        body.leaf("p", &[("class", "soft small")], &told);
    }
    Some(PageSection { id: "steps-section", title: "Which commits changed the cost?", answer: None, body })
}

fn row(page: &mut Html, history: &CostHistory, step: &CostStep, mark: Option<usize>) {
    let Some(point) = history.points.get(step.to) else { return };
    let commit = &point.commit;
    page.element("th", &[("scope", "row")], |page| {
        if let Some(mark) = mark {
            page.leaf("span", &[("class", "tag")], &(mark + 1).to_string());
            page.raw(" ");
        }
        page.text(&subject(commit, step.by()));
        page.raw("<br>");
        page.leaf("code", &[("class", "soft")], commit.short());
        page.leaf(
            "span",
            &[("class", "soft small")],
            &format!(" of {} by {}", commit.date(), author(commit, step.by())),
        );
        if step.between > 0 {
            page.text(&format!(" or one of {} before it", step.between));
        }
        for tag in &commit.tags {
            page.raw(" ");
            page.leaf("span", &[("class", "tag")], tag);
        }
    });
    number(page, &step_money(history.currency, step), moved(step).usd());
    let plus = if step.accelerators > 0.0 { "+" } else { "" };
    number(page, &format!("{plus}{}", plain_number(step.accelerators)), step.accelerators);
    page.leaf("td", &[], &did(&step.changes));
}

const MONTHS: [(&str, Column); 6] = [
    ("month", Column::Text),
    ("cost at month end", Column::Number),
    ("change", Column::Number),
    ("accelerators", Column::Number),
    ("findings", Column::Number),
    ("possible savings", Column::Number),
];

/// Returns the last known state of each month.
fn months(history: &CostHistory) -> Option<PageSection> {
    let rows = history_months(history);
    if rows.is_empty() {
        return None;
    }
    let mut body = Html::new();
    let table =
        HtmlTable { id: "months", caption: "Each month, the newest first", columns: &MONTHS, is_searchable: false };
    let rest = table.print(&mut body, rows.iter().rev(), |page, it| {
        name(page, &it.month.to_string());
        let Some(state) = it.state else {
            page.leaf("td", &[("colspan", "5"), ("class", "soft")], "unknown: no commit of this month could be read");
            return;
        };
        let at_least = if !state.combined().is_whole() { "at least " } else { "" };
        let amount = expected(state);
        number(page, &format!("{at_least}{}", history.currency.amount(amount)), amount.usd());
        let moved = it.moved.clone().unwrap_or_default();
        number(page, &change_money(history.currency, &moved), moved.difference.expected.usd());
        let accelerators = state.accelerators();
        number(page, &plain_number(accelerators), accelerators);
        number(page, &state.finding_count().to_string(), state.finding_count() as f64);
        number(page, &history.currency.amount(state.saves.expected), state.saves.expected.usd());
    });
    left_out(&mut body, rest, "months");
    Some(PageSection { id: "months-section", title: "Month by month", answer: None, body })
}

/// Returns the section about commits that could not be read, with notes about the whole history.
fn unknown(history: &CostHistory) -> Option<PageSection> {
    let mut lines: Vec<String> = history.notes.clone();
    let gaps = history.gaps();
    lines.extend(gaps.map(|(point, why)| format!("{} of {}: {why}", point.commit.short(), point.commit.date())));
    if let Some((_, now)) = history.newest().filter(|(_, now)| !now.not_judged.is_empty()) {
        let count = now.not_judged.len();
        lines.push(format!(
            "relevant items that are not evaluated in the newest commit: {count}; its total is a minimum"
        ));
    }
    if lines.is_empty() {
        return None;
    }
    let mut body = Html::new();
    body.element("ul", &[("class", "dense")], |page| {
        lines.iter().take(200).for_each(|line| page.leaf("li", &[], &escape::shortened(line, 400)));
    });
    left_out(&mut body, lines.len().saturating_sub(200), "of them");
    Some(PageSection { id: "unknown", title: "What is unknown?", answer: None, body })
}
