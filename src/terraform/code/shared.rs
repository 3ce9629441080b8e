//! The modules of one of two states of a tree, for the other: where what is asked of the tree for one is the same in both, so is
//! what comes of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::module::ModuleCode;
use crate::source::{AskedOfTree, Differing, noting};

type Modules = Mutex<HashMap<String, (Arc<ModuleCode>, Arc<AskedOfTree>)>>;

/// Nothing is shared by default.
#[derive(Debug, Clone, Default)]
pub(in crate::terraform) struct SharedModules {
    made: Option<Arc<Modules>>,
    /// The second state has the texts of the first at the same places.
    is_ready: Arc<AtomicBool>,
    /// What differs in the second state; nothing for the first.
    differing: Option<Arc<Differing>>,
    /// There are many second states, one after the other.
    is_lasting: bool,
}

impl SharedModules {
    /// Of the first state.
    pub(in crate::terraform) fn kept() -> Self {
        SharedModules { made: Some(Arc::default()), ..Self::default() }
    }

    /// Of a first state with which many others are compared, one after the other.
    pub(in crate::terraform) fn lasting() -> Self {
        SharedModules { is_lasting: true, ..Self::kept() }
    }

    pub(in crate::terraform) fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    pub(in crate::terraform) fn for_other(&self, differing: Differing) -> Self {
        SharedModules { differing: Some(Arc::new(differing)), ..self.clone() }
    }

    pub(in crate::terraform) fn allow(&self) {
        self.is_ready.store(true, Ordering::Relaxed);
    }

    /// What is made is kept for another state.
    pub(in crate::terraform) fn is_first(&self) -> bool {
        self.made.is_some() && self.differing.is_none()
    }

    /// What differs from the first state, where what that made can be taken.
    pub(in crate::terraform) fn differing(&self) -> Option<&Differing> {
        self.differing.as_deref().filter(|_| self.made.is_some() && self.is_ready.load(Ordering::Relaxed))
    }

    /// Works something out; what it asks for is noted where somebody wants to know.
    pub(super) fn noting<T>(&self, work: impl FnOnce() -> T) -> (Arc<T>, Arc<AskedOfTree>) {
        if self.made.is_none() {
            return (Arc::new(work()), Arc::default());
        }
        let (made, asked) = noting(work);
        (Arc::new(made), Arc::new(asked))
    }

    pub(super) fn keep(&self, (code, asked): &(Arc<ModuleCode>, Arc<AskedOfTree>)) {
        if let Some(made) = self.made.as_ref().filter(|_| self.is_first()) {
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            made.insert(code.directory.clone(), (code.clone(), asked.clone()));
        }
    }

    /// The code of a directory of which nothing differs.
    pub(super) fn module(&self, directory: &str) -> Option<(Arc<ModuleCode>, Arc<AskedOfTree>)> {
        let (made, differing) = (self.made.as_ref()?, self.differing()?);
        let known = made.lock().unwrap_or_else(PoisonError::into_inner).get(directory).cloned();
        known.filter(|(_, asked)| asked.misses(differing))
    }
}
