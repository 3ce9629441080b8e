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
    let text = |state: &TreeState, path: &str| {
        let bytes = state.sources.tree().read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let changed = files.filter_map(|path| {
        let was = text(base, path);
        if !was.contains("gpulint") {
            return None;
        }
        let is = text(head, path);
        let (was, is) = (deciding_lines(&was), deciding_lines(&is));
        match (was.is_empty(), is.is_empty()) {
            (true, _) => None,
            (false, true) => Some(format!("the change removes a limit: `{path}` no longer runs gpulint")),
            (false, false) => {
                let texts =
                    |lines: &[(usize, &str)]| lines.iter().map(|(_, text)| (*text).to_owned()).collect::<Vec<_>>();
                let (earlier, later) = (texts(&was), texts(&is));
                let known: HashSet<&String> = earlier.iter().collect();
                let line = later.iter().position(|text| !known.contains(text)).unwrap_or(0);
                let line = is.get(line)?.0 + 1;
                (earlier != later).then(|| {
                    format!("the change may remove a limit: `{path}:{line}` runs gpulint in another way than before")
                })
            }
        }
    });
    changed.collect()
}

/// Returns the lines of the steps that run gpulint, and the lines that decide about all steps. Nothing if no step runs
/// it.
fn deciding_lines(text: &str) -> Vec<(usize, &str)> {
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
        let lines: Vec<&str> = deciding_lines(workflow).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, ["on: pull_request", "- uses: gpulint/gpulint@v1", "with: { fail-on: warning }"]);
        for text in ["gpulint:\n  image: x\n", "cat gpulint.toml\n", "# gpulint diff\n", "key: gpulint: 1\n"] {
            assert!(deciding_lines(text).is_empty(), "{text}");
        }
        for text in
            ["gpulint diff main", "  - id: gpulint", "image: ghcr.io/gpulint/gpulint:0.1", "RUN pip install gpulint"]
        {
            assert!(!deciding_lines(text).is_empty(), "{text}");
        }
    }
}
