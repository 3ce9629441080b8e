//! Defines the state of evaluating a document: its budget, its references, and values that are evaluated once.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use super::DocValue;
use crate::languages::hcl::budget::{EvaluationBudget, MODULE_STEPS};
use crate::languages::hcl::value::{Cause, HclValue, ProviderComputed};
use crate::source::Span;

/// The limit on nested documents, far above what real documents nest.
const DEEPEST_DOCUMENT: usize = 12;

/// The memory that a resource without properties needs until the report, and that each of its values needs, measured
/// with 12,000 instances, 2026-11.
const RESOURCE_BYTES: usize = 4_000;
const NODE_BYTES: usize = 500;

/// The cost of a value from another file.
const IMPORT_STEPS: u64 = 100;

/// The limit on values that depend on values, so that the stack is large enough.
const DEEPEST_VALUE: usize = 200;

/// The source of the documents and files that another document names.
pub(crate) trait DocLibrary<T> {
    /// Returns the document at a location, which may be partly known; `None` if it is not in the repository.
    fn document(&self, location: &HclValue) -> Option<Arc<T>>;

    /// Returns the content of a file, relative to the file that names it.
    fn text(&self, location: &HclValue) -> Option<Arc<str>>;
}

/// A library without documents, for tests.
#[cfg(test)]
pub(crate) struct EmptyLibrary;

#[cfg(test)]
impl<T> DocLibrary<T> for EmptyLibrary {
    fn document(&self, _: &HclValue) -> Option<Arc<T>> {
        None
    }

    fn text(&self, _: &HclValue) -> Option<Arc<str>> {
        None
    }
}

/// The parts that all documents of one root share.
struct SharedState {
    budget: Rc<EvaluationBudget>,
    /// The depth of values that depend on other values.
    depth: Cell<usize>,
    problems: RefCell<Vec<NestingProblem>>,
}

/// A nested document that was not evaluated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NestingProblem {
    /// The place that names the document.
    pub(crate) at: Span,
    pub(crate) kind: NestingKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NestingKind {
    /// The document contains itself.
    Ring,
    /// More documents are nested than gpulint follows.
    Depth,
}

/// The limit on reported problems of one root.
const MOST_PROBLEMS: usize = 20;

/// The state of evaluating one document with one set of parameter values.
pub(crate) struct EvaluationState {
    /// Address prefix with a dot at the end, such as `Child.`; empty for the outermost document.
    pub(crate) prefix: Rc<str>,
    /// The places of the documents around this one, the outermost first.
    around: Vec<Span>,
    shared: Rc<SharedState>,
    /// Nested documents with an output that is being evaluated.
    asked: RefCell<HashSet<Arc<str>>>,
    /// Resources that were referenced since this was cleared.
    referred: RefCell<Vec<(Arc<str>, Span)>>,
}

impl EvaluationState {
    /// Returns the state of an outermost document at this place.
    pub(crate) fn new(budget: &Rc<EvaluationBudget>, document: Span) -> Self {
        let shared = SharedState { budget: budget.clone(), depth: Cell::new(0), problems: RefCell::default() };
        Self::within("".into(), vec![document], Rc::new(shared))
    }

    /// Returns the state of a document that is nested at `at`; `None` if it contains itself, if the nesting is too deep
    /// or if the budget is exhausted.
    pub(crate) fn nested(&self, prefix: &str, document: Span, at: Span) -> Option<Self> {
        self.nested_for(MODULE_STEPS, prefix, document, at)
    }

    /// Returns the state of a document that provides a single value.
    pub(crate) fn imported(&self, document: Span, at: Span) -> Option<Self> {
        self.nested_for(IMPORT_STEPS, &self.prefix, document, at)
    }

    fn nested_for(&self, steps: u64, prefix: &str, document: Span, at: Span) -> Option<Self> {
        self.shared.budget.arrive(at);
        let kind = if self.around.contains(&document) {
            NestingKind::Ring
        } else if self.around.len() > DEEPEST_DOCUMENT {
            NestingKind::Depth
        } else {
            let is_paid = self.spend(steps) && self.pay_text(prefix.len(), at).is_ok();
            let around = self.around.iter().copied().chain([document]).collect();
            return is_paid.then(|| Self::within(prefix.into(), around, self.shared.clone()));
        };
        let mut problems = self.shared.problems.borrow_mut();
        let problem = NestingProblem { at, kind };
        if problems.len() < MOST_PROBLEMS && !problems.contains(&problem) {
            problems.push(problem);
        }
        None
    }

    fn within(prefix: Rc<str>, around: Vec<Span>, shared: Rc<SharedState>) -> Self {
        EvaluationState { prefix, around, shared, asked: RefCell::default(), referred: RefCell::default() }
    }

    /// Returns the nested documents of this root that were not evaluated.
    pub(crate) fn problems(&self) -> Vec<NestingProblem> {
        self.shared.problems.borrow().clone()
    }

