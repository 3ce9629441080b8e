//! Bicep: text → what it declares, the same as a template.
//!
//! Statements that declare nothing that is deployed (types, metadata, targets) are read over. What does not parse is left
//! out with a message, and reading goes on at the next statement.

mod cursor;
mod expressions;
mod statements;
mod strings;

use crate::diagnostic::Diagnostic;
use crate::languages::hcl::value::Value;
use crate::source::{FileId, Span};

use super::model::AzureTemplate;
use cursor::Cursor;

/// A file of Bicep, or of values for its parameters.
pub(super) struct BicepFile {
    pub(super) template: AzureTemplate,
    /// Whose parameters it gives values to.
    pub(super) using: Option<Value>,
    pub(super) comments: Vec<Span>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

pub(super) fn read(file: FileId, text: &str) -> BicepFile {
    let mut cursor = Cursor::new(file, text);
    let (template, using) = cursor.file();
    BicepFile { template, using, comments: cursor.comments, diagnostics: cursor.diagnostics }
}

impl AzureTemplate {
    /// What a file of Bicep declares, its comments, and what of it does not parse.
    pub(crate) fn of_bicep(file: FileId, text: &str) -> (Self, Vec<Span>, Vec<Diagnostic>) {
        let BicepFile { template, comments, diagnostics, .. } = read(file, text);
        (template, comments, diagnostics)
    }
}
