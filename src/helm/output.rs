//! The text of a template → its documents, in a form that a reader of YAML can go on with.
//!
//! A hole on a line of its own may stand for any number of lines. Where it is the value of the key before it, it is put
//! there; elsewhere it is left out, and the document is known to be incomplete.

use crate::source::{FileId, Segment, Span};
use crate::template::{Hole, Text, Writer};
use crate::yaml;

/// One document, with the places that it came from.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// As Helm names its template.
    pub(crate) template: String,
    pub(crate) file: FileId,
    pub(crate) text: String,
    pub(crate) segments: Vec<Segment>,
    /// Why parts of it may not be there, or may be missing.
    pub(crate) doubts: Vec<String>,
    /// Values that are not known.
    pub(crate) holes: usize,
}

pub(super) fn documents(text: &Text, file: FileId, template: &str) -> Vec<Document> {
    let mut all = Vec::new();
    for range in yaml::documents(text.as_str()) {
        let piece = text.slice(range.start, range.end);
        let is_content = |line: &str| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && line != "---"
        };
        if !piece.as_str().lines().any(is_content) || is_test(piece.as_str()) {
            continue;
        }
        let mut doubts: Vec<String> = piece.doubts().iter().map(|doubt| doubt.cause.why.to_string()).collect();
        let holes = piece.holes().len();
        let piece = if holes > 0 { place(&piece, &mut doubts) } else { piece };
        doubts.sort();
        doubts.dedup();
        all.push(Document {
            template: template.to_owned(),
            file,
            segments: piece.segments(Span::new(file, 0, 0)),
            text: piece.as_str().to_owned(),
            doubts,
            holes,
        });
    }
    all
}

/// A pod that Helm runs only to test a release.
fn is_test(text: &str) -> bool {
    let hook = |line: &str| {
        let (key, value) = line.trim().split_once(':').unwrap_or_default();
        let value = value.trim().trim_matches(['"', '\'']);
        key.trim_matches(['"', '\'']) == "helm.sh/hook" && value.split(',').any(|it| it.trim().starts_with("test"))
    };
    text.lines().any(hook)
}

/// Puts holes that stand alone on their lines where they belong.
fn place(text: &Text, doubts: &mut Vec<String>) -> Text {
    let all = text.as_str();
    let mut writer = Writer::default();
    let mut at = 0;
    for hole in text.holes() {
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

fn is_alone(all: &str, hole: &Hole) -> bool {
    let before = all.get(..hole.start).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let after = all.get(hole.end..).unwrap_or_default().split('\n').next().unwrap_or_default();
    before.trim().is_empty() && after.trim().is_empty()
}

/// The place of the colon behind which the hole belongs, if nothing else stands there.
fn completes(all: &str, hole: &Hole, line: usize) -> Option<usize> {
    let before = all.get(..line)?.trim_end();
    let colon = before.len().checked_sub(1).filter(|_| before.ends_with(':'))?;
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let key = before.rsplit('\n').next().map(indent)?;
    let next = all.get(hole.end..)?.split('\n').skip(1).find(|line| !line.trim().is_empty());
    let follows =
        next.is_some_and(|next| indent(next) > key || indent(next) == key && next.trim_start().starts_with("- "));
    (!follows).then_some(colon)
}
