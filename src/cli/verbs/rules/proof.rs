//! The examples of a page, executed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::cli::session::settings;
use crate::config;
use crate::measured::paid::{self, PaidOptions};
use crate::measured::{UsageOptions, row};
use crate::rules::{
    self, Example, Expected, LooksAt, Marker, Page, PageText, Rules, compare, examples, tell, unmarked,
};
use crate::source::{MemoryTree, Sources};
use crate::source::{Span, unified};
use crate::{Analysis, Settings, analyze, fix};

/// How an example came out.
#[derive(Debug)]
pub(super) struct Proof {
    /// The line of the page where it starts.
    pub(super) line: usize,
    pub(super) title: String,
    /// What is wrong, as lines; nothing where it came out as it says.
    pub(super) wrong: Vec<String>,
}

/// Executes every example of a page; a page that must be proven says what is missing.
pub(super) fn prove(page: &Page, own: &PageText, require: bool) -> Vec<Proof> {
    let all = examples(&page.text);
    let mut proofs: Vec<Proof> = all.iter().map(|example| execute(page, own, example)).collect();
    if require && page.has_fix() && all.iter().all(|example| example.fixed.is_empty()) {
        let wrong = vec!["no example shows its fix: add a fence of `fixed` behind one that is reported".to_owned()];
        proofs.push(Proof { line: 1, title: "required examples".to_owned(), wrong });
    }
    if require && page.looks_at != LooksAt::Change {
        let shown: BTreeSet<Option<Marker>> = all.iter().flat_map(kinds).collect();
        let missing: Vec<&str> = [Some(Marker::Reported), None, Some(Marker::Undetermined)]
            .into_iter()
            .filter(|kind| !shown.contains(kind))
            .map(|kind| kind.map_or("clean", Marker::name))
            .collect();
        if !missing.is_empty() {
            let wrong = vec![format!("no example is {}", missing.join(", none is "))];
            proofs.push(Proof { line: 1, title: "required examples".to_owned(), wrong });
        }
    }
    proofs
}

/// What an example shows: lines that are marked, or that all of it is clean.
fn kinds(example: &Example) -> Vec<Option<Marker>> {
    match example.expected.is_empty() {
        true => vec![None],
        false => example.expected.iter().map(|it| Some(it.marker)).collect(),
    }
}

fn execute(page: &Page, own: &PageText, example: &Example) -> Proof {
    let wrong = match analyzed(page, own, example) {
        Ok((sources, analysis)) => {
            let mut wrong = compared(page, example, &sources, &analysis);
            if !example.fixed.is_empty() {
                wrong.extend(compared_fixes(page, own, example, &sources, &analysis));
            }
            wrong
        }
        Err(why) => vec![why],
    };
    let title = if example.title.is_empty() { "example".to_owned() } else { example.title.clone() };
    Proof { line: example.line, title, wrong }
}

fn analyzed(page: &Page, own: &PageText, example: &Example) -> Result<(Sources, Analysis), String> {
    let mut tree = MemoryTree::new();
    for file in &example.files {
        tree = tree.with(&file.path, file.text.as_str());
    }
    if let Some(config) = &example.config {
        tree = tree.with(config::FILE_NAME, config.as_str());
    }
    if let Some(usage) = &example.usage {
        tree = tree.with(row::FILE_NAME, row::of_rows(usage));
    }
    if let Some(rows) = &example.paid {
        tree = tree.with(paid::row::FILE_NAME, paid::row::of_rows(rows));
    }
    let sources = Sources::new(tree);
    let mut measured = UsageOptions::default();
    let mut chosen = rules::Settings::default();
    if example.config.is_some() {
        let (config, wrong) = config::load(&sources, config::FILE_NAME, env!("CARGO_PKG_VERSION"));
        if let Some(first) = wrong.first() {
            return Err(format!("its `config` cannot be used: {}", first.message));
        }
        chosen = settings::rule_settings(&config);
        measured.paid = PaidOptions { files: measured.paid.files, ..settings::paid(&config) };
    }
    chosen.select = vec![(page.name.clone(), None)];
    chosen.ignore.clear();
    chosen.rules.retain(|name, _| *name == page.name);
    let (rules, _) = Rules::load(std::slice::from_ref(own), chosen);
    let mut catalog = Catalog::examples();
    if let Some(prices) = &example.prices {
        catalog = catalog
            .with_prices("prices.csv", prices)
            .map_err(|error| format!("its `prices` cannot be used, line {}: {}", error.line, error.message))?;
    }
    let today = match &example.today {
        Some(day) => Some(day.parse().map_err(|why| format!("its `today` cannot be used: {why}"))?),
        None => None,
    };
    let paths: Vec<String> = example.files.iter().map(|file| file.path.clone()).collect();
    let settings = Settings { catalog, rules: Arc::new(rules), today, measured, ..Settings::default() };
    let analysis = analyze(&sources, &paths, &settings);
    for (file, fence) in [(row::FILE_NAME, "usage"), (paid::row::FILE_NAME, "paid")] {
        let is_there = |span: Span| sources.path(span.file) == file;
        if let Some(wrong) = analysis.inventory.diagnostics.iter().find(|it| it.span.is_some_and(is_there)) {
            return Err(format!("its `{fence}` cannot be used: {}", wrong.message));
        }
    }
    match analysis.broken_rules.first() {
        Some(broken) => Err(format!("the rule fails: {}", broken.message)),
        None => Ok((sources, analysis)),
    }
}

