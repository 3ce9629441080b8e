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

/// The examples of a page. Fences between two headings belong together; a second file of the same name starts another.
pub fn examples(page: &str) -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    let mut current = Example::default();
    let mut title = "";
    for part in parts(page) {
        let Fence { info, text, line, at } = match part {
            Part::Heading(heading) => {
                finish(&mut current, &mut all);
                title = heading;
                continue;
            }
            Part::Fence(fence) => fence,
        };
        let mut words = info.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let named = words.find_map(|word| word.strip_prefix("file="));
        let file = match kind {
            "hcl" => Some("main.tf"),
            "yaml" => Some("manifest.yaml"),
            "json" => Some("plan.json"),
            _ => None,
        };
        let file = file.map(|default| named.unwrap_or(default));
        let is_second = file.is_some_and(|path| current.files.iter().any(|file| file.path == path));
        // what is told or fixed closes an example, and settings open the next one
        let closes = current.is_told() && kind != "fixed" && (kind != "text" || current.told.is_some());
        let is_next =
            !current.files.is_empty() && (closes || matches!(kind, "prices" | "config" | "today" | "usage" | "paid"));
        if is_second || is_next {
            finish(&mut current, &mut all);
        }
        if current == Example::default() {
            title.clone_into(&mut current.title);
            current.line = line;
        }
        match (kind, file) {
            ("prices", _) => current.prices = Some(text.to_owned()),
            ("config", _) => current.config = Some(text.to_owned()),
            ("usage", _) => current.usage = Some(text.to_owned()),
            ("paid", _) => current.paid = Some(text.to_owned()),
            ("today", _) => current.today = Some(text.trim().to_owned()),
            ("fixed", _) if !current.files.is_empty() => {
                let path = named.map(str::to_owned);
                current.fixed.push(Fixed { path, text: text.to_owned(), at });
            }
            ("text", _) if !current.files.is_empty() => {
                current.told = Some(ExpectedOutput { text: text.to_owned(), at })
            }
            (_, Some(path)) => {
                current.expected.extend(markers(path, text));
                current.files.push(ExampleFile { path: path.to_owned(), text: text.to_owned(), line });
            }
            _ => {}
        }
    }
    finish(&mut current, &mut all);
    all
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

    fn is_told(&self) -> bool {
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

enum Part<'a> {
    Heading(&'a str),
    Fence(Fence<'a>),
}

struct Fence<'a> {
    info: &'a str,
    text: &'a str,
    /// The line that opens it, from 1.
    line: usize,
    at: Range<usize>,
}

/// The headings and fences of a page.
fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut open: Option<(&str, usize, usize)> = None;
    let mut at = 0;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let next = at + line.len();
        match (open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim(), number + 1, next)),
            (Some((info, line, start)), Some(rest)) if rest.trim().is_empty() => {
                parts.push(Part::Fence(Fence { info, text: &page[start..at], line, at: start..at }));
                open = None;
            }
            (None, None) if line.starts_with('#') => parts.push(Part::Heading(line.trim_start_matches('#').trim())),
            _ => {}
        }
        at = next;
    }
    parts
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

fn finish(current: &mut Example, all: &mut Vec<Example>) {
    if !current.files.is_empty() {
        all.push(std::mem::take(current));
    }
}

/// `# <- reported` at the end of a line.
fn markers(path: &str, text: &str) -> Vec<Expected> {
    let mut expected = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((_, mark)) = line.rsplit_once("<- ") else { continue };
        for marker in Marker::ALL {
            if mark.trim_end().trim_end_matches("*/").trim_end() == marker.name() {
                expected.push(Expected { path: path.to_owned(), line: number + 1, marker });
            }
        }
    }
    expected
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_of_a_heading_are_one_example() {
        let page = "# x\n\n## Examples\n\n```hcl\na # <- reported\n```\n\n```yaml\nb: 1\n```\n\n```hcl\nc\n```\n### Two\n```today\n2026-01-01\n```\n```hcl file=a/main.tf\nd\ne # <- undetermined\n```\n```text\nnot one\n```\n";
        let all = examples(page);
        let shape: Vec<(usize, Vec<&str>, usize)> = all
            .iter()
            .map(|it| (it.line, it.files.iter().map(|file| file.path.as_str()).collect(), it.expected.len()))
            .collect();
        assert_eq!(
            shape,
            [(5, vec!["main.tf", "manifest.yaml"], 1), (13, vec!["main.tf"], 0), (17, vec!["a/main.tf"], 1)]
        );
        assert_eq!(all[2].today.as_deref(), Some("2026-01-01"));
        assert_eq!((all[2].title.as_str(), all[2].expected[0].line), ("Two", 2));
        let said = [Expected { path: "main.tf".into(), line: 2, marker: Marker::Reported }];
        let surprises = compare(&all[0], &said);
        assert_eq!(surprises.iter().map(|it| (it.at.line, it.is_missing)).collect::<Vec<_>>(), [(1, true), (2, false)]);
    }
}
