//! Writes possible savings: by rule and risk, and in which order to fix findings.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::bars::{Bar, Hatch, MarkColor, Scale, picture, rect};
use super::markup::Html;
use super::page::PageSection;
use super::table::{Column, HtmlTable, left_out, number};
use crate::catalog::Money;
use crate::inventory::ResourceId;
use crate::pricing::Period;
use crate::report::views::first::advice;
use crate::report::views::money::mark;
use crate::report::views::scorecard::{best_savings, saving};
use crate::report::{Report, escape};
use crate::rules::{Risk, link};

/// The savings of all findings up to a risk; only the largest saving of each resource counts.
pub(in crate::report) struct SavingStep {
    pub(in crate::report) risk: Risk,
    pub(in crate::report) saves: Money,
    pub(in crate::report) findings: usize,
}

/// Returns the steps, the lowest risk first.
pub(in crate::report) fn steps(report: &Report) -> Vec<SavingStep> {
    let step = |risk: Risk| {
        let mut best: HashMap<Option<ResourceId>, Money> = HashMap::new();
        let mut findings = 0;
        for finding in saving(report).filter(|it| it.per == Period::Month && it.risk <= risk) {
            let saves = finding.saves.map_or(Money::ZERO, |it| it.expected);
            let most = best.entry(finding.resource).or_default();
            *most = (*most).max(saves);
            findings += 1;
        }
        SavingStep { risk, saves: best.into_values().sum(), findings }
    };
    Risk::ALL.into_iter().map(step).collect()
}

pub(in crate::report) fn is_estimated(report: &Report) -> bool {
    best_savings(report).values().any(|it| it.per == Period::Month && it.is_estimated)
}

pub(in crate::report) fn section(report: &Report) -> Option<PageSection> {
    let best = best_savings(report);
    let mut rules: BTreeMap<&str, ([Money; 3], usize)> = BTreeMap::new();
    for decided in report.findings.iter().filter(|it| it.counts()) {
        rules.entry(&decided.finding.rule).or_default().1 += 1;
    }
    for finding in best.values().filter(|it| it.per == Period::Month) {
        let (sums, _) = rules.entry(&finding.rule).or_default();
        let at = Risk::ALL.iter().position(|risk| *risk == finding.risk).unwrap_or_default();
        if let (Some(sum), Some(saves)) = (sums.get_mut(at), finding.saves) {
            *sum += saves.expected;
        }
    }
    if rules.is_empty() {
        return None;
    }
    let total = |sums: &[Money; 3]| sums.iter().copied().sum::<Money>();
    let mut rows: Vec<(&str, [Money; 3], usize)> = rules.into_iter().map(|(rule, (sums, n))| (rule, sums, n)).collect();
    rows.sort_by_key(|(rule, sums, count)| (Reverse(total(sums)), Reverse(*count), *rule));
    let mut body = Html::new();
    first(&mut body, report);
    safe_first(&mut body, report);
    legend(&mut body);
    let scale = Scale::to(rows.iter().map(|(_, sums, _)| total(sums)).max().unwrap_or_default());
    let columns = [
        ("rule", Column::Text),
        ("by risk", Column::Picture),
        ("saves per month", Column::Number),
        ("findings", Column::Number),
    ];
    let caption = "By rule: only the largest saving of each resource counts";
    let table = HtmlTable { id: "by-rule", caption, columns: &columns, is_searchable: false };
    let rest = table.print(&mut body, rows, |page, (rule, sums, count)| {
        page.element("th", &[("scope", "row")], |page| match link(rule) {
            Some(address) => page.leaf("a", &[("href", &address)], rule),
            None => page.text(rule),
        });
        page.element("td", &[("class", "bar")], |page| picture(page, 18, |page| stacked(page, scale, &sums)));
        let sum = total(&sums);
        let shown = if sum.is_zero() { "–".to_owned() } else { report.currency.amount(sum) };
        number(page, &shown, sum.usd());
        number(page, &count.to_string(), count as f64);
    });
    left_out(&mut body, rest, "rules");
    Some(PageSection { id: "waste", title: "How much can be saved?", answer: answer(report), body })
}

fn answer(report: &Report) -> Option<String> {
    let steps = steps(report);
    let (safe, all) = (steps.first()?, steps.last()?);
    let mark = mark(is_estimated(report));
    let amount = |money| report.currency.amount(money);
    Some(match (safe.saves.is_zero(), all.saves.is_zero()) {
        (_, true) => "No finding has a monthly saving.".to_owned(),
        (true, false) => format!("Possible savings: up to {}/month, none at low risk.", amount(all.saves)),
        (false, false) => {
            format!(
                "Possible savings: {mark}{}/month at low risk, up to {}/month in total.",
                amount(safe.saves),
                amount(all.saves)
            )
        }
    })
}

