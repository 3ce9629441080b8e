//! A wish → edits of the manifest that a resource was read from.

use crate::inventory::{Declined, Inventory, Resource, Wish};
use crate::source::{Edit, Sources};

/// What to change in the text so that the resource says what is wished; nothing where it says so already.
pub fn write(
    _resource: &Resource,
    _wish: &Wish,
    _inventory: &Inventory,
    _sources: &Sources,
) -> Result<Vec<Edit>, Declined> {
    Err(Declined::Inexpressible("manifests are not written yet".to_owned()))
}
