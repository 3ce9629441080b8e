//! The examples of a page: text that a rule must report, must not report, or must not be able to judge.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Finding, format};

/// One example: the files of a small repository, and what the rule must say about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Example {
    /// Its heading, or the line where it starts.
    pub title: String,
    /// Counted from 1 in the page.
    pub line: usize,
    pub files: Vec<ExampleFile>,
    /// The files before the change, where the example shows one; `files` are those after it.
    pub before: Option<Vec<ExampleFile>>,
    /// Own prices, as a price file.
    pub prices: Option<String>,
    /// A `gpulint.toml`.
    pub config: Option<String>,
    pub today: Option<String>,
    /// Rows of measured use, under their heading.
    pub usage: Option<String>,
    /// Rows of what was paid, under their heading.
    pub paid: Option<String>,
    pub expected: Vec<Expected>,
    /// What the rule tells, word for word.
    pub told: Option<ExpectedOutput>,
    /// What its fixes make of the files.
    pub fixed: Vec<Fixed>,
}

/// The fence of an example with a file after the fixes of the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// Where several files are changed.
    pub path: Option<String>,
    pub text: String,
    /// Where it stands in the page, in bytes.
    pub at: Range<usize>,
}

/// The fence of an example with what the rule must tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedOutput {
    pub text: String,
    /// Where it stands in the page, in bytes.
    pub at: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleFile {
    pub path: String,
    pub text: String,
    /// The line of the page before its first.
    pub line: usize,
}

/// What a line is marked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Marker {
    Reported,
    Undetermined,
}

impl Marker {
    pub const ALL: [Marker; 2] = [Marker::Reported, Marker::Undetermined];

    pub fn name(self) -> &'static str {
        match self {
            Marker::Reported => "reported",
            Marker::Undetermined => "undetermined",
        }
    }
}

/// A line and what must be said there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expected {
    pub path: String,
    pub line: usize,
    pub marker: Marker,
}

/// What was said and should not have been, or the other way round.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Surprise {
    pub at: Expected,
    /// It was wanted and did not come.
    pub is_missing: bool,
}

impl Example {
    /// The same example with other texts of its files, by path.
    pub fn with(&self, texts: &BTreeMap<String, String>) -> Example {
        let mut changed = self.clone();
        for file in &mut changed.files {
            if let Some(text) = texts.get(&file.path) {
                file.text.clone_from(text);
            }
        }
        changed
    }

    /// Each file that fixes change or that is told to be fixed, with the fence that shows it. A fence without a path shows
    /// the first file that none names.
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

    pub(super) fn is_told(&self) -> bool {
        self.told.is_some() || !self.fixed.is_empty()
    }
}

/// A file as the fence of what is fixed shows it: without the marks.
pub fn unmarked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mark = Marker::ALL.iter().find_map(|marker| line.find(&format!("# <- {}", marker.name())));
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

/// A finding as the examples of pages show it.
pub fn tell(finding: &Finding) -> String {
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

/// Compares what was said with what an example expects, line by line.
pub fn compare(example: &Example, said: &[Expected]) -> Vec<Surprise> {
    let wanted: BTreeSet<&Expected> = example.expected.iter().collect();
    let said: BTreeSet<&Expected> = said.iter().collect();
    let surprise = |at: &&Expected, is_missing| Surprise { at: (*at).clone(), is_missing };
    let missing = wanted.difference(&said).map(|at| surprise(at, true));
    let unexpected = said.difference(&wanted).map(|at| surprise(at, false));
    let mut all: Vec<Surprise> = missing.chain(unexpected).collect();
    all.sort();
    all
}
