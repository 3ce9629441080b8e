//! Results → bytes, one file per format.
//!
//! Each format owns the shape of what it writes; the types of other rooms are never serialized. Rounding happens here and
//! nowhere else, and so does the escaping of hostile text. Knows no file, no terminal and no clock.

mod answers;
mod difference;
mod escape;
mod format;
mod formats;
mod saved;
mod views;

pub use crate::compare::{Spent, budgets};
pub use answers::explain::explain;
pub use answers::fit::fit;
pub use answers::notes::{Note, notes};
pub use answers::price::{Prices, price};
pub use answers::purchase_options::ways;
pub use answers::suppressions::suppressions;
pub use answers::vocabulary::{rules, vocabulary};
pub use difference::{Difference, Gate, Head, comment_on_change, difference};
pub use escape::{harmless, one_line, without_commands, without_marked};
pub use format::Format;
pub use formats::files::files;
pub use formats::json::{inspect, print as json};
pub use formats::junit::escaped as xml;
pub use saved::{Compared, Saved, State, saved};
pub use views::comment_limits::Room;
pub use views::entries::{Choice, Detail, GroupBy, Most, Sort};
pub use views::paths::Paths;
pub use views::suggestion::{Suggestion, suggestion};
pub use views::teams::{Team, teams};

use std::borrow::Cow;

use crate::catalog::Currency;
use crate::compare::Judged;
use crate::complete::UnknownMachine;
use crate::decide::{Decided, Verdict};
use crate::diagnostic::Diagnostic;
use crate::inventory::{Inventory, Key, Origin, Resource, ResourceId, Role, Run, RunKind};
use crate::pricing::{Bill, Period};
use crate::rules::{Rules, Total, Undetermined};
use crate::source::Sources;

/// Columns of a page.
const WIDTH: usize = 110;

/// The findings in a format.
pub fn render(format: Format, report: &Report, style: Style) -> String {
    if matches!(format, Format::Sarif | Format::Github | Format::Gitlab) {
        let report = Report { paths: report.hosted_paths, catalog: report.catalog.clone(), ..*report };
        return for_hosts(format, &report);
    }
    match format {
        Format::Text => formats::text::check(report, style),
        Format::Concise => formats::concise::check(report),
        Format::Json => formats::json::check(report),
        Format::Markdown => formats::markdown::check(report, Room::default()),
        Format::Junit => formats::junit::check(report),
        Format::Csv => formats::csv::check(report),
        Format::Outputs => formats::outputs::check(report),
        Format::Sarif | Format::Github | Format::Gitlab => for_hosts(format, report),
    }
}

/// What a code host reads.
fn for_hosts(format: Format, report: &Report) -> String {
    match format {
        Format::Sarif => formats::sarif::check(report),
        Format::Gitlab => formats::gitlab::check(report),
        _ => formats::github::check(report),
    }
}

/// The findings of one tree as a comment.
pub fn comment(report: &Report, room: Room) -> String {
    formats::markdown::check(report, room)
}

/// The bill in a format; `None` where the format is one of findings.
pub fn cost(format: Format, report: &Report, style: Style) -> Option<String> {
    match format {
        Format::Text => Some(formats::text::cost(report, style)),
        Format::Json => Some(formats::json::cost(report)),
        Format::Csv => Some(formats::csv::cost(report)),
        _ => None,
    }
}

/// What is wrong with the input or the configuration, for people.
pub fn diagnostics(sources: &Sources, paths: &Paths, all: &[Diagnostic], style: Style) -> String {
    formats::text::diagnostics(sources, paths, all, style)
}

/// How text for people may look, and how much of it there is.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    pub color: bool,
    /// For readers of screens: no drawing characters.
    pub plain: bool,
    /// Columns of a line.
    pub width: usize,
    pub choice: Choice,
}

/// A file has room for everything.
impl Default for Style {
    fn default() -> Self {
        Style { color: false, plain: false, width: WIDTH, choice: Choice::default() }
    }
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
    /// What rules about everything speak of one by one, such as budgets.
    pub totals: &'a [(String, Total)],
    pub unknown_machines: &'a [UnknownMachine],
    pub verdict: Verdict,
    pub catalog: Catalog,
    /// In which people read amounts.
    pub currency: Currency,
}

impl<'a> Report<'a> {
    /// What a comparison looks at.
    pub(crate) fn judged(&self) -> Judged<'a> {
        Judged {
            sources: self.sources,
            inventory: self.inventory,
            bill: self.bill,
            findings: self.findings,
            undetermined: self.undetermined,
            totals: self.totals,
        }
    }

    pub fn resource(&self, id: Option<ResourceId>) -> Option<&'a Resource> {
        self.inventory.resources.get(id?.0)
    }

    /// What people call a run, as seen from the running directory.
    fn name_of(&self, run: &Run) -> String {
        let folder = self.paths.show_directory(&run.folder);
        match (&run.given_name, &run.variant) {
            (Some(name), _) => name.to_string(),
            (None, Some(variant)) => format!("{folder} ({variant})"),
            (None, None) => folder,
        }
    }

    /// The address of a resource, with the overlay that makes it: others may make one of the same name.
    fn called(&self, resource: &'a Resource) -> Cow<'a, str> {
        let run = resource.run.as_ref().and_then(|run| self.inventory.run(run));
        let is_one_of_several = |run: &&Run| match run.kind {
            RunKind::Kustomization => !run.uses.is_empty(),
            RunKind::Chart => run.variant.is_some(),
            _ => false,
        };
        match run.filter(is_one_of_several) {
            Some(run) => Cow::Owned(format!("{} ({})", resource.address, self.name_of(run))),
            None => Cow::Borrowed(&resource.address),
        }
    }

    /// Some of what such a sum counts is estimated.
    fn is_estimated(&self, role: Role, per: Period) -> bool {
        let items = self.inventory.resources.iter().zip(&self.bill.items);
        items.into_iter().any(|(it, item)| it.is_added() && it.role == role && item.per == per && item.is_estimated())
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
