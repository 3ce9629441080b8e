//! Tests the facts of manifests, with one Markdown file per topic in `tests/kubernetes`.
//!
//! Input blocks up to a `text` block are one tree, and the `text` block has the expected result. `␉` and `␍` stand for
//! invisible characters. `GPULINT_BLESS=1` rewrites the expectations.

use std::fmt::Write as _;

use crate::fences;
use gpulint::inventory::{Fact, FactOrigin, Range, Resource};
use gpulint::kubernetes::{self, KubernetesOptions, KubernetesReading};
use gpulint::source::{MemoryTree, SourceFiles, Span};

#[test]
fn manifests_become_the_facts_that_the_cases_expect() {
    fences::hold("tests/kubernetes", check);
}

/// Returns the text of a case file with the actual results.
fn check(text: &str) -> String {
    let mut found: Vec<(fences::Fence, String)> = Vec::new();
    let mut tree = MemoryTree::new();
    for fence in fences::read(text) {
        if fence.language == "text" {
            let paths: Vec<String> = tree.paths().map(str::to_owned).collect();
            let sources = SourceFiles::new(std::mem::take(&mut tree));
            let reading = kubernetes::read(&sources, &paths, &[], &KubernetesOptions::default());
            found.push((fence, render(&sources, &reading)));
        } else {
            let path = fence.file.as_deref().unwrap_or("a.yaml");
            tree = tree.with(path, fence.text.replace('␉', "\t").replace('␍', "\r"));
        }
    }
    // Starts at the last one, so that ranges stay valid.
    found.iter().rev().fold(text.to_owned(), |text, (fence, shown)| fences::replaced(&text, fence, shown))
}

fn render(sources: &SourceFiles, reading: &KubernetesReading) -> String {
    let mut out = String::new();
    for resource in &reading.inventory.resources {
        render_resource(sources, resource, &mut out);
    }
    for diagnostic in &reading.inventory.diagnostics {
        let place = diagnostic.span.map(|span| at(sources, span)).unwrap_or_default();
        writeln!(out, "{} {place}: {}", diagnostic.level.name(), diagnostic.message).unwrap();
    }
    for skipped in &reading.inventory.skipped {
        writeln!(out, "skipped {}: {}", skipped.path, skipped.reason).unwrap();
    }
    if out.is_empty() {
        out.push_str("nothing\n");
    }
    out
}

fn render_resource(sources: &SourceFiles, resource: &Resource, out: &mut String) {
    let place = at(sources, resource.span);
    let count = shown(sources, &resource.count, number_of);
    writeln!(out, "{} {} {place} × {count}", resource.address, resource.role.name()).unwrap();
    for (key, fact) in resource.facts() {
        writeln!(out, "  {} = {}", key.name(), shown(sources, fact, ToString::to_string)).unwrap();
    }
    if let Some(span) = resource.version_of {
        writeln!(out, "  version of {}", at(sources, span)).unwrap();
    }
    for link in &resource.links {
        let why = ["it is named there", "that object names it"]
            .iter()
            .find_map(|it| link.why.strip_prefix(it))
            .unwrap_or(&link.why)
            .trim_start_matches([';', ',', ' ']);
        let place = at(sources, link.span);
        writeln!(out, "  {} → {} {place}{}{why}", link.kind.name(), link.to, if why.is_empty() { "" } else { " " })
            .unwrap();
    }
}

fn number_of(range: &Range) -> String {
    if range.floor == range.ceiling {
        range.floor.to_string()
    } else {
        format!("{}–{}, {} expected", range.floor, range.ceiling, range.expected)
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
