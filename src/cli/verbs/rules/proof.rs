//! Compares the examples of a rule file with the results of the rule.

use std::collections::BTreeSet;

use super::bench::{Bench, Tried, line_of};
use super::why;
use crate::fix;
use crate::rules::{
    Example, ExampleMarker, ExampleMistake, Expected, LooksAt, Operand, compare, examples, format_finding, slips,
    unmarked,
};
use crate::source::unified;

/// The result of an example.
#[derive(Debug)]
pub(in crate::cli) struct Proof {
    /// The line of the rule file where the example starts.
    pub(in crate::cli) line: usize,
    pub(in crate::cli) title: String,
    /// The differences, as lines. There are none if the example passes.
    pub(in crate::cli) wrong: Vec<String>,
    /// Whether the result belongs to an example, and not to the whole rule file.
    pub(super) is_example: bool,
    /// The reasons of the result, with --why.
    pub(super) why: Vec<String>,
}

impl Proof {
    /// Returns a result for the whole rule file.
    fn of_page(line: usize, title: &str, wrong: Vec<String>) -> Proof {
        Proof { line, title: title.to_owned(), wrong, why: Vec::new(), is_example: false }
    }
}

/// Returns the parts of the condition that no example needs, as notes, or with --require as failures.
pub(super) fn prove_condition(bench: &Bench<'_>, require: bool) -> Vec<Proof> {
    let told = |operand: Operand| {
        let message = format!("no example fails if `{}` (line {}) is removed", operand.text, operand.line);
        let proof = Proof::of_page(operand.line, "condition", Vec::new());
        match require {
            true => Proof { wrong: vec![message], ..proof },
            false => Proof { why: vec![message], ..proof },
        }
    };
    why::unneeded(bench, &examples(&bench.page.text)).into_iter().map(told).collect()
}

/// Runs every example of a rule file. With --require, missing kinds of examples fail.
pub(super) fn prove(bench: &Bench<'_>, require: bool) -> Vec<Proof> {
    let page = bench.page;
    let all = examples(&page.text);
    let mut proofs: Vec<Proof> = all.iter().map(|example| execute(bench, example)).collect();
    let slip = |it: ExampleMistake| Proof::of_page(it.line, "examples", vec![it.message]);
    proofs.extend(slips(&page.text).into_iter().map(slip));
    proofs.sort_by_key(|proof| proof.line);
    if require && page.has_fix() && all.iter().all(|example| example.fixed.is_empty()) {
        let wrong =
            vec!["no example shows the fix: add a `fixed` code block after an example that is reported".to_owned()];
        proofs.push(Proof::of_page(1, "required examples", wrong));
    }
    if require && page.looks_at != LooksAt::Text {
        let shown: BTreeSet<Option<ExampleMarker>> = all.iter().flat_map(kinds).collect();
        let missing: Vec<&str> = [Some(ExampleMarker::Reported), None, Some(ExampleMarker::Undetermined)]
            .into_iter()
            .filter(|kind| !shown.contains(kind))
            .map(|kind| kind.map_or("clean", ExampleMarker::name))
            .collect();
        if !missing.is_empty() {
            let wrong = vec![format!("no example is {}", missing.join(", and none is "))];
            proofs.push(Proof::of_page(1, "required examples", wrong));
        }
    }
    proofs
}

/// Returns the kinds of results that an example shows. Without marked lines, it is clean.
fn kinds(example: &Example) -> Vec<Option<ExampleMarker>> {
    match example.expected.is_empty() {
        true => vec![None],
        false => example.expected.iter().map(|it| Some(it.marker)).collect(),
    }
}

pub(super) fn execute(bench: &Bench<'_>, example: &Example) -> Proof {
    let mut why = Vec::new();
    let wrong = match bench.execute(example) {
        Ok(tried) => {
            why = why::reasons(bench, example, &tried);
            let mut wrong = compared(example, &tried);
            if !example.fixed.is_empty() {
                wrong.extend(compared_fixes(bench, example, &tried));
            }
            wrong
        }
        Err(why) => vec![why],
    };
    let title = if example.title.is_empty() { "example".to_owned() } else { example.title.clone() };
    Proof { line: example.line, title, wrong, why, is_example: true }
}

