//! Terraform text and plans → inventory.
//!
//! Reads roots, evaluates them as Terraform does and turns evaluated blocks into resources by the rows of
//! `resources.toml`. Nothing is mocked: what cannot be known is a value that says why. Knows no price and no rule.

mod address;
mod block;
mod convert;
mod embedded;
mod evaluate;
mod functions;
mod load;
mod number;
mod plan;
mod raw;
mod rows;
mod syntax;
mod types;
mod value;
mod write;

use std::collections::HashSet;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::inventory::{FrontEnd, Inventory, Run, RunId, RunKind, Skipped};
use crate::source::{FileId, Limits, Sources, Span};

use load::library::Library;

pub use block::{Attribute, Block, Provider};
pub use plan::{PlanSide, is_plan};
pub use value::{Cause, Computed, Data, Entries, Found, Number, Value};
pub use write::Writer;

/// What the command line gives beside the files.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `--var name=value`, in order.
    pub variables: Vec<(String, String)>,
    /// `--var-file`, in order; paths in the tree.
    pub variable_files: Vec<String>,
    /// Variable files of which each makes a configuration of its own, beside those that hold for all.
    pub environments: Vec<String>,
    /// `TF_VAR_name` of the environment.
    pub environment: Vec<(String, String)>,
    pub workspace: Option<String>,
    /// Directories named on the command line: read as roots even if other directories call them as modules.
    pub named_roots: Vec<String>,
    /// Where downloaded modules lie, beside `.terraform/modules` of each root.
    pub modules_directory: Option<String>,
    /// Every block is wanted as it is, for rules about any type.
    pub raw: bool,
    /// Plans named on the command line: read even if the configuration that they are of lies beside them.
    pub named_plans: Vec<String>,
    /// Which of their two states plans stand for.
    pub plan_side: PlanSide,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Reading {
    pub inventory: Inventory,
    /// Manifests inside Terraform, for the Kubernetes front end.
    pub embedded: Vec<Embedded>,
    /// Every evaluated block, for `inspect --all` and rules about any type.
    pub blocks: Vec<Block>,
    /// The directories that were read as roots, sorted.
    pub roots: Vec<Root>,
    /// The plans and states that were found, as paths, sorted.
    pub plans: Vec<String>,
    /// Comments that speak to gpulint.
    pub comments: Vec<Span>,
}

/// A directory that was read as a root, and what its variables were taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub directory: String,
    /// In the order in which they count, the strongest last.
    pub variable_files: Vec<String>,
    pub workspace: String,
    /// What its evaluation cost, in steps of the budget that each root has.
    pub steps: u64,
    /// Which of all evaluated blocks are its own.
    pub blocks: std::ops::Range<usize>,
}

/// Kubernetes text that a Terraform resource carries.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// Address of the Terraform resource.
    pub address: String,
    pub kind: String,
    pub span: Span,
    /// The directory of its root, where it is not from a plan.
    pub root: Option<Arc<str>>,
    pub run: RunId,
    /// Derived text whose spans lead back into the Terraform file.
    pub file: FileId,
}

/// Reads the roots among the directories of `paths`, which are directories or files.
pub fn read(sources: &Sources, paths: &[String], options: &Options) -> Reading {
    let library = Library::new(sources);
    let reading = read_with(&library, sources, paths, options);
    library.close();
    reading
}

/// What Terraform would refuse in the text of one file, by itself.
pub fn syntax_errors(file: FileId, text: &str) -> Vec<Diagnostic> {
    let errors = syntax::parse_body(file, text, Limits::DEEPEST).errors;
    errors.into_iter().map(|error| Diagnostic::unreadable(error.message, error.span)).collect()
}

