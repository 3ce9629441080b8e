//! Answers a tool call: runs the subcommand as on the command line, and captures its output in memory.

use std::cmp::Ordering;
use std::panic::{UnwindSafe, catch_unwind};

use serde_json::{Map, Value, json};

use super::page::{self, ReportPage, Shown};
use super::tools::{McpTool, ToolAnswer, ToolCall};
use crate::cli::args::{CliArguments, RulesVerb, Verb};
use crate::cli::io::captured_output::{self, CapturedOutput};
use crate::cli::io::failure::Failure;
use crate::cli::io::outcome::ExitStatus;
use crate::cli::verbs;
use crate::report::Format;

/// The longest summary next to the report.
const MOST_SUMMARY_CHARS: usize = 1_500;
const MOST_FAILURE_CHARS: usize = 4_000;
const MOST_NOTES: usize = 10;

/// Returns the result of a call, or an error with the next step.
pub(super) fn answer(tool: &McpTool, arguments: &Map<String, Value>) -> Value {
    whatever_happens(|| answered(tool, arguments)).unwrap_or_else(|why| failed(&why))
}

/// Turns a panic into an error, so that a bug ends one answer and not the server.
fn whatever_happens<T>(work: impl FnOnce() -> Result<T, String> + UnwindSafe) -> Result<T, String> {
    catch_unwind(work).unwrap_or_else(|panic| Err(Failure::from_panic(&*panic).to_string()))
}

