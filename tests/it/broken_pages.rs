//! Tests invalid rule files and their messages. A case of `tests/pages/broken.md` has the front matter lines that
//! differ from a valid file, or a whole file, and then the expected message.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use gpulint::catalog::Catalog;
use gpulint::rules::RuleFile;

use crate::fences;

const GOOD: [(&str, &str); 8] = [
    ("name", "name: my-rule"),
    ("group", "group: idle"),
    ("layer", "layer: utilization"),
    ("level", "level: warning"),
    ("risk", "risk: low"),
    ("params", "params: { limit: 4 }"),
    ("when", "when: accelerator_count > params.limit"),
    ("message", "message: \"{gpus} are many\""),
];

#[test]
fn each_broken_page_is_refused_with_its_place_and_a_cure() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages/broken.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let cases: Vec<String> = text.split("\n## ").map(checked).collect();
    let found = cases.join("\n## ");
    if fences::blessing() {
        std::fs::write(&path, &found).unwrap();
    }
    let differ = text.lines().zip(found.lines()).find(|(a, b)| a != b);
    assert!(found == text, "{differ:?} in {}", path.display());
    assert!(cases.len() > 40);
    assert!(!found.contains("the page loads"));
}

fn checked(case: &str) -> String {
    let fences = fences::read(case);
    let Some(expected) = fences.iter().find(|fence| fence.language == "text") else { return case.to_owned() };
    let page = match fences.iter().find(|fence| fence.language != "text") {
        Some(fence) if fence.language == "whole" => fence.text.clone(),
        Some(fence) => composed(&fence.text),
        None => composed(""),
    };
    fences::replaced(case, expected, &refusal(&page))
}

fn composed(changes: &str) -> String {
    let mut lines: Vec<(&str, String)> = GOOD.iter().map(|(key, line)| (*key, (*line).to_owned())).collect();
    let mut key = "";
    for line in changes.lines() {
        let starts = line.split(':').next().filter(|word| !word.is_empty() && !line.starts_with([' ', '-']));
        match starts {
            Some(word) => {
                key = word.trim_start_matches("without ");
                lines.retain(|(known, _)| *known != key);
                if !word.starts_with("without ") {
                    lines.push((key, line.to_owned()));
                }
            }
            None => {
                if let Some((_, text)) = lines.iter_mut().find(|(known, _)| *known == key) {
                    write!(text, "\n{line}").unwrap();
                }
            }
        }
    }
    let front: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    format!("---\n{}\n---\n# my-rule\n", front.join("\n"))
}

fn refusal(page: &str) -> String {
    let mistakes = match RuleFile::read(&Arc::from(page), &[]) {
        Ok(read) => read.unknown_names(&gpulint::cli::known_names(Catalog::embedded())),
        Err(mistakes) => mistakes,
    };
    if mistakes.is_empty() {
        return "the page loads\n".to_owned();
    }
    let mut said = String::new();
    for mistake in mistakes {
        let before = page.get(..mistake.at.start).unwrap();
        let line = page.lines().nth(before.matches('\n').count()).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        let width = page.get(mistake.at.clone()).unwrap().lines().next().unwrap_or_default().chars().count().max(1);
        writeln!(said, "{line}\n{}{}", " ".repeat(column), "^".repeat(width)).unwrap();
        writeln!(said, "{}", mistake.message).unwrap();
        if let Some(help) = mistake.help {
            writeln!(said, "  help: {help}").unwrap();
        }
    }
    said
}
