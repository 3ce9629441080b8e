//! Turns rule files into rules. Rules read facts, cost and fit, and return findings.
//!
//! A rule is a Markdown file: front matter with conditions over facts, prose, and examples that test it. Built-in and
//! custom rules have the same format. This module uses no Terraform type and no Kubernetes kind.

mod attempt;
mod combine;
mod document;
mod evaluate;
mod example;
mod facts;
mod fences;
mod fix_section;
mod format;
mod judge;
mod layers;
mod names;
mod page;
mod server_rule;
mod set;
mod settings;
mod starter;
mod template;
mod visible_fields;
mod why;
mod yaml;

use std::sync::Arc;

use crate::catalog::{Money, MoneyRange};
use crate::diagnostic::Level;
use crate::inventory::{FactEdit, Inventory, ResourceId};
use crate::pricing::Period;
use crate::source::{Edit, Span};

pub use crate::languages::cel::Kubernetes;
pub use attempt::{Attempt, RuleAnswer};
pub use combine::combine_lacks;
pub use document::{WRITTEN_FROM, contents, contents_of, document, document_of, in_the_book, link};
pub use example::{
    Example, ExampleFile, ExampleMarker, ExampleMismatch, Expected, ExpectedOutput, Fixed, compare, format_finding,
    unmarked,
};
pub use facts::{
    APPLICATION_LABELS, Earlier, End, RuleContext, VocabularyEntry, end_named, functions, is_fact_of_resource,
    vocabulary,
};
pub use fences::{ExampleMistake, examples, slips};
pub use fix_section::body_with_fix;
pub use names::KnownNames;
pub use page::{Declared, LooksAt, Operand, PageMistake, RuleFile, is_name};
pub(crate) use server_rule::ServerRule;
pub use set::{BUILT_IN, MAXIMUM, Rules};
pub use settings::{
    ApprovedResource, Budget, CountLimit, Override, PackName, PageText, ParameterValue, PathSettings, Profile,
    RuleSettings, UseElsewhere,
};
pub use starter::template;
pub use visible_fields::{VisibleField, seen};
pub use why::Reason;

/// A problem that a rule reports for a resource or for the repository.
#[derive(Debug, Clone)]
pub struct Finding {
    pub rule: String,
    pub group: String,
    pub layer: String,
    pub level: Level,
    pub confidence: Confidence,
    /// Whether the saving depends on an estimated price.
    pub is_estimated: bool,
    /// Risk of following the finding's help.
    pub risk: Risk,
    pub resource: Option<ResourceId>,
    /// Other resources of its object that the same edit fixes.
    pub also: Vec<ResourceId>,
    /// The object or block, for rules about objects or blocks.
    pub piece: Option<ExaminedBlock>,
    /// The member of `each`, for rules about everything that list several.
    pub total: Option<RuleTotal>,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    /// Saving in dollars per `per`.
    pub saves: Option<MoneyRange>,
    /// Period of the saving: a month, or the period of the resource's cost.
    pub per: Period,
    pub related: Vec<(Span, String)>,
    /// The edits of the fix; empty if the new value is unknown.
    pub edits: Vec<Edit>,
    /// The edit that the rule requests; `None` if the rule has no `fix`.
    pub fix: Option<Fix>,
    /// The facts that decided.
    pub evidence: Vec<FactEvidence>,
}

/// The edit that a rule requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Fix {
    pub safety: Safety,
    pub wishes: Vec<FactEdit>,
    /// The request if `wishes` cannot be written.
    pub otherwise: Vec<FactEdit>,
    /// Related facts that must change too, if the files set them.
    pub follows: Vec<FactEdit>,
    /// The reason why the fix has no edits.
    pub declined: Option<String>,
    /// The reason why no schema of its target judged the edits. Such a fix is unsafe.
    pub unjudged: Option<String>,
}

