//! Divides the steps and the memory of evaluation among the deployments of a language, and reports where they end.

use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::languages::document::{NestingKind, NestingProblem};
use crate::languages::hcl::budget::{EvaluationBudget, allowed_memory};
use crate::languages::hcl::value::Cause;
use crate::source::{Limits, Span};

/// The steps of all deployments of a language, as a multiple of those of one.
const DEPLOYMENTS: u64 = 16;

/// Each deployment may use this share of what the previous ones left.
const PART: u64 = 4;

/// The least share of steps for which a deployment is evaluated.
const FEWEST_STEPS: u64 = 10_000;

/// The least share of memory for which a deployment is evaluated.
const LEAST_MEMORY: u64 = 2 << 20;

/// The memory that a machine needs after its evaluation, measured with 120,000 instances, 2026-11.
const MACHINE_BYTES: u64 = 12_000;

/// The steps and the memory that the deployments of a language used.
#[derive(Default)]
pub(super) struct SpentByDeployments {
    steps: u64,
    memory: u64,
}

impl SpentByDeployments {
    /// Returns the budget of one more deployment; `None` if the previous ones left too little.
    pub(super) fn next(&self, limits: Limits, document: Span) -> Option<Rc<EvaluationBudget>> {
        let most = limits.evaluation_steps;
        let steps = most.min(most.saturating_mul(DEPLOYMENTS).saturating_sub(self.steps) / PART);
        let memory = allowed_memory(self.memory, PART);
        let is_enough = steps >= FEWEST_STEPS.min(most) && memory >= LEAST_MEMORY;
        is_enough.then(|| Rc::new(EvaluationBudget::new(document, steps, memory)))
    }

    pub(super) fn add(&mut self, budget: &EvaluationBudget) {
        self.steps += budget.spent();
        self.memory += budget.memory_spent();
    }

    /// Counts the memory that machines need for their facts, prices and findings.
    pub(super) fn add_machines(&mut self, count: usize) {
        self.memory = self.memory.saturating_add((count as u64).saturating_mul(MACHINE_BYTES));
    }
}

/// The deployments of one template that were not evaluated completely.
#[derive(Default)]
pub(super) struct IncompleteDeployments {
    all: usize,
    incomplete: usize,
    /// The first of them: the file with its settings, and the cause.
    first: Option<(Option<String>, Arc<Cause>)>,
}

impl IncompleteDeployments {
    /// Adds a deployment with the file of its settings, and with the cause if it was not evaluated completely.
    pub(super) fn add(&mut self, file: Option<&str>, cause: Option<Arc<Cause>>) {
        self.all += 1;
        if let Some(cause) = cause {
            self.incomplete += 1;
            self.first.get_or_insert_with(|| (file.map(str::to_owned), cause));
        }
    }

    /// Returns the message about them.
    pub(super) fn diagnostic(&self) -> Option<Diagnostic> {
        let (file, cause) = self.first.as_ref()?;
        let first = file.as_ref().map(|file| format!(", first with {file}")).unwrap_or_default();
        let message = match self.all {
            1 => format!("some of this template is not read: {}", cause.why),
            all => {
                let incomplete = self.incomplete;
                format!("some of this template is not read in {incomplete} of {all} deployments{first}: {}", cause.why)
            }
        };
        Some(Diagnostic::unreadable(message, cause.span).with_help(HELP))
    }
}

const HELP: &str = "split the template or its deployments, or raise `bounds.evaluation-steps` in gpulint.toml if steps are \
                    missing";

/// Returns the cause if the previous deployments left too little for this one.
pub(super) fn nothing_left(document: Span) -> Arc<Cause> {
    let why = "the other deployments in this repository need all steps or all memory of the evaluation";
    Arc::new(Cause::new(why, document))
}

/// Returns the message about a nested document that was not evaluated.
pub(super) fn not_nested(problem: &NestingProblem) -> Diagnostic {
    let (message, help) = match problem.kind {
        NestingKind::Ring => ("this template contains itself", "remove the nested template that leads back to it"),
        NestingKind::Depth => ("templates nest too deeply here: gpulint follows 12 levels", "nest fewer templates"),
    };
    Diagnostic::unreadable(message, problem.at).with_help(help)
}
