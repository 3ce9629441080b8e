//! A wish → edits of the configuration that a resource was read from.

use crate::inventory::{Declined, Resource, Wish};
use crate::source::{Edit, Sources};

use super::{Block, Root};

/// Writes facts where the rows of `resources.toml` read them.
pub struct Writer<'a> {
    _sources: &'a Sources,
    _blocks: &'a [Block],
    _roots: &'a [Root],
}

impl<'a> Writer<'a> {
    pub fn new(sources: &'a Sources, blocks: &'a [Block], roots: &'a [Root]) -> Self {
        Writer { _sources: sources, _blocks: blocks, _roots: roots }
    }

    /// What to change in the text so that the resource says what is wished; nothing where it says so already.
    pub fn write(&self, _resource: &Resource, _wish: &Wish) -> Result<Vec<Edit>, Declined> {
        Err(Declined::Inexpressible("configuration is not written yet".to_owned()))
    }
}
