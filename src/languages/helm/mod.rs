//! Charts → the text that `helm template` would print, without Helm: each part of it leads back to the line of a template
//! or of values that it came from.
//!
//! What cannot be known is a hole, and what cannot be rendered is told. Knows no kind of Kubernetes.

mod archive;
mod chart;
mod cluster;
mod ignored;
mod output;
mod render;
mod schema;
#[cfg(test)]
mod tests;
mod values;
mod world;

pub(crate) use chart::{Chart, files, load};
pub use cluster::Cluster;
pub(crate) use output::Document;
pub(crate) use render::{Release, Rendering, render};
