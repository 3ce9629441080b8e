//! Defines the list of report formats. A row holds everything that gpulint asks of a format.

use std::fmt;
use std::str::FromStr;

use super::difference::{self, Difference};
use super::formats::{concise, csv, focus, github, gitlab, json, junit, markdown, ndjson, outputs, rows, sarif, text};
use super::message::{ChatMessage, slack, teams};
use super::{CommentLimits, Report, ReportStyle, html};

/// The properties of a format, and the functions that write it.
pub struct FormatRow {
    pub name: &'static str,
    /// The purpose of the format, as help shows it.
    pub meaning: &'static str,
    /// Decides how the output becomes safe in the log of a pipeline.
    pub syntax: FormatSyntax,
    /// True if the format is mailed, uploaded or sent to a chat, so that gpulint removes tokens.
    pub leaves_machine: bool,
    /// True if paths start at the root of the repository, as code hosts need them.
    pub has_host_paths: bool,
    /// True if the bill has rows for resources only, so that it does not list files that were not evaluated.
    pub bills_resources_only: bool,
    /// Writes the findings.
    pub(super) check: Option<fn(&Report, ReportStyle) -> String>,
    /// Writes the bill.
    pub(super) cost: Option<fn(&Report, ReportStyle) -> String>,
    /// Writes a short message about findings, a comparison or a month. It replaces `check` and `change`.
    pub(super) chat: Option<fn(&ChatMessage) -> String>,
    pub(super) change: ShownChange,
}

/// The syntax of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatSyntax {
    Text,
    Csv,
    Markdown,
    Json,
    JsonLines,
    Xml,
    Html,
    /// Commands to the pipeline.
    Commands,
}

/// The content of a format that shows a change.
pub(super) enum ShownChange {
    /// The comparison of both states.
    Comparison(fn(&Difference, ReportStyle) -> String),
    /// The findings that the change adds or makes worse.
    AddedFindings,
    /// All findings, with a mark on those that existed before.
    AllFindings,
    /// Nothing: the format contains a whole state, and a change is not a state.
    Nothing,
}

impl FormatRow {
    const EMPTY: FormatRow = FormatRow {
        name: "",
        meaning: "",
        syntax: FormatSyntax::Text,
        leaves_machine: false,
        has_host_paths: false,
        bills_resources_only: false,
        check: None,
        cost: None,
        chat: None,
        change: ShownChange::AddedFindings,
    };

    /// Returns false if the format is only for bills.
    pub fn has_findings(&self) -> bool {
        self.check.is_some() || self.chat.is_some()
    }
}

macro_rules! formats {
    ($($(#[doc = $meaning:literal])+ $variant:ident $name:literal $syntax:ident { $($field:ident: $value:expr),+ $(,)? })+) => {
        /// The formats of a report; the only list of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format { $($(#[doc = $meaning])+ $variant),+ }

        impl Format {
            pub const ALL: &'static [Format] = &[$(Format::$variant),+];

            pub fn name(self) -> &'static str {
                self.row().name
            }

            pub fn row(self) -> &'static FormatRow {
                match self {
                    $(Format::$variant => {
                        static ROW: FormatRow = FormatRow {
                            name: $name,
                            meaning: concat!($($meaning),+).trim_ascii(),
                            syntax: FormatSyntax::$syntax,
                            $($field: $value,)+
                            ..FormatRow::EMPTY
                        };
                        &ROW
                    })+
                }
            }
        }
    };
}

formats! {
    /// For a terminal: each finding with its line, its price and what it saves.
    Text "text" Text {
        check: Some(text::check),
        cost: Some(text::cost),
        change: ShownChange::Comparison(difference::text::difference),
    }
    /// One line per finding.
    Concise "concise" Text { check: Some(|report, _| concise::check(report)) }
    /// The JSON contract; `schema/` describes it.
    Json "json" Json {
        check: Some(|report, _| json::check(report)),
        cost: Some(|report, _| json::cost(report)),
        change: ShownChange::Comparison(|it, _| difference::json::difference(it)),
    }
    /// SARIF 2.1.0, for code scanning.
    Sarif "sarif" Json {
        check: Some(|report, _| sarif::check(report)),
        has_host_paths: true,
        change: ShownChange::AllFindings,
    }
    /// Annotations of GitHub Actions.
    Github "github" Commands { check: Some(|report, _| github::check(report)), has_host_paths: true }
    /// The comment on a pull request.
    Markdown "markdown" Markdown {
        check: Some(|report, _| markdown::check(report, CommentLimits::default())),
        change: ShownChange::Comparison(|it, _| difference::markdown::difference(it, CommentLimits::default())),
    }
    /// GitLab's code quality report.
    Gitlab "gitlab" Json { check: Some(|report, _| gitlab::check(report)), has_host_paths: true }
    /// JUnit's XML.
    Junit "junit" Xml { check: Some(|report, _| junit::check(report)) }
    /// Rows for a spreadsheet.
    Csv "csv" Csv {
        check: Some(|report, _| csv::check(report)),
        cost: Some(|report, _| csv::cost(report)),
        bills_resources_only: true,
    }
    /// One web page with charts, tables and every finding.
    Html "html" Html {
        check: Some(|report, _| html::check(report)),
        cost: Some(|report, _| html::cost(report)),
        change: ShownChange::Comparison(|it, _| difference::html::difference(it)),
        leaves_machine: true,
    }
    /// A message for a Slack webhook.
    Slack "slack" Json { chat: Some(slack::message), leaves_machine: true }
    /// An adaptive card for a Teams webhook.
    Teams "teams" Json { chat: Some(teams::message), leaves_machine: true }
    /// Outputs of a workflow step.
    Outputs "outputs" Commands {
        check: Some(|report, _| outputs::check(report)),
        change: ShownChange::Comparison(|it, _| difference::outputs::difference(it)),
    }
    /// JSON lines for a database, with money in millionths of a dollar: resources, and for `check` also findings.
    Ndjson "ndjson" JsonLines {
        check: Some(|report, _| rows::check(report)),
        cost: Some(|report, _| ndjson::cost(report)),
        bills_resources_only: true,
        change: ShownChange::Nothing,
    }
    /// For `cost`: FOCUS 1.2 rows of the expected cost, never of billed cost.
    Focus "focus" Csv {
        cost: Some(|report, _| focus::cost(report)),
        bills_resources_only: true,
        change: ShownChange::Nothing,
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Format::ALL.iter().copied().find(|format| format.name() == name).ok_or_else(|| {
            let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
            format!("the formats are {}", names.join(", "))
        })
    }
}
