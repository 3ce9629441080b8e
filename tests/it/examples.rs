//! Tests the complete output for each of the examples.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fences;

#[test]
fn every_example_prints_what_its_file_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut examples: Vec<PathBuf> =
        fs::read_dir(root.join("examples")).unwrap().map(|entry| entry.unwrap().path()).collect();
    examples.retain(|path| path.is_dir());
    examples.sort();
    assert!(examples.len() >= 4);
    let mut wrong = Vec::new();
    for example in examples {
        let name = example.file_name().unwrap().to_str().unwrap();
        let said: String = ["check", "cost"].iter().map(|verb| said(root, verb, name)).collect();
        let path = root.join("tests/examples").join(format!("{name}.txt"));
        if fences::blessing() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, said).unwrap();
        } else if fs::read_to_string(&path).ok().as_deref() != Some(said.as_str()) {
            wrong.push(format!("{} should be:\n{said}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nGPULINT_BLESS=1 rewrites them", wrong.join("\n"));
}

fn said(root: &Path, verb: &str, name: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(root).env("NO_COLOR", "1");
    let example = format!("examples/{name}");
    let output = command.args([verb, &example, "--today", "2026-11-21", "--prices", "embedded"]).output().unwrap();
    let code = output.status.code().unwrap();
    assert!(code <= 1, "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let text: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("$ gpulint {verb} {example}\n{}\n[exit {code}]\n\n", text.join("\n"))
}
