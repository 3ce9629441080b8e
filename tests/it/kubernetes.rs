//! Manifests → facts, one Markdown file a topic in `tests/kubernetes`.
//!
//! Each `## case` holds fences with input (the word after the language is the path, `a.yaml` where there is none) and a
//! last fence `text` with what is expected. `GPULINT_BLESS=1` rewrites the expectations.

use std::fmt::Write as _;
use std::path::Path;

use gpulint::inventory::{Fact, Origin, Range, Resource};
use gpulint::kubernetes::{self, Options, Reading};
use gpulint::source::{MemoryTree, Sources, Span};

#[test]
fn manifests_become_the_facts_that_the_cases_expect() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let checked = check(&text);
        if checked == text {
            continue;
        }
        if std::env::var_os("GPULINT_BLESS").is_some() {
            std::fs::write(&file, checked).unwrap();
        } else {
            let lines = text.lines().zip(checked.lines()).enumerate();
            let (line, (expected, found)) = lines.into_iter().find(|(_, (a, b))| a != b).unwrap_or((0, ("…", "…")));
            writeln!(wrong, "{}:{}\n  expected {expected}\n  found    {found}", file.display(), line + 1).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The text of a case file with what was found in place of what was expected.
fn check(text: &str) -> String {
    let mut out = String::new();
    let mut tree = MemoryTree::new();
    let mut paths: Vec<String> = Vec::new();
    let mut fence: Option<(String, String)> = None;
    for line in text.lines() {
        match (&mut fence, line.strip_prefix("```")) {
            (None, Some(info)) => fence = Some((info.trim().to_owned(), String::new())),
            (Some(_), Some("")) => {
                let (info, body) = fence.take().unwrap();
                if info == "text" {
                    paths.sort();
                    let sources = Sources::new(std::mem::take(&mut tree));
                    let reading = kubernetes::read(&sources, &std::mem::take(&mut paths), &[], &Options::default());
                    out.push_str(&render(&sources, &reading));
                } else {
                    let path = info.split_whitespace().nth(1).unwrap_or("a.yaml").to_owned();
                    let body = body.replace("␉", "\t").replace("␍", "\r");
                    out.push_str(&body.replace('\t', "␉").replace('\r', "␍"));
                    tree = tree.with(&path, body);
                    paths.push(path);
                }
            }
            (Some((info, body)), _) => {
                body.push_str(line);
                body.push('\n');
                if info == "text" {
                    continue;
                }
                continue;
            }
            (None, None) => {}
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn render(sources: &Sources, reading: &Reading) -> String {
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

fn render_resource(sources: &Sources, resource: &Resource, out: &mut String) {
    let place = at(sources, resource.span);
    let count = shown(sources, &resource.count, number_of);
    writeln!(out, "{} {} {place} × {count}", resource.address, resource.role.name()).unwrap();
    for (key, fact) in resource.facts() {
        writeln!(out, "  {} = {}", key.name(), shown(sources, fact, ToString::to_string)).unwrap();
    }
    for link in &resource.links {
        writeln!(out, "  {} → {} {}", link.kind.name(), link.to, at(sources, link.span)).unwrap();
    }
}

fn number_of(range: &Range) -> String {
    if range.floor == range.ceiling {
        range.floor.to_string()
    } else {
        format!("{}–{}, {} expected", range.floor, range.ceiling, range.expected)
    }
}

fn shown<T>(sources: &Sources, fact: &Fact<T>, show: impl Fn(&T) -> String) -> String {
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
                Origin::Written => String::new(),
                Origin::Inferred(why) | Origin::Assumed(why) => format!(" ({}: {why})", known.origin.name()),
                other => format!(" ({})", other.name()),
            };
            format!("{}{origin} {}", show(&known.value), at(sources, known.defined.unwrap_or(known.span)))
        }
    }
}

fn at(sources: &Sources, span: Span) -> String {
    let place = sources.locate(span);
    format!("{}:{}", place.path, place.line)
}
