//! Defines the examples of a rule file: code for which the rule must report a finding, none, or an unknown result.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Finding, format};

/// One example: the files of a small repository, and the expected output of the rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Example {
    /// Heading of the example, or the line at which it starts.
    pub title: String,
    /// The line in the rule file, from 1.
    pub line: usize,
    pub files: Vec<ExampleFile>,
    /// Files before the change, if the example has a change. `files` are those after it.
    pub before: Option<Vec<ExampleFile>>,
    /// Custom prices in the format of a price file.
    pub prices: Option<String>,
    /// A `gpulint.toml`.
    pub config: Option<String>,
    pub today: Option<String>,
    /// Rows of usage metrics, with their header.
    pub usage: Option<String>,
    /// Rows of billed cost, with their header.
    pub paid: Option<String>,
    pub expected: Vec<Expected>,
    /// The exact output of the rule.
    pub told: Option<ExpectedOutput>,
    /// The files after the rule's fixes.
    pub fixed: Vec<Fixed>,
}

/// A code block with a file after the rule's fixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The path of the file, if the example has several.
    pub path: Option<String>,
    pub text: String,
    /// The byte range in the rule file.
    pub at: Range<usize>,
}

/// A code block with the expected output of the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedOutput {
    pub text: String,
    /// The byte range in the rule file.
    pub at: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleFile {
    pub path: String,
    pub text: String,
    /// The number of the line before its first line in the rule file.
    pub line: usize,
}

/// The mark of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExampleMarker {
    Reported,
    Undetermined,
}

impl ExampleMarker {
    pub const ALL: [ExampleMarker; 2] = [ExampleMarker::Reported, ExampleMarker::Undetermined];

    pub fn name(self) -> &'static str {
        match self {
            ExampleMarker::Reported => "reported",
            ExampleMarker::Undetermined => "undetermined",
        }
    }
}

/// A line with its expected result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expected {
    pub path: String,
    pub line: usize,
    pub marker: ExampleMarker,
}

/// A difference between the expected and the actual results of an example.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExampleMismatch {
    pub at: Expected,
    /// True if an expected result is missing; false if a result is unexpected.
    pub is_missing: bool,
}

impl Example {
    /// Returns the same example with other contents for these files.
    pub fn with(&self, texts: &BTreeMap<String, String>) -> Example {
        let mut changed = self.clone();
        for file in &mut changed.files {
            if let Some(text) = texts.get(&file.path) {
                file.text.clone_from(text);
            }
        }
        changed
    }

    /// Returns each file that fixes change or that a code block expects changed, with that code block. A block without
    /// a path belongs to the first file that no other block names.
    pub fn fixes_of(&self, changed: &BTreeMap<String, String>) -> BTreeMap<String, Option<&Fixed>> {
        let named = |path: &str| self.fixed.iter().any(|it| it.path.as_deref() == Some(path));
        let unnamed = changed.keys().find(|path| !named(path)).or(self.files.first().map(|file| &file.path));
        let mut all: BTreeMap<String, Option<&Fixed>> = changed.keys().map(|path| (path.clone(), None)).collect();
        for fence in &self.fixed {
            if let Some(path) = fence.path.as_ref().or(unnamed) {
                all.insert(path.clone(), Some(fence));
            }
        }
        all
    }

    pub(super) fn is_listed(&self) -> bool {
        self.told.is_some() || !self.fixed.is_empty()
    }
}

/// Returns a file as the code block of a fix shows it: without marks.
pub fn unmarked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mark = ExampleMarker::ALL.iter().find_map(|marker| line.find(&format!("# <- {}", marker.name())));
        match mark {
            Some(at) => {
                shown.push_str(line[..at].trim_end());
                shown.push('\n');
            }
            None => shown.push_str(line),
        }
    }
    shown
}

/// Formats a finding as the examples of rule files show it.
pub fn format_finding(finding: &Finding) -> String {
    let mut text = format!("{}\n", finding.message);
    if let Some(help) = &finding.help {
        text.push_str(&format!("  help: {help}\n"));
    }
    if let Some(saves) = finding.saves {
        let [floor, expected, ceiling] = [saves.floor, saves.expected, saves.ceiling]
            .map(|it| format::amount(it.usd(), crate::catalog::Currency::USD));
        let per = finding.per.name();
        let range = if floor == ceiling { String::new() } else { format!(", from {floor} to {ceiling}") };
        text.push_str(&format!("  saves: {expected}/{per}{range}\n"));
    }
    text
}

/// Compares the actual results with the expected ones, line by line.
pub fn compare(example: &Example, said: &[Expected]) -> Vec<ExampleMismatch> {
    let wanted: BTreeSet<&Expected> = example.expected.iter().collect();
    let said: BTreeSet<&Expected> = said.iter().collect();
    let surprise = |at: &&Expected, is_missing| ExampleMismatch { at: (*at).clone(), is_missing };
    let missing = wanted.difference(&said).map(|at| surprise(at, true));
    let unexpected = said.difference(&wanted).map(|at| surprise(at, false));
    let mut all: Vec<ExampleMismatch> = missing.chain(unexpected).collect();
    all.sort();
    all
}
