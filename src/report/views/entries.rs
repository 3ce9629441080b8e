//! Lists the findings that a reader sees first: sorted, grouped, and limited to a screen.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::catalog::Money;
use crate::decide::Decided;
use crate::diagnostic::Level;
use crate::inventory::{CountedAs, Resource, ResourceId};
use crate::report::Report;
use crate::report::views::excluded::place;
use crate::report::views::repeats::grouped_repeats;
use crate::report::views::teams::team;

/// The width of a page.
const WIDTH: usize = 110;

/// The style of text for people, and its length.
#[derive(Debug, Clone, Copy)]
pub struct ReportStyle {
    pub color: bool,
    /// True if the output has no drawing characters, for screen readers.
    pub plain: bool,
    /// The width of a line.
    pub width: usize,
    /// The width at which lines and tables wrap; none in a file.
    pub columns: Option<usize>,
    pub choice: EntryChoice,
}

/// The default is for files, in which width is not limited.
impl Default for ReportStyle {
    fn default() -> Self {
        ReportStyle { color: false, plain: false, width: WIDTH, columns: None, choice: EntryChoice::default() }
    }
}

/// The findings that a text report shows, and their order. Only the text format uses it.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntryChoice {
    pub sort: Sort,
    pub group: Option<GroupBy>,
    pub most: Most,
    pub detail: EntryDetail,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Most {
    #[default]
    All,
    /// Shows as many findings as fit on a screen.
    Screen,
    Top(usize),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// Failing findings first, then the most money at stake, then the lowest risk
    #[default]
    Money,
    /// Findings in the order of files
    Path,
    /// By rule name
    Rule,
    /// The lowest risk first
    Risk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    Rule,
    File,
    /// The team label of the resource
    Team,
    /// The Terraform root directory
    Root,
    /// The deployment
    Run,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryDetail {
    /// Shows only the totals and the verdict.
    Quiet,
    #[default]
    Usual,
    /// Shows notes, and all details behind the totals.
    Verbose,
}

impl Sort {
    pub const NAMES: [&str; 4] = ["money", "path", "rule", "risk"];

    pub fn named(name: &str) -> Sort {
        match name {
            "path" => Sort::Path,
            "rule" => Sort::Rule,
            "risk" => Sort::Risk,
            _ => Sort::Money,
        }
    }
}

/// Findings under one heading; without a heading unless they are grouped or excluded from the total.
pub(in crate::report) struct FindingGroup<'a> {
    pub(in crate::report) name: Option<String>,
    pub(in crate::report) findings: Vec<&'a Decided>,
}

impl<'a> FindingGroup<'a> {
    /// Returns the findings about excluded resources, in one group for each reason.
    fn apart(
        choice: EntryChoice,
        report: &Report,
        findings: Vec<&'a Decided>,
    ) -> impl Iterator<Item = FindingGroup<'a>> {
        let mut apart: BTreeMap<CountedAs, Vec<&Decided>> = BTreeMap::new();
        findings.into_iter().for_each(|it| apart.entry(it.counted).or_default().push(it));
        let group = move |(counted, findings)| FindingGroup {
            name: Some(format!("excluded from the total, {}", place(counted))),
            findings: choice.sorted(report, findings),
        };
        apart.into_iter().map(group)
    }
}

