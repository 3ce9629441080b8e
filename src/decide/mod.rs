//! Decides which findings count: suppressions and the baseline, in one place for all subcommands.
//!
//! A suppression is a comment, an annotation of a manifest or an entry of the configuration. All of them become one
//! type, and one function decides whether it covers a finding. An invalid suppression is itself a finding.

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
mod unsupported;
mod verdict;

use std::collections::BTreeMap;

use crate::inventory::{CountedAs, Inventory};
use crate::rules::{Finding, Rules};
use crate::source::{Date, SourceFiles, Span, is_below};

pub use baseline::{Baseline, BaselineView, FILE_NAME as BASELINE, fingerprint as evidence_of};
pub use compare::{MatchedFindings, WorseThreshold, compare};
pub use fingerprint::{fingerprints, hash as digest};
pub use named::{named_machine, names_accelerators};
pub use point::point_at_change;
pub use verdict::{CoverageInput, UnreadModuleCall, Verdict, unjudged};

/// A finding with the decision about it.
#[derive(Debug, Clone)]
pub struct Decided {
    pub finding: Finding,
    pub suppressed: Option<Suppressed>,
    /// The day on which the baseline accepted the finding.
    pub baselined: Option<Date>,
    /// Whether the total contains its resource.
    pub counted: CountedAs,
}

impl Decided {
    /// Returns a finding without a suppression; `counted` comes from its resource, or from the deployment of its
    /// folder.
    pub fn new(finding: Finding, sources: &SourceFiles, inventory: &Inventory) -> Decided {
        let resource = finding.resource.and_then(|id| inventory.resources.get(id.0));
        let counted = match resource {
            // Another version of the same object counts instead.
            Some(resource) if resource.version_of.is_some() && resource.counted == CountedAs::Deployed => {
                CountedAs::Base
            }
            Some(resource) => resource.counted,
            None => {
                let path = sources.path_of(finding.span);
                let runs = inventory.runs.iter().filter(|run| is_below(&path, &run.folder));
                runs.max_by_key(|run| run.folder.len()).map(|run| run.counted).unwrap_or_default()
            }
        };
        Decided { finding, suppressed: None, baselined: None, counted }
    }

    /// Returns true if no suppression and no baseline accepts the finding.
    pub fn counts(&self) -> bool {
        self.suppressed.is_none() && self.baselined.is_none()
    }
}

/// The reason why a finding is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    pub reason: Option<String>,
    /// The last day of the suppression.
    pub until: Option<Date>,
    /// The place of the suppression.
    pub span: Span,
}

/// Everything that is needed to decide about suppressions.
pub struct SuppressionContext<'a> {
    pub sources: &'a SourceFiles,
    pub inventory: &'a Inventory,
    /// All comments, or at least those that contain directives for gpulint.
    pub comments: &'a [Span],
    /// Module calls: their headers, and the address prefix of everything inside.
    pub calls: &'a [(Span, String)],
    /// Suppressions from the configuration.
    pub configured: Vec<Configured>,
    /// The rules whose names suppressions may use. Only for enabled rules can gpulint report that a suppression has no
    /// effect.
    pub rules: &'a Rules,
    /// Rules that comments, annotations and the baseline may not suppress, with the authority that forbids it.
    pub fixed: &'a BTreeMap<String, FixedBy>,
    pub demands: Demands,
    pub today: Date,
}

/// What a suppression must contain to be valid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Demands {
    pub reason: bool,
    pub until: bool,
    /// The latest last day, in days from today.
    pub longest_days: Option<f64>,
}

/// The authority that forbids suppressions of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixedBy {
    /// The settings of the repository, which can still contain an exception.
    Settings,
    /// A pack, which the repository cannot override.
    Pack(String),
}

/// A suppression in the configuration. In both patterns, `*` matches anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured {
    pub rules: Vec<(String, Span)>,
    pub address: Option<String>,
    pub path: Option<String>,
    pub until: Option<Date>,
    pub reason: Option<String>,
    pub span: Span,
}

/// A suppression with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub rules: Vec<String>,
    pub until: Option<Date>,
    pub reason: Option<String>,
    pub span: Span,
    /// The number of findings that it suppresses.
    pub silences: usize,
}

/// The decisions about all findings and suppressions.
#[derive(Debug, Default)]
pub struct Decision {
    /// Every finding, suppressed or not, and findings about invalid suppressions.
    pub findings: Vec<Decided>,
    pub suppressions: Vec<Listed>,
}

/// Decides which findings are suppressed or accepted.
pub fn decide(findings: Vec<Finding>, grounds: &SuppressionContext) -> Decision {
    let mut complaints = Complaints { rules: grounds.rules, findings: Vec::new() };
    let suppressions = gather::gather(grounds, &mut complaints);
    let (mut decided, listed) = judge::judge(findings, suppressions, grounds, &mut complaints);
    let complaints = complaints.findings.into_iter();
    decided.extend(complaints.map(|finding| Decided::new(finding, grounds.sources, grounds.inventory)));
    Decision { findings: decided, suppressions: listed }
}

/// Reports invalid suppressions.
struct Complaints<'a> {
    rules: &'a Rules,
    findings: Vec<Finding>,
}

impl Complaints<'_> {
    /// Reports a suppression that is invalid and suppresses nothing.
    fn broken(&mut self, message: String, help: String, span: Span) {
        self.findings.extend(self.rules.report_text_finding("broken-suppression", message, Some(help), span));
    }

    /// Reports a suppression that has no effect any more.
    fn stale(&mut self, message: String, help: &str, span: Span) {
        self.findings.extend(self.rules.report_text_finding("stale-suppression", message, Some(help.to_owned()), span));
    }
}
