//! Defines the scope of a rule.

/// A kind of thing that has facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Subject {
    Resource,
    Object,
    Block,
}

/// The scope that a condition is evaluated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LooksAt {
    /// Each resource.
    Resource,
    /// Each manifest, with or without accelerators.
    Object,
    /// Each Terraform block, with or without accelerators.
    Block,
    /// All resources together, once.
    Repository,
    /// The difference between two states, once; only in a comparison.
    Change,
    /// No condition: gpulint reports the finding while it reads files. The rule file only sets the level and explains
    /// it.
    Text,
}

impl LooksAt {
    pub fn from_name(name: &str) -> Option<LooksAt> {
        SCOPES.iter().find(|(known, _)| *known == name).map(|(_, looks_at)| *looks_at)
    }

    pub(in crate::rules) fn subject(self) -> Subject {
        match self {
            LooksAt::Object => Subject::Object,
            LooksAt::Block => Subject::Block,
            _ => Subject::Resource,
        }
    }
}

pub(in crate::rules) const SCOPES: [(&str, LooksAt); 6] = [
    ("resource", LooksAt::Resource),
    ("object", LooksAt::Object),
    ("block", LooksAt::Block),
    ("repository", LooksAt::Repository),
    ("change", LooksAt::Change),
    ("text", LooksAt::Text),
];