    /// Spends steps; returns false if the budget is exhausted.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        self.shared.budget.spend(steps).is_ok()
    }

    /// Spends a step on the expression at a place; returns the unknown value of the expression if the budget is exhausted.
    pub(crate) fn arrive(&self, at: Span) -> Result<(), HclValue> {
        self.shared.budget.arrive(at);
        self.shared.budget.spend(1).map_err(|cause| HclValue::because(&cause, at))
    }

    /// Pays for a string before it is created; returns the unknown value that replaces it if the budget is exhausted.
    pub(crate) fn pay_text(&self, bytes: usize, at: Span) -> Result<(), HclValue> {
        self.shared.budget.spend_bytes(bytes).map_err(|cause| HclValue::because(&cause, at))
    }

    /// Pays for reading strings; returns the unknown value of their use if the budget is exhausted.
    pub(crate) fn pay_reading(&self, bytes: usize, at: Span) -> Result<(), HclValue> {
        self.shared.budget.spend_reading(bytes).map_err(|cause| HclValue::because(&cause, at))
    }

    /// Pays for a search through declarations; returns its unknown result if the budget is exhausted.
    pub(crate) fn pay_search(&self, declarations: usize, at: Span) -> Result<(), HclValue> {
        const DECLARATIONS_PER_STEP: usize = 32;
        self.pay_steps((declarations / DECLARATIONS_PER_STEP) as u64, at)
    }

    /// Pays for work of another kind; returns its unknown result if the budget is exhausted.
    pub(crate) fn pay_steps(&self, steps: u64, at: Span) -> Result<(), HclValue> {
        self.shared.budget.spend(steps).map_err(|cause| HclValue::because(&cause, at))
    }

    /// Pays for memory of another kind; returns the unknown value that replaces its content if the budget is exhausted.
    pub(crate) fn pay_memory(&self, bytes: usize, at: Span) -> Result<(), HclValue> {
        self.shared.budget.spend_memory(bytes).map_err(|cause| HclValue::because(&cause, at))
    }

    /// Pays for the members of a value, which become nodes or are copied.
    pub(crate) fn pay_members(&self, value: &HclValue, at: Span) -> Result<(), HclValue> {
        if value.members() == 0 {
            return Ok(());
        }
        let budget = &self.shared.budget;
        let paid = budget.spend(EvaluationBudget::typing(value)).and_then(|()| budget.spend_members(value));
        paid.map_err(|cause| HclValue::because(&cause, at))
    }

    /// Pays for a resource with these properties; returns false if the budget is exhausted.
    pub(crate) fn pay_resource(&self, properties: &DocValue) -> bool {
        let budget = &self.shared.budget;
        !budget.is_over() && budget.spend_memory(RESOURCE_BYTES + properties.nodes() * NODE_BYTES).is_ok()
    }

    /// Returns the place of the expression that is being evaluated.
    pub(crate) fn here(&self) -> Span {
        self.shared.budget.here()
    }

    /// Evaluates a nested value; `None` if the nesting is too deep.
    pub(crate) fn deeper<T>(&self, make: impl FnOnce() -> T) -> Option<T> {
        let depth = self.shared.depth.get();
        if depth >= DEEPEST_VALUE {
            return None;
        }
        self.shared.depth.set(depth + 1);
        let made = make();
        self.shared.depth.set(depth);
        Some(made)
    }

    /// Evaluates an output of a nested document; `None` if an output of this document is already being evaluated.
    pub(crate) fn output_of<T>(&self, document: &Arc<str>, make: impl FnOnce() -> T) -> Option<T> {
        if !self.asked.borrow_mut().insert(document.clone()) {
            return None;
        }
        let made = make();
        self.asked.borrow_mut().remove(document);
        Some(made)
    }

    pub(crate) fn refer(&self, address: &Arc<str>, at: Span) {
        self.referred.borrow_mut().push((address.clone(), at));
    }

    /// Returns the references since the last call, and clears them.
    pub(crate) fn take_references(&self) -> Vec<(Arc<str>, Span)> {
        self.referred.take()
    }

    /// Evaluates a value whose references do not belong to the current resource.
    pub(crate) fn without_references<T>(&self, make: impl FnOnce() -> T) -> T {
        let before = self.referred.take();
        let made = make();
        *self.referred.borrow_mut() = before;
        made
    }

    /// Returns a value that is unknown before an event, such as the creation of the resource, and notes the reference.
    pub(crate) fn computed(&self, address: &Arc<str>, attribute: &str, before: &str, at: Span) -> HclValue {
        self.refer(address, at);
        let why = format!("`{address}` is unknown before {before}");
        let computed_by = Some(ProviderComputed { address: address.clone(), attribute: attribute.into() });
        HclValue::because(&Arc::new(Cause { computed_by, ..Cause::new(why, at) }), at)
    }
}

/// Values that are evaluated at their first use.
pub(crate) struct EvaluatedOnce<K, V> {
    /// `None` marks a value under evaluation: a second use means that it depends on itself.
    known: RefCell<HashMap<K, Option<V>>>,
}

impl<K, V> Default for EvaluatedOnce<K, V> {
    fn default() -> Self {
        EvaluatedOnce { known: RefCell::default() }
    }
}

impl<K: Eq + Hash + Clone, V: Clone> EvaluatedOnce<K, V> {
    /// Returns the value of a key, or the value `in_circle` if the key depends on itself.
    pub(crate) fn get(&self, key: K, in_circle: impl FnOnce() -> V, make: impl FnOnce() -> V) -> V {
        match self.known.borrow().get(&key) {
            Some(Some(known)) => return known.clone(),
            Some(None) => return in_circle(),
            None => {}
        }
        self.known.borrow_mut().insert(key.clone(), None);
        let value = make();
        self.known.borrow_mut().insert(key, Some(value.clone()));
        value
    }

    /// Drops the values whose evaluation is complete.
    pub(crate) fn clear(&self) {
        self.known.borrow_mut().retain(|_, value| value.is_none());
    }
}
