//! Defines options and results of reading documents.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::inventory::{Adjust, Inventory};
use crate::source::Span;
use crate::terraform::Block;

/// Options for reading documents.
#[derive(Clone, Default)]
pub struct TemplateOptions {
    /// What-if overrides.
    pub adjust: Option<Arc<dyn Adjust>>,
}

/// The results of reading documents.
#[derive(Default)]
pub struct TemplateReading {
    pub inventory: Inventory,
    /// Comments for gpulint.
    pub comments: Vec<Span>,
    /// The blocks that resource definitions read, for writers.
    pub blocks: Vec<Block>,
    /// The files that were read, so that no other language reads them.
    pub taken: BTreeSet<String>,
}
