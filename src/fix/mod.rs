//! Finding → text edits.
//!
//! A page wishes that facts were another way; the front end that read a resource knows how that is written, and is handed
//! in as a `Writer`. This room decides which wishes may be written at all: nothing that other resources share, nothing
//! that is no text of an author. It knows no Terraform type, no Kubernetes kind and no file system.

mod apply;
mod made;
mod plan;
mod reach;

pub use apply::{apply, compatible, of_rule, texts};
pub use plan::plan;

use std::sync::Arc;

use crate::inventory::{Declined, Resource, Value, Wish};
use crate::source::Edit;

/// Writes a wish into the text that a resource was read from.
pub trait Writer {
    /// What to change; nothing where the text says it already.
    fn write(&self, resource: &Resource, wish: &Wish) -> Result<Vec<Edit>, Declined>;

    /// The same for several labels at once: they may stand in a mapping that is not there yet.
    fn label(&self, resource: &Resource, labels: &[(Arc<str>, Value)]) -> Result<Vec<Edit>, Declined>;
}
