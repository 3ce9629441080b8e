//! Finds the values that commands of scripts, Makefiles and pipelines pass to roots: `terraform apply -var 'size=2'`,
//! `-var-file`, `TF_VAR_size`.
//!
//! A command whose values are literal is a deployment of the root. A value that only the run knows makes its variable
//! unknown. The default is then not used, because the command replaces it.

mod call;
mod join;
pub(super) mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::languages::pipeline::{self, PipelineCall};
use crate::languages::shell::HOLE;
use crate::languages::table::scripts_with;
use crate::source::{SourceFiles, around, join as join_path, parent};
use crate::terraform::code::module::ModuleCode;

use super::options::TerraformOptions;

pub(super) use join::join;
use values::PassedCall;

/// Every file with a command that passes values contains one of these strings.
const MARKS: [&[u8]; 4] = [b"terraform", b"tofu", b"TF_VAR_", b"Terraform"];
/// The limit on commands that are read.
const MOST: usize = 500;

/// The commands of each directory.
#[derive(Debug, Default)]
pub(in crate::terraform) struct PassedCalls(BTreeMap<String, Vec<PassedCall>>);

impl PassedCalls {
    /// Returns the commands that deploy a directory. If some apply it, the others only preview what these do.
    pub(super) fn of(&self, directory: &str) -> Vec<&PassedCall> {
        let all = self.0.get(directory).map(Vec::as_slice).unwrap_or_default();
        let has_applied = all.iter().any(|it| it.applies);
        all.iter().filter(|it| it.applies || !has_applied).collect()
    }
}

/// Finds the commands in the tree and the directory of each among the modules that are not libraries.
pub(in crate::terraform) fn find(
    sources: &SourceFiles,
    codes: &[Arc<ModuleCode>],
    paths: &[String],
    options: &TerraformOptions,
) -> PassedCalls {
    let mut found = PassedCalls::default();
    let declares = |it: &Arc<ModuleCode>| it.variables.iter().next().is_some();
    if !codes.iter().any(declares) || options.choose_values() {
        return found;
    }
    let files = scripts_with(sources, paths, &MARKS);
    let directories: BTreeMap<&str, &ModuleCode> = codes.iter().map(|it| (&*it.directory, &**it)).collect();
    let read = |path: &String| -> Vec<PassedCall> {
        let calls = pipeline::calls(sources, path, &MARKS);
        calls.iter().filter_map(|it: &PipelineCall| call::passed(path, it)).collect()
    };
    for it in files.into_iter().flat_map(read).take(MOST) {
        for directory in directories_of(&it, &directories) {
            found.0.entry(directory).or_default().push(it.clone());
        }
    }
    found
}

/// Returns the directories in which a command runs: the one that it names, or each that matches a name with an unknown
/// part, or the only one that declares its variables.
fn directories_of(call: &PassedCall, all: &BTreeMap<&str, &ModuleCode>) -> Vec<String> {
    let bases: Vec<&str> = around(parent(&call.path)).collect();
    // Before an unknown or absolute start, only the end of a path is known.
    let (is_rooted, known) = match call.folder.split_once('/') {
        Some((first, rest)) if first.is_empty() || first.contains(HOLE) => (true, rest),
        _ => (false, call.folder.trim_start_matches(HOLE)),
    };
    let is_unknown = known.is_empty() && call.folder.contains(HOLE);
    if !known.contains(HOLE) && !is_unknown {
        let named = bases.iter().filter_map(|base| join_path(base, known)).find(|it| all.contains_key(it.as_str()));
        if let Some(directory) = named {
            return vec![directory];
        }
        let is_end = |it: &&&str| !known.is_empty() && it.ends_with(&format!("/{}", known.trim_start_matches("../")));
        let ends: Vec<&&str> = all.keys().filter(is_end).collect();
        if let ([only], true) = (ends.as_slice(), is_rooted || known.contains('/')) {
            return vec![(**only).to_owned()];
        }
    } else if !known.is_empty() {
        let matching = all.keys().filter(|it| bases.iter().any(|base| is_match(base, known, it)));
        let matching: Vec<String> = matching.map(|it| (*it).to_owned()).collect();
        if !matching.is_empty() {
            return matching;
        }
    }
    only_declaring(call, all).into_iter().collect()
}

/// Returns whether a directory matches a path whose unknown parts are names of one step.
fn is_match(base: &str, pattern: &str, directory: &str) -> bool {
    let Some(rest) = directory.strip_prefix(base) else { return false };
    let rest = rest.trim_start_matches('/');
    let (steps, parts): (Vec<&str>, Vec<&str>) = (rest.split('/').collect(), pattern.split('/').collect());
    let fits = |(step, part): (&&str, &&str)| match part.split_once(HOLE) {
        Some((before, after)) => step.starts_with(before) && step.ends_with(after.trim_start_matches(HOLE)),
        None => step == part,
    };
    steps.len() == parts.len() && steps.iter().zip(&parts).all(fits)
}

/// Returns the only directory that declares all variables of a command.
fn only_declaring(call: &PassedCall, all: &BTreeMap<&str, &ModuleCode>) -> Option<String> {
    let names: BTreeSet<&str> = call.values.iter().map(|it| it.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let declares = |code: &ModuleCode| names.iter().all(|name| code.variables.get(name).is_some());
    let mut those = all.iter().filter(|(_, code)| declares(code));
    those.next().filter(|_| those.next().is_none()).map(|(directory, _)| (*directory).to_owned())
}
