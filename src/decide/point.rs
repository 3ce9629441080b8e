//! Moves findings of a change to a changed line, if one of their facts is there.

use std::collections::{HashMap, HashSet};

use super::Decided;
use crate::source::{SourceFiles, Span};

/// Moves each finding to its first fact on a new line. A finding that is already on a new line stays, and so does one
/// without a fact there.
pub fn point_at_change<'a>(findings: impl Iterator<Item = &'a mut Decided>, before: &SourceFiles, after: &SourceFiles) {
    let mut written = Written { before, after, files: HashMap::new() };
    for finding in findings.map(|decided| &mut decided.finding) {
        if finding.evidence.is_empty() || written.has(finding.span) {
            continue;
        }
        let facts = finding.evidence.iter().flat_map(|it| [it.span, it.defined]).flatten();
        let own = after.origin(finding.span).file;
        let near = |span: &Span| (after.origin(*span).file != own, *span);
        if let Some(place) = facts.filter(|span| written.has(*span)).min_by_key(near) {
            finding.span = place;
        }
    }
}

/// The new lines of each file.
struct Written<'a> {
    before: &'a SourceFiles,
    after: &'a SourceFiles,
    files: HashMap<String, Option<HashSet<usize>>>,
}

impl Written<'_> {
    fn has(&mut self, span: Span) -> bool {
        let place = self.after.origin(span);
        let path = self.after.path(place.file);
        let line = self.after.line(place);
        let (before, after) = (self.before, self.after);
        let lines = self.files.entry(path).or_insert_with_key(|path| {
            let earlier = before.open(path).ok()?;
            Some(new_lines(&before.text(earlier), &after.text(place.file)))
        });
        // In a new file, all lines are new.
        lines.as_ref().is_none_or(|lines| lines.contains(&line))
    }
}

/// Returns the numbers of the new lines, ignoring the beginning and the end that both versions have in common.
fn new_lines(before: &str, after: &str) -> HashSet<usize> {
    let (earlier, later): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = earlier.iter().zip(&later).take_while(|(one, other)| one == other).count();
    let left = earlier.len().min(later.len()) - start;
    let end = earlier.iter().rev().zip(later.iter().rev()).take(left).take_while(|(one, other)| one == other).count();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for line in &earlier[start..earlier.len() - end] {
        *known.entry(line).or_default() += 1;
    }
    let changed = later.iter().enumerate().take(later.len() - end).skip(start);
    let is_new = |line: &&str| match known.get_mut(*line) {
        Some(times) if *times > 0 => {
            *times -= 1;
            false
        }
        _ => true,
    };
    let mut is_new = is_new;
    changed.filter(|(_, line)| is_new(line)).map(|(at, _)| at + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stand_in_both_are_not_new() {
        let lines = |before, after| {
            let mut lines: Vec<usize> = new_lines(before, after).into_iter().collect();
            lines.sort_unstable();
            lines
        };
        assert_eq!(lines("a\nb\nc\n", "a\nB\nc\n"), [2]);
        assert_eq!(lines("a\nb\nc\n", "a\nb\nc\n"), Vec::<usize>::new());
        assert_eq!(lines("a\nb\nc\n", "a\nx\nb\ny\nc\n"), [2, 4]);
        assert_eq!(lines("", "a\n"), [1]);
        assert_eq!(lines("a\na\n", "a\na\na\n"), [3]);
    }
}
