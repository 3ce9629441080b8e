//! Tests properties of any text: for every test case, and for random changes of them.

use std::fs;
use std::path::Path;

use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::{fences, holds};
use gpulint::report::{self, Format, ReportStyle, Saved, ShownPaths};
use gpulint::rules::{Attempt, LooksAt};
use gpulint::source::MemoryTree;

pub(crate) type Files = Vec<(String, String)>;

/// Returns the inputs of the case files below these directories, with one tree per section.
pub(crate) fn trees(directories: &[&str]) -> Vec<Files> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for directory in directories {
        files.extend(fences::files_below(&root.join(directory), ".md"));
    }
    files.sort();
    let mut trees = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut tree: Files = Vec::new();
        for fence in fences::read(&text) {
            let default = match fence.language.as_str() {
                "hcl" => "main.tf",
                "yaml" => "all.yaml",
                "json" => "plan.json",
                _ => continue,
            };
            let path = fence.file.unwrap_or_else(|| default.to_owned());
            if tree.iter().any(|(known, _)| *known == path) {
                trees.push(std::mem::take(&mut tree));
            }
            tree.push((path, fence.text));
        }
        trees.push(tree);
    }
    trees.retain(|tree| !tree.is_empty());
    trees
}

pub(crate) fn in_memory(tree: &[(String, String)]) -> MemoryTree {
    tree.iter().fold(MemoryTree::new(), |memory, (path, text)| memory.with(path, text.clone()))
}

const CASES: [&str; 5] = ["tests/terraform", "tests/kubernetes", "tests/cli", "tests/formats", "rules"];

/// Uses a different fifth of the cases in each test, so that no test takes much longer than others.
fn a_fifth_holds(which: usize) {
    let trees = trees(&CASES);
    assert!(trees.len() > 300, "{}", trees.len());
    for tree in trees.iter().skip(which).step_by(5) {
        holds::everything(in_memory(tree));
    }
}

#[test]
fn every_case_holds_1() {
    a_fifth_holds(0);
}

#[test]
fn every_case_holds_2() {
    a_fifth_holds(1);
}

#[test]
fn every_case_holds_3() {
    a_fifth_holds(2);
}

#[test]
fn every_case_holds_4() {
    a_fifth_holds(3);
}

#[test]
fn every_case_holds_5() {
    a_fifth_holds(4);
}

#[test]
fn every_change_holds() {
    let changes = trees(&["tests/changes"]);
    assert!(changes.len() >= 10, "{}", changes.len());
    for change in &changes {
        let side = |name: &str| -> Files {
            let inside = |(path, text): &(String, String)| Some((path.strip_prefix(name)?.to_owned(), text.clone()));
            change.iter().filter_map(inside).collect()
        };
        holds::change(in_memory(&side("before/")), in_memory(&side("after/")));
    }
}

/// Returns a case with random pieces removed, doubled, moved, or replaced by text that is difficult for readers.
fn damaged(tree: &Files, damages: &[(usize, usize, usize, usize)]) -> Files {
    const PIECES: [&str; 24] = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        "${",
        "%{",
        "{{",
        "}}",
        "<<EOT\n",
        "\n---\n",
        "\u{feff}",
        "\r\n",
        "&a ",
        "*a",
        "<<: ",
        "99999999999999999999",
        "-1",
        "1e999",
        "# gpulint: ignore[",
        "\u{202e}",
        "null",
        "each.value",
        "é",
    ];
    let mut files = tree.clone();
    for (which, from, length, with) in damages {
        let index = which % files.len();
        let text = &mut files[index].1;
        let at =
            |wanted: usize, text: &str| (0..=wanted % (text.len() + 1)).rev().find(|at| text.is_char_boundary(*at));
        let (Some(start), Some(piece)) = (at(*from, text), PIECES.get(with % (PIECES.len() + 8))) else {
            let (from, to) = (at(*from, text).unwrap_or(0), at(from + length % 200, text).unwrap_or(0));
            let moved = text.get(from.min(to)..from.max(to)).unwrap_or_default().to_owned();
            let there = at(*with, text).unwrap_or(0);
            text.insert_str(there, &moved);
            continue;
        };
        let end = at(start + length % 40, text).unwrap_or(start).max(start);
        text.replace_range(start..end, piece);
    }
    files
}

#[test]
fn damaged_cases_hold() {
    let trees = trees(&CASES);
    let damages = proptest::collection::vec(proptest::prelude::any::<(usize, usize, usize, usize)>(), 1..6);
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    // The numbers are the same each time, so that a failure can be reproduced.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let all = (proptest::sample::select(trees), damages);
    runner
        .run(&all, |(tree, damages)| {
            holds::everything(in_memory(&damaged(&tree, &damages)));
            Ok(())
        })
        .unwrap();
}

/// A saved report may be malicious: each of its strings is refused, or shown without hidden characters.
#[test]
fn a_saved_report_can_give_no_orders() {
    let tree = trees(&CASES).into_iter().find(|tree| tree.iter().any(|(_, text)| text.contains("vllm"))).unwrap();
    let run = holds::run(in_memory(&tree), &holds::SETTINGS);
    let (paths, rules) = (ShownPaths::default(), &holds::SETTINGS.rules);
    let json = report::render(Format::Json, &run.report(&paths, rules), ReportStyle::default()).unwrap();
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut read = 0;
    for place in texts(&document, String::new()) {
        let mut hostile = document.clone();
        let text = hostile.pointer_mut(&place).unwrap();
        *text = format!("{} \u{1b}[2K\u{7f}\u{202e}\r", text.as_str().unwrap()).into();
        if let Ok(Saved::Check(state)) = report::saved(&hostile.to_string()) {
            read += 1;
            for format in Format::ALL {
                let text = report::render(*format, &state.report(rules), ReportStyle::default());
                holds::assert_written(*format, &text.unwrap_or_default());
            }
        }
    }
    assert!(read > 20, "{read}");
}

/// Returns the paths of all strings in a document.
fn texts(value: &serde_json::Value, place: String) -> Vec<String> {
    match value {
        serde_json::Value::String(_) => vec![place],
        serde_json::Value::Array(items) => {
            items.iter().enumerate().flat_map(|(at, item)| texts(item, format!("{place}/{at}"))).collect()
        }
        serde_json::Value::Object(entries) => {
            entries.iter().flat_map(|(name, entry)| texts(entry, format!("{place}/{name}"))).collect()
        }
        _ => Vec::new(),
    }
}

/// The position of an error in a condition is at a character boundary.
#[test]
fn broken_escapes_are_shown_where_they_stand() {
    for text in [
        r"machine.matches('\u\u{fffd}\u{fffd}')".replace(r"\u{fffd}", "\u{fffd}"),
        r"'\x+f'".into(),
        r"'\u12".into(),
        r"'\U0000é'".into(),
    ] {
        let Err(mistake) = Attempt::new(&text, LooksAt::Resource) else { panic!("{text} is no condition") };
        assert!(text.get(mistake.at.clone()).is_some(), "{text}: {mistake:?}");
    }
}

/// Errors that random text once found, in a readable size.
#[test]
fn what_was_found_once_holds() {
    let found: [(&str, &str); 2] = [
        // The position of a JSON error was inside a character, or after the end.
        ("plan.json", "{\"format_version\":\"1.2\",\"resource_changes\":[{\"address\":\"a\"\u{fffd}}]}"),
        ("main.tf.json", "{\"resource\": {\"aws_instance\": "),
    ];
    for (path, text) in found {
        holds::everything(MemoryTree::new().with(path, text));
    }
}
