//! Defines what-if overrides: values to use instead of those in the files.

use std::fmt::Debug;

use super::{Resource, RunId};

/// Applies overrides. Front ends call it for each resource after they read it. Afterwards they resolve how resources
/// affect each other, for example through a reservation.
pub trait FactOverrides: Debug + Send + Sync {
    /// Returns the resource with its overrides. If an override changes the number, the result may be empty or contain
    /// several resources.
    fn adjust(&self, resource: Resource, run: Option<&RunId>) -> Vec<Resource>;
}
