//! Defines what the evaluator needs from its caller: a reader of evaluated roots.

use std::fmt::Debug;

use crate::source::Span;

use super::root::LoadedRoot;
use crate::terraform::code::module::ModuleCode;

/// An evaluated root for a reader.
pub(in crate::terraform) struct RootToRead<'r> {
    pub(in crate::terraform) directory: &'r str,
    /// The name that distinguishes this deployment from others of the root.
    pub(in crate::terraform) label: Option<&'r str>,
    pub(in crate::terraform) root: &'r LoadedRoot,
    pub(in crate::terraform) module: &'r ModuleCode,
}

/// Reads evaluated roots. The evaluator stores the contents and shares them between states of a tree, and knows nothing
/// else about them.
pub(in crate::terraform) trait RootReader: Sync {
    type Contents: Clone + Debug + Send;

    /// Returns the contents of a root.
    fn read(&self, root: &RootToRead<'_>) -> Self::Contents;

    /// Adds the contents that Terraform creates to those that OpenTofu creates, if both tools read different files of a
    /// root. Returns the place of the first difference that Terraform adds.
    fn add_differences(&self, own: &mut Self::Contents, terraform: Self::Contents) -> Option<Span>;

    /// Returns whether another state of the tree can reuse the contents.
    fn can_share(&self) -> bool;
}
