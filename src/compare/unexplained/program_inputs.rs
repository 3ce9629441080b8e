//! Finds files that unread programs use: a program that Terraform runs, and the programs and files that it uses in
//! turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex::Regex;

use super::accelerator_lines::of_text;
use super::change::FileRole;
use super::changed_files::ChangedFiles;
use super::shell;
use crate::front_ends::files;
use crate::source::{file_name, join, parent, static_regex};

/// The maximum depth of calls between programs that are followed.
const DEEPEST: usize = 4;
const MOST_PROGRAMS: usize = 200;
/// Longer programs are not written by hand.
const LONGEST_PROGRAM: usize = 1 << 18;

/// Returns for each of these files the file that uses it. With `of_commands`, all files of Terragrunt count, because the
/// output of a command decides an unknown value.
pub(super) fn takers(changed: &ChangedFiles, wanted: &BTreeSet<String>, of_commands: bool) -> BTreeMap<String, String> {
    let names: BTreeMap<&str, Vec<&String>> = wanted.iter().fold(BTreeMap::new(), |mut names, path| {
        names.entry(file_name(path)).or_default().push(path);
        names
    });
    let mut next: Vec<(String, Arc<str>)> = callers_of_terraform(changed, of_commands);
    let of_terraform: BTreeSet<String> = next.iter().map(|(path, _)| path.clone()).collect();
    let scripts = changed.callers();
    next.extend(scripts.iter().filter_map(|(path, text)| Some((path.clone(), shell::calling(text)?.into()))));
    next.extend(generators(changed, wanted).filter_map(|path| Some((path.clone(), changed.head.text(&path)?))));
    let seen = next.iter().map(|(path, _)| path.clone()).collect();
    let mut search = TakerSearch { names, changed, of_terraform, seen, found: BTreeMap::new() };
    for (path, text) in scripts {
        shell::values_from_files(text).into_iter().for_each(|word| search.take_as_value(path, &word));
    }
    for _ in 0..DEEPEST {
        next = next.iter().flat_map(|(taker, text)| search.read(taker, text)).collect();
    }
    search.found
}

/// Returns for each changed file whose content a script inserts into a command of a deploy tool that script. This is also
/// true for files that gpulint reads, such as JSON.
pub(super) fn inserted(changed: &ChangedFiles) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let paths = || changed.texts.iter().map(|file| file.path);
    for (taker, text) in changed.callers() {
        for word in shell::inserted_files(text) {
            let named = paths().filter(|path| file_name(path) == file_name(&word) && *path != taker);
            let meant = named.filter(|path| is_meant(&word, path, taker));
            found.extend(meant.map(|path| (path.to_owned(), taker.clone())));
        }
    }
    found
}

/// Returns the roots near resources with accelerators, with their blocks that call programs.
fn callers_of_terraform(changed: &ChangedFiles, of_commands: bool) -> Vec<(String, Arc<str>)> {
    let directories: BTreeSet<&str> = changed.speaking.iter().map(|path| parent(path)).collect();
    let is_near = |path: &str| directories.contains(parent(path)) || of_commands && path.ends_with(".hcl");
    let is_root = |path: &&String| is_near(path) && (files::is_terraform(path) || path.ends_with(".hcl"));
    let roots = changed.head.files.iter().filter(is_root);
    roots.filter_map(|path| Some((path.clone(), calls(&changed.head.text(path)?)?.into()))).collect()
}

/// Searches the files that deployments use, through programs that call programs.
struct TakerSearch<'a> {
    changed: &'a ChangedFiles<'a>,
    /// The files to search for, by name.
    names: BTreeMap<&'a str, Vec<&'a String>>,
    /// Roots, and the programs that they call.
    of_terraform: BTreeSet<String>,
    seen: BTreeSet<String>,
    found: BTreeMap<String, String>,
}

