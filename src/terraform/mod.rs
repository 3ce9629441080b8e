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
mod root;
mod roots;
mod rows;
mod syntax;
mod types;
mod value;

use crate::inventory::{FrontEnd, Inventory, Skipped};
use crate::source::{FileId, Sources, Span};

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

/// Evaluation follows references and modules; it does so on a thread of its own that has room for that.
const STACK_BYTES: usize = 256 << 20;

/// Reads the roots among the directories of `paths`, which are directories or files.
pub fn read(sources: &Sources, paths: &[String], options: &Options) -> Reading {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, || read_roots(sources, paths, options)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => read_roots(sources, paths, options),
        }
    })
}

fn read_roots(sources: &Sources, paths: &[String], options: &Options) -> Reading {
    let library = library::Library::new(sources);
    let directories = roots::directories(sources, paths);
    let chosen = roots::detect(sources, &library, &directories, &options.named_roots);
    let mut reading = Reading::default();
    for directory in &chosen.roots {
        let root = root::evaluate(sources, &library, directory, options);
        reading.inventory.diagnostics.extend(root.diagnostics);
        reading.inventory.resources.extend(rows::resources(&root.blocks, FrontEnd::Terraform));
        reading.embedded.extend(embedded::manifests(sources, &root.blocks));
        reading.blocks.extend(root.blocks);
        reading.roots.push(Root {
            directory: directory.clone(),
            variable_files: root.variable_files,
            workspace: options.workspace.clone().unwrap_or_else(|| "default".into()),
        });
    }
    for directory in chosen.uncalled {
        let reason = "a module that nothing here calls: what it is given is not known".to_owned();
        reading.inventory.skipped.push(Skipped { path: directory, reason });
    }
    for directory in &directories {
        let module = library.module(directory);
        reading.inventory.diagnostics.extend(module.diagnostics.iter().cloned());
        let speaks = |span: &&Span| sources.snippet(**span).contains("gpulint");
        reading.comments.extend(module.comments.iter().filter(speaks));
    }
    reading
}
