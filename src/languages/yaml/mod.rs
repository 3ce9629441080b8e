//! YAML and JSON text → trees in which every key and value knows its place; and values → YAML, as programs write it.
//!
//! Follows what Kubernetes' tools read: documents as a stream, plain scalars as YAML 1.1 has them in Go's library (`yes` is a
//! boolean, `010` is eight), merge keys, tags such as `!!binary`. JSON is read as the YAML that it is. What is said about a
//! text is a diagnostic; what the text means is for those who read the trees.
//!
//! Text that a program would only make YAML of is read too: what a template fills in is masked by a hole, which is known to be
//! one in the tree.
//!
//! Refused: aliases that multiply beyond a budget of nodes, and what nests deeper than 128. A document that does not parse is
//! one diagnostic, and its neighbours stay.
//!
//! Judged by what helm and kustomize print of the same text: `tests/charts`, `tests/overlays`, and on checkouts
//! `tests/corpus/charts.py` and `tests/corpus/kustomizations.py`.
//!
//! Events come from granit-parser, trees are ours: serde_yaml has no spans for values and is no longer maintained, and other
//! parsers refused 13 to 441 of 10,672 valid files.

mod alias_keys;
mod documents;
mod hole;
mod json;
mod node;
mod reader;
pub(crate) mod scalar;
mod styles;
mod write;

pub(crate) use documents::documents;
pub(crate) use hole::{HOLE, Hole, HoleMeaning, Masked};
pub(crate) use node::{Node, NodeData, NodeEntry};
pub(crate) use reader::{
    Stream, YamlDocument, read, read_at, read_json, read_masked, read_tagged, read_those, read_with_anchors,
    read_within,
};
pub(crate) use styles::{TextStyle, Written, is_long_key, quoted};
pub(crate) use write::{BlockWriter, Members, MembersOf};
