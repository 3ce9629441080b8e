//! The list of formats, and which of them can say what.

use std::fmt;
use std::str::FromStr;

macro_rules! formats {
    ($($(#[doc = $meaning:literal])+ $variant:ident $name:literal;)+) => {
        /// The formats of a report. This is the one list of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format { $($(#[doc = $meaning])+ $variant),+ }

        impl Format {
            pub const ALL: &'static [Format] = &[$(Format::$variant),+];

            pub fn name(self) -> &'static str {
                match self { $(Format::$variant => $name),+ }
            }

            /// What it is for.
            pub fn meaning(self) -> &'static str {
                match self { $(Format::$variant => concat!($($meaning),+).trim_ascii()),+ }
            }
        }
    };
}

formats! {
    /// For people at a terminal: each finding with its line, its price and what it saves.
    Text "text";
    /// One line a finding.
    Concise "concise";
    /// The JSON contract; `schema/` describes it.
    Json "json";
    /// SARIF 2.1.0, for code scanning.
    Sarif "sarif";
    /// Annotations of GitHub Actions.
    Github "github";
    /// The comment on a pull request.
    Markdown "markdown";
    /// GitLab's code quality report.
    Gitlab "gitlab";
    /// JUnit's XML.
    Junit "junit";
    /// Rows for a spreadsheet.
    Csv "csv";
    /// One page for people who would rather look: pictures, tables, every finding.
    Html "html";
    /// A message for a webhook of Slack.
    Slack "slack";
    /// An adaptive card for a webhook of Teams.
    Teams "teams";
    /// Outputs of a workflow step.
    Outputs "outputs";
    /// Rows for a database, one a line, money in millionths of a dollar: resources; of a check, findings as well.
    Ndjson "ndjson";
    /// Of the bill: rows of FOCUS 1.2 of what is expected, never of what was billed.
    Focus "focus";
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
