//! Pages → rules; facts, bill, fit → findings.
//!
//! A rule is a Markdown page: front matter with conditions over facts, prose, and examples that prove it. Built-in pages
//! and a team's own are the same kind of file. Knows no Terraform type and no Kubernetes kind.

mod cel;
mod format;
mod nearest;
mod yaml;

use crate::catalog::MoneyRange;
use crate::diagnostic::Level;
use crate::inventory::ResourceId;
use crate::source::Span;

/// A rule spoke about a resource, or about the repository.
#[derive(Debug, Clone)]
pub struct Finding {
    pub rule: String,
    pub group: String,
    pub layer: String,
    pub level: Level,
    pub confidence: Confidence,
    /// What acting on it may break.
    pub risk: Risk,
    pub resource: Option<ResourceId>,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    /// Dollars a month.
    pub saves: Option<MoneyRange>,
    pub related: Vec<(Span, String)>,
}

/// A rule could not know whether it applies.
#[derive(Debug, Clone)]
pub struct Undetermined {
    pub rule: String,
    pub resource: Option<ResourceId>,
    pub span: Span,
    pub cause: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    Low,
    Medium,
    High,
}

impl Confidence {
    pub const ALL: [Confidence; 3] = [Confidence::Low, Confidence::Medium, Confidence::High];

    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    Low,
    Medium,
    High,
}

impl Risk {
    pub const ALL: [Risk; 3] = [Risk::Low, Risk::Medium, Risk::High];

    pub fn name(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        }
    }
}
