//! Runs the commands of `tests/cli/*.md` with the built program, each case in a separate directory. The module `book`
//! does the same for the pages of `docs`.
//!
//! A case has files (`file=main.tf`) and `console` blocks. A line `$ gpulint …` is run, with the next line if it ends
//! with a backslash. The output follows: standard error marked with `! `, and the exit code if it is not 0.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fences::{self, Fence};

#[test]
fn every_case_prints_what_it_says() {
    let cases = fences::cases("tests/cli");
    let failures: Vec<String> = cases.iter().filter_map(|path| check(path, &Place::new()).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs the commands of a file in this place, and compares the output or, when blessing, writes it.
pub(crate) fn check(path: &Path, place: &Place) -> Result<(), String> {
    let case = fs::read_to_string(path).unwrap();
    let all = fences::read(&case);
    for fence in all.iter() {
        if let Some(file) = &fence.file {
            place.write(file, &fence.text);
        }
    }
    let consoles: Vec<&Fence> = all.iter().filter(|fence| fence.language == "console").collect();
    if consoles.is_empty() {
        return Err(format!("{}: there is no console block", path.display()));
    }
    let mut said = String::new();
    let mut blessed = case.clone();
    let ran: Vec<String> = consoles.iter().map(|fence| place.run_all(&fence.text)).collect();
    // Starts at the end, so that edits do not move later edits.
    for (fence, actual) in consoles.iter().zip(ran).rev() {
        if actual != fence.text {
            said = format!("{}\n--- expected\n{}--- actual\n{actual}\n{said}", path.display(), fence.text);
            blessed = fences::replaced(&blessed, fence, &actual);
        }
    }
    if fences::blessing() && blessed != case {
        fs::write(path, blessed).unwrap();
        return Ok(());
    }
    if said.is_empty() { Ok(()) } else { Err(said) }
}

/// A directory for one case, which is deleted when the case ends.
pub(crate) struct Place {
    directory: PathBuf,
    /// The date for commands that depend on the current day.
    today: Option<&'static str>,
}

impl Place {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("gpulint-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let directory = std::env::temp_dir().join(name).join("repository");
        fs::create_dir_all(&directory).unwrap();
        Place { directory, today: None }
    }

    pub(crate) fn on(today: &'static str) -> Self {
        let mut place = Place::new();
        place.today = Some(today);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// Writes a file. A name that ends with `/` is a directory.
    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.directory.join(file);
        if file.ends_with('/') {
            fs::create_dir_all(path).unwrap();
            return;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.directory.join(file)).unwrap()
    }

    /// Returns the program's output in this directory, and checks that it succeeded.
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        let output = command.current_dir(&self.directory).env("NO_COLOR", "1").args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {:?} {said}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Does the same with another search path and standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], path: &str, input: Option<&str>) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.current_dir(&self.directory).env("PATH", path).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.unwrap_or_default().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn run_all(&self, console: &str) -> String {
        let mut text = String::new();
        for line in commands(console) {
            text.push_str(&format!("$ {line}\n{}", self.run(&line.replace("\\\n", ""))));
        }
        text
    }

    /// Runs `NAME=value gpulint check 'a b' < file`, `git commit -m x`, `cat file` or `rm file`.
    fn run(&self, line: &str) -> String {
        let mut words = split(line).into_iter().peekable();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.current_dir(&self.directory).env("NO_COLOR", "1").stdin(Stdio::null());
        let mut given = Vec::new();
        for name in ["COLUMNS", "TF_VAR_size", "TF_WORKSPACE"] {
            command.env_remove(name);
        }
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            command.env(name, value);
            given.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        match words.next().as_deref() {
            Some("gpulint") => {}
            Some("git") => return self.git(words.collect(), &given),
            Some("rm") => {
                return fs::remove_file(self.directory.join(words.next().unwrap()))
                    .err()
                    .map_or(String::new(), |it| it.to_string());
            }
            Some("cat") => return fs::read_to_string(self.directory.join(words.next().unwrap())).unwrap(),
            Some("cd") => unreachable!("a case runs in one directory"),
            other => panic!("a case runs gpulint, git, cat or rm, not {other:?}"),
        }
        let mut input = None;
        let verb: Vec<String> = words.clone().take(2).take_while(|it| !it.starts_with('-')).collect();
        while let Some(word) = words.next() {
            if word == "<" {
                input = Some(fs::read(self.directory.join(words.next().unwrap())).unwrap());
            } else {
                command.arg(word);
            }
        }
        if let Some(today) = self.today.filter(|_| judges_by_a_day(&verb)) {
            command.args(["--today", today]);
        }
        let output = match input {
            None => command.output().unwrap(),
            Some(input) => {
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
                let mut child = command.spawn().unwrap();
                child.stdin.take().unwrap().write_all(&input).unwrap();
                child.wait_with_output().unwrap()
            }
        };
        let mut text = String::from_utf8(output.stdout).unwrap();
        for line in String::from_utf8(output.stderr).unwrap().lines() {
            text.push_str(format!("! {line}").trim_end());
            text.push('\n');
        }
        match output.status.code() {
            Some(0) => {}
            Some(code) => text.push_str(&format!("[exit {code}]\n")),
            None => text.push_str("[killed]\n"),
        }
        text
    }
}

impl Place {
    /// Runs git without user settings, and prints only failures.
    fn git(&self, arguments: Vec<String>, given: &[(String, String)]) -> String {
        let mut command = Command::new("git");
        command.current_dir(&self.directory).args(arguments).stdin(Stdio::null());
        for (name, value) in [("NAME", "a"), ("EMAIL", "a@example.org")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.envs(given.iter().map(|(name, value)| (name, value)));
        let output = command.output().unwrap();
        if output.status.success() { String::new() } else { String::from_utf8(output.stderr).unwrap() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.directory.parent().unwrap());
    }
}

/// Returns the commands of a block. A command that ends with a backslash continues in the next line.
pub(crate) fn commands(console: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in console.lines() {
        match commands.last_mut().filter(|it| it.ends_with('\\')) {
            Some(open) => open.push_str(&format!("\n{line}")),
            None => commands.extend(line.strip_prefix("$ ").map(str::to_owned)),
        }
    }
    commands
}

/// Returns whether a subcommand depends on the current day. An unknown subcommand is a path for `check`, which does.
fn judges_by_a_day(verb: &[String]) -> bool {
    static ASKED: Mutex<BTreeMap<Vec<String>, bool>> = Mutex::new(BTreeMap::new());
    let ask = || {
        let verb = if verb.is_empty() { &["check".to_owned()][..] } else { verb };
        let output = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(verb).arg("--help").output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("--today")
    };
    *ASKED.lock().unwrap().entry(verb.to_owned()).or_insert_with(ask)
}

/// Splits a line at blanks, except inside quotes.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