/// Writes what to fix first: the lowest risk, then the largest saving.
fn first(page: &mut Html, report: &Report) {
    const MOST: usize = 5;
    let all = advice(report);
    if all.is_empty() {
        return;
    }
    page.leaf("h3", &[], "Fix first");
    page.element("ol", &[("class", "dense")], |page| {
        for advice in all.into_iter().take(MOST) {
            page.element("li", &[], |page| {
                page.leaf("strong", &[], &advice.saved(report));
                page.text(&format!(" {} (", advice.format_headline()));
                page.leaf("code", &[], &advice.place(report));
                if let Some(address) = advice.finding.address(report.inventory) {
                    page.raw(" ");
                    page.leaf("code", &[], &escape::shortened(address, 120));
                }
                page.raw(")");
            });
        }
    });
}

/// Writes the remaining cost after each step.
fn safe_first(page: &mut Html, report: &Report) {
    let steps = steps(report);
    let now = report.bill.combined.minimum().expected;
    let most = steps.last().map_or(Money::ZERO, |it| it.saves);
    if most.is_zero() || now < most {
        return;
    }
    let scale = Scale::to(now);
    let at_least = if report.bill.combined.is_whole() { "" } else { "at least " };
    let told = |risk: Risk| match risk {
        Risk::Low => "after all low-risk fixes",
        Risk::Medium => "after all medium-risk fixes",
        Risk::High => "after all fixes",
    };
    let mut rows = vec![("now", Money::ZERO, 0)];
    for step in &steps {
        // A step without further findings is left out.
        if rows.last().is_none_or(|(_, _, findings)| *findings != step.findings) {
            rows.push((told(step.risk), step.saves, step.findings));
        }
    }
    let columns = [
        ("step", Column::Text),
        ("cost left, and saved", Column::Picture),
        ("per month", Column::Number),
        ("saves", Column::Number),
        ("findings", Column::Number),
    ];
    let caption = "The lowest risk first: one total of machines and pods, in which each dollar counts once";
    let table = HtmlTable { id: "safe-first", caption, columns: &columns, is_searchable: false };
    table.print(page, rows, |page, (name, saves, findings)| {
        super::table::name(page, name);
        let left = now - saves;
        page.element("td", &[("class", "bar")], |page| {
            picture(page, 18, |page| {
                let bar = Bar { from: "0".to_owned(), width: scale.percent(left), y: 2, height: 14 };
                rect(page, &bar, MarkColor::Blue, Hatch::None);
                if !saves.is_zero() {
                    let gone = Bar { from: scale.percent(left), width: scale.percent(saves), y: 2, height: 14 };
                    rect(page, &gone, MarkColor::Green, Hatch::None);
                }
            });
        });
        number(page, &format!("{at_least}{}", report.currency.amount(left)), left.usd());
        number(page, &report.currency.amount(saves), saves.usd());
        number(page, &findings.to_string(), findings as f64);
    });
}

fn hatch(risk: Risk) -> (MarkColor, Hatch) {
    match risk {
        Risk::Low => (MarkColor::Green, Hatch::None),
        Risk::Medium => (MarkColor::Blue, Hatch::Lines),
        Risk::High => (MarkColor::Vermillion, Hatch::Crosses),
    }
}

fn stacked(page: &mut Html, scale: Scale, sums: &[Money; 3]) {
    let mut from = Money::ZERO;
    for (risk, sum) in Risk::ALL.into_iter().zip(sums).filter(|(_, sum)| !sum.is_zero()) {
        let (color, hatch) = hatch(risk);
        let bar = Bar { from: scale.percent(from), width: scale.percent(*sum), y: 2, height: 14 };
        rect(page, &bar, color, hatch);
        from += *sum;
    }
}

fn legend(page: &mut Html) {
    page.element("ul", &[("class", "legend")], |page| {
        for risk in Risk::ALL {
            page.element("li", &[], |page| {
                let size = [("width", "14"), ("height", "14"), ("aria-hidden", "true"), ("focusable", "false")];
                page.element("svg", &size, |page| {
                    let (color, hatch) = hatch(risk);
                    rect(page, &Bar { from: "0".to_owned(), width: "14".to_owned(), y: 0, height: 14 }, color, hatch);
                });
                page.text(&format!("{} risk", risk.name()));
            });
        }
    });
}
