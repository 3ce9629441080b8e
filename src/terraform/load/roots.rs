//! Finds roots and the files that assign their variables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::languages::hcl::syntax::HclKind;
use crate::source::{SourceFiles, join, normalize, parent, those};

use crate::terraform::code::module::{ModuleCode, has_backend, has_configuration, is_configuration, sets_up_provider};
use crate::terraform::code::modules::is_local;

use super::passed::PassedCalls;

/// Returns the sorted directories of Terraform files that `paths` name or that contain `paths`.
pub(in crate::terraform) fn directories(sources: &SourceFiles, paths: &[String]) -> BTreeSet<String> {
    let directory = |path: &String| {
        let path = normalize(path)?;
        if is_terraform_file(&path) {
            return Some(parent(&path).to_owned());
        }
        (!is_other_file(&path)).then_some(path)
    };
    let all: BTreeSet<String> = paths.iter().filter_map(directory).collect();
    // Directories that have only variable files may have no configuration, and checking each one costs a system call.
    those(all.into_iter().collect(), |directory| has_configuration(sources, directory)).into_iter().collect()
}

/// Returns whether a file is certainly read as something else. A path without these endings may be a directory.
fn is_other_file(path: &str) -> bool {
    const OTHER: [&str; 10] =
        [".yaml", ".yml", ".json", ".tpl", ".tmpl", ".j2", ".jinja", ".jinja2", ".gotmpl", ".template"];
    OTHER.iter().any(|suffix| path.ends_with(suffix))
}

fn is_terraform_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    is_configuration(name) || is_variable_file(name)
}

pub(in crate::terraform) fn is_variable_file(name: &str) -> bool {
    name.ends_with(".tfvars") || name.ends_with(".tfvars.json")
}

/// The evidence that Terraform runs in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootEvidence {
    Named,
    /// A Terragrunt unit uses it.
    Unit,
    /// The directory declares a backend for its state.
    Backend,
    /// Variable files in its directory set its variables.
    VariableFiles,
    /// The directory configures a provider.
    Provider,
    /// No module calls it, and its path does not suggest a module.
    Uncalled,
    /// The modules that call it create no instance of it, or they are not roots either.
    NotMade,
    /// There is no other root.
    Alone,
}

impl RootEvidence {
    /// Returns the end of the sentence "it is a root because …".
    pub fn because(self) -> &'static str {
        match self {
            RootEvidence::Named => "you named it",
            RootEvidence::Unit => "it is a Terragrunt unit",
            RootEvidence::Backend => "it declares a backend for its state",
            RootEvidence::VariableFiles => "variable files in its directory set its variables",
            RootEvidence::Provider => "it configures a provider",
            RootEvidence::Uncalled => "no other module calls it",
            RootEvidence::NotMade => "no deployed root creates an instance of it",
            RootEvidence::Alone => "there is no other root module",
        }
    }
}

/// A directory that was read as a root, with the sources of its variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootOverview {
    pub directory: String,
    /// The evidence that it is a root.
    pub why: RootEvidence,
    /// The variable files in order of precedence, the highest last.
    pub variable_files: Vec<String>,
    pub workspace: String,
    /// The name that the addresses of its resources end with, if the directory has several variants.
    pub(in crate::terraform) variant: Option<String>,
    /// The evaluation steps that it used. Each root has a budget of steps.
    pub steps: u64,
    /// The range of its blocks among all evaluated blocks.
    pub blocks: std::ops::Range<usize>,
    /// The number under which another state of the tree finds it.
    pub(in crate::terraform) number: Option<usize>,
}

/// The variable files of each directory.
#[derive(Debug, Default)]
pub(in crate::terraform) struct Assigned {
    /// The variable files, by the directory of the configuration.
    pub(in crate::terraform) of: BTreeMap<String, Vec<String>>,
    /// Variable files that fit no configuration.
    pub(in crate::terraform) unused: Vec<String>,
    /// The commands that pass values, by the directory of the configuration.
    pub(in crate::terraform) calls: PassedCalls,
}

/// The directories of a tree. Some are roots by evidence, others because no root creates an instance of them.
pub(in crate::terraform) struct Candidates<'s> {
    sources: &'s SourceFiles,
    codes: &'s [Arc<ModuleCode>],
    /// The variable files that Terraform does not load automatically, by the directory that they are for.
    assigned: &'s Assigned,
    named: BTreeSet<String>,
    calls: BTreeMap<String, BTreeSet<String>>,
    called: BTreeSet<String>,
}

impl<'s> Candidates<'s> {
    pub(in crate::terraform) fn new(
        sources: &'s SourceFiles,
        codes: &'s [Arc<ModuleCode>],
        assigned: &'s Assigned,
        named: &[String],
    ) -> Self {
        let named = named.iter().filter_map(|path| normalize(path)).collect();
        let calls: BTreeMap<String, BTreeSet<String>> =
            codes.iter().map(|code| (code.directory.clone(), local_calls(code))).collect();
        let called = called(codes);
        Candidates { sources, codes, assigned, named, calls, called }
    }

    /// Returns the directories that are roots by their own evidence.
    pub(in crate::terraform) fn by_evidence(&self) -> Vec<(String, RootEvidence)> {
        let directories = self.codes.iter().filter_map(|code| Some((code.directory.clone(), self.evidence(code)?)));
        directories.collect()
    }

