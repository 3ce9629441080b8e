//! Parses manifests: selects files, reads templates with their expressions, and reads YAML in scalars.

pub(super) mod expression;
pub(super) mod file;
pub(super) mod filter;
pub(super) mod nested;
mod normalized;
pub(super) mod parsed_once;
pub(super) mod template;
pub(super) mod template_mask;
pub(super) mod trail;
