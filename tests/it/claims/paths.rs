//! Paths of the repository on pages exist, and so do the tests that a page runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ROOT, commands, demand_none, files, pages, shown};
use crate::fences::files_below;

/// The folders of the repository. A path on a page that begins with one of them is a path of the repository.
const FOLDERS: [&str; 15] = [
    "src",
    "docs",
    "tests",
    "packaging",
    "pricing",
    "fleet",
    "editors",
    "examples",
    "schema",
    "rules",
    "benches",
    "fuzz",
    "build",
    ".ci",
    ".github",
];

/// Paths that begin in the same way and are in the reader's repository, or are written by a release.
const ELSEWHERE: [&str; 6] = [
    "docs/drafts",
    "docs/examples",
    "docs/rules/",
    "packaging/checksums",
    "packaging/checksums/VERSION.txt",
    "packaging/checkers/node_modules/.bin/action-validator",
];

/// Returns whether a part of a path is a placeholder, such as `NAME.md`, `<provider>.toml` or `*.sh`.
fn is_placeholder(part: &str) -> bool {
    let is_name = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    let is_page = ["README", "SUMMARY", "LICENSE"].iter().any(|it| part.starts_with(it));
    part.contains(['<', '*', '$', '{']) || !is_page && part.split('.').any(is_name)
}

/// Returns the directory before the first placeholder of a path, or the whole path.
fn certain(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').take_while(|part| !is_placeholder(part)).collect();
    parts.join("/")
}

/// Returns the words of a command that look like paths.
fn paths(code: &str) -> impl Iterator<Item = &str> {
    let words = code.split([' ', '=', '(', ')', ',', ';', '"', '\'', ':']);
    words.filter(|word| word.contains('/')).map(|word| word.trim_end_matches('.').split('#').next().unwrap_or_default())
}

#[test]
fn every_path_of_the_repository_exists() {
    let root = Path::new(ROOT);
    let rooms: BTreeSet<String> =
        fs::read_dir(root.join("src")).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        let folder = Path::new(&page.path).parent().unwrap().to_owned();
        for (line, code) in commands(&page.text) {
            for path in paths(&code) {
                let first = path.split('/').next().unwrap_or_default();
                let is_room = page.path == "ARCHITECTURE.md" && rooms.contains(first);
                if !FOLDERS.contains(&first) && !is_room || ELSEWHERE.contains(&path) {
                    continue;
                }
                count += 1;
                let certain = certain(path);
                let file = |prefix: PathBuf| {
                    let path = root.join(prefix).join(&certain);
                    path.exists() || path.with_extension("rs").exists()
                };
                if ![PathBuf::new(), folder.clone(), PathBuf::from("src")].into_iter().any(file) {
                    wrong.push(format!("{}:{line}: {path} in `{code}`", page.path));
                }
            }
        }
    }
    assert!(count > 250, "only {count} paths");
    demand_none(&wrong, "paths that do not exist");
}

/// Pages for contributors name files of the code without their folder, such as `host.rs`.
#[test]
fn every_file_of_the_code_exists() {
    let names: BTreeSet<String> = ["src", "tests", "fleet", "packaging", "fuzz", "benches", "build", ".ci"]
        .into_iter()
        .flat_map(files)
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .chain(["build.rs".to_owned(), "conf.py".to_owned()])
        .collect();
    let mut wrong = Vec::new();
    for page in pages().into_iter().filter(|it| ["ARCHITECTURE.md", "CONTRIBUTING.md"].contains(&it.path.as_str())) {
        for (line, code) in commands(&page.text) {
            let words = code.split([' ', '/', '(', ')', ',', ';', '"']);
            let named = words.filter(|it| [".rs", ".py", ".sh"].iter().any(|end| it.ends_with(end) && it.len() > 4));
            for name in named.filter(|it| !is_placeholder(it) && !names.contains(*it)) {
                wrong.push(format!("{}:{line}: {name} in `{code}`", page.path));
            }
        }
    }
    demand_none(&wrong, "files that do not exist");
}

/// Returns the names of functions below a directory with their modules, as the test harness prints them.
fn functions(directory: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in files_below(&Path::new(ROOT).join(directory), ".rs") {
        let module = shown(&path)[directory.len() + 1..].replace(".rs", "").replace("/mod", "").replace('/', "::");
        for line in fs::read_to_string(&path).unwrap().lines().map(str::trim_start) {
            let name = line.strip_prefix("fn ").and_then(|rest| rest.split(['(', '<']).next());
            found.extend(name.map(|name| format!("{module}::{name}")));
        }
    }
    found
}

/// A filter of `cargo test` that matches no test runs nothing, and passes.
#[test]
fn every_filter_of_tests_matches_some() {
    let (it, lib) = (functions("tests/it"), functions("src"));
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        for (line, code) in commands(&page.text) {
            for command in code.split("cargo test").skip(1).filter_map(|rest| rest.split([';', '#', '&', '|']).next()) {
                let words: Vec<&str> = command.split_whitespace().collect();
                let is_filter = |word: &&str| !word.starts_with('-') && *word != "it" && !word.contains('=');
                for filter in words.iter().copied().filter(is_filter) {
                    count += 1;
                    let among = |all: &[String]| all.iter().any(|name| name.contains(filter));
                    let (is_it, is_lib) = (words.contains(&"it"), words.contains(&"--lib"));
                    let exists = (!is_lib && among(&it)) || (!is_it && among(&lib));
                    if !exists {
                        wrong.push(format!("{}:{line}: no test is called {filter}: `{code}`", page.path));
                    }
                }
            }
        }
    }
    assert!(count > 40, "only {count} filters");
    demand_none(&wrong, "filters without a test");
}
