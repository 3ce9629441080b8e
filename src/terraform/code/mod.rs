//! Reads and parses directories of Terraform files once for all callers, and finds the code of each module call.

pub(super) mod clouds;
pub(super) mod library;
pub(super) mod module;
pub(super) mod modules;
pub(super) mod outline;
pub(super) mod shared;
mod variable_file;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::languages::hcl::syntax::SyntaxError;

const TEMPLATE: &str = "another program fills in this template, which contains `{{`, `{%` or `<%`: \
                        give gpulint the file that it generates";

/// Returns the diagnostic for a file that Terraform would refuse.
fn refused(error: &SyntaxError, text: &str) -> Diagnostic {
    match error.is_of_template(text) {
        true => Diagnostic::note(TEMPLATE, error.span).skipping(SkipKind::Template, TEMPLATE),
        false => Diagnostic::unreadable(error.message.clone(), error.span),
    }
}