pub(super) fn failed(why: &str) -> Value {
    let (why, more) = page::lines(why, 0, MOST_FAILURE_CHARS);
    let text = if more.is_some() { format!("{why}…") } else { why };
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

fn answered(tool: &McpTool, arguments: &Map<String, Value>) -> Result<Value, String> {
    let ToolCall { words, page } = tool.ask(arguments)?;
    let arguments = CliArguments::parse(words).map_err(|error| without_usage(&error))?;
    let (done, kept) = captured_output::keeping(|| run(arguments));
    let outcome = done.map_err(|failure| failure.to_string())?;
    match tool.answer {
        ToolAnswer::Report { .. } => of_report(tool, &page, &kept, outcome),
        ToolAnswer::Text => Ok(of_text(&page, &kept)),
    }
}

/// Runs one of the subcommands that only read files.
fn run(arguments: CliArguments) -> Result<ExitStatus, Failure> {
    match arguments.verb {
        None => verbs::check::run(&arguments.check),
        Some(Verb::Check(check)) => verbs::check::run(&check),
        Some(Verb::Price(price)) => verbs::price::run(&price),
        Some(Verb::Fit(fit)) => verbs::fit::run(&fit),
        Some(Verb::Explain(explain)) => verbs::explain::run(&explain),
        Some(Verb::WhatIf(what_if)) => verbs::what_if::run(&what_if),
        Some(Verb::Rules(verb @ RulesVerb::List { .. })) => verbs::rules::run(&verb),
        _ => Err(Failure::new("no tool supports this subcommand")),
    }
}

/// Returns the parser's error without the usage of the command line.
fn without_usage(error: &clap::Error) -> String {
    let text = error.to_string();
    let said = text.split("\n\nUsage:").next().unwrap_or_default();
    said.split("\n\nFor more information").next().unwrap_or_default().trim().to_owned()
}

fn of_report(tool: &McpTool, page: &ReportPage, kept: &CapturedOutput, outcome: ExitStatus) -> Result<Value, String> {
    let whole = kept.report(Format::Json).unwrap_or_default();
    let mut report: Value =
        serde_json::from_str(whole).map_err(|error| format!("gpulint's own report is not valid JSON: {error}"))?;
    demand_list(page, &report)?;
    dearest_first(&mut report);
    let Shown { report, left_out, texts_cut } = page.of(report);
    let (mut summary, more) = page::lines(kept.report(Format::Text).unwrap_or_default().trim(), 0, MOST_SUMMARY_CHARS);
    if more.is_some() {
        summary.push_str("…\n");
    }
    let mut notes: Vec<String> = kept.complaints.iter().take(MOST_NOTES).cloned().collect();
    if outcome == ExitStatus::Empty {
        notes.push(format!("`{}` found nothing to check", tool.name));
    }
    let mut text = summary.trim_end().to_owned();
    text.extend(lines_of_findings(&report, page));
    text.extend(left_out.iter().filter(|it| it.list == page.list || page.list.is_empty()).map(|it| {
        let next = it.next_offset().map(|next| format!("; continue at offset {next}")).unwrap_or_default();
        format!("\n{} of {} {} shown{next}", it.shown, it.total, if it.list.is_empty() { "entries" } else { &it.list })
    }));
    text.extend(notes.iter().map(|note| format!("\n{note}")));
    let left_out: Vec<Value> = left_out.iter().map(page::TruncatedList::to_json).collect();
    Ok(json!({
        "content": [{ "type": "text", "text": text }],
        "structuredContent": {
            "summary": summary,
            "left_out": left_out,
            "texts_cut": texts_cut,
            "notes": notes,
            "report": report,
        },
        "isError": false,
    }))
}

/// Refuses a list that the report does not have.
fn demand_list(page: &ReportPage, report: &Value) -> Result<(), String> {
    let Value::Object(fields) = report else { return Ok(()) };
    if fields.get(&page.list).is_some_and(Value::is_array) {
        return Ok(());
    }
    let lists: Vec<&str> = fields.iter().filter(|(_, it)| it.is_array()).map(|(name, _)| name.as_str()).collect();
    Err(format!("the report has no list `{}`: its lists are {}", page.list, lists.join(", ")))
}

/// Sorts entries by cost, because an assistant may see only the beginning of a report, which is in the order of files.
fn dearest_first(report: &mut Value) {
    const AMOUNTS: [(&str, [&str; 2]); 2] = [
        ("findings", ["/saves_usd_per_month/expected", "/saves_usd/expected"]),
        ("resources", ["/price/usd_per_month/expected", "/price/usd/expected"]),
    ];
    for (list, places) in AMOUNTS {
        let Some(Value::Array(entries)) = report.get_mut(list) else { continue };
        let usd = |it: &Value| places.iter().find_map(|place| it.pointer(place)?.as_f64());
        entries.sort_by(|a, b| usd(b).partial_cmp(&usd(a)).unwrap_or(Ordering::Equal));
    }
}

/// Returns the findings as text lines, because some clients show only text to their model.
fn lines_of_findings(report: &Value, page: &ReportPage) -> Vec<String> {
    let findings = report.get("findings").and_then(Value::as_array).filter(|_| page.list == "findings");
    let line = |it: &Value| {
        let text = |key: &str| it.get(key).and_then(Value::as_str).unwrap_or_default();
        let place = it.get("line").and_then(Value::as_u64).map(|line| format!("{}:{line}: ", text("path")));
        let about = [text("rule"), text("address")].join(" ");
        format!("\n{}{}: {}", place.unwrap_or_default(), about.trim_end(), text("message"))
    };
    findings.into_iter().flatten().map(line).collect()
}

fn of_text(page: &ReportPage, kept: &CapturedOutput) -> Value {
    let (mut text, next) = page::lines(&kept.printed, page.offset, page.limit);
    if let Some(next) = next {
        let total = kept.printed.chars().count();
        text.push_str(&format!("\n({next} of {total} characters shown; continue at offset {next})"));
    }
    text.extend(kept.complaints.iter().take(MOST_NOTES).map(|note| format!("\n{note}")));
    json!({ "content": [{ "type": "text", "text": text }], "isError": false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_an_answer() {
        let none: [u8; 0] = [];
        let index = std::hint::black_box(7);
        let said = whatever_happens(|| Ok(none[index]));
        assert!(said.unwrap_err().contains("bug in gpulint"));
        assert_eq!(whatever_happens(|| Ok(1)), Ok(1));
    }

    #[test]
    fn what_costs_most_comes_first_and_what_is_not_known_last() {
        let finding = |name: &str, usd: Option<f64>| {
            let range = usd.map(|usd| json!({ "floor": 0, "expected": usd, "ceiling": usd }));
            json!({ "rule": name, "saves_usd_per_month": range, "saves_usd": null })
        };
        let mut report = json!({ "findings": [finding("a", None), finding("b", Some(1.0)), finding("c", Some(9.0))] });
        dearest_first(&mut report);
        let names: Vec<&Value> = report["findings"].as_array().unwrap().iter().map(|it| &it["rule"]).collect();
        assert_eq!(names, ["c", "b", "a"]);
    }
}