/// The object or block of a finding, if the rule does not evaluate it as a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ExaminedBlock {
    pub address: Arc<str>,
    pub kind: Arc<str>,
    pub span: Span,
    pub body: Span,
}

/// A member of `each`, such as the budget of a team.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleTotal {
    pub name: Arc<str>,
    /// Amount and limit in dollars per month.
    pub amount: Option<Money>,
    pub limit: Option<Money>,
    /// A number that makes a finding worse if it grows, if the total is not an amount.
    pub size: Option<f64>,
    /// The part of the amount in other repositories.
    pub elsewhere: Money,
    /// Hours of that month: 730, or those of the current month if the amount is for it.
    pub hours: f64,
}

/// Returns the name and the kind of a thing for reports.
fn named<'a>(
    resource: Option<ResourceId>,
    piece: Option<&'a ExaminedBlock>,
    inventory: &'a Inventory,
) -> Option<(&'a str, &'a str)> {
    match (resource, piece) {
        (Some(id), _) => inventory.resources.get(id.0).map(|it| (it.address.as_str(), it.kind.as_str())),
        (None, Some(piece)) => Some((&piece.address, &piece.kind)),
        (None, None) => None,
    }
}

impl Finding {
    /// Returns the address and the kind of the finding's subject.
    pub fn about<'a>(&'a self, inventory: &'a Inventory) -> Option<(&'a str, &'a str)> {
        let total = || self.total.as_ref().map(|total| (&*total.name, "total"));
        named(self.resource, self.piece.as_ref(), inventory).or_else(total)
    }

    /// Returns the safety of its fix, if it has one.
    pub fn safety(&self) -> Option<Safety> {
        self.fix.as_ref().map(|fix| fix.safety)
    }

    pub fn address<'a>(&'a self, inventory: &'a Inventory) -> Option<&'a str> {
        self.about(inventory).map(|(address, _)| address)
    }
}

impl Undetermined {
    pub fn address<'a>(&'a self, inventory: &'a Inventory) -> Option<&'a str> {
        named(self.resource, self.piece.as_ref(), inventory).map(|(address, _)| address)
    }
}

/// A fact that decided a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct FactEvidence {
    pub fact: String,
    /// The place at which the resource sets the fact, and place of the value itself.
    pub span: Option<Span>,
    pub defined: Option<Span>,
    /// The value as a string, for fingerprints.
    pub value: String,
}

/// A rule check whose result is unknown.
#[derive(Debug, Clone)]
pub struct Undetermined {
    pub rule: String,
    pub resource: Option<ResourceId>,
    pub piece: Option<ExaminedBlock>,
    pub span: Span,
    pub cause: String,
}

/// The results of all rules.
#[derive(Debug, Default)]
pub struct Judgement {
    pub findings: Vec<Finding>,
    pub undetermined: Vec<Undetermined>,
    /// All members of `each` that rules evaluated, with or without a finding: rule and member.
    pub totals: Vec<(String, RuleTotal)>,
    /// Rules that failed, because their rule file is wrong.
    pub failures: Vec<FailedRule>,
}

/// A rule file that failed during evaluation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailedRule {
    pub rule: String,
    pub message: String,
}

macro_rules! scale {
    ($(#[$doc:meta])* $type:ident { $($variant:ident $name:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type { $($variant),+ }

        impl $type {
            pub const ALL: [$type; 3] = [$($type::$variant),+];

            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }
        }
    };
}

scale! {
    /// Certainty of the facts that decided a finding.
    Confidence { Low "low", Medium "medium", High "high" }
}

scale! {
    /// Risk of following a finding's help.
    Risk { Low "low", Medium "medium", High "high" }
}

scale! {
    /// Effect of writing a fix: none on anything that runs, a change of it, or shown only.
    Safety { Safe "safe", Unsafe "unsafe", Display "display" }
}

scale! {
    /// The cause of the waste: how the resource is bought, whether it is used, or how well it is used.
    Layer { Procurement "procurement", Utilization "utilization", Efficiency "efficiency" }
}
