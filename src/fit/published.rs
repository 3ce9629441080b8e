//! Finds published measurements of the same server.

use crate::catalog::{Catalog, Published};

use super::speed::SpeedRange;

/// The requested server, in the terms of the table of measurements.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    pub engine: &'q str,
    pub model: &'q str,
    pub accelerator: &'q str,
    pub accelerators: f64,
    pub tensor_parallel: Option<f64>,
    pub precision: &'q str,
    pub input_tokens: f64,
    pub output_tokens: f64,
    pub concurrency: Option<f64>,
    pub scenario: &'q str,
    /// The source whose measurements are excluded.
    pub not_by: &'q str,
}

/// A measurement that matches.
#[derive(Debug, Clone, Copy)]
pub struct Quotation<'c> {
    pub row: Published<'c>,
}

/// The factor between two measurements of nearly the same setup. They differ by 25% to 50%, more with older software.
const SPREAD: f64 = 1.5;
/// The factor below which lengths and loads count as the same.
const NEAR: f64 = 1.25;

impl Quotation<'_> {
    pub fn range(&self) -> SpeedRange {
        let expected = self.row.tokens_per_second;
        SpeedRange { floor: expected / SPREAD, expected, ceiling: expected * SPREAD }
    }

    /// Returns the citation of the measurement.
    pub fn format_quotation(&self) -> String {
        let row = &self.row;
        let version = if row.engine_version.is_empty() { "" } else { " " };
        format!(
            "measured by {} ({}, {}) with {}{version}{}, {} input and {} output tokens; other measurements differ by a factor of up to {SPREAD}",
            row.publisher,
            row.source,
            row.measured,
            row.engine,
            row.engine_version,
            row.input_tokens,
            row.output_tokens
        )
    }
}

/// Returns the closest published measurement that matches in all decisive values.
pub fn matching<'c>(question: &Question<'_>, catalog: &'c Catalog) -> Option<Quotation<'c>> {
    // An unset value does not match a set one.
    if question.precision.is_empty() || question.accelerators <= 0.0 {
        return None;
    }
    let accelerator = catalog.peak(question.accelerator)?.accelerator;
    let rows = catalog.published(accelerator, question.accelerators).filter(|row| matches(question, row));
    let distance = |row: &Published<'_>| {
        let lengths = apart(question.input_tokens, row.input_tokens) * apart(question.output_tokens, row.output_tokens);
        let loads = question.concurrency.zip(row.concurrency).map_or(1.0, |(one, two)| apart(one, two));
        lengths * loads
    };
    let nearest = rows.min_by(|one, two| distance(one).total_cmp(&distance(two)))?;
    Some(Quotation { row: nearest })
}

fn matches(question: &Question<'_>, row: &Published<'_>) -> bool {
    let near = |one: f64, two: f64| apart(one, two) <= NEAR;
    let same_load = match (question.concurrency, row.concurrency) {
        (Some(one), Some(two)) => near(one, two),
        (one, two) => one.is_none() && two.is_none(),
    };
    row.publisher != question.not_by
        && same(question.engine, row.engine)
        && same(question.precision, row.precision)
        && question.scenario == row.scenario
        && same_load
        && question.tensor_parallel.zip(row.tensor_parallel).is_none_or(|(one, two)| one == two)
        && near(question.input_tokens, row.input_tokens)
        && near(question.output_tokens, row.output_tokens)
        && same_model(question.model, row.model)
}

/// Returns the ratio of the larger number to the smaller.
fn apart(one: f64, two: f64) -> f64 {
    (one / two).max(two / one)
}

fn same(one: &str, two: &str) -> bool {
    letters(one).eq(letters(two))
}

/// Compares model names. Only the publisher's name can be omitted.
fn same_model(one: &str, two: &str) -> bool {
    let last = |name: &'_ str| name.rsplit('/').next().unwrap_or_default().to_owned();
    same(&last(one), &last(two))
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase())
}
