//! Handles code blocks of a rule file: converts them to examples, and finds blocks that no test executes.

use std::ops::Range;

use crate::languages::cel::nearest;

use super::example::{Example, ExampleFile, ExampleMarker, Expected, ExpectedOutput, Fixed};

/// Every code block below this heading is part of an example.
const EXAMPLES: &str = "Examples";

/// Kinds of code blocks in an example that are not files.
const BESIDE: [&str; 7] = ["config", "prices", "today", "usage", "paid", "text", "fixed"];

/// Kinds of code blocks that start an example and apply to its files.
const SETTINGS: [&str; 5] = ["config", "prices", "today", "usage", "paid"];

/// Languages of files, with the default file name of each.
const FILES: [(&str, &str); 3] = [("hcl", "main.tf"), ("yaml", "manifest.yaml"), ("json", "plan.json")];

/// A part of the examples that no test executes, although it looks like one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleMistake {
    /// The line in the rule file, from 1.
    pub line: usize,
    pub message: String,
}

/// Returns the examples of a rule file. Code blocks below one heading belong together. A second file with the same name
/// starts another example.
pub fn examples(page: &str) -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    let mut current = Example::default();
    let mut plain: Vec<ExampleFile> = Vec::new();
    let mut title = "";
    for part in parts(page) {
        let fence = match part {
            Part::Heading { text, .. } => {
                finish(&mut current, &mut plain, &mut all);
                title = text;
                continue;
            }
            Part::Fence(fence) => fence,
            Part::Open(_) => continue,
        };
        let content = Content::of(fence.info);
        if is_next(&current, &content) {
            finish(&mut current, &mut plain, &mut all);
        }
        if current == Example::default() && !matches!(content, Content::Other) {
            title.clone_into(&mut current.title);
            current.line = fence.line;
        }
        add(&mut current, &mut plain, &fence, &content);
    }
    finish(&mut current, &mut plain, &mut all);
    all
}

/// The content of a code block, by its info string.
enum Content<'a> {
    File {
        path: &'a str,
        state: FileState,
    },
    /// A code block that is not a file, with the file that it belongs to.
    Beside {
        kind: &'a str,
        path: Option<&'a str>,
    },
    /// A code block for readers, or one with a misspelled kind.
    Other,
}

/// State of a file in a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileState {
    Both,
    Before,
    After,
}