/// Returns the differences between the example and the findings.
fn compared(example: &Example, tried: &Tried) -> Vec<String> {
    let sources = &tried.session.sources;
    let reported = tried.findings.iter().map(|it| line_of(sources, it.span, ExampleMarker::Reported));
    let said: Vec<Expected> = reported.chain(tried.unknown.iter().map(|(at, _)| at.clone())).collect();
    let mut wrong = Vec::new();
    for surprise in compare(example, &said) {
        wrong.extend(difference(example, &surprise.at, surprise.is_missing));
        let same_line = |at: &Expected| at.path == surprise.at.path && at.line == surprise.at.line;
        let cause = tried.unknown.iter().find(|(at, _)| same_line(at)).map(|(_, cause)| cause);
        wrong.extend(cause.map(|cause| format!("    undetermined because {cause}")));
    }
    let words: String = tried.findings.iter().map(format_finding).collect();
    if let Some(told) = example.told.as_ref().filter(|told| told.text != words) {
        wrong.push("the finding has another message:".to_owned());
        wrong.extend(told.text.lines().map(|line| format!("  - {line}")));
        wrong.extend(words.lines().map(|line| format!("  + {line}")));
    }
    wrong
}

/// Returns the differences between the example's fixed files and the rule's fixes.
fn compared_fixes(bench: &Bench<'_>, example: &Example, tried: &Tried) -> Vec<String> {
    if !bench.page.has_fix() {
        return vec!["the example has a `fixed` code block, but the rule file has no `fix`".to_owned()];
    }
    let after = fix::of_rule(&bench.page.name, &tried.session.sources, &tried.findings);
    let mut wrong = Vec::new();
    for (path, told) in example.fixes_of(&after) {
        let now = after.get(&path).map(|text| unmarked(text));
        match (told, now) {
            (Some(told), Some(now)) if told.text == now => {}
            (Some(told), Some(now)) => {
                wrong.push(format!("after the fix, `{path}` differs:"));
                let difference = unified(&path, &told.text, &now);
                wrong.extend(difference.lines().skip(2).map(|line| format!("  {line}")));
            }
            (Some(_), None) => {
                wrong.push(format!("the fix does not change `{path}`"));
                let about = tried.findings.iter();
                let why: BTreeSet<&str> = about.filter_map(|it| it.fix.as_ref()?.declined.as_deref()).collect();
                wrong.extend(why.into_iter().map(|why| format!("    because {why}")));
            }
            (None, _) => wrong.push(format!("the fix also changes `{path}`: add a code block `fixed file={path}`")),
        }
    }
    if wrong.is_empty()
        && let Ok(again) = bench.execute(&example.with(&after))
    {
        let left = again.findings.iter().filter(|it| !it.edits.is_empty());
        wrong.extend(left.map(|it| format!("after the fix, the rule still reports: {}", it.message)));
    }
    wrong
}

/// Shows a line as the example expects it, and as the rule reports it.
fn difference(example: &Example, at: &Expected, is_missing: bool) -> Vec<String> {
    let file = example.files.iter().find(|file| file.path == at.path);
    let line = file.and_then(|file| file.text.lines().nth(at.line.saturating_sub(1))).unwrap_or_default();
    let number = file.map_or(0, |file| file.line + at.line);
    let bare = line.split("# <- ").next().unwrap_or_default().trim_end();
    let mark = at.marker.name();
    let says = if is_missing { "is missing" } else { "is not expected" };
    let (without, with) = (format!("{number:>4} | {bare}"), format!("{number:>4} | {bare} # <- {mark}"));
    let (expected, found) = if is_missing { (with, without) } else { (without, with) };
    vec![format!("`{mark}` {says}"), format!("  - {expected}"), format!("  + {found}")]
}
