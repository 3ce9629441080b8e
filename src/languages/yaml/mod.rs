//! Parses YAML and JSON to trees in which every key and value has its place, and writes values as YAML in the style of
//! other programs.
//!
//! Follows the behavior of Kubernetes tools: streams of documents, YAML 1.1 scalars of Go's library (`yes` is a
//! boolean, `010` is eight), merge keys, tags such as `!!binary`. JSON is parsed as YAML. Problems are diagnostics;
//! other modules interpret the trees.
//!
//! Templates that a program turns into YAML are parsed too: a directive is masked by a hole, and the tree marks it.
//!
//! It refuses aliases that exceed a budget of nodes, and nesting deeper than 128. A document with a syntax error is one
//! diagnostic, and the other documents stay.
//!
//! Tested against the output of helm and kustomize for the same text: `tests/charts`, `tests/overlays`, and on
//! checkouts `tests/corpus/charts.py` and `tests/corpus/kustomizations.py`.
//!
//! Events come from granit-parser, and the trees are gpulint's own. serde_yaml has no spans for values and is no longer
//! maintained, and other parsers refused 13 to 441 of 10,672 valid files.

mod alias_keys;
mod documents;
mod hole;
mod json;
mod node;
mod reader;
mod remembered;
pub(crate) mod scalar;
mod splice;
mod styles;
mod write;

pub(crate) use documents::documents;
pub(crate) use hole::{HOLE, HoleMeaning, Masked, TemplateDirective, unknown, unknown_mark};
pub(crate) use node::{Node, NodeData, NodeEntry};
pub(crate) use reader::{
    YamlDocument, YamlStream, read, read_at, read_json, read_masked, read_tagged, read_those, read_with_anchors,
    read_within,
};
pub(crate) use remembered::remember_documents;
pub(crate) use splice::{AddedPiece, EditedFile, without_members};
pub(crate) use styles::{TextStyle, Written, is_long_key, quoted};
pub(crate) use write::{BlockWriter, Members, MembersOf};
