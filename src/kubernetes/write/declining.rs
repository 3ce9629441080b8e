//! Declines edits, with a reason.

use crate::inventory::{Declined, Resource};

pub(super) type Result<T> = std::result::Result<T, Declined>;

pub(super) fn left_alone<T>(why: impl Into<String>) -> Result<T> {
    Err(Declined::LeftAlone(why.into()))
}

pub(super) fn inexpressible<T>(resource: &Resource, part: impl std::fmt::Display) -> Result<T> {
    Err(Declined::Inexpressible(format!("a {} has no field for {part}", resource.kind)))
}
