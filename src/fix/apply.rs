//! Applies edits that do not overlap to files, from the end to the beginning.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::rules::{Finding, Safety};
use crate::source::{Edit, FileId, SourceFiles};

/// Returns the findings whose edits can be applied together: safe ones first, then the largest saving. If an edit
/// overlaps another one, it is applied in the next round.
pub fn compatible<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<&'f Finding> {
    let mut wanted: Vec<&Finding> = findings.into_iter().filter(|it| !it.edits.is_empty()).collect();
    wanted.sort_by_key(|it| (safety(it), Reverse(it.saves.map(|saves| saves.expected)), it.span, it.rule.clone()));
    let mut taken: BTreeMap<FileId, BTreeMap<u32, &Edit>> = BTreeMap::new();
    let mut chosen = Vec::new();
    for finding in wanted {
        let free = |edit: &&Edit| taken.get(&edit.span.file).is_none_or(|taken| is_free(taken, edit));
        if !finding.edits.iter().all(|edit| free(&edit)) {
            continue;
        }
        for edit in &finding.edits {
            taken.entry(edit.span.file).or_default().insert(edit.span.start, edit);
        }
        chosen.push(finding);
    }
    chosen
}

fn safety(finding: &Finding) -> Safety {
    finding.fix.as_ref().map_or(Safety::Display, |fix| fix.safety)
}

/// Returns true if no other edit changes the place. Equal edits are applied once.
fn is_free(taken: &BTreeMap<u32, &Edit>, edit: &Edit) -> bool {
    if taken.get(&edit.span.start).is_some_and(|it| *it == edit) {
        return true;
    }
    let before = taken.range(..=edit.span.end).next_back();
    before.is_none_or(|(_, it)| it.span.end < edit.span.start)
}

/// Returns the new contents of the files that the edits of these findings change, by path.
pub fn texts(sources: &SourceFiles, findings: &[&Finding]) -> BTreeMap<String, String> {
    let mut by_file: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
    for edit in findings.iter().flat_map(|it| &it.edits) {
        by_file.entry(edit.span.file).or_default().push(edit);
    }
    let changed = by_file.into_iter().map(|(file, edits)| (sources.path(file), apply(&sources.text(file), edits)));
    changed.collect()
}

/// Returns the new contents of the files that all fixes of a rule change, including display-only fixes, by path.
pub fn of_rule(rule: &str, sources: &SourceFiles, findings: &[Finding]) -> BTreeMap<String, String> {
    texts(sources, &compatible(findings.iter().filter(|it| it.rule == rule)))
}

/// Returns a file with these edits, which do not overlap.
pub fn apply(text: &str, mut edits: Vec<&Edit>) -> String {
    edits.sort_by_key(|edit| edit.span);
    edits.dedup();
    let mut result = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        let range = edit.span.range();
        let Some(before) = text.get(at..range.start) else { continue };
        result.push_str(before);
        result.push_str(&edit.replacement);
        at = range.end;
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}
