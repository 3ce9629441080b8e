//! Which findings count: suppressions and the baseline, decided in one place for every verb.
//!
//! A suppression is a comment, an annotation of a manifest or an entry of the configuration. All of them become one
//! type, and one function says whether it covers a finding. What is wrong with a suppression is a finding itself.

mod baseline;
mod compare;
mod cover;
mod fingerprint;
mod gather;
mod index;
mod judge;
mod named;
mod point;
#[cfg(test)]
mod tests;
mod unlisted;
mod verdict;

use std::collections::BTreeMap;

use crate::inventory::{Counted, Inventory};
use crate::rules::{Finding, Rules};
use crate::source::{Date, Sources, Span, is_below};

pub use baseline::{Baseline, FILE_NAME as BASELINE, View, fingerprint as evidence_of};
pub use compare::{Compared, Growth, compare};
pub use fingerprint::{fingerprints, hash as digest};
pub use named::{named_machine, names_accelerators};
pub use point::point_at_change;
pub use verdict::{Call, Seen, Verdict, unjudged};

/// A finding with what was decided about it.
#[derive(Debug, Clone)]
pub struct Decided {
    pub finding: Finding,
    pub suppressed: Option<Suppressed>,
    /// The day since which the baseline knows it.
    pub baselined: Option<Date>,
    /// Whether sums count what it is about.
    pub counted: Counted,
}

impl Decided {
    /// Without a suppression; `counted` is that of its resource, or of the run whose folder it stands in.
    pub fn new(finding: Finding, sources: &Sources, inventory: &Inventory) -> Decided {
        let resource = finding.resource.and_then(|id| inventory.resources.get(id.0));
        let counted = match resource {
            // Another version of the same object stands in its place.
            Some(resource) if resource.version_of.is_some() && resource.counted == Counted::Deployed => Counted::Base,
            Some(resource) => resource.counted,
            None => {
                let path = sources.path(sources.origin(finding.span).file);
                let runs = inventory.runs.iter().filter(|run| is_below(&path, &run.folder));
                runs.max_by_key(|run| run.folder.len()).map(|run| run.counted).unwrap_or_default()
            }
        };
        Decided { finding, suppressed: None, baselined: None, counted }
    }

    /// Nobody has accepted it.
    pub fn counts(&self) -> bool {
        self.suppressed.is_none() && self.baselined.is_none()
    }
}

/// Somebody has said why a finding is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    pub reason: Option<String>,
    /// The last day on which it holds.
    pub until: Option<Date>,
    /// Where it is said.
    pub span: Span,
}

/// What may be suppressed, and by what.
pub struct Grounds<'a> {
    pub sources: &'a Sources,
    pub inventory: &'a Inventory,
    /// All comments, or at least those that speak to gpulint.
    pub comments: &'a [Span],
    /// Module calls: their headers, and the address that everything inside begins with.
    pub calls: &'a [(Span, String)],
    /// Entries of the configuration.
    pub configured: Vec<Configured>,
    /// Their names are those that a suppression may use; only of the ones that are on can it be said that a suppression
    /// was not needed.
    pub rules: &'a Rules,
    /// Rules that comments, annotations and the baseline may not silence, and who says so.
    pub fixed: &'a BTreeMap<String, FixedBy>,
    pub demands: Demands,
    pub today: Date,
}

/// What a suppression must say to suppress anything.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Demands {
    pub reason: bool,
    pub until: bool,
    /// Its last day is no farther off.
    pub longest_days: Option<f64>,
}

/// Who says that a rule may not be silenced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixedBy {
    /// The settings of the repository, which may say otherwise in an entry of theirs.
    Settings,
    /// A pack, against which nothing in the repository holds.
    Pack(String),
}

/// A suppression of the configuration. In both patterns `*` stands for anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured {
    pub rules: Vec<(String, Span)>,
    pub address: Option<String>,
    pub path: Option<String>,
    pub until: Option<Date>,
    pub reason: Option<String>,
    pub span: Span,
}

/// A suppression with what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub rules: Vec<String>,
    pub until: Option<Date>,
    pub reason: Option<String>,
    pub span: Span,
    /// How many findings it silences.
    pub silences: usize,
}

/// What was decided.
#[derive(Debug, Default)]
pub struct Decision {
    /// Every finding, suppressed or not, and what is wrong with suppressions.
    pub findings: Vec<Decided>,
    pub suppressions: Vec<Listed>,
}

/// Decides about every finding.
pub fn decide(findings: Vec<Finding>, grounds: &Grounds) -> Decision {
    let mut complaints = Complaints { rules: grounds.rules, findings: Vec::new() };
    let suppressions = gather::gather(grounds, &mut complaints);
    let (mut decided, listed) = judge::judge(findings, suppressions, grounds, &mut complaints);
    let complaints = complaints.findings.into_iter();
    decided.extend(complaints.map(|finding| Decided::new(finding, grounds.sources, grounds.inventory)));
    Decision { findings: decided, suppressions: listed }
}

/// What is wrong with suppressions.
struct Complaints<'a> {
    rules: &'a Rules,
    findings: Vec<Finding>,
}

impl Complaints<'_> {
    /// It suppresses nothing.
    fn broken(&mut self, message: String, help: String, span: Span) {
        self.findings.extend(self.rules.say("broken-suppression", message, Some(help), span));
    }

    /// Nothing needs it any more.
    fn stale(&mut self, message: String, help: &str, span: Span) {
        self.findings.extend(self.rules.say("stale-suppression", message, Some(help.to_owned()), span));
    }
}
