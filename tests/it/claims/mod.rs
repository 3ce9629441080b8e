//! Tests claims of pages whose mistakes readers cannot see: names, paths, options, settings, versions and figures.
//!
//! Other tests run the commands of pages and follow their links (`book`), and compare their tables with the code
//! (`docs`, `ci_docs`, `rows`). "Which claims does no test hold?" in CONTRIBUTING.md lists the rest.

mod figures;
mod names;
mod options;
mod paths;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use crate::fences::{self, files_below};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The pages outside of `docs` and `rules`.
const OTHERS: [&str; 11] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "pricing/README.md",
    "fleet/README.md",
    "editors/vscode/README.md",
    "examples/inference-service/README.md",
    "examples/mixed/README.md",
    "examples/notebooks-gcp/README.md",
    "examples/training-platform-eks/README.md",
];

/// A page that people wrote, by its path in the repository.
struct Page {
    path: String,
    text: String,
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn shown(path: &Path) -> String {
    path.strip_prefix(ROOT).unwrap().to_string_lossy().replace('\\', "/")
}

/// Returns all pages. `docs/rules` is generated from `rules`, which are in the result.
fn pages() -> Vec<Page> {
    let below = ["docs", "rules"].into_iter().flat_map(|it| files_below(&Path::new(ROOT).join(it), ".md"));
    let paths = OTHERS.into_iter().map(str::to_owned).chain(below.map(|path| shown(&path)));
    let written = paths.filter(|path| !path.starts_with("docs/rules/"));
    let pages: Vec<Page> = written.map(|path| Page { text: read(&path), path }).collect();
    assert!(pages.len() > 150, "{} pages", pages.len());
    pages
}

/// Returns the paragraphs of a page outside of its code blocks, each with the number of its first line.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = vec![(1, String::new())];
    let mut is_code = false;
    for (index, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.trim().is_empty() || line.starts_with("| ") || line.starts_with("- ") {
            found.push((index + 1, String::new()));
        }
        if !is_code && !is_fence {
            let (_, paragraph) = found.last_mut().unwrap();
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    found
}

/// Returns the inline code of a page, with line numbers. A paragraph with an odd number of backticks ends without code.
fn spans(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, paragraph) in paragraphs(text) {
        let parts: Vec<&str> = paragraph.split('`').collect();
        let whole = parts.len() - usize::from(parts.len().is_multiple_of(2));
        found.extend(parts[..whole].iter().skip(1).step_by(2).map(|code| (line, (*code).to_owned())));
    }
    found
}

/// Returns the commands of a page: inline code, and the lines of shell code blocks and of indented code.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found = spans(text);
    let shells = fences::read(text).into_iter().filter(|it| ["sh", "console"].contains(&it.language.as_str()));
    for fence in shells {
        let first = text[..fence.range.start].lines().count() + 1;
        found.extend(fence.text.lines().enumerate().map(|(index, line)| (first + index, line.to_owned())));
    }
    let indented = text.lines().enumerate().filter(|(_, line)| line.starts_with("    "));
    found.extend(indented.map(|(index, line)| (index + 1, line.trim().to_owned())));
    found
}

/// Returns all files of a directory of the project, without those that other programs put there.
fn files(directory: &str) -> Vec<PathBuf> {
    let mut found = files_below(&Path::new(ROOT).join(directory), "");
    found.retain(|path| {
        let path = path.to_string_lossy();
        let built = ["/node_modules/", "/target/", "/__pycache__/", "/.venv/", "/vscode/dist/", "/fleet/build/"];
        !built.iter().any(|it| path.contains(it))
    });
    found
}

/// Fails with the list of claims that are wrong, if there are any.
fn demand_none(wrong: &[String], what: &str) {
    assert!(wrong.is_empty(), "{} {what}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn code_of_a_page_is_found() {
    let text = "A `b c` and\n`d`.\n\n```sh\nrun it\n```\n| `e` | f |\n\n    indented\n";
    let code: Vec<String> = commands(text).into_iter().map(|(_, code)| code).collect();
    assert_eq!(code, ["b c", "d", "e", "run it", "indented"]);
}
