//! Tests ways in which text can be missed: each of them is reported in some form.
//!
//! Each way in `tests/unseen/ways.toml` is a change of a repository. Its addition is found (`seen`), or reported as not
//! read or not understood (`told`).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use toml::{Table, Value};

use crate::action::sandbox::{Sandbox, git, write};

/// Ways that an output still ignores, with the reason. A reported one must not be in this list.
const OPEN: &[(&str, &[&str], &str)] = &[
    (
        "a file that a generator of an ApplicationSet reads and chooses from",
        &["hook"],
        "a hook is given that file alone",
    ),
    ("a file that a generator within a matrix reads", &["hook"], "a hook is given that file alone"),
];

const OUTPUTS: [(&str, &[&str]); 5] = [
    ("check", &["check", "."]),
    ("cost", &["cost", "."]),
    ("sarif", &["check", "--format", "sarif", "."]),
    ("diff", &["diff", "--base", "HEAD~1", "."]),
    ("comment", &["diff", "--base", "HEAD~1", "--format", "markdown", "."]),
];

fn texts<'t>(way: &'t Table, key: &str) -> Vec<(&'t str, &'t str)> {
    let table = way.get(key).and_then(Value::as_table);
    table.into_iter().flatten().filter_map(|(path, text)| Some((path.as_str(), text.as_str()?))).collect()
}

fn encoded(text: &str, encoding: &str) -> Vec<u8> {
    match encoding {
        "utf-16le" => [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect(),
        "bom" => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        "crlf" => text.replace('\n', "\r\n").into_bytes(),
        "latin-1" => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect(),
        other => panic!("{other} is no encoding"),
    }
}

/// Writes the addition, and returns the files that a hook would get.
fn change(here: &Path, way: &Table) -> Vec<String> {
    let files = texts(way, "files");
    write(here, &files);
    for (path, encoding) in texts(way, "encoding") {
        let text = fs::read_to_string(here.join(path)).unwrap();
        fs::write(here.join(path), encoded(&text, encoding)).unwrap();
    }
    for (path, target) in texts(way, "links") {
        symlink(target, here.join(path)).unwrap();
    }
    files
        .into_iter()
        .map(|(path, _)| path.to_owned())
        .chain(texts(way, "links").into_iter().map(|it| it.0.to_owned()))
        .collect()
}

fn run(here: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    let run = command.args(arguments).current_dir(here).output();
    let run = run.unwrap();
    String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr)
}

/// Returns the error in an output for a way.
fn wrong(way: &Table, output: &str, said: &str) -> Option<String> {
    let words = |key: &str| way.get(key).and_then(Value::as_str);
    let (seen, told) = (words("seen"), words("told"));
    let is_diff = ["diff", "comment"].contains(&output);
    let passes = is_diff && ["verdict: pass", "**pass**", "nothing changed"].iter().any(|it| said.contains(it));
    let is_said = [seen, told].into_iter().flatten().any(|it| said.contains(it));
    // Findings and changes name no machine, so a count or a position is the evidence that the text was read.
    let counts = [
        "\nadded ",
        "\nchanged ",
        ", per month (",
        "GPU cost $",
        "GPU cost ~$",
        "GPU cost at least",
        "GPU cost unknown",
        "| added<br>",
        "| changed<br>",
        "\nbecame known ",
        "| became known<br>",
        "GPU cost: jobs ",
    ];
    let points = seen.is_some() && {
        let files = texts(way, "files").into_iter().chain(texts(way, "before"));
        counts.iter().any(|it| said.contains(it))
            || output == "sarif" && (told.is_none() || files.into_iter().any(|it| names(said, it.0)))
    };
    match (is_said || points, seen) {
        (false, _) => Some(format!("nothing is said of it:\n{said}")),
        (true, None) if passes => Some(format!("it passes:\n{said}")),
        _ => None,
    }
}

/// Returns whether a SARIF result points at the file.
fn names(sarif: &str, path: &str) -> bool {
    sarif.contains(&format!("\"uri\": \"{path}\"")) || sarif.contains(&format!("\"uri\":\"{path}\""))
}

/// Returns the outputs that ignore the way, with the details.
fn faults_of(way: &Table) -> Vec<(&str, &'static str, String)> {
    let name = way["name"].as_str().unwrap();
    let sandbox = Sandbox::new("unseen");
    let here = sandbox.path("work");
    fs::create_dir_all(&here).unwrap();
    git(&here, &["init", "--quiet", "--initial-branch=main"]);
    write(&here, &[("README.md", "nothing\n")]);
    write(&here, &texts(way, "before"));
    git(&here, &["add", "--all", "--force"]);
    git(&here, &["commit", "--quiet", "--message", "before"]);
    let files = change(&here, way);
    git(&here, &["add", "--all", "--force"]);
    git(&here, &["commit", "--quiet", "--message", "after"]);
    let hook: Vec<&str> =
        ["check", "--allow-empty", "--"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let outputs = OUTPUTS.into_iter().chain([("hook", hook.as_slice())]);
    let faults = outputs.filter_map(|(output, arguments)| {
        let (before, behind) =
            arguments.split_at(arguments.iter().position(|it| *it == "--").unwrap_or(arguments.len()));
        let whole = [before, &["--prices", "embedded", "--today", "2026-11-22"], behind].concat();
        Some((name, output, wrong(way, output, &run(&here, &whole))?))
    });
    faults.collect()
}

#[test]
fn nothing_that_was_not_read_passes() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unseen/ways.toml");
    let ways: Table = fs::read_to_string(file).unwrap().parse().unwrap();
    let ways = ways["way"].as_array().unwrap();
    assert!(ways.len() >= 40, "{} ways", ways.len());
    let mut left: Vec<(&str, &str)> =
        OPEN.iter().flat_map(|(way, outputs, _)| outputs.iter().map(|output| (*way, *output))).collect();
    let mut faults = Vec::new();
    let all: Vec<_> = ways.par_iter().flat_map_iter(|way| faults_of(way.as_table().unwrap())).collect();
    for (name, output, fault) in all {
        match left.iter().position(|it| *it == (name, output)) {
            Some(at) => drop(left.swap_remove(at)),
            None => faults.push(format!("## {name}: {output}\n{fault}")),
        }
    }
    assert!(faults.is_empty(), "{} outputs:\n{}", faults.len(), faults.join("\n"));
    assert!(left.is_empty(), "told now, and listed as open: {left:?}");
}