impl<'a> Content<'a> {
    /// Parses an info string: ` ```hcl file=a.tf `, ` ```before `, ` ```yaml after `, ` ```config `.
    fn of(info: &'a str) -> Content<'a> {
        let named = info.split_whitespace().find_map(|word| word.strip_prefix("file="));
        let mut words = info.split_whitespace();
        let first = words.next().unwrap_or_default();
        let is_state = |word: &&str| matches!(*word, "before" | "after");
        let state = std::iter::once(first).chain(words).find(is_state);
        let default = FILES.iter().find(|(language, _)| info.split_whitespace().any(|word| word == *language));
        let is_file = is_state(&first) || FILES.iter().any(|(language, _)| *language == first);
        if is_file {
            let default = default.map_or("main.tf", |(_, file)| file);
            let state = match state {
                Some("before") => FileState::Before,
                Some(_) => FileState::After,
                None => FileState::Both,
            };
            return Content::File { path: named.unwrap_or(default), state };
        }
        if BESIDE.contains(&first) { Content::Beside { kind: first, path: named } } else { Content::Other }
    }
}

/// Returns true if a code block starts the next example.
fn is_next(current: &Example, content: &Content<'_>) -> bool {
    let has = |files: &[ExampleFile], path: &str| files.iter().any(|file| file.path == path);
    let before = current.before.as_deref().unwrap_or_default();
    let is_begun = !current.files.is_empty() || !before.is_empty();
    // Expected output or a fixed file ends an example, and settings start the next one.
    let closes = |kind: &str| current.is_listed() && kind != "fixed" && (kind != "text" || current.told.is_some());
    match content {
        Content::File { path, state: FileState::Before } => {
            has(before, path) || current.is_listed() || current.before.is_some() && !current.files.is_empty()
        }
        Content::File { path, .. } => has(&current.files, path) || current.is_listed(),
        Content::Beside { kind, .. } => is_begun && (closes(kind) || SETTINGS.contains(kind)),
        Content::Other => is_begun && current.is_listed(),
    }
}

/// Adds a code block; `plain` collects the files that a change leaves unchanged.
fn add(current: &mut Example, plain: &mut Vec<ExampleFile>, fence: &Fence<'_>, content: &Content<'_>) {
    let (text, at) = (fence.text, fence.at.clone());
    let is_begun = !current.files.is_empty() || current.before.is_some();
    match *content {
        Content::File { path, state } => {
            let file = ExampleFile { path: path.to_owned(), text: text.to_owned(), line: fence.line };
            if state != FileState::Both {
                current.before.get_or_insert_with(Vec::new);
            }
            match (state, &mut current.before) {
                (FileState::Before, Some(before)) => before.push(file),
                _ => {
                    if state == FileState::Both {
                        plain.push(file.clone());
                    }
                    current.expected.extend(markers(path, text));
                    current.files.push(file);
                }
            }
        }
        Content::Beside { kind, path } => match kind {
            "prices" => current.prices = Some(text.to_owned()),
            "config" => current.config = Some(text.to_owned()),
            "usage" => current.usage = Some(text.to_owned()),
            "paid" => current.paid = Some(text.to_owned()),
            "today" => current.today = Some(text.trim().to_owned()),
            "fixed" if is_begun => {
                current.fixed.push(Fixed { path: path.map(str::to_owned), text: text.to_owned(), at });
            }
            "text" if is_begun => current.told = Some(ExpectedOutput { text: text.to_owned(), at }),
            _ => {}
        },
        Content::Other => {}
    }
}

fn finish(current: &mut Example, plain: &mut Vec<ExampleFile>, all: &mut Vec<Example>) {
    let unchanged = std::mem::take(plain);
    if let Some(before) = &mut current.before {
        before.extend(unchanged);
    }
    let finished = std::mem::take(current);
    if !finished.files.is_empty() || finished.before.is_some() {
        all.push(finished);
    }
}

/// Returns the parts of the examples that would test nothing: misspelled marks, and code blocks in languages that no
/// test executes.
pub fn slips(page: &str) -> Vec<ExampleMistake> {
    let mut all = Vec::new();
    let mut is_within = false;
    let mut has_files = false;
    let mut opened: Option<ExampleMistake> = None;
    for part in parts(page) {
        match part {
            Part::Heading { text, level } => {
                has_files = false;
                all.extend(opened.take());
                if level <= 2 {
                    is_within = level == 2 && text == EXAMPLES;
                }
            }
            Part::Fence(fence) => {
                let content = Content::of(fence.info);
                match content {
                    Content::File { .. } => (has_files, opened) = (true, None),
                    Content::Beside { kind, .. } if SETTINGS.contains(&kind) => {
                        let message = format!("no example follows this `{kind}` code block");
                        opened.get_or_insert(ExampleMistake { line: fence.line, message });
                    }
                    _ => {}
                }
                all.extend(slips_of(&fence, &content, is_within, has_files));
            }
            Part::Open(line) => all.push(ExampleMistake { line, message: "this code block is not closed".to_owned() }),
        }
    }
    all.extend(opened);
    all
}

fn slips_of(fence: &Fence<'_>, content: &Content<'_>, is_within: bool, has_files: bool) -> Vec<ExampleMistake> {
    let here = |message: String| vec![ExampleMistake { line: fence.line, message }];
    match content {
        Content::File { state, .. } => {
            let is_before = *state == FileState::Before;
            let lines = fence.text.lines().enumerate();
            let slips = lines.filter_map(|(number, line)| {
                let message = match mark(line)? {
                    Ok(marker) if is_before => {
                        format!("`{}` marks a line before the change: mark a line of `after` instead", marker.name())
                    }
                    Ok(_) => return None,
                    Err(mark) => misspelt(&mark),
                };
                Some(ExampleMistake { line: fence.line + number + 1, message })
            });
            slips.collect()
        }
        Content::Beside { kind: kind @ ("fixed" | "text"), .. } if is_within && !has_files => {
            here(format!("no example precedes this `{kind}` code block"))
        }
        Content::Beside { .. } => Vec::new(),
        Content::Other => {
            let is_marked = fence.text.lines().any(|line| mark(line).is_some_and(|mark| mark.is_ok()));
            if is_within || is_marked { here(unknown(fence.info)) } else { Vec::new() }
        }
    }
}

fn misspelt(mark: &str) -> String {
    let names = ExampleMarker::ALL.map(ExampleMarker::name);
    let word = mark.trim_start_matches(['<', '-', '>', ' ']);
    let help = match nearest(word, names) {
        Some(near) => format!("write `# <- {near}`"),
        None => format!("use `# <- {}` or `# <- {}`", names[0], names[1]),
    };
    format!("`{}` is not a valid mark: {help}", mark.escape_debug())
}

fn unknown(info: &str) -> String {
    let word = info.split_whitespace().next().unwrap_or_default();
    let languages = || FILES.iter().map(|(language, _)| *language);
    if word.is_empty() {
        return format!(
            "a code block without a language is not part of an example: use {}",
            languages().collect::<Vec<_>>().join(", ")
        );
    }
    let meant = match word {
        "terraform" | "tf" | "tofu" | "opentofu" => Some("hcl"),
        "yml" | "k8s" | "kubernetes" | "helm" => Some("yaml"),
        other => nearest(other, languages().chain(BESIDE).chain(["before", "after"])),
    };
    let help = match meant {
        Some(meant) => format!("write `{meant}`"),
        None => format!("use {}, or one of {}", languages().collect::<Vec<_>>().join(", "), BESIDE.join(", ")),
    };
    format!("gpulint does not run a `{}` code block: {help}", word.escape_debug())
}

enum Part<'a> {
    Heading {
        text: &'a str,
        level: usize,
    },
    Fence(Fence<'a>),
    /// A code block that is not closed, with its line.
    Open(usize),
}

struct Fence<'a> {
    info: &'a str,
    text: &'a str,
    /// The line that opens the code block, from 1.
    line: usize,
    at: Range<usize>,
}

