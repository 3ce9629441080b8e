//! Splits the text of a template into documents that a YAML parser accepts.
//!
//! A hole on its own line may represent any number of lines. If it is the value of the key before it, it moves there.
//! Otherwise it is removed, and the document is marked as incomplete.

use std::ops::Range;

use regex::Regex;

use crate::languages::gotemplate::{Text, TextOrigin, TextWriter, UnknownPart};
use crate::languages::yaml;
use crate::source::{FileId, Segment, Span, static_regex};

/// One document with the origins of its parts.
#[derive(Debug, Clone)]
pub(crate) struct ChartDocument {
    /// The name of its template in Helm.
    pub(crate) template: String,
    pub(crate) file: FileId,
    pub(crate) text: String,
    pub(crate) segments: Vec<Segment>,
    /// Reasons why parts may not exist or may be missing.
    pub(crate) doubts: Vec<String>,
    /// The reason why the whole document may not exist.
    pub(crate) perhaps: Option<String>,
    /// The number of unknown values.
    pub(crate) holes: usize,
    /// Reasons why lines of pods are unknown. Such lines may request anything.
    pub(crate) gaps: Vec<String>,
}

impl ChartDocument {
    /// Returns its memory after parsing in bytes, estimated from pods with short lines, 2026-11.
    pub(crate) fn weight(&self) -> usize {
        const EACH: usize = 4096;
        const PARSED: usize = 8;
        EACH + PARSED * self.text.len() + self.segments.len() * size_of::<Segment>()
    }
}

/// Returns the memory of a text's documents in bytes, in addition to the text.
pub(super) fn weight(text: &Text) -> usize {
    const EACH: usize = 512;
    EACH * memchr::memmem::find_iter(text.as_str().as_bytes(), b"---").count()
}

pub(super) fn documents(text: &Text, file: FileId, template: &str, with_tests: bool) -> Vec<ChartDocument> {
    let mut all = Vec::new();
    for range in pieces(text.as_str()) {
        let piece = text.slice(range.start, range.end);
        let is_content = |line: &str| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && line != "---"
        };
        if !piece.as_str().lines().any(is_content) || is_left_out(file, piece.as_str(), with_tests) {
            continue;
        }
        let perhaps = perhaps(&piece);
        let mut doubts: Vec<String> = piece.doubts().iter().map(|doubt| doubt.cause.why.to_string()).collect();
        let holes = piece.holes().len();
        let mut gaps = gaps(&piece);
        let piece = if holes > 0 { place(&piece, &mut doubts) } else { piece };
        for all in [&mut doubts, &mut gaps] {
            all.sort();
            all.dedup();
        }
        all.push(ChartDocument {
            template: template.to_owned(),
            file,
            segments: piece.segments(Span::new(file, 0, 0)),
            text: format!("{}\n", piece.as_str()),
            doubts,
            perhaps,
            holes,
            gaps,
        });
    }
    all
}

/// Returns why a document may not exist at all: its whole content is inside one unknown condition.
fn perhaps(text: &Text) -> Option<String> {
    let all = text.as_str();
    let is_said = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let before: usize = all.split_inclusive('\n').take_while(|line| !is_said(line)).map(str::len).sum();
    let start = Some(before).filter(|before| *before < all.len())?;
    let end = all.trim_end().len();
    let around = text.doubts().iter().find(|doubt| doubt.start <= start && doubt.end >= end)?;
    Some(around.cause.why.to_string())
}

/// Splits a text into documents as Helm does: every line that begins with `---` is a border, and spaces at the ends are
/// removed.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let borders = BORDER.find_iter(text).map(|it| it.range());
    for border in borders.chain(std::iter::once(text.len()..text.len())) {
        let piece = text.get(start..border.start).unwrap_or_default();
        let from = start + (piece.len() - piece.trim_start().len());
        found.push(from..(start + piece.trim_end().len()).max(from));
        start = border.end;
    }
    found
}

static_regex!(static BORDER: Regex = r"(?:\A|\s*\n)---\s*");

