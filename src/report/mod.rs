//! Results → bytes, one file per format.
//!
//! Each format owns the shape of what it writes; the types of other rooms are never serialized. Rounding happens here and
//! nowhere else, and so does the escaping of hostile text. Knows no file, no terminal and no clock.

mod alike;
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
mod judged;
mod junit;
mod markdown;
mod money;
mod notes;
mod outputs;
mod paths;
mod price;
mod room;
mod sarif;
mod saved;
mod scorecard;
mod suggestion;
mod suppressions;
mod text;
mod vocabulary;
mod ways;

pub use difference::{Difference, Gate, Head, Team, comment_on_change, difference, teams};
pub use escape::{harmless, one_line};
pub use explain::explain;
pub use fit::fit;
pub use format::Format;
pub use json::{inspect, print as json};
pub use junit::escaped as xml;
pub use money::usd;
pub use notes::{Note, notes};
pub use paths::Paths;
pub use price::{Prices, price};
pub use room::Room;
pub use saved::{Compared, Saved, State, saved};
pub use suggestion::{Suggestion, suggestion};
pub use suppressions::suppressions;
pub use vocabulary::{rules, vocabulary};
pub use ways::ways;

use crate::decide::{Decided, Verdict};
use crate::diagnostic::Diagnostic;
use crate::inventory::{Inventory, Key, Origin, Resource, ResourceId};
use crate::pricing::{Bill, UnknownMachine};
use crate::rules::{Rules, Undetermined};
use crate::source::Sources;

/// The findings in a format.
pub fn render(format: Format, report: &Report, style: Style) -> String {
    if matches!(format, Format::Sarif | Format::Github | Format::Gitlab) {
        let report = Report { paths: report.hosted_paths, catalog: report.catalog.clone(), ..*report };
        return for_hosts(format, &report);
    }
    match format {
        Format::Text => text::check(report, style),
        Format::Concise => concise::check(report),
        Format::Json => json::check(report),
        Format::Markdown => markdown::check(report, Room::default()),
        Format::Junit => junit::check(report),
        Format::Csv => csv::check(report),
        Format::Outputs => outputs::check(report),
        Format::Sarif | Format::Github | Format::Gitlab => for_hosts(format, report),
    }
}

/// What a code host reads.
fn for_hosts(format: Format, report: &Report) -> String {
    match format {
        Format::Sarif => sarif::check(report),
        Format::Gitlab => gitlab::check(report),
        _ => github::check(report),
    }
}

/// The findings of one tree as a comment.
pub fn comment(report: &Report, room: Room) -> String {
    markdown::check(report, room)
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
    /// The same for what code hosts read: they know a file by its path in the repository.
    pub hosted_paths: &'a Paths,
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
    pub findings: &'a [Decided],
    pub rules: &'a Rules,
    pub undetermined: &'a [Undetermined],
    pub unknown_machines: &'a [UnknownMachine],
    pub verdict: Verdict,
    pub catalog: Catalog,
}

impl<'a> Report<'a> {
    pub fn resource(&self, id: Option<ResourceId>) -> Option<&'a Resource> {
        self.inventory.resources.get(id?.0)
    }

    /// Resources whose region is a setting and not in the text, and which setting.
    fn assumed(&self) -> impl Iterator<Item = (&'a Resource, &'a str)> {
        self.inventory.resources.iter().filter_map(|it| match it.fact(Key::Region).origin()? {
            Origin::Assumed(why) => Some((it, why.as_ref())),
            _ => None,
        })
    }
}

/// Which prices were used.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    pub version: String,
    /// Date of the newest row.
    pub as_of: String,
}
