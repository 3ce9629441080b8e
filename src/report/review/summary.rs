//! Writes the summary for people who do not read code: what it costs, what is wasted, what limits it, what changed and
//! what to do, each with its evidence.

use std::fmt::Write;

use super::content::CostReview;
use crate::catalog::Money;
use crate::inventory::{Resource, ResourceId};
use crate::pricing::Period;
use crate::report::escape::{one_line, shortened};
use crate::report::history::words::{author, subject};
use crate::report::views::cost_line::marked;
use crate::report::views::history::course;
use crate::report::views::markup::{self, Address, Markdown, markdown};
use crate::report::views::money::mark;
use crate::report::views::scorecard::best_savings;
use crate::report::views::sentence::sentence;
use crate::report::views::{first, judged, worst};
use crate::report::{Report, ReviewCommit};
use crate::source::Span;

/// The maximum number of characters of a sentence.
const LONGEST: usize = 400;

/// A sentence with its evidence.
struct Statement {
    text: String,
    evidence: Vec<Evidence>,
}

/// The place or the command that shows where a number comes from.
enum Evidence {
    Place { what: String, path: String, line: usize },
    Commit(String),
    Command(&'static str),
}

pub(super) fn text(review: &CostReview) -> String {
    let all = statements(review);
    let numbered = all.iter().zip(1..).map(|(it, number)| format!("{} [{number}]", one_line(&it.text)));
    let mut text = numbered.collect::<Vec<_>>().join(" ") + "\n\n";
    for (statement, number) in all.iter().zip(1..) {
        let evidence: Vec<String> = statement.evidence.iter().map(Evidence::text).collect();
        let _ = writeln!(text, "[{number}] {}", evidence.join("; "));
    }
    text
}

pub(super) fn markdown(review: &CostReview) -> String {
    let mut text = Markdown::default();
    for statement in statements(review) {
        markdown!(text, markup::text(&statement.text, LONGEST), " (");
        for (place, evidence) in statement.evidence.iter().enumerate() {
            text.push(if place == 0 { "" } else { "; " });
            markdown!(text, evidence.markdown(review.files.as_ref()));
        }
        text.push(")\n\n");
    }
    text.into_string()
}

impl Evidence {
    fn text(&self) -> String {
        match self {
            Evidence::Place { what, path, line } => format!("{} ({}:{line})", one_line(what), one_line(path)),
            Evidence::Commit(commit) => one_line(commit),
            Evidence::Command(command) => format!("`{command}`"),
        }
    }

