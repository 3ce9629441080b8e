//! Which directories are roots, and which files assign their variables.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Sources, join, normalize, parent};

use super::library::Library;
use super::module::{ModuleCode, is_configuration};
use super::modules::is_local;
use super::syntax::Kind;

/// The directories of Terraform files that `paths` name or lie in, sorted.
pub(super) fn directories(sources: &Sources, paths: &[String]) -> BTreeSet<String> {
    let mut result = BTreeSet::new();
    for path in paths {
        let Some(path) = normalize(path) else { continue };
        let directory = if is_terraform_file(&path) { parent(&path).to_owned() } else { path };
        if has_configuration(sources, &directory) {
            result.insert(directory);
        }
    }
    result
}

fn is_terraform_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    is_configuration(name) || is_variable_file(name)
}

fn has_configuration(sources: &Sources, directory: &str) -> bool {
    sources.tree().list(directory).iter().any(|entry| !entry.is_directory && is_configuration(&entry.name))
}

pub(super) fn is_variable_file(name: &str) -> bool {
    name.ends_with(".tfvars") || name.ends_with(".tfvars.json")
}

/// The roots among these directories: those that nobody calls as a module, and those that are named.
pub(super) fn detect(library: &Library<'_>, directories: &BTreeSet<String>, named: &[String]) -> Vec<String> {
    let named: BTreeSet<String> = named.iter().filter_map(|path| normalize(path)).collect();
    let mut callers: BTreeMap<String, bool> = BTreeMap::new();
    for directory in directories {
        for called in local_calls(&library.module(directory)) {
            callers.insert(called, true);
        }
    }
    let is_root = |directory: &&String| named.contains(*directory) || !callers.contains_key(*directory);
    directories.iter().filter(is_root).cloned().collect()
}

/// The directories that a module calls by path.
fn local_calls(code: &ModuleCode) -> Vec<String> {
    let source = |call: &super::syntax::BlockNode| match &call.body.attribute("source")?.expression.kind {
        Kind::Text(source) if is_local(source) => join(&code.directory, source),
        _ => None,
    };
    code.calls.iter().filter_map(source).filter(|called| *called != code.directory).collect()
}

/// The files that Terraform reads variables from by itself, in the order in which they count.
pub(super) fn automatic_files(sources: &Sources, directory: &str) -> Vec<String> {
    let entries = sources.tree().list(directory);
    let names: Vec<&str> = entries.iter().filter(|e| !e.is_directory).map(|e| e.name.as_str()).collect();
    let exact = ["terraform.tfvars", "terraform.tfvars.json"].into_iter().filter(|name| names.contains(name));
    let automatic =
        names.iter().copied().filter(|name| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json"));
    exact.chain(automatic).filter_map(|name| join(directory, name)).collect()
}
