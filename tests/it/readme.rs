//! The README shows what the program prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::fences;

#[test]
fn the_readme_tells_the_truth() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let expected = with_section(&readme, "example", &example());
    if fences::blessing() {
        fs::write(&path, &expected).unwrap();
    } else if readme != expected {
        let line = readme.lines().zip(expected.lines()).position(|(is, should)| is != should).unwrap_or(0);
        let should = expected.lines().nth(line).unwrap_or_default();
        panic!("README.md:{} is out of date, it should be: {should}\nGPULINT_BLESS=1 cargo test rewrites it", line + 1);
    }
}

/// The text with what stands between two comments replaced.
fn with_section(text: &str, name: &str, content: &str) -> String {
    let start = format!("<!-- {name}: generated, verified by a test -->\n");
    let end = format!("<!-- end of {name} -->");
    let (before, rest) = text.split_once(&start).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    format!("{before}{start}{content}{end}{after}")
}

/// What the README's first command prints.
fn example() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .args(["check", "examples/training-platform-eks", "--today", "2026-11-21"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "the example has something to fix");
    let text = String::from_utf8(output.stdout).unwrap();
    let text: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("\n```text\n{}\n```\n\n", text.join("\n").trim_matches('\n'))
}
