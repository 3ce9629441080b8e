//! Objects, and what they are to each other before anybody looks at their pods: names, owners, charts, versions.

pub(super) mod chart;
pub(super) mod index;
pub(super) mod layers;
pub(super) mod object;
pub(super) mod owners;
pub(super) mod raw;
