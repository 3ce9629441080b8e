//! Shares modules between two states of a tree. If all queries to the tree have the same answers in both states, the
//! module is the same.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::module::ModuleCode;
use crate::source::{AskedOfTree, Differing, noting};

type Modules = Mutex<HashMap<String, (Arc<ModuleCode>, Arc<AskedOfTree>)>>;

/// The modules that states of a tree share. By default, nothing is shared.
#[derive(Debug, Clone, Default)]
pub(in crate::terraform) struct SharedModules {
    made: Option<Arc<Modules>>,
    /// The second state has the texts of the first one at the same positions.
    is_ready: Arc<AtomicBool>,
    /// The differences of the second state; `None` for the first state.
    differing: Option<Arc<Differing>>,
    /// The modules of the state before, in a sequence of states. Each state records its modules for the next one.
    earlier: Option<Arc<Modules>>,
    /// True if several states are compared with the first one, one after the other.
    is_lasting: bool,
}

impl SharedModules {
    /// Creates the cache of a first state.
    pub(in crate::terraform) fn kept() -> Self {
        SharedModules { made: Some(Arc::default()), ..Self::default() }
    }

    /// Creates the cache of a first state with which several others are compared, one after the other.
    pub(in crate::terraform) fn lasting() -> Self {
        SharedModules { is_lasting: true, ..Self::kept() }
    }

    pub(in crate::terraform) fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    pub(in crate::terraform) fn for_other(&self, differing: Differing) -> Self {
        SharedModules { differing: Some(Arc::new(differing)), ..self.clone() }
    }

    /// Returns the cache for the next state of a sequence.
    pub(in crate::terraform) fn for_next(&self, differing: Option<Differing>) -> Self {
        match differing.filter(|_| self.made.is_some()) {
            Some(differing) => SharedModules {
                made: Some(Arc::default()),
                is_ready: Arc::default(),
                differing: Some(Arc::new(differing)),
                earlier: self.made.clone(),
                is_lasting: false,
            },
            None => Self::kept(),
        }
    }

    pub(in crate::terraform) fn allow(&self) {
        self.is_ready.store(true, Ordering::Relaxed);
    }

    /// Returns whether results are recorded for another state.
    pub(in crate::terraform) fn is_recorded(&self) -> bool {
        self.made.is_some() && (self.differing.is_none() || self.earlier.is_some())
    }

    /// Returns the differences from the first state, if its results can be reused.
    pub(in crate::terraform) fn differing(&self) -> Option<&Differing> {
        self.differing.as_deref().filter(|_| self.made.is_some() && self.is_ready.load(Ordering::Relaxed))
    }

    /// Computes a value, and records its queries to the tree if another state needs them.
    pub(super) fn noting<T>(&self, work: impl FnOnce() -> T) -> (Arc<T>, Arc<AskedOfTree>) {
        if self.made.is_none() {
            return (Arc::new(work()), Arc::default());
        }
        let (made, asked) = noting(work);
        (Arc::new(made), Arc::new(asked))
    }

    pub(super) fn keep(&self, (code, asked): &(Arc<ModuleCode>, Arc<AskedOfTree>)) {
        if let Some(made) = self.made.as_ref().filter(|_| self.is_recorded()) {
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            made.insert(code.directory.clone(), (code.clone(), asked.clone()));
        }
    }

    /// Returns the code of a directory in which nothing differs.
    pub(super) fn module(&self, directory: &str) -> Option<(Arc<ModuleCode>, Arc<AskedOfTree>)> {
        let (made, differing) = (self.earlier.as_ref().or(self.made.as_ref())?, self.differing()?);
        let known = made.lock().unwrap_or_else(PoisonError::into_inner).get(directory).cloned();
        known.filter(|(_, asked)| asked.misses(differing))
    }
}
