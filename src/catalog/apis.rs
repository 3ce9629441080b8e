//! Prices of models at public hosting services.

use super::Catalog;

/// The price of one model at one host, in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hosted<'c> {
    pub host: &'c str,
    pub input: f64,
    pub output: f64,
    pub as_of: &'c str,
    pub source: &'c str,
}

impl Catalog {
    /// Returns the hosts of a model and their prices, by the name that its publisher uses.
    pub fn hosted<'c>(&'c self, model: &str) -> Vec<Hosted<'c>> {
        let table = self.block.table("apis");
        let rows = table.range(&[model]).map(|row| table.row(row));
        let read = |mut row: super::table::Cells<'c>| {
            row.text();
            let host = row.text();
            let (input, _cached, output, _batch) = (row.number(), row.number(), row.number(), row.number());
            row.text();
            Some(Hosted { host, input: input?, output: output?, as_of: row.text(), source: row.text() })
        };
        rows.filter_map(read).collect()
    }
}
