//! Contains the languages of other programs. Each module parses text to trees with places, and evaluates or renders
//! them.
//!
//! None of them uses an accelerator, a resource or a price. The head of each names the program that it follows, its
//! tests, what it refuses, and why no crate does this.

pub(crate) mod azure;
pub(crate) mod cel;
pub(crate) mod cloudformation;
pub(crate) mod document;
pub(crate) mod go;
pub(crate) mod gotemplate;
pub(crate) mod hcl;
pub(crate) mod helm;
pub(crate) mod kustomize;
pub(crate) mod pipeline;
pub(crate) mod pulumi;
pub(crate) mod shell;
pub(crate) mod table;
pub(crate) mod yaml;
