//! Tests the book as readers get it: mdBook builds it without warnings, every internal link leads to a page and a
//! heading, each rule is at the address in reports, and the search finds common terms.

use std::path::{Path, PathBuf};
use std::process::Command;

use gpulint::rules::{self, Profile, Rules};

use super::{ROOT, read};
use crate::fences::files_below;
use crate::skipped::skip;

/// Returns the installed program, or the one that `GPULINT_MDBOOK` names.
fn mdbook() -> Option<PathBuf> {
    let named = std::env::var_os("GPULINT_MDBOOK").map(PathBuf::from);
    let program = named.unwrap_or_else(|| PathBuf::from("mdbook"));
    Command::new(&program).arg("--version").output().is_ok_and(|it| it.status.success()).then_some(program)
}

/// A directory with the built book.
struct Book(PathBuf);

impl Book {
    fn build(mdbook: &Path, name: &str) -> Self {
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("book-{name}-{}", std::process::id()));
        let output = Command::new(mdbook).args(["build", "--dest-dir"]).arg(&to).arg(ROOT).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let complains = ["WARN", "ERROR"].iter().any(|it| said.contains(it));
        assert!(output.status.success() && !complains, "{said}");
        Book(to)
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn it_builds_and_every_link_in_it_leads_somewhere() {
    let Some(mdbook) = mdbook() else { return skip("mdbook is not installed, so the book is not built") };
    let book = Book::build(&mdbook, "links");
    let mut files = files_below(&book.0, ".html");
    files.retain(|path| !["404.html", "toc.html"].iter().any(|it| path.ends_with(it)));
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in &files {
        let html = read(file);
        for target in ["href=\"", "src=\""].iter().flat_map(|it| html.split(it).skip(1)) {
            let target = target.split('"').next().unwrap();
            if target.contains(':') || target.is_empty() {
                continue;
            }
            count += 1;
            let (path, heading) = target.split_once('#').map_or((target, ""), |(path, heading)| (path, heading));
            let to = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let is_there = to.exists() && (heading.is_empty() || read(&to).contains(&format!("id=\"{heading}\"")));
            if !is_there {
                wrong.push(format!("{}: {target}", file.strip_prefix(&book.0).unwrap().display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 1000, "only {count} links");
    every_rule_is_at_its_address(&book);
}

fn every_rule_is_at_its_address(book: &Book) {
    let (rules, _) = Rules::load(&[], rules::RuleSettings { profile: Profile::All, ..rules::RuleSettings::default() });
    let home = rules::in_the_book("").replace(".html", "");
    for page in rules.pages() {
        let link = rules::link(&page.name).unwrap();
        let path = link.strip_prefix(&home).unwrap();
        assert!(read(&book.0.join(path)).contains(&page.name), "{link}");
    }
}

#[test]
fn the_search_finds_what_people_ask_for() {
    let Some(mdbook) = mdbook() else { return skip("mdbook is not installed, so its search is not asked") };
    if !Command::new("node").arg("--version").output().is_ok_and(|it| it.status.success()) {
        return skip("node is not installed, so the search of the book is not asked");
    }
    let book = Book::build(&mdbook, "search");
    let output = Command::new("node")
        .arg(Path::new(ROOT).join("tests/book/search.js"))
        .arg(&book.0)
        .arg(Path::new(ROOT).join("tests/book/questions.tsv"))
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let said: String = said.chars().take(3000).collect();
    assert!(output.status.success(), "{said}");
    let asked: usize = said.rsplit_once(" of ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    assert!(asked >= 12, "{said}");
}
