//! Defines one deployment of a root.

use std::sync::Arc;

use crate::source::Span;
use crate::terraform::border::CountedAs;

use super::passed::values::PassedValue;

/// One deployment of a root.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::terraform) struct RootVariant {
    /// The name that distinguishes it from other deployments of the root.
    pub(in crate::terraform) label: Option<String>,
    pub(in crate::terraform) given_name: Option<Arc<str>>,
    /// The variable files that Terraform does not load automatically, the highest precedence last.
    pub(in crate::terraform) files: Vec<String>,
    pub(in crate::terraform) variables: Vec<(String, String)>,
    pub(in crate::terraform) workspace: Option<String>,
    pub(in crate::terraform) modules_directory: Option<String>,
    pub(in crate::terraform) counted: CountedAs,
    /// The values that commands pass, and the files with these commands.
    pub(in crate::terraform) passed: Vec<PassedValue>,
    pub(in crate::terraform) callers: Vec<String>,
    /// A variable file that a command passes and that is not in the tree: the reason and its place.
    pub(in crate::terraform) missing: Option<(String, Span)>,
}