    fn markdown(&self, files: Option<&ReviewCommit>) -> Markdown {
        match self {
            Evidence::Place { what, path, line } => {
                let shown = markup::cell_code(&format!("{}, {path}:{line}", shortened(&one_line(what), 100)), LONGEST);
                match files {
                    Some(files) => markup::linked(shown, &Address::of_line(files.url(), path, *line)),
                    None => shown,
                }
            }
            Evidence::Commit(commit) => markup::text(commit, LONGEST),
            Evidence::Command(command) => markup::cell_code(command, LONGEST),
        }
    }
}

fn statements(review: &CostReview) -> Vec<Statement> {
    let report = review.report;
    let all =
        [Some(costs(report)), Some(wasted(report)), limited(report), Some(changed(review)), todo(report), open(report)];
    all.into_iter().flatten().collect()
}

fn place(report: &Report, what: String, span: Span) -> Evidence {
    let at = report.paths.locate(report.sources, span);
    Evidence::Place { what, path: at.path, line: at.line }
}

fn of_resource(report: &Report, id: ResourceId) -> Option<Evidence> {
    let resource: &Resource = report.inventory.resources.get(id.0)?;
    Some(place(report, report.called(resource).into_owned(), resource.span))
}

/// Returns the cost, with the most expensive resource.
fn costs(report: &Report) -> Statement {
    let counted = report.inventory.resources.iter().zip(&report.bill.items).enumerate();
    let shares = counted.filter_map(|(at, (it, item))| Some((item.share.filter(|_| it.is_added())?.expected, at)));
    let most = shares.filter(|(share, _)| !share.is_zero()).max();
    let largest =
        most.and_then(|(share, at)| Some((report.currency.amount(share), of_resource(report, ResourceId(at))?)));
    let sum = report.currency.at_least(&report.bill.combined, marked(report));
    let sum = if sum == "unknown" { "an unknown amount".to_owned() } else { sum };
    let (text, evidence) = match largest {
        Some((amount, place)) => (
            format!("The GPUs in this code cost {sum} a month; the largest part is {amount}."),
            vec![place, Evidence::Command("gpulint cost")],
        ),
        None => (format!("The GPUs in this code cost {sum} a month."), vec![Evidence::Command("gpulint cost")]),
    };
    Statement { text, evidence }
}

/// Returns what can be saved, with the largest saving.
fn wasted(report: &Report) -> Statement {
    let best = best_savings(report);
    let monthly = || best.values().filter(|it| it.per == Period::Month);
    let saved: Money = monthly().filter_map(|it| it.saves).map(|it| it.expected).sum();
    let mut evidence = vec![Evidence::Command("gpulint")];
    if saved.is_zero() {
        return Statement { text: "gpulint found no waste that has a price per month.".to_owned(), evidence };
    }
    if let Some(largest) = monthly().max_by_key(|it| it.saves.map(|it| it.expected)) {
        evidence.insert(0, place(report, largest.rule.clone(), largest.span));
    }
    let is_estimated = monthly().any(|it| it.is_estimated);
    let amount = report.currency.amount(saved);
    Statement { text: format!("Up to {}{amount} a month of it can be saved.", mark(is_estimated)), evidence }
}

/// Returns the most that a month can cost.
fn limited(report: &Report) -> Option<Statement> {
    let worst = report.bill.worst.as_ref()?;
    let answer = worst::answer(report)?;
    let text = match worst.most() {
        Some(_) => format!("Under any load, it {}.", answer.replace("/month", " a month")),
        None => "Nothing limits what a month can cost.".to_owned(),
    };
    let first = worst.unlimited.first().map(|it| it.resource);
    let id = first.unwrap_or_else(|| worst.parts.first().and_then(|it| it.resources.first().copied()));
    let place = id.and_then(|id| of_resource(report, id));
    Some(Statement { text, evidence: place.into_iter().chain([Evidence::Command("gpulint limit")]).collect() })
}

/// Returns the change of the month, with the commit that changed most.
fn changed(review: &CostReview) -> Statement {
    let (moved, currency) = (review.moved(), review.history.currency);
    let by = moved.ends().map(|(before, after)| course(before, after));
    let text = match &by {
        Some(by) if by.is_same() => format!("In {}, the cost did not change.", review.month),
        Some(by) if by.covers_all() && !by.difference.expected.is_zero() => {
            let difference = by.difference.expected;
            let (verb, amount) = match difference < Money::ZERO {
                true => ("fell", Money::ZERO - difference),
                false => ("rose", difference),
            };
            format!("In {}, it {verb} by {} a month.", review.month, currency.amount(amount))
        }
        None => format!("For {}, the change of the cost is unknown.", review.month),
        _ => format!("{}.", review.format_month(&moved)),
    };
    let step = moved.steps.first().and_then(|step| {
        let commit = &review.history.points.get(step.to)?.commit;
        let (author, subject) = (author(commit, step.by()), subject(commit, step.by()));
        Some(Evidence::Commit(format!("{} of {} by {author}: {subject}", commit.short(), commit.date())))
    });
    Statement { text, evidence: step.into_iter().chain([Evidence::Command("gpulint history")]).collect() }
}

/// Returns what to do first.
fn todo(report: &Report) -> Option<Statement> {
    let all = first::advice(report);
    let advice = all.first()?;
    let help = advice.finding.help.as_deref().unwrap_or(&advice.finding.message);
    let help = sentence(help.split(": saves about").next().unwrap_or(help).trim_end_matches('.'));
    let text = format!("To do first ({} risk, saves {}): {help}", advice.finding.risk.name(), advice.saved(report));
    let place = place(report, advice.finding.rule.clone(), advice.finding.span);
    Some(Statement { text, evidence: vec![place, Evidence::Command("gpulint check --fix --diff --unsafe-fixes")] })
}

/// Returns what was not evaluated.
fn open(report: &Report) -> Option<Statement> {
    let text = format!("The true amounts can be higher: {}.", judged::in_numbers(report)?);
    Some(Statement { text, evidence: vec![Evidence::Command("gpulint check -v")] })
}
