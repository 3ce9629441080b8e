//! What documents are read with, and what they say.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::inventory::{Adjust, Inventory};
use crate::source::Span;
use crate::terraform::Block;

/// What documents are read with.
#[derive(Clone, Default)]
pub struct TemplateOptions {
    /// What is to be taken for said instead of what the text says.
    pub adjust: Option<Arc<dyn Adjust>>,
}

/// What documents say.
#[derive(Default)]
pub struct TemplateReading {
    pub inventory: Inventory,
    /// Comments that speak to gpulint.
    pub comments: Vec<Span>,
    /// What the rows read, for those who write.
    pub blocks: Vec<Block>,
    /// The files that were read: no other language's, whatever they look like.
    pub taken: BTreeSet<String>,
}
