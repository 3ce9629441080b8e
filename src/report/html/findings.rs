//! Writes every finding, with its line, its money and its replacement.

use super::markup::Html;
use super::page::PageSection;
use super::table::{MOST_BYTES, MOST_ROWS};
use crate::decide::Decided;
use crate::report::formats::text;
use crate::report::views::entries::EntryChoice;
use crate::report::views::markup::Address;
use crate::report::{Report, ReviewCommit, escape, suggestion};
use crate::rules::{Finding, Safety, link};

pub(in crate::report) fn section(report: &Report) -> Option<PageSection> {
    let (counting, accepted): (Vec<&Decided>, Vec<&Decided>) = report.findings.iter().partition(|it| it.counts());
    if report.findings.is_empty() {
        return None;
    }
    let mut body = Html::new();
    list(&mut body, report, None, "findings-list", &counting);
    if !accepted.is_empty() {
        let title = format!("Accepted: {}", accepted.len());
        body.element("details", &[], |page| {
            page.leaf("summary", &[], &title);
            list(page, report, None, "accepted-list", &accepted);
        });
    }
    Some(PageSection { id: "findings", title: "What did gpulint find?", answer: Some(text::found(report)), body })
}

/// Writes the findings, the most expensive first, with their repeats.
pub(in crate::report) fn list(
    page: &mut Html,
    report: &Report,
    head: Option<&ReviewCommit>,
    id: &'static str,
    findings: &[&Decided],
) {
    let entries = EntryChoice::default().entries(report, findings);
    let mut left_out = 0;
    page.element("ol", &[("class", "plain"), ("id", id), ("data-filter", "")], |page| {
        let start = page.len();
        for (at, (decided, others)) in entries.iter().enumerate() {
            if at >= MOST_ROWS || page.len() - start > MOST_BYTES {
                left_out += 1 + others.len();
                continue;
            }
            page.element("li", &[], |page| entry(page, report, head, decided, others));
            page.raw("\n");
        }
    });
    super::table::left_out(page, left_out, "findings");
}

fn entry(page: &mut Html, report: &Report, head: Option<&ReviewCommit>, decided: &Decided, others: &[&Decided]) {
    let finding = &decided.finding;
    let class = format!("finding {}", finding.level.name());
    page.element("article", &[("class", &class)], |page| {
        page.element("div", &[("class", "top")], |page| {
            page.element("h3", &[], |page| {
                match link(&finding.rule) {
                    Some(address) => page.leaf("a", &[("href", &address)], &finding.rule),
                    None => page.text(&finding.rule),
                }
                tags(page, finding);
            });
            if let Some(saved) = report.currency.saved(finding) {
                page.leaf("span", &[("class", "money")], &format!("saves {saved}"));
            }
        });
        page.element("p", &[], |page| page.prose(&finding.message));
        page.element("p", &[("class", "small")], |page| {
            place(page, report, head, finding);
            let item = finding.resource.and_then(|id| report.bill.items.get(id.0));
            if let Some(costs) = item.and_then(|item| report.currency.costs(item)) {
                page.text(&format!(" costs {costs}"));
            }
        });
        if let Some(help) = &finding.help {
            page.element("p", &[("class", "soft")], |page| page.prose(help));
        }
        fix(page, report, finding);
        acceptance(page, decided);
        same(page, report, head, others);
    });
}

fn tags(page: &mut Html, finding: &Finding) {
    let risk = format!("risk {}", finding.risk.name());
    let confidence = format!("confidence {}", finding.confidence.name());
    let level = format!("{} {}", finding.level.sign(), finding.level.name());
    let class = format!("tag {}", finding.level.name());
    for (class, tag) in [(&*class, &level), ("tag", &risk), ("tag", &confidence)] {
        page.raw(" ");
        page.leaf("span", &[("class", class)], tag);
    }
}

fn place(page: &mut Html, report: &Report, head: Option<&ReviewCommit>, finding: &Finding) {
    let at = report.paths.locate(report.sources, finding.span);
    let shown = format!("{}:{}", escape::shortened(&at.path, 300), at.line);
    match head {
        Some(head) => {
            let address = Address::of_line(head.url(), &at.path, at.line);
            page.element("a", &[("href", address.as_str())], |page| page.leaf("code", &[], &shown));
        }
        None => page.leaf("code", &[], &shown),
    }
    if let Some(address) = finding.address(report.inventory) {
        page.raw(" ");
        page.leaf("code", &[], address);
    }
}

/// Writes the lines after the fix, and the command that applies it.
fn fix(page: &mut Html, report: &Report, finding: &Finding) {
    if finding.edits.is_empty() {
        return;
    }
    let command = match finding.safety() {
        Some(Safety::Safe) => "gpulint check --fix",
        Some(Safety::Unsafe) => "gpulint check --fix --unsafe-fixes",
        Some(Safety::Display) | None => "",
    };
    if let Some(new) = suggestion(report, finding) {
        let lines = match new.first_line == new.last_line {
            true => format!("Line {} becomes", new.first_line),
            false => format!("Lines {} to {} become", new.first_line, new.last_line),
        };
        page.leaf("p", &[("class", "small soft")], &lines);
        page.element("pre", &[], |page| page.element("code", &[], |page| page.lines(&new.replacement)));
    }
    if !command.is_empty() {
        page.element("p", &[("class", "small soft")], |page| {
            page.leaf("code", &[], command);
            page.raw(" applies this fix");
        });
    }
}

fn acceptance(page: &mut Html, decided: &Decided) {
    if let Some(accepted) = &decided.suppressed {
        let reason = accepted.reason.as_deref().unwrap_or("no reason given");
        let until = accepted.until.map(|date| format!(", until {date}")).unwrap_or_default();
        page.leaf("p", &[("class", "small")], &format!("accepted: {reason}{until}"));
    }
    if let Some(date) = decided.baselined {
        page.leaf("p", &[("class", "small")], &format!("in the baseline since {date}"));
    }
}

fn same(page: &mut Html, report: &Report, head: Option<&ReviewCommit>, others: &[&Decided]) {
    if others.is_empty() {
        return;
    }
    page.element("details", &[], |page| {
        page.leaf("summary", &[], &format!("the same {} more times", others.len()));
        page.element("ul", &[("class", "dense small")], |page| {
            for decided in others {
                page.element("li", &[], |page| {
                    place(page, report, head, &decided.finding);
                    if let Some(saved) = report.currency.saved(&decided.finding) {
                        page.text(&format!(" saves {saved}"));
                    }
                    acceptance(page, decided);
                });
            }
        });
    });
}
