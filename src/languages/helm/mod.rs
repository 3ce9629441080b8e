//! Charts → the text that `helm template` would print, without Helm: each part of it leads back to the line of a template
//! or of values that it came from.
//!
//! Follows Helm 3: values in layers and those of charts inside charts, conditions and tags of dependencies, `.helmignore`,
//! `values.schema.json`, libraries, hooks, archives in `charts/`, and the interfaces that a cluster of a given version has.
//! Knows no kind of Kubernetes.
//!
//! Refused: a chart that Helm would not install, in Helm's words as far as they matter. What cannot be known is a hole; what
//! is not at hand, because it would have to be fetched, is told. An archive is unpacked in memory, as far as its limits go.
//!
//! Judged by helm: on charts of checkouts, where the documents of both must be equal as YAML (`tests/corpus/charts.py`), and
//! in `tests/rendering`, where helm is installed.
//!
//! No crate does it: what there is starts Helm as a program, which needs it installed, runs what a repository says, and
//! prints text that leads back to no line.

mod archive;
mod chart;
mod cluster;
mod idle;
mod ignored;
mod output;
mod render;
mod schema;
#[cfg(test)]
mod tests;
mod values;
mod world;

pub(crate) use chart::{Chart, MissingChart, files, load};
pub use cluster::Cluster;
pub(crate) use idle::{IDLE_KINDS, makes_only};
pub(crate) use output::ChartDocument;
pub(crate) use render::{Release, Rendering, render};
