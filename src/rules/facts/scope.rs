//! What a rule is asked about.

/// One thing of those that facts are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Subject {
    Resource,
    Object,
    Block,
}

/// What a condition is evaluated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LooksAt {
    /// Each resource.
    Resource,
    /// Each manifest, whatever it asks for.
    Object,
    /// Each Terraform block, whatever it is.
    Block,
    /// All of them, once.
    Repository,
    /// What lies between two states, once; only where two states are compared.
    Change,
    /// Nothing: gpulint says it itself while it reads, and the page gives it a level and explains it.
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
