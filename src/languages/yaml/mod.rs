//! YAML and JSON text → trees in which every key and value knows its place.
//!
//! What is said about a text is a diagnostic; what the text means is for those who read the trees.

mod alias_keys;
mod documents;
mod hole;
mod node;
mod reader;
pub(crate) mod scalar;

pub(crate) use documents::documents;
pub(crate) use hole::{HOLE, Hole, Masked, Meaning};
pub(crate) use node::{Data, Entry, Node};
pub(crate) use reader::{Document, Stream, read, read_at, read_masked, read_those, read_with_anchors, read_within};
