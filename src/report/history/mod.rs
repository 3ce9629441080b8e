//! Writes the cost of a tree over its commits, and the commits that added it, in the formats of `gpulint history` and
//! `blame`.

mod csv;
pub(in crate::report) mod html;
mod json;
mod moment;
mod sparkline;
mod text;

/// The texts for commits and steps.
pub(in crate::report) mod words {
    pub(in crate::report) use super::text::{author, change_money, did, moved, step_money, subject};
}

use crate::report::views::history::{Blame, blame};
use crate::report::{CostHistory, Format, Holding, ReportStyle};
use crate::source::is_below;

/// Returns the cost over the commits in a format; `None` if the format belongs to another subcommand.
pub fn history(format: Format, history: &CostHistory, style: ReportStyle) -> Option<String> {
    match format {
        Format::Text => Some(text::history(history, style)),
        Format::Json => Some(json::history(history)),
        Format::Csv => Some(csv::history(history)),
        Format::Html => Some(html::history(history)),
        _ => None,
    }
}

/// The resources to show.
#[derive(Debug, Clone, Copy)]
pub enum Blamed<'a> {
    All,
    Address(&'a str),
    /// Shows only resources in a file or below a directory, by the path that reports show.
    Below(&'a str),
}

impl Blamed<'_> {
    pub fn covers(&self, it: &Holding) -> bool {
        match self {
            Blamed::All => true,
            Blamed::Address(address) => {
                let rest = it.address.strip_prefix(address);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '/', '.']))
            }
            Blamed::Below(path) => it.path == *path || is_below(&it.path, path),
        }
    }
}

/// Returns the blame of today's cost in a format.
pub fn blamed(format: Format, history: &CostHistory, wanted: Blamed<'_>, style: ReportStyle) -> Option<String> {
    let told: Vec<Blame<'_>> = blame(history).into_iter().filter(|it| wanted.covers(it.holding)).collect();
    match format {
        Format::Text => Some(text::blame(history, &told, style)),
        Format::Json => Some(json::blame(history, &told)),
        Format::Csv => Some(csv::blame(&told)),
        _ => None,
    }
}
