//! Text of manifests → trees: which files are read, templates, expressions inside them, and YAML inside of scalars.

pub(super) mod amount;
pub(super) mod expression;
pub(super) mod files;
pub(super) mod filter;
pub(super) mod nested;
pub(super) mod quantity;
pub(super) mod template;
pub(super) mod template_mask;
mod veil;
