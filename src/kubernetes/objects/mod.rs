//! Represents objects and their relations before their pods are read: names, owners, charts, versions.

pub(super) mod chart;
pub(super) mod index;
pub(super) mod layers;
pub(super) mod object;
pub(super) mod owners;
pub(super) mod raw;
