//! Tests the cases in `tests/terragrunt/*.md`: code blocks with file paths, then each unit with its outputs.

use std::fmt::Write;

use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::terraform::{HclData, HclValue, TerraformOptions, TerraformReading, read};

use crate::fences;

#[test]
fn units_are_read_as_terragrunt_reads_them() {
    let mut failures = String::new();
    for path in fences::cases("tests/terragrunt") {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut blessed = String::new();
        for section in sections(&text) {
            let all = fences::read(section);
            let files = all.iter().filter_map(|it| Some((it.file.clone()?, it.text.clone())));
            let files: Vec<(String, String)> = files.collect();
            let Some(expected) = all.iter().find(|it| it.language == "expected") else {
                blessed.push_str(section);
                continue;
            };
            let actual = shown(&files);
            if fences::blessing() {
                blessed.push_str(&fences::replaced(section, expected, &actual));
            } else if actual != expected.text {
                let name = section.lines().next().unwrap_or_default();
                let _ = writeln!(failures, "{name}\n--- expected\n{}--- actual\n{actual}", expected.text);
            }
        }
        if fences::blessing() {
            std::fs::write(&path, blessed).unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// For any content of the files, evaluation ends with a message.
#[test]
fn hostile_units_end_with_a_message() {
    let cycle = [
        ("a/terragrunt.hcl", "locals {\n  b = read_terragrunt_config(\"../b/terragrunt.hcl\")\n}\n"),
        ("b/terragrunt.hcl", "locals {\n  a = read_terragrunt_config(\"../a/terragrunt.hcl\")\n}\n"),
        ("a/main.tf", "variable \"x\" {}\n"),
        ("b/main.tf", "variable \"x\" {}\n"),
    ];
    let files: Vec<(String, String)> = cycle.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    let text = shown(&files);
    assert!(text.contains("reads itself"), "{text}");
    // Each file reads the next one twice: 2^60 files without a cache.
    let mut chain: Vec<(String, String)> = (0..60)
        .map(|index| {
            let next = index + 1;
            let read = format!("read_terragrunt_config(\"f{next}.hcl\")");
            (format!("f{index}.hcl"), format!("locals {{\n  a = {read}\n  b = {read}\n}}\n"))
        })
        .collect();
    chain.push(("terragrunt.hcl".into(), "locals {\n  a = read_terragrunt_config(\"f0.hcl\")\n}\n".into()));
    chain.push(("main.tf".into(), "variable \"x\" {}\n".into()));
    let text = shown(&chain);
    assert!(text.contains("levels deep"), "{text}");
}

#[test]
fn a_thousand_units_of_one_module_are_read() {
    let mut files: Vec<(String, String)> = Vec::new();
    files.push(("root.hcl".into(), "inputs = {\n  size = \"small\"\n}\n".into()));
    files.push(("modules/a/main.tf".into(), "variable \"size\" {}\noutput \"o\" {\n  value = var.size\n}\n".into()));
    for index in 0..1_000 {
        let text = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\nterraform {\n  source = \"../../modules/a\"\n}\n";
        files.push((format!("live/u{index}/terragrunt.hcl"), text.into()));
    }
    let sources = SourceFiles::new(tree(&files));
    let paths: Vec<String> = files.into_iter().map(|(path, _)| path).collect();
    let reading = read(&sources, &paths, &TerraformOptions::default());
    assert_eq!(reading.roots.len(), 1_000);
    assert!(reading.inventory.skipped.is_empty(), "{:?}", reading.inventory.skipped.first());
}

/// Returns the text before the first `##` heading, then each heading with its section.
fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("\n## ").map(|(at, _)| at + 1).collect();
    starts.insert(0, 0);
    starts.push(text.len());
    starts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

fn tree(files: &[(String, String)]) -> MemoryTree {
    files.iter().fold(MemoryTree::new(), |tree, (path, text)| tree.with(path, text.as_str()))
}

fn shown(files: &[(String, String)]) -> String {
    let sources = SourceFiles::new(tree(files));
    let paths: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
    let TerraformReading { inventory, blocks, roots, .. } = read(&sources, &paths, &TerraformOptions::default());
    let mut text = String::new();
    for root in &roots {
        let _ = writeln!(text, "{}", if root.directory.is_empty() { "." } else { &root.directory });
        for block in &blocks[root.blocks.clone()] {
            if block.keyword != "output" {
                let _ = writeln!(text, "  {}", block.address);
                continue;
            }
            let value = &block.attributes.get("value").unwrap().value;
            let at = sources.locate(value.span);
            let _ = writeln!(text, "  {} = {}  @{}:{}", block.labels[0], spelled(value), at.path, at.line);
        }
    }
    for skipped in &inventory.skipped {
        let _ = writeln!(text, "skipped {}: {}", skipped.path, skipped.reason);
    }
    for diagnostic in &inventory.diagnostics {
        let at = diagnostic.span.map(|span| sources.locate(span));
        let place = at.map_or(String::new(), |at| format!("{}:{}: ", at.path, at.line));
        let _ = writeln!(text, "{place}{}: {}", diagnostic.level.name(), diagnostic.message);
    }
    text
}

fn spelled(value: &HclValue) -> String {
    let all = |items: &[HclValue]| items.iter().map(spelled).collect::<Vec<_>>().join(", ");
    match &value.data {
        HclData::Null => "null".into(),
        HclData::Bool(flag) => flag.to_string(),
        HclData::Number(number) => number.to_string(),
        HclData::Text(text) => format!("{text:?}"),
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => format!("[{}]", all(items)),
        HclData::Map(entries) | HclData::Object(entries) => {
            let mut all: Vec<String> = entries.iter().map(|(key, it)| format!("{key} = {}", spelled(it))).collect();
            all.extend(entries.rest.as_ref().map(|cause| format!("… ({})", cause.why)));
            format!("{{{}}}", all.join(", "))
        }
        HclData::Unknown(cause) => format!("? ({})", cause.why),
    }
}
