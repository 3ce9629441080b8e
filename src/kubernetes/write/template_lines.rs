//! Adds keys to a mapping that a chart's template spells out: as lines before a line that the template has literally.

use crate::inventory::Declined;
use crate::languages::yaml::{Node, NodeEntry};
use crate::source::{Edit, SourceFiles, Span};

use super::declining::{Result, left_alone};

/// Returns the edit that adds `lines` with some `keys` before an entry of a mapping. `lines` takes the column of the
/// keys.
pub(super) fn before_entry(
    sources: &SourceFiles,
    built: &str,
    map: &Node,
    keys: &[&str],
    lines: &dyn Fn(usize) -> String,
) -> Result<Edit> {
    let mut chosen: Option<(usize, Span, usize)> = None;
    for entry in map.entries() {
        let Some((place, column)) = literal_line(sources, built, entry) else { continue };
        let text = sources.text(place.file);
        let Ok(depth) = depth_at(text.get(..place.start as usize).unwrap_or_default()) else { continue };
        if chosen.as_ref().is_none_or(|(least, ..)| depth < *least) {
            chosen = Some((depth, place, column));
        }
    }
    let Some((_, place, column)) = chosen.filter(|(_, place, _)| !is_helper(sources, *place)) else {
        return left_alone("its template computes the mapping to add to");
    };
    // A condition that is false now may set the key, and a key may not exist twice.
    let text = sources.text(place.file);
    let is_set = |key: &&&str| {
        let is_own = |rest: &str| rest.strip_prefix(**key).is_some_and(|rest| rest.starts_with(':'));
        text.lines().any(|line| line.get(column..).is_some_and(is_own))
    };
    if let Some(key) = keys.iter().find(is_set) {
        return left_alone(format!("its template sets `{key}` under a condition"));
    }
    Ok(Edit { span: Span { end: place.start, ..place }, replacement: lines(column) })
}

/// Returns the line of an entry in a template and the column of its key, if the template has the line literally.
fn literal_line(sources: &SourceFiles, built: &str, entry: &NodeEntry) -> Option<(Span, usize)> {
    let key = entry.key_span;
    let break_before = built.get(..key.start as usize)?.rfind('\n')?;
    let before = built.get(break_before + 1..key.start as usize)?;
    if !before.bytes().all(|byte| byte == b' ') {
        return None;
    }
    let place = sources.editable(Span::new(key.file, break_before, key.end as usize))?;
    let start = place.start as usize + 1;
    let is_same = sources.text(place.file).get(place.range()) == built.get(break_before..key.end as usize);
    (place.file != key.file && is_same).then_some((Span { start: u32::try_from(start).ok()?, ..place }, before.len()))
}

/// Parts that several objects may include.
fn is_helper(sources: &SourceFiles, place: Span) -> bool {
    let path = sources.path(place.file);
    path.rsplit('/').next().is_some_and(|name| name.starts_with('_')) || !path.contains("/templates/")
}

/// Returns the number of conditions around the end of a part of a template; declines loops and named templates.
fn depth_at(text: &str) -> std::result::Result<usize, Declined> {
    let mut open: Vec<bool> = Vec::new();
    for directive in text.split("{{").skip(1) {
        let inner = directive.trim_start_matches(['-', ' ', '\t', '\n']);
        match inner.split(|c: char| !c.is_ascii_alphabetic()).next() {
            Some("if" | "with") => open.push(false),
            Some("range" | "define" | "block") => open.push(true),
            Some("end") => {
                open.pop();
            }
            _ => {}
        }
    }
    match open.contains(&true) {
        true => left_alone("its template repeats the mapping to add to"),
        false => Ok(open.len()),
    }
}
