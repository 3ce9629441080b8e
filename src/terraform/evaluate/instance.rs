//! Defines one instance of a module, created by a call.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::hcl::syntax::BlockNode;
use crate::languages::hcl::value::HclValue;
use crate::source::Span;
use crate::terraform::block::Provider;
use crate::terraform::border::{Fact, Range};
use crate::terraform::code::module::ModuleCode;

use super::blocks::Evaluated;
use super::expand::Expansion;
use super::{Repetition, Scope};

/// One instance of a module, created by a call, with its results so far.
pub(in crate::terraform) struct Instance {
    pub(in crate::terraform) code: Arc<ModuleCode>,
    /// The address with a final dot, `module.a["x"].`; empty for the root.
    pub(in crate::terraform) address: Rc<str>,
    pub(super) call: Option<CallSite>,
    /// The number of these instances, if a `count` of an outer call is unknown.
    pub(super) multiplicity: Fact<Range>,
    /// The number of modules from the root to this one.
    pub(super) depth: u32,
    pub(super) variables: Memo<HclValue>,
    pub(super) locals: Memo<HclValue>,
    pub(super) outputs: Memo<HclValue>,
    pub(super) resources: Memo<Rc<Evaluated>>,
    pub(super) calls: Memo<Rc<Called>>,
    pub(super) providers: Memo<Option<Arc<Provider>>>,
}

/// The place of a module call.
pub(super) struct CallSite {
    pub(super) parent: Rc<Instance>,
    /// The index of the call in the parent.
    pub(super) index: usize,
    pub(super) repetition: Repetition,
}

/// A module call with all its instances; empty if the code is not on disk.
pub(super) struct Called {
    pub(super) expansion: Expansion,
    pub(super) instances: Vec<Rc<Instance>>,
    /// The reason why there is no code.
    pub(super) missing: Option<HclValue>,
    pub(super) span: Span,
}

impl Instance {
    pub(in crate::terraform) fn root(code: Arc<ModuleCode>, span: Span) -> Rc<Self> {
        Rc::new(Instance::new(code, Rc::from(""), None, Fact::written(Range::exactly(1.0), span), 0))
    }

    pub(super) fn new(
        code: Arc<ModuleCode>,
        address: Rc<str>,
        call: Option<CallSite>,
        multiplicity: Fact<Range>,
        depth: u32,
    ) -> Self {
        Instance {
            code,
            address,
            call,
            multiplicity,
            depth,
            variables: Memo::default(),
            locals: Memo::default(),
            outputs: Memo::default(),
            resources: Memo::default(),
            calls: Memo::default(),
            providers: Memo::default(),
        }
    }

    /// Drops the called modules. They refer to this module as their parent, so neither would ever be freed.
    pub(in crate::terraform) fn forget_calls(&self) {
        let calls = self.calls.known.take();
        for instance in calls.values().flatten().flat_map(|called| &called.instances) {
            instance.forget_calls();
        }
    }
}

impl CallSite {
    pub(super) fn node(&self) -> Option<&BlockNode> {
        self.parent.code.calls.at(self.index)
    }

    /// Returns the names that are valid in the arguments of the call.
    pub(super) fn scope(&self) -> Scope<'_> {
        Scope::of(&self.parent, &self.repetition)
    }
}

/// Results by name. A request for a result that is being computed is a cycle.
pub(super) struct Memo<T> {
    known: RefCell<HashMap<Arc<str>, Option<T>>>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo { known: RefCell::default() }
    }
}

impl<T: Clone> Memo<T> {
    /// Returns the result, or `Err` if it is being computed at the moment.
    pub(super) fn get(&self, name: &str, work: impl FnOnce() -> T) -> Result<T, Cycle> {
        match self.known.borrow().get(name) {
            Some(Some(known)) => return Ok(known.clone()),
            Some(None) => return Err(Cycle),
            None => {}
        }
        let name: Arc<str> = name.into();
        self.known.borrow_mut().insert(name.clone(), None);
        let result = work();
        self.known.borrow_mut().insert(name, Some(result.clone()));
        Ok(result)
    }
}

/// Shows that a definition depends on itself.
pub(super) struct Cycle;
