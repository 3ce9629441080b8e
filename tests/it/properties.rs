//! What holds for any text: for every case of the tests, and for what is made of them by chance.

use std::fs;
use std::path::{Path, PathBuf};

use gpulint::source::MemoryTree;
use crate::{fences, holds};

/// The inputs of every case file, a tree for each section.
fn trees() -> Vec<Vec<(String, String)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for directory in ["tests/terraform", "tests/kubernetes", "tests/cli", "tests/formats", "rules"] {
        markdown(&root.join(directory), &mut files);
    }
    files.sort();
    let mut trees = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut tree: Vec<(String, String)> = Vec::new();
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

fn markdown(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            markdown(&path, files);
        } else if path.extension().is_some_and(|it| it == "md") {
            files.push(path);
        }
    }
}

fn in_memory(tree: &[(String, String)]) -> MemoryTree {
    tree.iter().fold(MemoryTree::new(), |memory, (path, text)| memory.with(path, text.clone()))
}

#[test]
fn every_case_holds() {
    let trees = trees();
    assert!(trees.len() > 300, "{}", trees.len());
    for tree in &trees {
        holds::everything(in_memory(tree));
    }
}

/// What random text once broke, in a readable size.
#[test]
fn what_was_found_once_holds() {
    let found: [(&str, &str); 2] = [
        // An error of JSON pointed into the middle of a letter, or behind the end.
        ("plan.json", "{\"format_version\":\"1.2\",\"resource_changes\":[{\"address\":\"a\"\u{fffd}}]}"),
        ("main.tf.json", "{\"resource\": {\"aws_instance\": "),
    ];
    for (path, text) in found {
        holds::everything(MemoryTree::new().with(path, text));
    }
}
