//! What-if overrides: values to use instead of those in the files.

use std::fmt::Debug;

use super::{Resource, RunId};

/// Front ends call this for each resource after they read it, and before they resolve how resources affect each other.
/// An example of such an effect is the use of a reservation.
pub trait FactOverrides: Debug + Send + Sync {
    /// Returns the resource with its overrides: several or none if the override changes the number.
    fn adjust(&self, resource: Resource, run: Option<&RunId>) -> Vec<Resource>;
}
