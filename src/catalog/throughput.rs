//! Data about the speed of servers: the peak speed of accelerators, the coefficients of the estimate, and
//! published measurements.

use super::Catalog;
use super::accelerator::Accelerator;
use super::table::Cells;

/// The peak values of an accelerator, from its vendor's data sheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak<'c> {
    pub accelerator: &'c str,
    pub vendor: &'c str,
    pub memory_gb: f64,
    pub gb_per_second: f64,
    pub bf16_tflops: f64,
    pub fp8_tflops: Option<f64>,
    pub int8_tops: Option<f64>,
    pub fp4_tflops: Option<f64>,
    /// The approximate bandwidth to neighboring devices: one value for the bus, and one for direct links.
    pub link_gb_per_second: f64,
}

/// A published measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published<'c> {
    pub accelerator: &'c str,
    pub accelerators: f64,
    /// The publisher: a short name for a website or a repository.
    pub publisher: &'c str,
    pub engine: &'c str,
    pub engine_version: &'c str,
    pub model: &'c str,
    pub tensor_parallel: Option<f64>,
    pub precision: &'c str,
    pub input_tokens: f64,
    pub output_tokens: f64,
    pub concurrency: Option<f64>,
    pub scenario: &'c str,
    pub tokens_per_second: f64,
    /// The date of the measurement, as far as the source contains it.
    pub measured: &'c str,
    pub source: &'c str,
}

/// The share of its peak that an accelerator reached in training, for dense models and tuned recipes. It counts six
/// operations per weight and token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingShare<'c> {
    /// The share that 10% of the measurements did not reach.
    pub least: f64,
    pub middle: f64,
    /// The share that 10% of the measurements exceeded.
    pub most: f64,
    pub rows: f64,
    pub sources: f64,
    /// The lowest and the highest number of accelerators in the measurements.
    pub accelerators: (f64, f64),
    pub as_of: &'c str,
    pub source: &'c str,
}

impl Catalog {
    /// Returns the measured training share of an accelerator in a precision, `bf16` or `fp8`.
    pub fn training_share(&self, accelerator: &str, precision: &str) -> Option<TrainingShare<'_>> {
        let name = self.accelerator(accelerator).map_or(accelerator, |known| known.name);
        let mut row = self.block.table("training_shares").find(&[name, precision])?;
        let _keys = (row.text(), row.text());
        Some(TrainingShare {
            least: row.number()?,
            middle: row.number()?,
            most: row.number()?,
            rows: row.number()?,
            sources: row.number()?,
            accelerators: (row.number()?, row.number()?),
            as_of: row.text(),
            source: row.text(),
        })
    }

    /// Returns the peak values of an accelerator, by any of its names.
    pub fn peak(&self, name: &str) -> Option<Peak<'_>> {
        let table = self.block.table("throughput_peaks");
        let find = |name: &str| table.find(&[name]).and_then(read_peak);
        let known = || self.accelerator(name);
        find(name).or_else(|| find(known()?.name)).or_else(|| of_sheet(known()?))
    }

    /// Returns a coefficient of the throughput estimate.
    pub fn throughput(&self, term: &str, class: &str) -> Option<f64> {
        let mut row = self.block.table("throughput").find(&[term, class])?;
        row.text();
        row.text();
        row.number()
    }

    /// Returns the measurements with this number of accelerators of a kind.
    pub fn published<'c>(&'c self, accelerator: &'c str, count: f64) -> impl Iterator<Item = Published<'c>> {
        self.block.table("measured_throughput").rows().filter_map(move |mut row| {
            let same = row.text() == accelerator && row.number() == Some(count);
            same.then(|| read_published(row, accelerator, count))?
        })
    }
}

/// Derives the peak values of an accelerator without an entry of its own from the table of accelerators.
fn of_sheet(known: Accelerator<'_>) -> Option<Peak<'_>> {
    const BUS: f64 = 25.0;
    const LINK: f64 = 300.0;
    Some(Peak {
        accelerator: known.name,
        vendor: known.vendor,
        memory_gb: known.memory_gib,
        gb_per_second: known.bandwidth_gb_per_second?,
        bf16_tflops: known.bf16_tflops?,
        fp8_tflops: known.fp8_tflops,
        int8_tops: None,
        fp4_tflops: None,
        link_gb_per_second: if known.interconnect_gb_per_second? > 0.0 { LINK } else { BUS },
    })
}

fn read_peak(mut row: Cells<'_>) -> Option<Peak<'_>> {
    Some(Peak {
        accelerator: row.text(),
        vendor: row.text(),
        memory_gb: row.number()?,
        gb_per_second: row.number()?,
        bf16_tflops: row.number()?,
        fp8_tflops: row.number(),
        int8_tops: row.number(),
        fp4_tflops: row.number(),
        link_gb_per_second: row.number()?,
    })
}

fn read_published<'c>(mut row: Cells<'c>, accelerator: &'c str, accelerators: f64) -> Option<Published<'c>> {
    Some(Published {
        accelerator,
        accelerators,
        publisher: row.text(),
        engine: row.text(),
        engine_version: row.text(),
        model: row.text(),
        tensor_parallel: row.number(),
        precision: row.text(),
        input_tokens: row.number()?,
        output_tokens: row.number()?,
        concurrency: row.number(),
        scenario: row.text(),
        tokens_per_second: row.number()?,
        measured: row.text(),
        source: {
            row.text();
            row.text()
        },
    })
}