/// Returns true if Helm creates an object only to test a release, or never. Helm never creates an object with an
/// unknown hook, such as one of Helm 2.
fn is_left_out(file: FileId, text: &str, with_tests: bool) -> bool {
    const HOOK: &str = "helm.sh/hook";
    if memchr::memmem::find(text.as_bytes(), HOOK.as_bytes()).is_none() {
        return false;
    }
    let documents = yaml::read(file, text).documents;
    let hook = documents.first().and_then(|it| it.root.get("metadata")?.get("annotations")?.get(HOOK)?.text().cloned());
    hook.is_some_and(|hooks| {
        let mut hooks = hooks.split(',').map(|it| it.trim().to_lowercase());
        !with_tests && hooks.clone().all(|it| TESTS.contains(&it.as_str()))
            || hooks.any(|it| !HOOKS.contains(&it.as_str()) && !TESTS.contains(&it.as_str()) && !it.contains("${"))
    })
}

/// Helm's test hooks.
const TESTS: [&str; 3] = ["test", "test-success", "test-failure"];
const HOOKS: [&str; 8] = [
    "pre-install",
    "post-install",
    "pre-delete",
    "post-delete",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
];

/// Returns the reasons why lines of a document with pods are unknown. Such lines may request anything.
fn gaps(text: &Text) -> Vec<String> {
    if !text.as_str().contains("containers") {
        return Vec::new();
    }
    let alone = text.holes().iter().filter(|hole| is_alone(text.as_str(), hole));
    alone.map(|hole| hole.cause.why.to_string()).collect()
}

/// Moves holes on their own lines to the place of their value, and quotes holes inside brackets, which contain brackets
/// themselves.
fn place(text: &Text, doubts: &mut Vec<String>) -> Text {
    let all = text.as_str();
    let mut writer = TextWriter::default();
    let mut at = 0;
    for hole in text.holes() {
        if hole.start >= at && is_within_brackets(all, hole) {
            writer.push_slice(text, at, hole.start, None);
            let origin = text.origin_at(hole.start);
            writer.push("\"", origin.map(|origin| TextOrigin { linear: false, ..origin }));
            writer.push_slice(text, hole.start, hole.end, None);
            writer.push("\"", None);
            at = hole.end;
        }
        if hole.start < at || !is_alone(all, hole) {
            continue;
        }
        let line = all.get(..hole.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        if let Some(colon) = completes(all, hole, line).filter(|colon| *colon >= at) {
            writer.push_slice(text, at, colon + 1, None);
            writer.push(" ", None);
            writer.push_slice(text, hole.start, hole.end, None);
        } else {
            writer.push_slice(text, at, line.max(at), None);
            doubts.push(hole.cause.why.to_string());
        }
        at = hole.end;
    }
    writer.push_slice(text, at, all.len(), None);
    writer.finish()
}

fn is_alone(all: &str, hole: &UnknownPart) -> bool {
    let before = all.get(..hole.start).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let after = all.get(hole.end..).unwrap_or_default().split('\n').next().unwrap_or_default();
    before.trim().is_empty() && after.trim().is_empty()
}

/// Returns true if the hole is a whole value in brackets, as in `{a: HOLE}` and `[HOLE]`.
fn is_within_brackets(all: &str, hole: &UnknownPart) -> bool {
    let before = all.get(..hole.start).unwrap_or_default().rsplit('\n').next().unwrap_or_default().trim_end();
    let after = all.get(hole.end..).unwrap_or_default().trim_start();
    before.contains(['{', '[']) && before.ends_with([':', ',', '[']) && after.starts_with(['}', ']', ','])
}

/// Returns the colon that the hole completes, if nothing else follows that colon.
fn completes(all: &str, hole: &UnknownPart, line: usize) -> Option<usize> {
    let before = all.get(..line)?.trim_end();
    let colon = before.len().checked_sub(1).filter(|_| before.ends_with(':'))?;
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let key = before.rsplit('\n').next().map(indent)?;
    let next = all.get(hole.end..)?.split('\n').skip(1).find(|line| !line.trim().is_empty());
    let follows =
        next.is_some_and(|next| indent(next) > key || indent(next) == key && next.trim_start().starts_with("- "));
    (!follows).then_some(colon)
}
