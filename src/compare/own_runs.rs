//! Finds pipelines, hooks and scripts that run gpulint no longer, or otherwise than before.

use std::collections::HashSet;

use regex::Regex;

use super::state::{Touched, TreeState};
use super::unexplained::is_harmless;
use crate::source::static_regex;

/// Keys and words that decide whether a step runs, and whether its result counts.
const DECIDING: [&str; 16] = [
    "continue-on-error",
    "allow_failure",
    "continueOnError",
    "if:",
    "when:",
    "on:",
    "paths",
    "branches",
    "types:",
    "rules:",
    "only:",
    "except:",
    "pull_request",
    "|| true",
    "exit 0",
    "exclude:",
];

/// Returns a note for each changed file whose run of gpulint is gone or different.
pub(super) fn changed_runs(base: &TreeState, head: &TreeState, touched: &Touched) -> Vec<String> {
    let files = touched.files.iter().filter(|path| !is_harmless(path));
    let changed = files.filter_map(|path| {
        let was = base.stored_text(path).unwrap_or_default();
        if !was.contains("gpulint") {
            return None;
        }
        let is = head.stored_text(path).unwrap_or_default();
        let (was, is) = (lines_of_runs(&was), lines_of_runs(&is));
        if was.is_empty() {
            return None;
        }
        if is.is_empty() {
            return Some(format!("the change removes a limit: `{path}` no longer runs gpulint"));
        }
        let known: HashSet<&str> = was.iter().map(|(_, text)| *text).collect();
        let line = is.iter().find(|(_, text)| !known.contains(text)).or(is.first())?.0 + 1;
        let is_same = was.iter().map(|(_, text)| text).eq(is.iter().map(|(_, text)| text));
        (!is_same)
            .then(|| format!("the change may remove a limit: `{path}:{line}` runs gpulint in another way than before"))
    });
    changed.collect()
}

/// Returns the lines of the steps that run gpulint, and the lines that decide about all steps. Nothing if no step runs
/// it.
fn lines_of_runs(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().filter(|(_, line)| has_content(line)).collect();
    let mut chosen = vec![false; lines.len()];
    let mut item = None;
    for (place, (_, line)) in lines.iter().enumerate() {
        if line.trim_start().starts_with("- ") {
            item = Some(place);
        }
        if chosen[place] || !RUN.is_match(line) {
            continue;
        }
        let first = item.unwrap_or(place);
        let is_of_step = lines.get(first).is_some_and(|(_, it)| indent(it) <= indent(line));
        let first = if is_of_step { first } else { place };
        let depth = lines.get(first).map_or(0, |(_, it)| indent(it));
        for (offset, (_, line)) in lines.iter().enumerate().skip(first) {
            if offset > place && indent(line) <= depth {
                break;
            }
            chosen[offset] = true;
        }
    }
    if !chosen.contains(&true) {
        return Vec::new();
    }
    let decides = |line: &str| DECIDING.iter().any(|word| line.contains(word));
    let kept = lines.iter().zip(chosen).filter(|((_, line), chosen)| *chosen || decides(line));
    kept.map(|((number, line), _)| (*number, line.trim())).collect()
}

fn has_content(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

static_regex!(
/// The name of the program, of its Action, its image or its hook; not a file or a key of that name.
static RUN: Regex = r#"(?:^|[\s"'/=])gpulint(?:[@\s"']|:[^\s]|$)"#);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_about_gpulint_decide() {
        let workflow = "name: checks\non: pull_request\njobs:\n  a:\n    steps:\n    - run: make\n    - uses: gpulint/gpulint@v1\n      \
                        with: { fail-on: warning }\n    - run: make test\n";
        let lines: Vec<&str> = lines_of_runs(workflow).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, ["on: pull_request", "- uses: gpulint/gpulint@v1", "with: { fail-on: warning }"]);
        for text in ["gpulint:\n  image: x\n", "cat gpulint.toml\n", "# gpulint diff\n", "key: gpulint: 1\n"] {
            assert!(lines_of_runs(text).is_empty(), "{text}");
        }
        for text in
            ["gpulint diff main", "  - id: gpulint", "image: ghcr.io/gpulint/gpulint:0.1", "RUN pip install gpulint"]
        {
            assert!(!lines_of_runs(text).is_empty(), "{text}");
        }
    }
}
