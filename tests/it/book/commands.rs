//! Tests commands on pages: each one runs here and prints what its page shows, or is in the list of exceptions.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::{ROOT, hold, pages, written};
use crate::cli::{self, Place};
use crate::fences;

/// The date on which the book's output is created.
const TODAY: &str = "2026-11-21";

/// The reasons why a command of a page is not run here, as its code block states: ```` ```sh not-run=network ````.
const REASONS: [&str; 5] = [
    // The command contacts a server, or needs an account.
    "network", // another program, which need not be installed
    "program", // what a code host hands to its builds
    "host",    // names of the reader's own, or a checkout of this repository
    "yours",   // watches, writes outside of the directory, or takes minutes
    "here",
];

pub(super) fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_page_prints_what_it_says() {
    let with_commands: Vec<(String, String)> = written()
        .into_iter()
        .filter(|(_, text)| fences::read(text).iter().any(|fence| fence.language == "console"))
        .collect();
    assert!(with_commands.len() > 15, "{} pages", with_commands.len());
    let failures: Vec<String> = with_commands
        .iter()
        .filter_map(|(name, text)| {
            let place = Place::on(TODAY);
            if text.contains(" examples/") {
                copy(&Path::new(ROOT).join("examples"), "examples/", &place);
            }
            cli::check(&Path::new(ROOT).join("docs").join(name), &place).err()
        })
        .collect();
    assert!(failures.is_empty(), "{}\nGPULINT_BLESS=1 rewrites them", failures.join("\n"));
}

/// Copies a directory into a place, below `to`.
pub(crate) fn copy(from: &Path, to: &str, place: &Place) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let path = format!("{to}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &format!("{path}/"), place),
            false => place.write(&path, &std::fs::read_to_string(entry.path()).unwrap()),
        }
    }
}

/// Readers do not see the text after the language of a code block, so the text before the block names the file.
#[test]
fn files_of_a_page_are_named_to_its_readers() {
    let mut count = 0;
    for (name, text) in written() {
        let mut before = 0;
        for fence in fences::read(&text) {
            let said = &text[before..fence.range.start];
            before = fence.range.end;
            let Some(file) = &fence.file else { continue };
            let is_hidden =
                text[..fence.range.start].matches("<!--").count() > text[..fence.range.start].matches("-->").count();
            count += usize::from(!is_hidden);
            assert!(is_hidden || said.contains(&format!("`{file}`")), "docs/{name}: nothing names `{file}` before it");
        }
    }
    assert!(count > 10, "{count} files");
}

/// Returns the text after the language of each code block, with its content.
fn infos(text: &str) -> Vec<(String, fences::Fence)> {
    let info = |fence: &fences::Fence| {
        let line = text[..fence.range.start].trim_end().rsplit('\n').next().unwrap_or_default();
        line.trim_start_matches('`').to_owned()
    };
    fences::read(text).into_iter().map(|fence| (info(&fence), fence)).collect()
}

#[test]
fn what_is_not_run_is_listed_with_its_reason() {
    let mut list = String::from(
        "# Written by a test: commands of the book that no test runs, and why. `tests/it/book/commands.rs` has the reasons.\n",
    );
    let mut gpulint = 0;
    for (name, text) in written() {
        for (info, fence) in infos(&text) {
            match fence.language.as_str() {
                "sh" => {}
                "console" => {
                    let commands = cli::commands(&fence.text);
                    assert!(!commands.is_empty(), "docs/{name}: a console without commands:\n{}", fence.text);
                    continue;
                }
                _ => {
                    let prompt = fence.text.lines().find(|line| line.starts_with("$ "));
                    let is_own = ["md", "text"].contains(&fence.language.as_str()) && prompt.is_none();
                    assert!(prompt.is_none() || is_own, "docs/{name}: commands stand in `console` or `sh`: {prompt:?}");
                    continue;
                }
            }
            let reason = info.split_once("not-run=").map_or("", |(_, it)| it.trim());
            assert!(REASONS.contains(&reason), "docs/{name}: `sh not-run=REASON`, one of {REASONS:?}:\n{}", fence.text);
            for line in fence.text.lines().filter(|line| !line.trim().is_empty()) {
                writeln!(list, "docs/{name} [{reason}] {}", line.trim_end()).unwrap();
                if let Some(arguments) = arguments(line) {
                    gpulint += 1;
                    options_exist(&name, &arguments);
                }
            }
        }
    }
    assert!(gpulint > 10, "only {gpulint} commands of gpulint");
    hold("tests/book/not-run.txt", &list);
}

/// Options of commands in sentences or table cells exist, too.
#[test]
fn commands_in_sentences_have_options_that_exist() {
    let mut count = 0;
    for (name, text) in pages() {
        let mut is_code = false;
        for line in text.lines() {
            is_code ^= line.trim_start().starts_with("```");
            if is_code {
                continue;
            }
            for code in line.split('`').skip(1).step_by(2).filter(|code| code.starts_with("gpulint ")) {
                if let Some(arguments) = arguments(code) {
                    count += 1;
                    options_exist(&name, &arguments);
                }
            }
        }
    }
    assert!(count > 60, "only {count} commands");
}

/// Returns the arguments of gpulint in a shell line, without placeholders.
fn arguments(line: &str) -> Option<Vec<String>> {
    let (before, rest) = line.split_once("gpulint ")?;
    let begins = before.trim_start_matches([' ', '-', '{']).is_empty() || before.ends_with([' ', ';', '(']);
    let is_other = ["install", "uses:", "echo", "pip", "git ", "/"].iter().any(|it| before.contains(it));
    if !begins || is_other || rest.starts_with(['#', '=']) {
        return None;
    }
    let rest = [" #", " ||", " |", ";", " >", " <", ")", " \\", "…"]
        .iter()
        .fold(rest, |rest, end| rest.split(end).next().unwrap_or_default());
    // Any one of the alternatives is used.
    let one = |word: &str| match word.trim_matches(['"', '\'']) {
        "HOST" => "github".to_owned(),
        "SHELL" => "bash".to_owned(),
        word => word.to_owned(),
    };
    Some(rest.split_whitespace().map(one).collect())
}

fn options_exist(page: &str, arguments: &[String]) {
    let mut verb: Vec<&str> = arguments.iter().map(String::as_str).take_while(|it| !it.starts_with('-')).collect();
    verb.truncate(2);
    let help = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(&verb).arg("--help").output().unwrap();
    assert!(help.status.success(), "docs/{page}: gpulint {arguments:?}: {}", String::from_utf8_lossy(&help.stderr));
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    for option in arguments.iter().filter(|it| it.starts_with('-') && it.len() > 1 && *it != "--") {
        let option = option.split('=').next().unwrap_or_default();
        let is_there = help.split([' ', ',', '\n', '=', '[', ']']).any(|word| word == option);
        assert!(is_there, "docs/{page}: gpulint {arguments:?}: there is no {option}\n{help}");
    }
}