    fn evidence(&self, code: &ModuleCode) -> Option<RootEvidence> {
        let is_called = self.called.contains(&code.directory);
        if self.named.contains(&code.directory) {
            return Some(RootEvidence::Named);
        }
        if has_backend(code) {
            return Some(RootEvidence::Backend);
        }
        let assigned = self.assigned.of.contains_key(&code.directory);
        if assigned || has_variable_files(self.sources, &code.directory, is_called) {
            return Some(RootEvidence::VariableFiles);
        }
        let waits = waits(code);
        if sets_up_provider(code) && !(waits && is_called) && !is_among_modules(&code.directory) {
            return Some(RootEvidence::Provider);
        }
        let is_module = is_among_modules(&code.directory) && (waits || sets_up_provider(code));
        (!is_called && !is_module).then_some(RootEvidence::Uncalled)
    }

    /// Returns the modules that could be planned on their own and that no root instantiates. Leaves out modules that
    /// others in this list call.
    pub(in crate::terraform) fn not_made(&self, made: &BTreeSet<String>, all: bool) -> Vec<(String, RootEvidence)> {
        let is_left = |code: &&Arc<ModuleCode>| !made.contains(&code.directory) && !self.is_shaped_like_module(code);
        let left: BTreeSet<&str> = self.codes.iter().filter(is_left).map(|code| code.directory.as_str()).collect();
        let callers = self.calls.iter().filter(|(caller, _)| left.contains(caller.as_str()));
        let called: BTreeSet<&str> = callers.flat_map(|(_, called)| called).map(String::as_str).collect();
        let mut first: Vec<&str> = left.iter().copied().filter(|directory| !called.contains(directory)).collect();
        if all {
            first = left.into_iter().collect();
        } else if first.is_empty() {
            // If the modules call each other in a cycle, the first one is read.
            first.extend(left.first());
        }
        first.into_iter().map(|directory| (directory.to_owned(), RootEvidence::NotMade)).collect()
    }

    /// Returns whether a directory is meant to be called: no file sets its required variables, or its path is that of a
    /// module.
    fn is_shaped_like_module(&self, code: &ModuleCode) -> bool {
        let waits = waits(code) && !has_variable_files_around(self.sources, &code.directory);
        waits || is_among_modules(&code.directory)
    }

    /// Returns the modules that are not roots and that no root instantiates. Their inputs are unknown.
    pub(in crate::terraform) fn left_out(&self, made: &BTreeSet<String>) -> Vec<String> {
        let uncalled = self.codes.iter().map(|code| &code.directory).filter(|it| !self.called.contains(*it));
        uncalled.filter(|directory| !made.contains(*directory)).cloned().collect()
    }
}

fn waits(code: &ModuleCode) -> bool {
    code.variables.iter().any(|variable| variable.body.attribute("default").is_none())
}

/// Returns whether the path is that of a module: `modules/gpu`, `terraform-modules/gpu`.
fn is_among_modules(directory: &str) -> bool {
    let is_for_modules =
        |name: &str| matches!(name, "modules" | "module") || name.ends_with("-modules") || name.ends_with("_modules");
    parent(directory).split('/').any(is_for_modules)
}

/// Returns whether variable files in the directory set its variables. If another module calls it, only files that
/// Terraform loads automatically count, because others may be examples.
fn has_variable_files(sources: &SourceFiles, directory: &str, is_called: bool) -> bool {
    match is_called {
        true => !automatic_files(sources, directory).is_empty(),
        false => sources.tree().list(directory).iter().any(|entry| is_variable_file(&entry.name)),
    }
}

/// Returns the same for variable files in the directory or in a subdirectory, such as `env`.
fn has_variable_files_around(sources: &SourceFiles, directory: &str) -> bool {
    let entries = sources.tree().list(directory);
    let below = entries.iter().filter(|entry| entry.is_directory).filter_map(|entry| join(directory, &entry.name));
    has_variable_files(sources, directory, false) || below.into_iter().any(|it| has_variable_files(sources, &it, false))
}

/// Returns the directories that others call by path.
pub(in crate::terraform) fn called(codes: &[Arc<ModuleCode>]) -> BTreeSet<String> {
    codes.iter().flat_map(|code| local_calls(code)).collect()
}

/// Returns the directories that a module calls by path.
fn local_calls(code: &ModuleCode) -> BTreeSet<String> {
    let source = |call: &crate::languages::hcl::syntax::BlockNode| match &call.body.attribute("source")?.expression.kind
    {
        HclKind::Text(source) if is_local(source) => join(&code.directory, source),
        _ => None,
    };
    code.calls.iter().filter_map(source).filter(|called| *called != code.directory).collect()
}

/// Returns the variable files that Terraform loads automatically, in order of precedence.
pub(in crate::terraform) fn automatic_files(sources: &SourceFiles, directory: &str) -> Vec<String> {
    let entries = sources.tree().list(directory);
    let names: Vec<&str> = entries.iter().filter(|e| !e.is_directory).map(|e| e.name.as_str()).collect();
    let exact = ["terraform.tfvars", "terraform.tfvars.json"].into_iter().filter(|name| names.contains(name));
    let automatic =
        names.iter().copied().filter(|name| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json"));
    exact.chain(automatic).filter_map(|name| join(directory, name)).collect()
}
