//! A module as one call of it makes it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::inventory::{Fact, Range};
use crate::languages::hcl::syntax::BlockNode;
use crate::languages::hcl::value::Value;
use crate::source::Span;
use crate::terraform::block::Provider;
use crate::terraform::code::module::ModuleCode;

use super::blocks::Evaluated;
use super::expand::Expansion;
use super::{Repetition, Scope};

/// A module as one call of it makes it, and what was evaluated of it so far.
pub(in crate::terraform) struct Instance {
    pub(in crate::terraform) code: Arc<ModuleCode>,
    /// `module.a["x"].` with the dot at the end; empty for the root.
    pub(in crate::terraform) address: Rc<str>,
    pub(super) call: Option<CallSite>,
    /// How many of it there are, where a `count` on the way is not known.
    pub(super) multiplicity: Fact<Range>,
    /// Modules from the root to here.
    pub(super) depth: u32,
    pub(super) variables: Memo<Value>,
    pub(super) locals: Memo<Value>,
    pub(super) outputs: Memo<Value>,
    pub(super) resources: Memo<Rc<Evaluated>>,
    pub(super) calls: Memo<Rc<Called>>,
    pub(super) providers: Memo<Option<Arc<Provider>>>,
}

/// Where a module is called.
pub(super) struct CallSite {
    pub(super) parent: Rc<Instance>,
    /// Its index among the calls of the parent.
    pub(super) index: usize,
    pub(super) repetition: Repetition,
}

/// A module call with all its instances; none where the code is not on disk.
pub(super) struct Called {
    pub(super) expansion: Expansion,
    pub(super) instances: Vec<Rc<Instance>>,
    /// Why there is no code.
    pub(super) missing: Option<Value>,
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

    /// Forgets the modules that it calls. They hold it as their parent, so that nothing would ever free either.
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

    /// What names mean in the arguments of the call.
    pub(super) fn scope(&self) -> Scope<'_> {
        Scope::of(&self.parent, &self.repetition)
    }
}

/// Results by name. What is asked for while it is being worked out is a cycle.
pub(super) struct Memo<T> {
    known: RefCell<HashMap<Arc<str>, Option<T>>>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo { known: RefCell::default() }
    }
}

impl<T: Clone> Memo<T> {
    /// `Err` where it is being worked out right now.
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

/// Something depends on itself.
pub(super) struct Cycle;
