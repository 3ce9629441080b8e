//! Tests the book in `docs`: its commands print the shown output, its links work, every page is listed, it builds, and
//! its search finds common terms.

mod built;
mod commands;
mod links;

pub(crate) use commands::copy;

use std::fs;
use std::path::Path;

use crate::fences::{self, files_below};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the pages below a directory by their paths in `docs`, with their text.
fn pages() -> Vec<(String, String)> {
    let docs = Path::new(ROOT).join("docs");
    let mut pages: Vec<(String, String)> = files_below(&docs, ".md")
        .iter()
        .map(|path| (path.strip_prefix(&docs).unwrap().to_str().unwrap().replace('\\', "/"), read(path)))
        .collect();
    pages.sort();
    assert!(pages.len() > 100, "{} pages", pages.len());
    pages
}

/// Returns the pages that authors wrote. Rule pages are generated from other files, which have separate tests.
fn written() -> Vec<(String, String)> {
    let mut pages = pages();
    pages.retain(|(name, _)| !name.starts_with("rules/"));
    pages
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Checks a file of the project, or writes it when blessing.
fn hold(path: &str, should: &str) {
    let file = Path::new(ROOT).join(path);
    if fences::blessing() {
        fs::write(file, should).unwrap();
        return;
    }
    let is = fs::read_to_string(file).unwrap_or_default();
    let line = is.lines().zip(should.lines()).position(|(a, b)| a != b);
    let line = line.unwrap_or(is.lines().count().min(should.lines().count()));
    let wanted = should.lines().nth(line).unwrap_or_default();
    assert!(is == should, "{path}:{} should be: {wanted}\nGPULINT_BLESS=1 rewrites it", line + 1);
}

#[test]
fn every_setting_and_every_fact_has_its_row() {
    hold("docs/settings.md", &gpulint::config::document());
    hold("docs/facts.md", &facts(&commands::printed(&["facts", "--format", "markdown"])));
}

/// Splits the output of `gpulint facts` into parts, because a search may find only some of them.
fn facts(printed: &str) -> String {
    let (facts, functions) = printed.split_once("\n\n").unwrap();
    let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
    let mut lines = facts.lines();
    let head: Vec<&str> = lines.by_ref().take(2).collect();
    for line in lines {
        let name = line.split('`').nth(1).unwrap();
        let title = match name.split('.').collect::<Vec<_>>().as_slice() {
            ["resource", part, _, ..] => format!("`resource.{part}`"),
            ["resource", ..] => "`resource`".to_owned(),
            [part, _, ..] => format!("`{part}`"),
            _ => "Beside a resource".to_owned(),
        };
        match parts.iter_mut().find(|(it, _)| *it == title) {
            Some((_, rows)) => rows.push(line),
            None => parts.push((title, vec![line])),
        }
    }
    let mut text = String::from(
        "<!-- what `gpulint facts --format markdown` prints; a test holds it -->\n\n# Every fact\n\n\
         The words that a page of rules may use in its conditions; `resource.` may be left out. [Write rules of your own](own-rules/README.md) says how.\n\n",
    );
    for (title, rows) in parts {
        text += &format!("## {title}\n\n{}\n{}\n\n", head.join("\n"), rows.join("\n"));
    }
    text + &format!("## Functions\n\n{}\n", functions.trim_end())
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = read(&Path::new(ROOT).join("docs/SUMMARY.md"));
    // Another test may write the pages of rules at the same time, so their names come from the rule files.
    let root = Path::new(ROOT);
    let rules = files_below(&root.join("rules"), ".md").into_iter().filter_map(|path| {
        let name = path.file_stem()?.to_str()?.to_owned();
        Some(format!("  - [{name}](rules/{name}.md)\n"))
    });
    let rules: String = rules.collect();
    let mut should = String::new();
    for line in summary.split_inclusive('\n').filter(|line| !line.starts_with("  - [") || !line.contains("](rules/")) {
        should.push_str(line);
        if line.contains("](rules/README.md)") {
            should.push_str(&rules);
        }
    }
    assert!(should.contains(&rules), "the summary has no place for the rules");
    hold("docs/SUMMARY.md", &should);
    for (name, _) in pages().iter().filter(|(name, _)| name != "SUMMARY.md") {
        assert_eq!(should.matches(&format!("]({name})")).count(), 1, "docs/{name} stands once in docs/SUMMARY.md");
    }
}

#[test]
fn the_page_of_commands_has_every_verb_and_that_of_json_every_schema() {
    let page = |name: &str| read(&Path::new(ROOT).join("docs").join(name));
    let help = commands::printed(&["help", "commands"]);
    let verbs = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let mut count = 0;
    for verb in verbs {
        count += 1;
        assert!(page("commands.md").contains(&format!("`gpulint {verb}")), "docs/commands.md lacks `gpulint {verb}`");
    }
    assert!(count > 20, "{count} verbs");
    for entry in fs::read_dir(Path::new(ROOT).join("schema")).unwrap().map(Result::unwrap) {
        // Tables of accepted values are for fixes, not for readers of JSON.
        if entry.file_type().unwrap().is_dir() {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        assert!(page("json.md").contains(&format!("/schema/{name}")), "docs/json.md lacks schema/{name}");
    }
}
