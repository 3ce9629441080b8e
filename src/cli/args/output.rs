//! Where the report goes, and how much of it people see.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::report::{Choice, Detail, Format, GroupBy, Head, Most, Sort, Style};

/// Where the report goes.
#[derive(Debug, Args)]
pub(in crate::cli) struct Output {
    /// The format of the report; may be given several times, each followed by its --output
    #[arg(long = "format", short = 'f', value_name = "FORMAT")]
    pub(in crate::cli) formats: Vec<Format>,
    /// The file for the format before it; standard output otherwise
    #[arg(long = "output", short = 'o', value_name = "FILE")]
    pub(in crate::cli) outputs: Vec<PathBuf>,
    /// Where each --format stands on the command line.
    #[arg(skip)]
    pub(in crate::cli) format_places: Vec<usize>,
    /// Where each --output stands on the command line.
    #[arg(skip)]
    pub(in crate::cli) output_places: Vec<usize>,
    /// What a page or a message is about, as its title: the name of the repository
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) title: Option<String>,
    /// Colors
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(in crate::cli) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

/// How much of the report people see, and in which order. Only text depends on it.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct View {
    /// The first N only [default: what fits on a screen]
    #[arg(long, value_name = "N", conflicts_with = "all", help_heading = "Text for people")]
    pub(in crate::cli) top: Option<usize>,
    /// Everything
    #[arg(long, help_heading = "Text for people")]
    pub(in crate::cli) all: bool,
    /// By what it is sorted
    #[arg(long, value_parser = Sort::NAMES, default_value = Sort::NAMES[0], hide_default_value = true, help_heading = "Text for people")]
    pub(in crate::cli) sort: String,
    /// In groups, those with the most money first
    #[arg(long, value_parser = GroupBy::NAMES, help_heading = "Text for people")]
    pub(in crate::cli) group_by: Option<String>,
    /// Only sums, the count of findings, and what was not judged
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Text for people")]
    pub(in crate::cli) quiet: bool,
    /// Also notes, and what stands behind the sums
    #[arg(long, short, help_heading = "Text for people")]
    pub(in crate::cli) verbose: bool,
    /// No drawing characters, for readers of screens
    #[arg(long, help_heading = "Text for people")]
    pub(in crate::cli) plain: bool,
}

impl View {
    /// What is chosen of it for text that is as it is otherwise.
    pub(in crate::cli) fn style(&self, style: Style) -> Style {
        let most = match (self.top, self.all) {
            (Some(top), _) => Most::Top(top),
            (None, true) => Most::All,
            (None, false) => style.choice.most,
        };
        let detail = match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (_, true) => Detail::Verbose,
            _ => Detail::Usual,
        };
        let group = self.group_by.as_deref().and_then(GroupBy::named);
        Style {
            plain: self.plain || style.plain,
            choice: Choice { sort: Sort::named(&self.sort), group, most, detail },
            ..style
        }
    }
}

/// The address of a page, as it stands in a link.
pub(super) fn page_url(text: &str) -> Result<Head, String> {
    Head::new(text).ok_or_else(|| "expected https://HOST/PATH without spaces, brackets and quotes".to_owned())
}
