//! Provides the text of files, and places in it.
//!
//! A `Span` is a file and a byte range; line and column are computed for output. Text that was derived from other text
//! (YAML inside a Terraform string, a rendered template) is a derived file. Its spans lead to the place that an author
//! can edit. This module does not interpret any text.

mod asked;
mod base64;
mod comment;
mod csv;
mod date;
mod digest;
mod expression;
mod files;
mod go_lines;
mod go_pattern;
mod limits;
mod lines;
mod mixed_tree;
mod names;
mod needles;
mod pattern;
mod static_regex;
mod threads;
mod tree;
mod unified;

pub use asked::Differing;
pub(crate) use asked::{AskedOfTree, noting, uses};
pub use base64::{from_base64, to_base64};
pub use comment::{CommentMistake, Directive, EXAMPLE as DIRECTIVE_EXAMPLE, directive};
pub use csv::{csv_cell, csv_line, csv_quoted, csv_records};
pub use date::{Date, civil_from_days, days_from_civil, days_in_month, moment};
pub(crate) use digest::{blob_digest, sha1};
pub use digest::{sha256, sha512, to_hex};
pub use expression::AdaptiveRegex;
pub(crate) use files::StoredText;
pub use files::{Edit, FileId, FilePosition, Segment, SourceFiles, Span, decoded, from_utf16};
pub(crate) use go_lines::{GoLines, ParserText, broken, places as unusual_breaks};
pub(crate) use go_pattern::in_rust as go_pattern;
pub use limits::Limits;
pub use lines::{line_end, line_start, line_stop, lines_with_offsets, value_of};
pub use mixed_tree::MixedTree;
pub use names::{bytes_of, named};
pub use needles::Needles;
pub use pattern::matches;
pub(crate) use static_regex::{compiled, static_regex};
pub use threads::{drop_large, each, each_large, those};
pub(crate) use tree::has_mark;
pub use tree::{
    BESIDE, MemoryTree, ReadError, Tree, TreeEntry, around, demand_text, file_name, is_below, is_example, join,
    normalize, parent, real_path,
};
pub(crate) use unified::{LineHunk, changes, git_patch, unified};
