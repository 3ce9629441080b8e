//! Splits rendered text into documents. Each becomes a file whose lines lead back to the source.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kubernetes::text::file::File;
use crate::kubernetes::text::filter;
use crate::kubernetes::text::filter::Matter;
use crate::languages::yaml;
use crate::source::{FileId, Segment, SourceFiles, Span};

use super::align::{TemplateLine, align};
use super::overlay::Parts;
use super::plan::at;
use super::values::{Values, uses};
use super::{RenderedOutput, SOURCE, kustomization};
use crate::kubernetes::text::trail::{RendererKind, Trail};

/// Returns the relevant documents of a rendered text as files.
pub(in crate::kubernetes) fn derive(sources: &SourceFiles, rendered: &RenderedOutput) -> Vec<File> {
    let plan = &rendered.plan;
    let names: &[&str] = match plan.by {
        RendererKind::Helm => &["Chart.yaml"],
        RendererKind::Kustomize => &kustomization::NAMES,
    };
    let Some(head) = names.iter().find_map(|name| first_line(sources, &at(&plan.directory, name))) else {
        return Vec::new();
    };
    let trail = Trail { by: plan.by, command: plan.command().into(), head, variant: None };
    let mut charts: BTreeMap<String, Values> = BTreeMap::new();
    let mut parts: Option<Parts> = None;
    let mut files = Vec::new();
    for range in yaml::documents(&rendered.text) {
        let text = rendered.text.get(range).unwrap_or_default();
        let matter = filter::look(text.as_bytes());
        if matter == Matter::Nothing {
            continue;
        }
        let segments = match plan.by {
            RendererKind::Helm => of_template(sources, rendered, text, head, &mut charts),
            RendererKind::Kustomize => parts.get_or_insert_with(|| Parts::read(sources, plan)).segments(text, head),
        };
        let id = sources.derive("", text.to_owned(), segments);
        files.push(File::rendered(id, sources.path(id).into(), matter != Matter::Asks, trail.clone()));
    }
    files
}

fn of_template(
    sources: &SourceFiles,
    rendered: &RenderedOutput,
    text: &str,
    head: Span,
    charts: &mut BTreeMap<String, Values>,
) -> Vec<Segment> {
    let plan = &rendered.plan;
    let named = text.lines().find_map(|line| plan.template(line.strip_prefix(SOURCE)?));
    let found = named.and_then(|named| Some((sources.open(&named.path).ok()?, named)));
    let Some((template, named)) = found else { return vec![whole(0, head)] };
    let values = charts.entry(named.called.clone()).or_insert_with(|| Values::of(sources, plan, &named));
    lines_of_template(&sources.text(template), template, text, values)
}

fn whole(start: usize, origin: Span) -> Segment {
    Segment { start: u32::try_from(start).unwrap_or(u32::MAX), origin, linear: false }
}

fn lines_of_template(template: &str, file: FileId, text: &str, values: &Values) -> Vec<Segment> {
    let lines: Vec<(usize, &str)> = lines(template).collect();
    let patterns: Vec<TemplateLine<'_>> = lines.iter().map(|(_, line)| TemplateLine::new(line)).collect();
    let uses = uses(&patterns);
    let every: Vec<Vec<Arc<str>>> = uses.iter().flatten().cloned().collect();
    let rendered: Vec<(usize, &str)> = self::lines(text).collect();
    let aligned = align_document(&patterns, &rendered.iter().map(|(_, line)| *line).collect::<Vec<_>>());
    let span = |place: usize| {
        let (start, line) = lines.get(place).copied().unwrap_or_default();
        let from = start + line.len() - line.trim_start().len();
        Span::new(file, from, (start + line.trim_end().len()).max(from))
    };
    let start = aligned.iter().flatten().next().copied().unwrap_or(0);
    let (next_known, next_inserting) = (next(&aligned), next_that(&patterns, inserts));
    let mut segments = vec![whole(0, span(start))];
    let mut before = start;
    for (number, (at, line)) in rendered.iter().enumerate() {
        let own = aligned.get(number).copied().flatten();
        // A line without an origin came from the directive after the last line with an origin.
        let gap = || {
            let inserting = next_inserting.get(before + 1).copied().flatten()?;
            let end = next_known.get(number).copied().flatten().filter(|end| *end > before);
            end.is_none_or(|end| inserting < end).then_some(inserting)
        };
        let place = own.or_else(gap).unwrap_or(before);
        before = own.unwrap_or(before);
        let from_values = || {
            patterns.get(place).filter(|pattern| pattern.has_directive)?;
            let named = uses.get(place).filter(|uses| !uses.is_empty());
            let whole = scalar(line).and_then(|(key, text)| values.find(named.unwrap_or(&every), key, text));
            whole.or_else(|| values.find_inside(named?, line))
        };
        segments.push(whole(*at, from_values().unwrap_or_else(|| span(place))));
    }
    segments
}

/// Aligns with the best matching document of a template that has several.
fn align_document(template: &[TemplateLine<'_>], rendered: &[&str]) -> Vec<Option<usize>> {
    let mut best = (0, vec![None; rendered.len()]);
    let mut start = 0;
    for document in template.split_inclusive(|line| line.text.starts_with("---")) {
        let (agreement, found) = align(document, rendered);
        if agreement > best.0 {
            best = (agreement, found.into_iter().map(|place| place.map(|place| place + start)).collect());
        }
        start += document.len();
    }
    best.1
}

/// Returns for each position the first known value from there on.
fn next(known: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut last = None;
    let mut all: Vec<Option<usize>> = known
        .iter()
        .rev()
        .map(|one| {
            last = one.or(last);
            last
        })
        .collect();
    all.reverse();
    all
}

/// Returns for each position the first one from there on for which the condition is true.
fn next_that<T>(all: &[T], holds: impl Fn(&T) -> bool) -> Vec<Option<usize>> {
    next(&all.iter().enumerate().map(|(place, it)| holds(it).then_some(place)).collect::<Vec<_>>())
}

/// Returns whether a directive inserts text on separate lines.
fn inserts(line: &TemplateLine<'_>) -> bool {
    const NONE: [&str; 8] = ["if", "else", "end", "with", "range", "define", "block", "/*"];
    let inner = line.text.trim_start_matches(['{', '-', ' ']);
    line.has_directive && line.text.starts_with("{{") && !NONE.iter().any(|word| inner.starts_with(word))
}

/// Returns the scalar of a line such as `key: value` or `- value`.
pub(super) fn scalar(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line).trim_start();
    let (key, text) = line.split_once(": ").unwrap_or(("", line));
    let plain = |text: &'static [char]| move |c: char| text.contains(&c);
    let text = text.trim().trim_matches(plain(&['"', '\'']));
    let key = key.trim_matches(plain(&['"', '\'']));
    (!text.is_empty() && !text.ends_with(':')).then_some((key, text))
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

pub(super) fn first_line(sources: &SourceFiles, path: &str) -> Option<Span> {
    let file = sources.open(path).ok()?;
    let text = sources.text(file);
    let (start, line) = lines(&text).find(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))?;
    Some(Span::new(file, start, start + line.len()))
}
