//! Which findings count: suppressions and baseline, decided in one place for every verb.

mod compare;

use crate::rules::Finding;

pub use compare::{Compared, compare};

/// A finding with what was decided about it.
#[derive(Debug, Clone)]
pub struct Decided {
    pub finding: Finding,
    pub suppressed: Option<Suppressed>,
    /// The date since which the baseline knows it.
    pub baselined: Option<String>,
}

impl Decided {
    /// Nobody has accepted it.
    pub fn counts(&self) -> bool {
        self.suppressed.is_none() && self.baselined.is_none()
    }
}

/// Somebody has said why a finding is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    pub reason: Option<String>,
    /// `2027-03-31`
    pub until: Option<String>,
    pub path: String,
    pub line: usize,
}

pub fn decide(findings: Vec<Finding>) -> Vec<Decided> {
    findings.into_iter().map(|finding| Decided { finding, suppressed: None, baselined: None }).collect()
}
