//! Where a fix may write a fact of a template: in the place of a value that is written out.

use std::sync::Arc;

use crate::inventory::{Declined, Resource, Value, Wish};
use crate::source::{Edit, Sources};

pub fn write(_resource: &Resource, _wish: &Wish, _sources: &Sources) -> Result<Vec<Edit>, Declined> {
    Err(Declined::LeftAlone("templates are not edited yet".to_owned()))
}

pub fn label(_r: &Resource, _labels: &[(Arc<str>, Value)], _s: &Sources) -> Result<Vec<Edit>, Declined> {
    Err(Declined::LeftAlone("templates are not edited yet".to_owned()))
}
