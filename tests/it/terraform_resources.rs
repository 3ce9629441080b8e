//! Tests the conversion of Terraform to resources, with one Markdown file per type or family in
//! `tests/terraform/resources`.
//!
//! Each `## case` has code blocks with input (the word after the language is the path, by default `main.tf`) and a last
//! `text` block with the expected result. `GPULINT_BLESS=1` rewrites the expectations.

use std::fmt::Write as _;

use gpulint::inventory::{CostLabels, CountedIn, Fact, FactOrigin, Range, Resource};
use gpulint::source::{MemoryTree, SourceFiles, Span};
use gpulint::terraform::{self, TerraformOptions};

use crate::fences;

#[test]
fn blocks_become_the_resources_that_the_cases_expect() {
    fences::hold("tests/terraform/resources", |text| cases(text, "main.tf", found));
}

/// Returns the text of a case file with the actual results.
pub(crate) fn cases(text: &str, unnamed: &str, found: fn(MemoryTree) -> String) -> String {
    let mut tree = MemoryTree::new();
    fences::rewritten(text, |info, body| match info {
        "text" => found(std::mem::take(&mut tree)),
        _ => {
            let path = info.split_whitespace().nth(1).unwrap_or(unnamed);
            tree = std::mem::take(&mut tree).with(path, body.clone());
            body
        }
    })
}

fn found(tree: MemoryTree) -> String {
    let paths: Vec<String> = tree.paths().map(str::to_owned).collect();
    let sources = SourceFiles::new(tree);
    let reading = terraform::read(&sources, &paths, &TerraformOptions::default());
    let mut out = String::new();
    for resource in &reading.inventory.resources {
        render(&sources, resource, &mut out);
    }
    for embedded in &reading.embedded {
        writeln!(out, "{} carries {}", embedded.address, at(&sources, embedded.span)).unwrap();
        let text = sources.text(embedded.file);
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let indent = line.len() - line.trim_start().len();
            let end = offset + line.trim_end().len();
            let places =
                [offset + indent, end.saturating_sub(1)].map(|byte| sources.line(Span::new(embedded.file, byte, byte)));
            writeln!(out, "  {:>2} {:>2} | {}", places[0], places[1], line.trim_end()).unwrap();
            offset += line.len();
        }
    }
    for diagnostic in &reading.inventory.diagnostics {
        writeln!(out, "{}: {}", diagnostic.level.name(), diagnostic.message).unwrap();
    }
    if out.is_empty() {
        out.push_str("nothing\n");
    }
    out
}

pub(crate) fn render(sources: &SourceFiles, resource: &Resource, out: &mut String) {
    let place = at(sources, resource.span);
    let unit = match resource.counted_in {
        CountedIn::Machines => "",
        CountedIn::Cpus => " CPUs",
        CountedIn::Accelerators => " accelerators",
    };
    let count = shown(sources, &resource.count, number_of);
    writeln!(out, "{} {} {place} × {count}{unit}", resource.address, resource.role.name()).unwrap();
    for (key, fact) in resource.facts() {
        writeln!(out, "  {} = {}", key.name(), shown(sources, fact, ToString::to_string)).unwrap();
    }
    labels(sources, &resource.labels, out);
    for (key, fact) in &resource.selector.labels {
        writeln!(out, "  node label {key} = {}", shown(sources, fact, ToString::to_string)).unwrap();
    }
    for taint in &resource.selector.taints {
        let value = taint.value.as_deref().unwrap_or("-");
        writeln!(out, "  taint {} = {value} {}", taint.key, at(sources, taint.span)).unwrap();
    }
    for link in &resource.links {
        writeln!(out, "  {} → {} {}", link.kind.name(), link.to, at(sources, link.span)).unwrap();
    }
}

fn labels(sources: &SourceFiles, labels: &CostLabels, out: &mut String) {
    if !labels.taggable {
        writeln!(out, "  not taggable").unwrap();
    }
    for (key, fact) in &labels.entries {
        writeln!(out, "  label {key} = {}", shown(sources, fact, ToString::to_string)).unwrap();
    }
    if let Some(open) = &labels.open {
        writeln!(out, "  more labels: {} {}", open.why, at(sources, open.span)).unwrap();
    }
}

fn number_of(range: &Range) -> String {
    match range.floor == range.ceiling {
        true => range.floor.to_string(),
        false => format!("{}–{}, {} expected", range.floor, range.ceiling, range.expected),
    }
}

fn shown<T>(sources: &SourceFiles, fact: &Fact<T>, show: impl Fn(&T) -> String) -> String {
    match fact {
        Fact::Absent => "absent".to_owned(),
        Fact::Unknown(unknown) => {
            let candidates: Vec<String> = unknown.candidates.iter().map(show).collect();
            let candidates =
                if candidates.is_empty() { String::new() } else { format!(" [{}]", candidates.join(", ")) };
            format!("unknown{candidates}: {} {}", unknown.why, at(sources, unknown.span))
        }
        Fact::Known(known) => {
            let origin = match &known.origin {
                FactOrigin::Written => String::new(),
                FactOrigin::Inferred(why) | FactOrigin::Assumed(why) => format!(" ({}: {why})", known.origin.name()),
                other => format!(" ({})", other.name()),
            };
            format!("{}{origin} {}", show(&known.value), at(sources, known.defined.unwrap_or(known.span)))
        }
    }
}

fn at(sources: &SourceFiles, span: Span) -> String {
    let place = sources.locate(span);
    format!("{}:{}", place.path, place.line)
}
