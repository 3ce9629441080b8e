//! Tests links between pages, to headings and to files of the repository, and the addresses in the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{ROOT, pages, read};
use crate::fences::files_below;

/// The address of repository files for readers who have only the book.
const REPOSITORY: [&str; 2] =
    ["https://github.com/gpulint/gpulint/blob/main/", "https://github.com/gpulint/gpulint/tree/main/"];

/// Returns the text of a page without code blocks.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the link targets of a page: `](target)`, `src="target"`, `href="target"`.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let mut found = Vec::new();
    for (open, close) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
        let after = prose.split(open).skip(1);
        found.extend(after.filter_map(|rest| rest.split(close).next()).map(str::to_owned));
    }
    found
}

/// Returns the anchors of headings in the form of GitHub and mdBook.
fn headings(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for line in prose(text).lines().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim();
        let mut name = String::new();
        for c in title.to_lowercase().chars() {
            match c {
                ' ' => name.push('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => name.push(c),
                _ => {}
            }
        }
        let before = seen.entry(name.clone()).or_default();
        names.insert(if *before == 0 { name } else { format!("{name}-{before}") });
        *before += 1;
    }
    names
}

/// Returns a path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => _ = plain.pop(),
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Returns why a link of a file is broken.
fn broken(file: &Path, target: &str, stays_below: &Path) -> Option<String> {
    if let Some(path) = REPOSITORY.iter().find_map(|it| target.strip_prefix(it)) {
        let path = path.split('#').next().unwrap_or_default();
        return (!Path::new(ROOT).join(path).exists()).then(|| format!("the repository has no {path}"));
    }
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = target.split_once('#').map_or((target, None), |(path, heading)| (path, Some(heading)));
    let to = match path {
        "" => file.to_owned(),
        path => plain(&file.parent().unwrap().join(path)),
    };
    if !to.exists() {
        return Some(format!("there is no {}", to.display()));
    }
    if !to.starts_with(stays_below) {
        return Some("it leads out of the book: write its address at the code host".to_owned());
    }
    let heading = heading?;
    (!headings(&read(&to)).contains(heading)).then(|| format!("{} has no heading `{heading}`", to.display()))
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(ROOT);
    let docs = root.join("docs");
    let mut files: Vec<(PathBuf, String, PathBuf)> =
        pages().into_iter().map(|(name, text)| (docs.join(name), text, docs.clone())).collect();
    let mut others = files_below(&root.join("examples"), ".md");
    others.extend(files_below(&root.join(".github"), ".md"));
    others.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "pricing/README.md"]
            .map(|it| root.join(it)),
    );
    files.extend(others.into_iter().map(|path| (path.clone(), read(&path), root.to_owned())));
    let mut wrong = Vec::new();
    let mut count = 0;
    for (file, text, below) in &files {
        for target in targets(text) {
            count += 1;
            if let Some(why) = broken(file, &target, below) {
                wrong.push(format!("{}: ({target}): {why}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 300, "only {count} links");
}

#[test]
fn pages_that_the_program_names_are_there() {
    let mut count = 0;
    for file in files_below(&Path::new(ROOT).join("src"), ".rs") {
        let text = read(&file);
        for name in text.split("in_the_book(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            count += 1;
            let page = Path::new(ROOT).join("docs").join(name).with_extension("md");
            assert!(page.is_file(), "{}: the book has no {name}", file.display());
        }
    }
    assert!(count >= 3, "{count}");
}

#[test]
fn the_address_of_the_book_is_said_once_and_agrees_with_its_settings() {
    let book = gpulint::rules::in_the_book("x").replace("/x.html", "");
    let settings: toml::Value = read(&Path::new(ROOT).join("book.toml")).parse::<toml::Table>().unwrap().into();
    let html = &settings["output"]["html"];
    let path = html["site-url"].as_str().unwrap();
    assert!(book.ends_with(path.trim_end_matches('/')), "{book} and {path}");
    let files = files_below(&Path::new(ROOT).join("src"), ".rs");
    let naming: Vec<_> = files.iter().filter(|it| read(it).contains(&book)).collect();
    assert_eq!(naming.len(), 1, "the address of the book stands in {naming:?}");
}
