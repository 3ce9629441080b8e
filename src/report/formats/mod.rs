//! One file or directory for each format.

pub(super) mod concise;
pub(super) mod csv;
pub(super) mod files;
pub(super) mod focus;
pub(super) mod github;
pub(super) mod gitlab;
pub(super) mod json;
pub(super) mod junit;
pub(super) mod markdown;
pub(super) mod ndjson;
pub(super) mod outputs;
pub(super) mod rows;
pub(super) mod sarif;
pub(super) mod text;
