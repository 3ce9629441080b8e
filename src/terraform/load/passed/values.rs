//! Defines the values that a command passes to a root.

use crate::languages::pipeline::CallContext;
use crate::source::Span;

/// A value that a command passes to a variable.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::terraform) struct PassedValue {
    pub(in crate::terraform) name: String,
    /// The value, or the reason why it is unknown.
    pub(in crate::terraform) text: Result<String, String>,
    pub(in crate::terraform) at: Span,
    /// Whether it comes from the environment, which variable files override.
    pub(in crate::terraform) is_environment: bool,
}

/// A variable file as a command names it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::terraform) struct PassedFile {
    /// The path as written; an unknown part is a hole.
    pub(in crate::terraform::load) written: String,
    pub(in crate::terraform::load) at: Span,
}

/// A command that plans or applies a root.
#[derive(Debug, Clone)]
pub(in crate::terraform) struct PassedCall {
    /// The file that contains the command.
    pub(in crate::terraform::load) path: String,
    pub(in crate::terraform::load) context: CallContext,
    pub(in crate::terraform::load) folder: String,
    pub(in crate::terraform::load) files: Vec<PassedFile>,
    pub(in crate::terraform::load) values: Vec<PassedValue>,
    pub(in crate::terraform::load) workspace: Option<String>,
    /// Whether it applies the root and does not only plan it.
    pub(in crate::terraform::load) applies: bool,
}
