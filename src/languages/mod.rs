//! Other people's languages, each a leaf that follows a program of theirs: text with places in, trees, values and text with
//! places out.
//!
//! None of them knows an accelerator, a resource or a price. Each says on its first page which program it follows, who
//! judges it, what it refuses, and why it is not a crate.

pub(crate) mod azure;
pub(crate) mod cel;
pub(crate) mod cloudformation;
pub(crate) mod document;
pub(crate) mod go;
pub(crate) mod gotemplate;
pub(crate) mod hcl;
pub(crate) mod helm;
pub(crate) mod kustomize;
pub(crate) mod pulumi;
pub(crate) mod shell;
pub(crate) mod table;
pub(crate) mod yaml;
