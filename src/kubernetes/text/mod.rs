//! Text of manifests → trees: which files are read, templates, expressions inside them, and YAML inside of scalars.

pub(super) mod expression;
pub(super) mod file;
pub(super) mod filter;
pub(super) mod nested;
pub(super) mod template;
pub(super) mod template_mask;
pub(super) mod trail;
mod veil;