/// Returns the headings and code blocks of a rule file.
fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut open: Option<(&str, usize, usize)> = None;
    let mut at = 0;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let next = at + line.len();
        match (open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim(), number + 1, next)),
            (Some((info, line, start)), Some(rest)) if rest.trim().is_empty() => {
                parts.push(Part::Fence(Fence { info, text: &page[start..at], line, at: start..at }));
                open = None;
            }
            (None, None) if line.starts_with('#') => {
                let text = line.trim_start_matches('#');
                parts.push(Part::Heading { text: text.trim(), level: line.len() - text.len() });
            }
            _ => {}
        }
        at = next;
    }
    parts.extend(open.map(|(_, line, _)| Part::Open(line)));
    parts
}

/// Returns the marks at the ends of lines, such as `# <- reported`.
fn markers(path: &str, text: &str) -> Vec<Expected> {
    let lines = text.lines().enumerate();
    let marked = lines.filter_map(|(number, line)| Some((number, mark(line)?.ok()?)));
    marked.map(|(number, marker)| Expected { path: path.to_owned(), line: number + 1, marker }).collect()
}

/// Returns the mark at the end of a line, or the invalid text in its place.
fn mark(line: &str) -> Option<Result<ExampleMarker, String>> {
    if let Some((_, mark)) = line.rsplit_once("<- ")
        && let Some(marker) = marker(mark)
    {
        return Some(Ok(marker));
    }
    let arrows = ["<-", "->", "<=", "=>", "←"];
    arrows.iter().find_map(|arrow| {
        let (before, behind) = line.rsplit_once(arrow)?;
        let is_comment = ["#", "//", "/*"].iter().any(|sign| before.trim_end().ends_with(sign));
        let word = behind.trim().trim_end_matches("*/").trim();
        // Another arrow, such as `->`, may be part of a sentence.
        let is_meant = *arrow == "<-" || nearest(word, ExampleMarker::ALL.map(ExampleMarker::name)).is_some();
        (is_comment && is_meant).then(|| Err(format!("{arrow}{behind}").trim_end().to_owned()))
    })
}

fn marker(text: &str) -> Option<ExampleMarker> {
    let text = text.trim_end().trim_end_matches("*/").trim_end();
    ExampleMarker::ALL.into_iter().find(|marker| marker.name() == text)
}

#[cfg(test)]
mod tests {
    use super::super::example::compare;
    use super::*;

    #[test]
    fn fences_of_a_heading_are_one_example() {
        let page = "# x\n\n## Examples\n\n```hcl\na # <- reported\n```\n\n```yaml\nb: 1\n```\n\n```hcl\nc\n```\n### Two\n```today\n2026-01-01\n```\n```hcl file=a/main.tf\nd\ne # <- undetermined\n```\n```text\nnot one\n```\n";
        let all = examples(page);
        let shape: Vec<(usize, Vec<&str>, usize)> = all
            .iter()
            .map(|it| (it.line, it.files.iter().map(|file| file.path.as_str()).collect(), it.expected.len()))
            .collect();
        assert_eq!(
            shape,
            [(5, vec!["main.tf", "manifest.yaml"], 1), (13, vec!["main.tf"], 0), (17, vec!["a/main.tf"], 1)]
        );
        assert_eq!(all[2].today.as_deref(), Some("2026-01-01"));
        assert_eq!((all[2].title.as_str(), all[2].expected[0].line), ("Two", 2));
        let said = [Expected { path: "main.tf".into(), line: 2, marker: ExampleMarker::Reported }];
        let surprises = compare(&all[0], &said);
        assert_eq!(surprises.iter().map(|it| (it.at.line, it.is_missing)).collect::<Vec<_>>(), [(1, true), (2, false)]);
    }
}
