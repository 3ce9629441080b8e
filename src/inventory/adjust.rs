//! What is to be taken for said of a resource instead of what the text says of it.

use std::fmt::Debug;

use super::{Resource, RunId};

/// Asked by readers of each resource once its own text is read, before they settle what resources do to each other: which
/// places of a reservation are used, say.
pub trait Adjust: Debug + Send + Sync {
    /// A resource of a run as it is to be; several, or none, where there is to be another number of them.
    fn adjust(&self, resource: Resource, run: Option<&RunId>) -> Vec<Resource>;
}
