//! Pages → rules; facts, bill, fit → findings.
//!
//! A rule is a Markdown page: front matter with conditions over facts, prose, and examples that prove it. Built-in pages
//! and a team's own are the same kind of file. Knows no Terraform type and no Kubernetes kind.

mod attempt;
mod combine;
mod document;
mod evaluate;
mod example;
mod facts;
mod fences;
mod format;
mod judge;
mod layers;
mod names;
mod page;
mod policy;
mod seen;
mod set;
mod settings;
mod starter;
mod template;
mod why;
mod yaml;

use std::sync::Arc;

use crate::catalog::{Money, MoneyRange};
use crate::diagnostic::Level;
use crate::inventory::{Inventory, ResourceId, Wish};
use crate::pricing::Period;
use crate::source::{Edit, Span};

pub use crate::languages::cel::Kubernetes;
pub use attempt::{Answer, Attempt};
pub use combine::combine_lacks;
pub use document::{WRITTEN_FROM, contents, contents_of, document, document_of, in_the_book, link};
pub use example::{Example, ExampleFile, Expected, ExpectedOutput, Fixed, Marker, Surprise, compare, tell, unmarked};
pub use facts::{Earlier, VocabularyEntry, World, functions, vocabulary};
pub use fences::{Slip, examples, slips};
pub use names::KnownNames;
pub use page::{Declared, LooksAt, Mistake, Operand, Page, is_name};
pub use policy::{Enforcement, admission_policy};
pub use seen::{Seen, seen};
pub use set::{BUILT_IN, Rules};
pub use settings::{Budget, Limit, Override, PackName, PageText, Parameter, PathLayer, Profile, Settings};
pub use starter::template;
pub use why::Reason;

/// A rule spoke about a resource, or about the repository.
#[derive(Debug, Clone)]
pub struct Finding {
    pub rule: String,
    pub group: String,
    pub layer: String,
    pub level: Level,
    pub confidence: Confidence,
    /// What it saves rests on money that is estimated.
    pub is_estimated: bool,
    /// What acting on it may break.
    pub risk: Risk,
    pub resource: Option<ResourceId>,
    /// Others of its object, which the same edit answers.
    pub also: Vec<ResourceId>,
    /// What a rule about objects or blocks speaks of.
    pub piece: Option<Piece>,
    /// What a rule about everything speaks of, where it speaks of several things one by one.
    pub total: Option<Total>,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    /// Dollars of the period that follows.
    pub saves: Option<MoneyRange>,
    /// A month, or what the resource costs is told for.
    pub per: Period,
    pub related: Vec<(Span, String)>,
    /// What to write instead; none where nobody can know it.
    pub edits: Vec<Edit>,
    /// What its page would write; none where the page has no `fix`.
    pub fix: Option<Fix>,
    /// The facts that the rule decided on.
    pub evidence: Vec<Evidence>,
}

/// What the page of a rule would write.
#[derive(Debug, Clone, PartialEq)]
pub struct Fix {
    pub safety: Safety,
    pub wishes: Vec<Wish>,
    /// What must follow, where the text says it.
    pub follows: Vec<Wish>,
    /// Why there are no edits.
    pub declined: Option<String>,
}

/// An object or a block that is no resource with accelerators, or is looked at as if it were none.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub address: Arc<str>,
    pub kind: Arc<str>,
    pub span: Span,
    pub body: Span,
}

/// One of the things that a rule about everything speaks of one by one: the budget of a team.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    pub name: Arc<str>,
    /// Dollars a month that it comes to, and that it may come to at most.
    pub amount: Option<Money>,
    pub limit: Option<Money>,
    /// Hours of that month: 730, or those of the month of today where the amount is of this month.
    pub hours: f64,
}

/// What something is called and what it is, for reports.
fn named<'a>(
    resource: Option<ResourceId>,
    piece: Option<&'a Piece>,
    inventory: &'a Inventory,
) -> Option<(&'a str, &'a str)> {
    match (resource, piece) {
        (Some(id), _) => inventory.resources.get(id.0).map(|it| (it.address.as_str(), it.kind.as_str())),
        (None, Some(piece)) => Some((&piece.address, &piece.kind)),
        (None, None) => None,
    }
}

impl Finding {
    /// The address and the kind of what it is about.
    pub fn about<'a>(&'a self, inventory: &'a Inventory) -> Option<(&'a str, &'a str)> {
        let total = || self.total.as_ref().map(|total| (&*total.name, "total"));
        named(self.resource, self.piece.as_ref(), inventory).or_else(total)
    }

    /// What its fix may change, where there is one.
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

/// A fact that a rule decided on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub fact: String,
    /// Where the resource says it, and where the value itself stands.
    pub span: Option<Span>,
    pub defined: Option<Span>,
    /// As text, for fingerprints.
    pub value: String,
}

/// A rule could not know whether it applies.
#[derive(Debug, Clone)]
pub struct Undetermined {
    pub rule: String,
    pub resource: Option<ResourceId>,
    pub piece: Option<Piece>,
    pub span: Span,
    pub cause: String,
}

/// What the rules say.
#[derive(Debug, Default)]
pub struct Judgement {
    pub findings: Vec<Finding>,
    pub undetermined: Vec<Undetermined>,
    /// Everything that rules about everything speak of one by one, whether or not there was anything to say: the rule, and
    /// what.
    pub totals: Vec<(String, Total)>,
    /// Rules that could not be evaluated: their page is wrong.
    pub failures: Vec<Broken>,
}

/// The page of a rule failed while it was evaluated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Broken {
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
    /// How sure the facts are that a rule decided on.
    Confidence { Low "low", Medium "medium", High "high" }
}

scale! {
    /// What acting on a finding may break.
    Risk { Low "low", Medium "medium", High "high" }
}

scale! {
    /// What writing a fix may change, from the most careful: nothing that runs, what runs, or it is only shown.
    Safety { Safe "safe", Unsafe "unsafe", Display "display" }
}

scale! {
    /// Where the money is lost: in how it is bought, whether it is used, how well it is used.
    Layer { Procurement "procurement", Utilization "utilization", Efficiency "efficiency" }
}