/// What came out otherwise than the example says.
fn compared(page: &Page, example: &Example, sources: &Sources, analysis: &Analysis) -> Vec<String> {
    let at = |span, marker| {
        let place = sources.locate(span);
        Expected { path: place.path, line: place.line, marker }
    };
    let mut findings: Vec<_> = analysis.findings.iter().filter(|it| it.rule == page.name).collect();
    findings.sort_by_key(|it| sources.locate(it.span));
    let unknown = analysis.undetermined.iter().filter(|it| it.rule == page.name);
    let unknown: Vec<(Expected, &str)> = unknown.map(|it| (at(it.span, Marker::Undetermined), &*it.cause)).collect();
    let reported = findings.iter().map(|it| at(it.span, Marker::Reported));
    let said: Vec<Expected> = reported.chain(unknown.iter().map(|(at, _)| at.clone())).collect();
    let mut wrong = Vec::new();
    for surprise in compare(example, &said) {
        wrong.extend(difference(example, &surprise.at, surprise.is_missing));
        let same_line = |at: &Expected| at.path == surprise.at.path && at.line == surprise.at.line;
        let cause = unknown.iter().find(|(at, _)| same_line(at)).map(|(_, cause)| *cause);
        wrong.extend(cause.map(|cause| format!("    undetermined because {cause}")));
    }
    let words: String = findings.into_iter().map(tell).collect();
    if let Some(told) = example.told.as_ref().filter(|told| told.text != words) {
        wrong.push("it tells something else:".to_owned());
        wrong.extend(told.text.lines().map(|line| format!("  - {line}")));
        wrong.extend(words.lines().map(|line| format!("  + {line}")));
    }
    wrong
}

/// What the fixes of the rule make of the files otherwise than the example says.
fn compared_fixes(
    page: &Page,
    own: &PageText,
    example: &Example,
    sources: &Sources,
    analysis: &Analysis,
) -> Vec<String> {
    if !page.has_fix() {
        return vec!["it shows what is fixed, and the page has no `fix`".to_owned()];
    }
    let after = fix::of_rule(&page.name, sources, &analysis.findings);
    let mut wrong = Vec::new();
    for (path, told) in example.fixes_of(&after) {
        let now = after.get(&path).map(|text| unmarked(text));
        match (told, now) {
            (Some(told), Some(now)) if told.text == now => {}
            (Some(told), Some(now)) => {
                wrong.push(format!("fixed, `{path}` is something else:"));
                let difference = unified(&path, &told.text, &now);
                wrong.extend(difference.lines().skip(2).map(|line| format!("  {line}")));
            }
            (Some(_), None) => {
                wrong.push(format!("nothing is fixed in `{path}`"));
                let about = analysis.findings.iter().filter(|it| it.rule == page.name);
                let why: BTreeSet<&str> = about.filter_map(|it| it.fix.as_ref()?.declined.as_deref()).collect();
                wrong.extend(why.into_iter().map(|why| format!("    because {why}")));
            }
            (None, _) => wrong.push(format!("`{path}` is fixed too: show it in a fence of `fixed file={path}`")),
        }
    }
    if wrong.is_empty()
        && let Ok((_, analysis)) = analyzed(page, own, &example.with(&after))
    {
        let left = analysis.findings.iter().filter(|it| it.rule == page.name && !it.edits.is_empty());
        wrong.extend(left.map(|it| format!("fixed, it still says: {}", it.message)));
    }
    wrong
}

/// The line in question, as the example has it and as it came out.
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
