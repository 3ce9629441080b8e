//! Terraform text and plans → inventory.
//!
//! Reads roots, evaluates them as Terraform does and turns evaluated blocks into resources by the rows of
//! `resources.toml`. Nothing is mocked: what cannot be known is a value that says why. Knows no price and no rule.

mod block;
mod convert;
mod embedded;
mod evaluate;
mod functions;
mod library;
mod module;
mod modules;
mod number;
mod parallel;
mod raw;
mod root;
mod roots;
mod rows;
mod syntax;
mod types;
mod value;

use std::collections::HashSet;

use crate::diagnostic::Diagnostic;
use crate::inventory::{FrontEnd, Inventory, Skipped};
use crate::source::{FileId, Sources, Span};

use library::Library;

pub use block::{Attribute, Block, Provider};
pub use value::{Cause, Computed, Data, Entries, Found, Number, Value};

/// What the command line gives beside the files.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `--var name=value`, in order.
    pub variables: Vec<(String, String)>,
    /// `--var-file`, in order; paths in the tree.
    pub variable_files: Vec<String>,
    /// `TF_VAR_name` of the environment.
    pub environment: Vec<(String, String)>,
    pub workspace: Option<String>,
    /// Directories named on the command line: read as roots even if other directories call them as modules.
    pub named_roots: Vec<String>,
    /// Where downloaded modules lie, beside `.terraform/modules` of each root.
    pub modules_directory: Option<String>,
    /// Every block is wanted as it is, for rules about any type.
    pub raw: bool,
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
}

/// Kubernetes text that a Terraform resource carries.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// Address of the Terraform resource.
    pub address: String,
    pub kind: String,
    pub span: Span,
    /// Derived text whose spans lead back into the Terraform file.
    pub file: FileId,
}

/// Reads the roots among the directories of `paths`, which are directories or files.
pub fn read(sources: &Sources, paths: &[String], options: &Options) -> Reading {
    let library = Library::new(sources);
    let directories: Vec<String> = roots::directories(sources, paths).into_iter().collect();
    let modules = parallel::map(directories.len(), |index| library.module(&directories[index]));
    let chosen = roots::detect(sources, &modules, &options.named_roots);
    let evaluated = parallel::map(chosen.roots.len(), |index| {
        let root = root::evaluate(sources, &library, &chosen.roots[index], options);
        let resources = rows::resources(&root.blocks, &root.switched_off, FrontEnd::Terraform);
        let embedded = embedded::manifests(sources, &root.blocks);
        (root, resources, embedded)
    });
    let mut reading = Reading::default();
    for (directory, (root, resources, embedded)) in chosen.roots.into_iter().zip(evaluated) {
        reading.inventory.diagnostics.extend(root.diagnostics);
        reading.inventory.resources.extend(resources);
        reading.embedded.extend(embedded);
        if options.raw {
            reading.inventory.blocks.extend(raw::of(&root.blocks, FrontEnd::Terraform));
        }
        reading.blocks.extend(root.blocks);
        let workspace = options.workspace.clone().unwrap_or_else(|| "default".into());
        reading.roots.push(Root { directory, variable_files: root.variable_files, workspace });
    }
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

/// A module that several roots call is told of once.
fn without_repetitions(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert((diagnostic.span, diagnostic.message.clone())));
}
