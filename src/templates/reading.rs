//! Defines options and results of reading documents.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::inventory::{FactOverrides, Inventory};
use crate::source::Span;
use crate::terraform::EvaluatedBlock;

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
