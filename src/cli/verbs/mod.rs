//! The verbs: a file each, from its arguments to an exit code.

pub(super) mod add_ignore;
pub(super) mod baseline;
pub(super) mod blame;
pub(super) mod blocks;
pub(super) mod catalog;
pub(super) mod check;
pub(super) mod comment;
pub(super) mod completions;
pub(super) mod config;
pub(super) mod cost;
pub(super) mod diff;
pub(super) mod explain;
pub(super) mod facts;
pub(super) mod files;
pub(super) mod fit;
pub(super) mod fix;
pub(super) mod history;
pub(super) mod init;
pub(super) mod inspect;
pub(super) mod manual;
pub(super) mod price;
pub(super) mod render;
pub(super) mod report;
pub(super) mod rules;
pub(super) mod suppressions;
pub(super) mod template;
