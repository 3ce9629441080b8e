//! Assumptions about cold starts and checkpoints, and the sizes of container images.

use super::Catalog;
use super::table::covers;

/// An assumed number, from its minimum to its maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssumedNumber<'c> {
    pub floor: f64,
    pub expected: f64,
    pub ceiling: f64,
    pub unit: &'c str,
    pub as_of: &'c str,
    pub source: &'c str,
}

impl Catalog {
    /// Returns an assumption by its name, such as `image-pull`.
    pub fn startup(&self, term: &str) -> Option<AssumedNumber<'_>> {
        let mut row = self.block.table("startup").find(&[term])?;
        row.text();
        let (floor, expected, ceiling) = (row.number()?, row.number()?, row.number()?);
        Some(AssumedNumber { floor, expected, ceiling, unit: row.text(), as_of: row.text(), source: row.text() })
    }

    /// Returns the compressed size of a container image in GiB.
    pub fn image_size(&self, image: &str) -> Option<AssumedNumber<'_>> {
        self.block.table("images").rows().find_map(|mut row| {
            let is_of_image = covers(row.text(), image);
            let (floor, expected, ceiling) = (row.number()?, row.number()?, row.number()?);
            let (as_of, source) = (row.text(), row.text());
            is_of_image.then_some(AssumedNumber { floor, expected, ceiling, unit: "GiB", as_of, source })
        })
    }
}
