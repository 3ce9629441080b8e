//! Model + workload + accelerator → does it fit, and the cheapest that does. Pure functions, no state.

use std::collections::BTreeMap;

use crate::catalog::Money;

/// Whether a model fits the accelerators that it was given, with the numbers, in GiB for each accelerator.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    pub verdict: Verdict,
    pub need_gib: f64,
    pub budget_gib: f64,
    /// weights, kv, activations, overhead, ...
    pub breakdown: BTreeMap<&'static str, f64>,
    /// The cheapest configuration of the same provider on which it fits with a margin, if it costs less.
    pub smallest: Option<Choice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Fits,
    Borderline,
    DoesNotFit,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Fits => "fits",
            Verdict::Borderline => "borderline",
            Verdict::DoesNotFit => "does-not-fit",
        }
    }
}

/// A configuration that could be used instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub provider: String,
    pub machine: String,
    pub accelerator: String,
    pub count: f64,
    pub per_hour: Money,
    pub need_gib: f64,
    pub budget_gib: f64,
}
