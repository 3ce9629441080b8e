//! Turns findings into edits of files.
//!
//! A rule file requests changes of facts. The front end that read a resource knows how to write them, and is passed in
//! as a `Writer`. This module decides which changes are allowed: it edits no block that other resources share, and no
//! generated file. It uses no Terraform type, no Kubernetes kind and no file system.

mod apply;
mod generated_files;
mod plan;
mod pools;
mod reach;

pub use apply::{apply, compatible, of_rule, texts};
pub use plan::plan;

use std::sync::Arc;

use crate::inventory::{Declined, FactEdit, FactValue, Resource};
use crate::source::Edit;

/// Writes a requested change into the file of a resource.
pub trait FactWriter {
    /// Returns the edits; none if the file already has the value.
    fn write(&self, resource: &Resource, wish: &FactEdit) -> Result<Vec<Edit>, Declined>;

    /// Returns the edits that set several labels at once, because they may need a mapping that does not exist yet.
    fn label(&self, resource: &Resource, labels: &[(Arc<str>, FactValue)]) -> Result<Vec<Edit>, Declined>;
}
