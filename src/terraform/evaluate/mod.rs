//! Evaluates expressions to values, and blocks to evaluated blocks.
//!
//! One `Evaluator` reads one root, which is a tree of module instances. Each instance evaluates a definition at its
//! first use and stores the result. If Terraform would refuse an expression, or its result depends on an unknown
//! value, the result is an unknown value with its cause. Evaluation never fails as a whole.

mod blocks;
mod calls;
mod data;
mod dialect;
mod expand;
mod expression;
mod instance;
mod operators;
mod providers;
mod reaches;
mod references;
mod traverse;
mod variables;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use regex::Regex;

use crate::diagnostic::Diagnostic;
use crate::source::{SourceFiles, Span};

use crate::languages::hcl::value::{Cause, HclValue};

pub(super) use crate::languages::hcl::budget::EvaluationBudget;
pub(super) use dialect::{Dialect, Shadows, absolute, outside_of_prefix};
pub(super) use expression::set;
pub(super) use instance::Instance;
pub(super) use reaches::{Reached, Reaches};
pub(super) use traverse::{element, relative};
pub(super) use variables::VariableAssignment;

/// Evaluates one root.
pub(super) struct RootEvaluator<'r> {
    pub(super) sources: &'r SourceFiles,
    pub(super) library: &'r super::code::library::ModuleLibrary<'r>,
    /// The directory of the root. `file("x")` and `path.root` are relative to it.
    pub(super) root: String,
    /// The workspace of the evaluation.
    pub(super) workspace: Option<String>,
    /// The assignments to variables of the root, the highest precedence last.
    pub(super) assignments: HashMap<String, Vec<VariableAssignment>>,
    /// The value of variables without an assignment, if an unknown source may assign them.
    pub(super) assigned_to_any: Option<VariableAssignment>,
    pub(super) modules: super::code::modules::Modules,
    /// The budget, which several evaluators share if they read files for one root.
    pub(super) budget: Rc<EvaluationBudget>,
    /// Compiled regular expressions; `None` for invalid ones.
    pub(super) patterns: RefCell<HashMap<Arc<str>, Option<Regex>>>,
    pub(super) diagnostics: RefCell<RootDiagnostics>,
    /// Additional names and functions of another program in the same language.
    pub(super) dialect: Option<&'r dyn Dialect>,
    /// Directories whose files are in other places.
    pub(super) shadows: Shadows,
    /// The directories of modules with instances.
    pub(super) made: RefCell<BTreeSet<String>>,
    /// True if the root has a module of which OpenTofu and Terraform read different files.
    pub(super) has_files_of_one_tool: Cell<bool>,
    /// The files that the results depend on.
    pub(super) touched: RefCell<BTreeSet<Arc<str>>>,
}

/// The diagnostics of a root, without repetitions.
#[derive(Default)]
pub(super) struct RootDiagnostics {
    diagnostics: Vec<Diagnostic>,
    seen: HashSet<(Option<Span>, String)>,
    left_out: usize,
}

impl RootDiagnostics {
    /// The limit on diagnostics of one root.
    const MOST: usize = 50;

    fn add(&mut self, diagnostic: Diagnostic) {
        if !self.seen.insert((diagnostic.span, diagnostic.message.clone())) {
            return;
        }
        match self.diagnostics.len() < Self::MOST {
            true => self.diagnostics.push(diagnostic),
            false => self.left_out += 1,
        }
    }

    pub(super) fn finish(mut self, anywhere: Span) -> Vec<Diagnostic> {
        if self.left_out > 0 {
            let message = format!("{} more messages about this root are not shown", self.left_out);
            self.diagnostics.push(Diagnostic::note(message, anywhere));
        }
        self.diagnostics
    }
}

/// The names that are valid in an expression.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    /// The module of the expression; `None` for constants.
    pub(super) module: Option<&'s Rc<Instance>>,
    pub(super) repetition: &'s Repetition,
    pub(super) variables: Option<&'s Variable<'s>>,
    /// The variables of a template file.
    pub(super) names: Option<&'s BTreeMap<Arc<str>, HclValue>>,
}

/// A variable of a `for`, or the iterator of a `dynamic` block.
pub(super) struct Variable<'s> {
    pub(super) name: &'s str,
    pub(super) value: HclValue,
    pub(super) outer: Option<&'s Variable<'s>>,
}

/// The instance that a block represents.
#[derive(Debug, Clone)]
pub(super) enum Repetition {
    Single,
    Count(HclValue),
    Each {
        key: HclValue,
        value: HclValue,
    },
    /// The number of instances is unknown.
    UnknownCount(Arc<Cause>),
    /// The keys are unknown. `value` has what all values share.
    UnknownEach {
        cause: Arc<Cause>,
        value: HclValue,
    },
}

impl<'s> Scope<'s> {
    pub(super) const CONSTANT: Scope<'static> =
        Scope { module: None, repetition: &Repetition::Single, variables: None, names: None };

    pub(super) fn of(module: &'s Rc<Instance>, repetition: &'s Repetition) -> Self {
        Scope { module: Some(module), repetition, variables: None, names: None }
    }

    fn with<'n>(&self, variable: &'n Variable<'n>) -> Scope<'n>
    where
        's: 'n,
    {
        Scope { variables: Some(variable), ..*self }
    }

    fn variable(&self, name: &str) -> Option<&'s HclValue> {
        let mut next = self.variables;
        while let Some(variable) = next {
            if variable.name == name {
                return Some(&variable.value);
            }
            next = variable.outer;
        }
        self.names?.get(name)
    }
}

impl RootEvaluator<'_> {
    pub(super) fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().add(diagnostic);
    }

    /// Counts steps; returns `Err` if the budget is exhausted.
    fn spend(&self, steps: u64, span: Span) -> Result<(), HclValue> {
        self.budget.arrive(span);
        self.budget.spend(steps).map_err(|cause| HclValue::because(&cause, span))
    }
}