impl EntryChoice {
    /// Returns the findings that count, in groups, the most money first; findings about excluded resources come last.
    pub(in crate::report) fn groups<'a>(self, report: &'a Report) -> Vec<FindingGroup<'a>> {
        let shown = report.findings.iter().filter(|it| it.counts() && self.shows(it));
        let (counting, apart): (Vec<&Decided>, Vec<&Decided>) = shown.partition(|it| it.counted == CountedAs::Deployed);
        let apart = FindingGroup::apart(self, report, apart);
        let Some(by) = self.group else {
            let first = FindingGroup { name: None, findings: self.sorted(report, counting) };
            return std::iter::once(first).chain(apart).collect();
        };
        let mut groups: BTreeMap<String, Vec<&Decided>> = BTreeMap::new();
        for decided in counting {
            groups.entry(by.name(report, decided)).or_default().push(decided);
        }
        let sum = |findings: &[&Decided]| findings.iter().map(|it| money(it)).sum::<Money>();
        let mut groups: Vec<(String, Vec<&Decided>)> = groups.into_iter().collect();
        groups.sort_by_key(|(name, findings)| (Reverse(sum(findings)), name.clone()));
        let group = |(name, findings)| FindingGroup { name: Some(name), findings: self.sorted(report, findings) };
        groups.into_iter().map(group).chain(apart).collect()
    }

    /// Returns each finding with its repeats, in this order, by their total money.
    pub(in crate::report) fn entries<'a>(
        self,
        report: &Report,
        findings: &[&'a Decided],
    ) -> Vec<(&'a Decided, Vec<&'a Decided>)> {
        let mut entries = grouped_repeats(report, findings);
        if self.sort == Sort::Money {
            let total = |(first, others): &(&Decided, Vec<&Decided>)| {
                let sum = std::iter::once(first).chain(others).map(|it| money(it)).sum::<Money>();
                FindingWeight::new(report, first, sum)
            };
            let mut weights: HashMap<ResourceId, FindingWeight> = HashMap::new();
            for entry in &entries {
                if let Some(id) = entry.0.finding.resource {
                    let weight = weights.entry(id).or_default();
                    *weight = (*weight).max(total(entry));
                }
            }
            // Findings of one resource stay together, at the position of the most expensive one.
            let weight = |entry: &(&Decided, Vec<&Decided>)| {
                entry.0.finding.resource.and_then(|id| weights.get(&id)).copied().unwrap_or_else(|| total(entry))
            };
            entries.sort_by_cached_key(|it| {
                (Reverse(weight(it)), it.0.finding.resource.map(|id| id.0), Reverse(total(it)))
            });
        }
        entries
    }

    /// Returns true if the report shows a finding. Notes are only counted, unless they save money or the user requests
    /// everything.
    pub(in crate::report) fn shows(self, decided: &Decided) -> bool {
        let has_money = decided.finding.saves.is_some_and(|saves| saves.ceiling > Money::ZERO);
        has_money
            || decided.finding.level > Level::Note
            || self.detail == EntryDetail::Verbose
            || self.most == Most::All
    }

    fn sorted<'a>(self, report: &Report, mut findings: Vec<&'a Decided>) -> Vec<&'a Decided> {
        let path = |it: &Decided| report.sources.path_of(it.finding.span);
        let least = |it: &Decided| {
            (it.finding.risk, Reverse(it.finding.level), report.order(&it.finding), it.finding.rule.clone())
        };
        match self.sort {
            Sort::Money => {
                // Findings of one resource stay together, at the position of the most expensive one.
                let mut weights: HashMap<ResourceId, FindingWeight> = HashMap::new();
                for it in &findings {
                    if let Some(id) = it.finding.resource {
                        let weight = weights.entry(id).or_default();
                        *weight = (*weight).max(FindingWeight::new(report, it, money(it)));
                    }
                }
                let weight = |it: &Decided| {
                    let own = FindingWeight::new(report, it, money(it));
                    it.finding.resource.and_then(|id| weights.get(&id)).copied().unwrap_or(own)
                };
                findings.sort_by_cached_key(|it| {
                    (Reverse(weight(it)), it.finding.resource.map(|id| id.0), Reverse(money(it)), least(it))
                });
            }
            Sort::Path => {
                findings.sort_by_cached_key(|it| (path(it), report.order(&it.finding), it.finding.rule.clone()))
            }
            Sort::Rule => {
                findings.sort_by_cached_key(|it| {
                    (it.finding.rule.clone(), Reverse(money(it)), path(it), report.order(&it.finding))
                });
            }
            Sort::Risk => findings.sort_by_cached_key(|it| (it.finding.risk, Reverse(money(it)), least(it))),
        }
        findings
    }
}

/// Returns all findings that count, by file; within a file, the most money first.
pub(in crate::report) fn by_file<'a>(report: &'a Report) -> BTreeMap<String, Vec<&'a Decided>> {
    let choice = EntryChoice { group: Some(GroupBy::File), ..EntryChoice::default() };
    choice.groups(report).into_iter().map(|it| (it.name.unwrap_or_default(), it.findings)).collect()
}

impl GroupBy {
    pub const NAMES: [&str; 5] = ["rule", "file", "team", "root", "run"];

    pub fn named(name: &str) -> Option<GroupBy> {
        const ALL: [GroupBy; 5] = [GroupBy::Rule, GroupBy::File, GroupBy::Team, GroupBy::Root, GroupBy::Run];
        ALL.into_iter().zip(Self::NAMES).find(|(_, known)| *known == name).map(|(by, _)| by)
    }

    fn name(self, report: &Report, decided: &Decided) -> String {
        match self {
            GroupBy::Rule => decided.finding.rule.clone(),
            GroupBy::File => report.paths.show(&report.sources.path_of(decided.finding.span)),
            _ => report.resource(decided.finding.resource).map_or_else(nowhere, |it| self.group_of(report, it)),
        }
    }

    /// Returns the group of a resource.
    pub(in crate::report) fn group_of(self, report: &Report, resource: &Resource) -> String {
        match self {
            GroupBy::Rule => nowhere(),
            GroupBy::File => report.paths.show(&report.sources.path_of(resource.span)),
            GroupBy::Team => team(resource).map_or_else(|| "no team".to_owned(), str::to_owned),
            GroupBy::Root => resource.root.as_deref().map_or_else(nowhere, |root| report.paths.show_directory(root)),
            GroupBy::Run => {
                let run = resource.run.as_ref();
                let known = run.and_then(|run| report.inventory.run(run)).map(|run| report.name_of(run));
                known.or_else(|| run.map(ToString::to_string)).unwrap_or_else(nowhere)
            }
        }
    }
}

fn nowhere() -> String {
    "elsewhere".to_owned()
}

/// The importance of a finding: failing, then its saving, then the cost of its resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct FindingWeight {
    is_error: bool,
    saving: Money,
    cost: Money,
}

impl FindingWeight {
    fn new(report: &Report, decided: &Decided, saving: Money) -> FindingWeight {
        let item = decided.finding.resource.and_then(|id| report.bill.items.get(id.0));
        let cost = item.and_then(|item| item.monthly.or(item.amount)).map_or(Money::ZERO, |cost| cost.expected);
        FindingWeight { is_error: decided.finding.level == Level::Error, saving, cost }
    }
}

fn money(decided: &Decided) -> Money {
    decided.finding.saves.map_or(Money::ZERO, |saves| saves.expected)
}
