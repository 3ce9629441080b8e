//! Results → bytes, one file per format.
//!
//! Each format owns the shape of what it writes; the types of other rooms are never serialized. Rounding happens here and
//! nowhere else, and so does the escaping of hostile text. Knows no file, no terminal and no clock.

mod concise;
mod csv;
mod difference;
mod escape;
mod explain;
mod fit;
mod format;
mod github;
mod gitlab;
mod json;
mod junit;
mod markdown;
mod money;
mod outputs;
mod paths;
mod price;
mod sarif;
mod suppressions;
mod text;
mod vocabulary;
mod ways;

pub use difference::{Difference, Head, Verdict, difference};
pub use escape::one_line;
pub use explain::explain;
pub use fit::fit;
pub use format::Format;
pub use json::inspect;
pub use junit::escaped as xml;
pub use paths::Paths;
pub use price::{Prices, price};
pub use suppressions::suppressions;
pub use vocabulary::{rules, vocabulary};
pub use ways::ways;

use crate::decide::Decided;
use crate::diagnostic::Diagnostic;
use crate::inventory::{Inventory, Resource, ResourceId};
use crate::pricing::{Bill, UnknownMachine};
use crate::rules::{Rules, Undetermined};
use crate::source::Sources;

/// The findings in a format.
pub fn render(format: Format, report: &Report, style: Style) -> String {
    match format {
        Format::Text => text::check(report, style),
        Format::Concise => concise::check(report),
        Format::Json => json::check(report),
        Format::Sarif => sarif::check(report),
        Format::Github => github::check(report),
        Format::Markdown => markdown::check(report),
        Format::Gitlab => gitlab::check(report),
        Format::Junit => junit::check(report),
        Format::Csv => csv::check(report),
        Format::Outputs => outputs::check(report),
    }
}

/// The bill in a format; `None` where the format is one of findings.
pub fn cost(format: Format, report: &Report) -> Option<String> {
    match format {
        Format::Text => Some(text::cost(report)),
        Format::Json => Some(json::cost(report)),
        Format::Csv => Some(csv::cost(report)),
        _ => None,
    }
}

/// What is wrong with the input or the configuration, for people.
pub fn diagnostics(sources: &Sources, paths: &Paths, all: &[Diagnostic], style: Style) -> String {
    text::diagnostics(sources, paths, all, style)
}

/// How text for people may look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    pub color: bool,
}

/// Everything that a report may tell.
pub struct Report<'a> {
    pub sources: &'a Sources,
    pub paths: &'a Paths,
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
    pub findings: &'a [Decided],
    pub rules: &'a Rules,
    pub undetermined: &'a [Undetermined],
    pub unknown_machines: &'a [UnknownMachine],
    pub catalog: Catalog,
}

impl<'a> Report<'a> {
    pub fn resource(&self, id: Option<ResourceId>) -> Option<&'a Resource> {
        self.inventory.resources.get(id?.0)
    }
}

/// Which prices were used.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    pub version: String,
    /// Date of the newest row.
    pub as_of: String,
}