fn read_with(library: &Library<'_>, sources: &Sources, paths: &[String], options: &Options) -> Reading {
    let plans = load::plans::find(sources, paths);
    let others: Vec<String> = paths.iter().filter(|path| plans.binary_search(path).is_err()).cloned().collect();
    // Downloaded modules are read when something calls them.
    let downloaded = options.modules_directory.as_deref().map(|it| format!("{it}/"));
    let is_downloaded = |it: &str| downloaded.as_ref().is_some_and(|modules| it.starts_with(modules.as_str()));
    let directories: Vec<String> =
        load::roots::directories(sources, &others).into_iter().filter(|it| !is_downloaded(it)).collect();
    let modules = load::parallel::map(directories.len(), |index| library.module(&directories[index]));
    let chosen = load::roots::detect(sources, &modules, &options.named_roots);
    let runs = runs(&chosen.roots, &options.environments);
    let evaluated = load::parallel::map(runs.len(), |index| {
        let (directory, environment) = runs[index];
        let root = load::root::evaluate(sources, library, directory, environment, options);
        let resources = rows::resources(&root.blocks, &root.switched_off, &root.default_maps, FrontEnd::Terraform);
        let id = RunId::of(RunKind::Root, directory, environment);
        let embedded = embedded::manifests(sources, &root.blocks, Some(directory), &id);
        (root, resources, embedded)
    });
    let mut reading = Reading::default();
    for ((directory, environment), (root, mut resources, embedded)) in runs.into_iter().zip(evaluated) {
        let run = Run::new(RunKind::Root, directory, environment).reading(root.files);
        for resource in &mut resources {
            resource.run = Some(run.id.clone());
            resource.root = Some(directory.into());
            resource.address.extend(environment.map(|file| format!(" ({file})")));
        }
        reading.inventory.runs.push(run);
        let directory = directory.to_owned();
        reading.inventory.diagnostics.extend(root.diagnostics);
        reading.inventory.resources.extend(resources);
        reading.embedded.extend(embedded);
        if options.raw {
            reading.inventory.blocks.extend(raw::of(&root.blocks, FrontEnd::Terraform));
        }
        let first = reading.blocks.len();
        reading.blocks.extend(root.blocks);
        let workspace = options.workspace.clone().unwrap_or_else(|| "default".into());
        let blocks = first..reading.blocks.len();
        let (variable_files, steps) = (root.variable_files, root.steps);
        reading.roots.push(Root { directory, variable_files, workspace, steps, blocks });
    }
    load::plans::read(sources, plans, options, &mut reading);
    for path in chosen.uncalled {
        let reason = "a module that nothing here calls: what it is given is not known".to_owned();
        reading.inventory.skipped.push(Skipped { path, reason });
    }
    for module in library.modules() {
        reading.inventory.diagnostics.extend(module.diagnostics.iter().cloned());
        let speaks = |span: &&Span| sources.snippet(**span).contains("gpulint");
        reading.comments.extend(module.comments.iter().filter(speaks));
    }
    without_repetitions(&mut reading.inventory.diagnostics);
    reading
}

/// Each root once, or once with each environment.
fn runs<'a>(roots: &'a [String], environments: &'a [String]) -> Vec<(&'a str, Option<&'a str>)> {
    let with_each = |root: &'a String| match environments {
        [] => vec![(root.as_str(), None)],
        _ => environments.iter().map(|file| (root.as_str(), Some(file.as_str()))).collect(),
    };
    roots.iter().flat_map(with_each).collect()
}

/// A module that several roots call is told of once.
fn without_repetitions(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert((diagnostic.span, diagnostic.message.clone())));
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::source::MemoryTree;

    #[test]
    fn modules_that_many_roots_call_are_parsed_once() {
        let (roots, modules) = (200, 40);
        let mut tree = MemoryTree::new();
        let mut calls = String::new();
        for index in 0..modules {
            let _ = writeln!(calls, "module \"m{index}\" {{\n  source = \"../../modules/m{index}\"\n}}");
            let text = "resource \"terraform_data\" \"a\" {\n  input = path.module\n}\n";
            tree = tree.with(&format!("modules/m{index}/main.tf"), text);
        }
        let mut paths = Vec::new();
        for index in 0..roots {
            let path = format!("roots/r{index}/main.tf");
            tree = tree.with(&path, calls.as_str());
            paths.push(path);
        }
        let sources = Sources::new(tree);
        let library = Library::new(&sources);
        let reading = read_with(&library, &sources, &paths, &Options::default());
        assert_eq!(reading.roots.len(), roots);
        let resources = reading.blocks.iter().filter(|block| block.keyword == "resource").count();
        assert_eq!(resources, roots * modules);
        assert_eq!(library.times_parsed(), roots + modules);
    }
}
