//! Defines the list of report formats.

use std::fmt;
use std::str::FromStr;

macro_rules! formats {
    ($($(#[doc = $meaning:literal])+ $variant:ident $name:literal;)+) => {
        /// The formats of a report; the only list of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format { $($(#[doc = $meaning])+ $variant),+ }

        impl Format {
            pub const ALL: &'static [Format] = &[$(Format::$variant),+];

            pub fn name(self) -> &'static str {
                match self { $(Format::$variant => $name),+ }
            }

            /// Returns what the format is for, as help shows it.
            pub fn meaning(self) -> &'static str {
                match self { $(Format::$variant => concat!($($meaning),+).trim_ascii()),+ }
            }
        }
    };
}

formats! {
    /// For a terminal: each finding with its line, its price and what it saves.
    Text "text";
    /// One line per finding.
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
    /// One web page with charts, tables and every finding.
    Html "html";
    /// A message for a Slack webhook.
    Slack "slack";
    /// An adaptive card for a Teams webhook.
    Teams "teams";
    /// Outputs of a workflow step.
    Outputs "outputs";
    /// JSON lines for a database, with money in millionths of a dollar: resources, and for `check` also findings.
    Ndjson "ndjson";
    /// For `cost`: FOCUS 1.2 rows of the expected cost, never of billed cost.
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
