//! Defines the state of evaluating a document: its budget, its references, and values that are evaluated once.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclValue, ProviderComputed};
use crate::source::Span;

/// The limit on nested documents, far above what real documents nest.
const DEEPEST_DOCUMENT: usize = 12;

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

/// Remaining steps, and the current depth of values that depend on other values.
struct DocBudget {
    steps: Cell<u64>,
    depth: Cell<usize>,
}

/// The state of evaluating one document with one set of parameter values.
pub(crate) struct EvaluationState {
    /// Address prefix with a dot at the end, such as `Child.`; empty for the outermost document.
    pub(crate) prefix: Rc<str>,
    depth: usize,
    /// Shared budget of all documents of one root.
    budget: Rc<DocBudget>,
    /// Nested documents with an output that is being evaluated.
    asked: RefCell<HashSet<Arc<str>>>,
    /// Resources that were referenced since this was cleared.
    referred: RefCell<Vec<(Arc<str>, Span)>>,
}

impl EvaluationState {
    /// Returns the state of an outermost document.
    pub(crate) fn new(steps: u64) -> Self {
        let budget = DocBudget { steps: Cell::new(steps), depth: Cell::new(0) };
        Self::within("".into(), 0, Rc::new(budget))
    }

    /// Returns the state of a nested document; `None` if the nesting is too deep.
    pub(crate) fn nested(&self, prefix: &str) -> Option<Self> {
        let is_allowed = self.depth < DEEPEST_DOCUMENT;
        is_allowed.then(|| Self::within(prefix.into(), self.depth + 1, self.budget.clone()))
    }

    fn within(prefix: Rc<str>, depth: usize, budget: Rc<DocBudget>) -> Self {
        EvaluationState { prefix, depth, budget, asked: RefCell::default(), referred: RefCell::default() }
    }

    /// Spends steps; returns false if the budget is exhausted.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        let left = self.budget.steps.get();
        self.budget.steps.set(left.saturating_sub(steps));
        left >= steps
    }

    /// Evaluates a nested value; `None` if the nesting is too deep.
    pub(crate) fn deeper<T>(&self, make: impl FnOnce() -> T) -> Option<T> {
        let depth = self.budget.depth.get();
        if depth >= DEEPEST_VALUE {
            return None;
        }
        self.budget.depth.set(depth + 1);
        let made = make();
        self.budget.depth.set(depth);
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
