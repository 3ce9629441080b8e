//! Options that choose the format of a report, its file and its length.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::report::{EntryChoice, EntryDetail, Format, GroupBy, Most, ReportStyle, ReviewCommit, Sort};

/// Options that choose the format of a report and its file.
#[derive(Debug, Args)]
pub(in crate::cli) struct Output {
    /// Write the report in this format; repeatable, each followed by its --output
    #[arg(long = "format", short = 'f', value_name = "FORMAT")]
    pub(in crate::cli) formats: Vec<Format>,
    /// Write the preceding format to this file [default: standard output]
    #[arg(long = "output", short = 'o', value_name = "FILE")]
    pub(in crate::cli) outputs: Vec<PathBuf>,
    /// The position of each --format on the command line.
    #[arg(skip)]
    pub(in crate::cli) format_places: Vec<usize>,
    /// The position of each --output on the command line.
    #[arg(skip)]
    pub(in crate::cli) output_places: Vec<usize>,
    /// Set the title of an HTML page or a chat message, such as the name of the repository
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) title: Option<String>,
    /// Choose when to print colors
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub(in crate::cli) color: ColorChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ColorChoice {
    /// Only on a terminal, unless NO_COLOR is set
    Auto,
    /// In every output
    Always,
    /// In no output
    Never,
}

/// Options that choose the length and the order of a text report. Other formats ignore them.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct ViewArguments {
    /// Show only the first N entries [default: as many as fit on a screen]
    #[arg(long, value_name = "N", conflicts_with = "all", help_heading = "Text for people")]
    pub(in crate::cli) top: Option<usize>,
    /// Show all entries
    #[arg(long, help_heading = "Text for people")]
    pub(in crate::cli) all: bool,
    /// Sort the entries by this
    #[arg(long, value_parser = Sort::NAMES, default_value = Sort::NAMES[0], hide_default_value = true, help_heading = "Text for people")]
    pub(in crate::cli) sort: String,
    /// Group the entries by this, the group with the highest cost first
    #[arg(long, value_parser = GroupBy::NAMES, help_heading = "Text for people")]
    pub(in crate::cli) group_by: Option<String>,
    /// Show only totals, the number of findings, and the number of entries that were not evaluated
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Text for people")]
    pub(in crate::cli) quiet: bool,
    /// Show notes and all details of the totals, too
    #[arg(long, short, help_heading = "Text for people")]
    pub(in crate::cli) verbose: bool,
    /// Print no box-drawing characters, for screen readers
    #[arg(long, help_heading = "Text for people")]
    pub(in crate::cli) plain: bool,
}

impl ViewArguments {
    /// Returns `style` with these options applied.
    pub(in crate::cli) fn style(&self, style: ReportStyle) -> ReportStyle {
        let most = match (self.top, self.all) {
            (Some(top), _) => Most::Top(top),
            (None, true) => Most::All,
            (None, false) => style.choice.most,
        };
        let detail = match (self.quiet, self.verbose) {
            (true, _) => EntryDetail::Quiet,
            (_, true) => EntryDetail::Verbose,
            _ => EntryDetail::Usual,
        };
        let group = self.group_by.as_deref().and_then(GroupBy::named);
        ReportStyle {
            plain: self.plain || style.plain,
            choice: EntryChoice { sort: Sort::named(&self.sort), group, most, detail },
            ..style
        }
    }
}

/// Parses the address of a page that reports link.
pub(super) fn page_url(text: &str) -> Result<ReviewCommit, String> {
    ReviewCommit::new(text).ok_or_else(|| "expected https://HOST/PATH without spaces, brackets or quotes".to_owned())
}
