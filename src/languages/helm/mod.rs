//! Renders charts without Helm to the output of `helm template`. Each part of the output leads to its line in a
//! template or in values.
//!
//! Follows Helm 3: layers of values, subcharts and their values, conditions and tags of dependencies, `.helmignore`,
//! `values.schema.json`, library charts, hooks, archives in `charts/`, and the API versions of a cluster. It knows no
//! Kubernetes kind.
//!
//! It refuses charts that Helm would not install, with Helm's essential messages. An unknown value becomes a hole. A
//! dependency that Helm would download is reported as missing. An archive is unpacked in memory within limits.
//!
//! Tested against helm: on charts of checkouts, where both outputs must be equal as YAML (`tests/corpus/charts.py`),
//! and in `tests/rendering` if helm is installed.
//!
//! No crate does this: existing ones start Helm as a program. Helm must be installed, runs what a repository contains,
//! and prints text without places.

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
