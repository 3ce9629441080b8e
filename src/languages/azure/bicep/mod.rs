//! Parses Bicep to the same declarations as a template.
//!
//! Statements that deploy nothing (types, metadata, targets) are skipped. A statement with a syntax error is reported
//! and skipped, and parsing continues at the next statement.

mod cursor;
mod expressions;
mod statements;
mod strings;

use crate::diagnostic::Diagnostic;
use crate::languages::hcl::value::HclValue;
use crate::source::{FileId, Span};

use super::model::AzureTemplate;
use cursor::Cursor;

/// A Bicep file or a Bicep parameter file.
pub(super) struct BicepFile {
    pub(super) template: AzureTemplate,
    /// The template whose parameters the file sets.
    pub(super) using: Option<HclValue>,
    pub(super) comments: Vec<Span>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

pub(super) fn read(file: FileId, text: &str) -> BicepFile {
    let mut cursor = Cursor::new(file, text);
    let (template, using) = cursor.file();
    BicepFile { template, using, comments: cursor.comments, diagnostics: cursor.diagnostics }
}

impl AzureTemplate {
    /// Returns the declarations of a Bicep file, its comments, and its syntax errors.
    pub(crate) fn of_bicep(file: FileId, text: &str) -> (Self, Vec<Span>, Vec<Diagnostic>) {
        let BicepFile { template, comments, diagnostics, .. } = read(file, text);
        (template, comments, diagnostics)
    }
}
