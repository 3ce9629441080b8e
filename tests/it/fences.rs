//! Finds case files, reads their code blocks, and writes changed ones back.

use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A code block: ```` ```hcl file=main.tf ````.
pub(crate) struct Fence {
    pub(crate) language: String,
    /// The name after `file=`.
    pub(crate) file: Option<String>,
    pub(crate) text: String,
    /// The bytes of the block's text in the case file.
    pub(crate) range: Range<usize>,
}

pub(crate) fn read(case: &str) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut open: Option<(usize, String, usize)> = None;
    let mut at = 0;
    for line in case.split_inclusive('\n') {
        let next = at + line.len();
        let trimmed = line.trim_end();
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match &open {
            None if ticks >= 3 => open = Some((ticks, trimmed[ticks..].to_owned(), next)),
            Some((opened, info, start)) if ticks >= *opened && trimmed.len() == ticks => {
                let mut words = info.split_whitespace();
                fences.push(Fence {
                    language: words.next().unwrap_or_default().to_owned(),
                    file: words.find_map(|word| word.strip_prefix("file=").map(str::to_owned)),
                    text: case[*start..at].to_owned(),
                    range: *start..at,
                });
                open = None;
            }
            _ => {}
        }
        at = next;
    }
    assert!(open.is_none(), "a fence is not closed");
    fences
}

/// Returns the case with another text in one code block.
pub(crate) fn replaced(case: &str, fence: &Fence, text: &str) -> String {
    format!("{}{text}{}", &case[..fence.range.start], &case[fence.range.end..])
}

pub(crate) fn blessing() -> bool {
    std::env::var_os("GPULINT_BLESS").is_some()
}

/// Returns the files below a directory whose names end in `ending`, sorted.
pub(crate) fn files_below(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the sorted case files of a directory of the project.
pub(crate) fn cases(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut files: Vec<PathBuf> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    assert!(!files.is_empty(), "there are no cases in {}", directory.display());
    files
}

/// Compares every case file of a directory with the result of `check`, or writes the result.
pub(crate) fn hold(directory: &str, mut check: impl FnMut(&str) -> String) {
    let mut wrong = String::new();
    for file in cases(directory) {
        let text = fs::read_to_string(&file).unwrap();
        let checked = check(&text);
        if checked == text {
            continue;
        }
        if blessing() {
            fs::write(&file, checked).unwrap();
        } else {
            let mut lines = text.lines().zip(checked.lines()).enumerate();
            let (line, (expected, found)) = lines.find(|(_, (a, b))| a != b).unwrap_or((0, ("…", "…")));
            writeln!(wrong, "{}:{}\n  expected {expected}\n  found    {found}", file.display(), line + 1).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}GPULINT_BLESS=1 rewrites them");
}

/// Returns a case file in which each code block has the body that `body_of` returns for its info string and body.
pub(crate) fn rewritten(text: &str, mut body_of: impl FnMut(&str, String) -> String) -> String {
    let mut out = String::new();
    let mut fence: Option<(String, String)> = None;
    for line in text.lines() {
        match (&mut fence, line.strip_prefix("```")) {
            (None, Some(info)) => fence = Some((info.trim().to_owned(), String::new())),
            (Some(_), Some("")) => {
                let (info, body) = fence.take().unwrap();
                out.push_str(&body_of(&info, body));
            }
            (Some((_, body)), _) => {
                body.push_str(line);
                body.push('\n');
                continue;
            }
            (None, None) => {}
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}
