//! Defines input, options and results of reading documents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::inventory::{FactOverrides, Inventory};
use crate::languages::hcl::value::HclValue;
use crate::source::{SourceFiles, Span};
use crate::terraform::EvaluatedBlock;

/// The files of the tree.
#[derive(Clone, Copy)]
pub(super) struct TemplateInput<'i> {
    pub(super) sources: &'i SourceFiles,
    /// Files that may be templates.
    pub(super) candidates: &'i [String],
    pub(super) paths: &'i [String],
}

/// The templates of a language by path.
pub(super) type TemplatesByPath<T> = BTreeMap<String, Arc<T>>;

/// The values of parameters by name.
pub(super) type ParameterValues = BTreeMap<Arc<str>, HclValue>;

/// Options for reading documents.
#[derive(Clone, Default)]
pub struct TemplateOptions {
    /// What-if overrides.
    pub adjust: Option<Arc<dyn FactOverrides>>,
}

/// The results of reading documents.
#[derive(Default)]
pub struct TemplateReading {
    pub inventory: Inventory,
    /// Comments for gpulint.
    pub comments: Vec<Span>,
    /// The blocks that resource definitions read, for writers.
    pub blocks: Vec<EvaluatedBlock>,
    /// The files that were read, so that no other language reads them.
    pub taken: BTreeSet<String>,
}