impl TakerSearch<'_> {
    /// Records the files that a program uses, and returns the programs that it calls.
    fn read(&mut self, taker: &str, text: &str) -> Vec<(String, Arc<str>)> {
        let mut called = Vec::new();
        for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || "._-/".contains(c))) {
            self.take(taker, word);
            let path = join(parent(taker), word.trim_start_matches('/')).filter(|_| word.contains('.'));
            let is_program = |path: &String| matches!(FileRole::of(path), FileRole::Script | FileRole::Code);
            let Some(path) = path.filter(is_program) else { continue };
            if self.seen.len() >= MOST_PROGRAMS || !self.seen.insert(path.clone()) {
                continue;
            }
            if self.of_terraform.contains(taker) {
                self.of_terraform.insert(path.clone());
            }
            let text = self.changed.head.text(&path).filter(|it| it.len() < LONGEST_PROGRAM);
            called.extend(text.map(|text| (path, text)));
        }
        called
    }

    /// Records a file whose content becomes a value.
    fn take_as_value(&mut self, taker: &str, word: &str) {
        for path in self.names.get(file_name(word)).into_iter().flatten() {
            if *path != taker && is_meant(word, path, taker) {
                self.found.entry((*path).clone()).or_insert_with(|| taker.to_owned());
            }
        }
    }

    /// Records the file that a word names. If the word names a Terraform state, records the changed files next to the
    /// state.
    fn take(&mut self, taker: &str, word: &str) {
        let named = self.names.get(file_name(word)).into_iter().flatten().filter(|_| file_name(word).len() > 2);
        for path in named {
            let is_direct = self.of_terraform.contains(taker);
            let is_program = !matches!(FileRole::of(path), FileRole::Beside);
            if *path != taker && (is_direct || is_program) && is_meant(word, path, taker) {
                self.found.entry((*path).clone()).or_insert_with(|| taker.to_owned());
            }
        }
        for file in self.changed.texts.iter().filter(|_| word.contains("..") && word.contains("tfstate")) {
            let directory = join(parent(taker), parent(word)).filter(|it| !it.is_empty());
            if directory.is_some_and(|it| parent(file.path) == it) && parent(taker) != parent(file.path) {
                self.found.entry(file.path.to_owned()).or_insert_with(|| taker.to_owned());
            }
        }
    }
}

/// Returns kustomizations near an object that takes values from their ConfigMaps and Secrets.
fn generators<'s>(changed: &'s ChangedFiles, wanted: &'s BTreeSet<String>) -> impl Iterator<Item = String> + 's {
    let (head, catalog) = (changed.head, &changed.head.settings.catalog);
    let takes_values = head.files.iter().filter(|path| path.ends_with(".yaml")).any(|path| {
        wanted.iter().any(|it| parent(it) == parent(path))
            && head.sources.tree().read(path).is_ok_and(|text| memchr::memmem::find(&text, b"valuesFrom").is_some())
    });
    let asks = |folder: &str| {
        let mut beside = head.files.iter().filter(|path| parent(path) == folder);
        beside.any(|path| head.stored_text(path).is_ok_and(|text| of_text(&text, catalog)))
    };
    let is_data =
        |path: &&String| !path.contains("sops") && !matches!(FileRole::of(path), FileRole::Beside | FileRole::Code);
    let folders = wanted.iter().filter(is_data).map(|path| parent(path)).filter(|_| takes_values);
    let folders: BTreeSet<&str> = folders.filter(|folder| asks(folder)).collect();
    folders.into_iter().filter_map(|folder| join(folder, "kustomization.yaml"))
}

/// Returns true if a word names a path: all folders in the word must match.
pub(super) fn is_meant(word: &str, path: &str, taker: &str) -> bool {
    let word = word.trim_start_matches(['.', '/']);
    let is_end = path.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let is_near = || path.starts_with(parent(taker)) || parent(taker).starts_with(parent(path));
    is_end && (word.contains('/') || is_near())
}

/// Returns the parts of a root that call programs or use unread files.
fn calls(text: &str) -> Option<String> {
    let mut calls = String::new();
    for found in CALLS.find_iter(text) {
        let rest = text.get(found.start()..).unwrap_or_default();
        calls.push_str(rest.get(..end_of(rest)).unwrap_or(rest));
        calls.push('\n');
    }
    (!calls.is_empty()).then_some(calls)
}

/// Returns the position where the first opened bracket closes.
pub(super) fn end_of(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}

static_regex!(static CALLS: Regex = r#"data\s+"(?:external|terraform_remote_state)"|provisioner\s+"(?:local|remote)-exec"|\brun_cmd\(|\bdecode_tfvars\(|\bread_tfvars_file\(|\bprovider::\w+::\w+\("#);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_programs_are_found() {
        let text = "a = 1\ndata \"external\" \"n\" {\n  program = [\"bash\", \"${path.module}/n.sh\"]\n}\nb = run_cmd(\"x.py\")\n";
        let calls = calls(text).unwrap_or_default();
        assert!(calls.contains("/n.sh") && calls.contains("x.py") && !calls.contains("a = 1"), "{calls}");
        assert!(is_meant("/n.sh", "infra/n.sh", "infra/main.tf"));
        assert!(is_meant("scripts/n.sh", "infra/scripts/n.sh", "infra/main.tf"));
        assert!(!is_meant("n.sh", "other/n.sh", "infra/main.tf"));
    }
}
