//! Shares modules and roots between two states of a tree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::root::EvaluatedRoot;
use super::roots::RootOverview;
use super::variant::RootVariant;
use crate::source::{AskedOfTree, Differing};
use crate::terraform::block::EvaluatedBlock;
use crate::terraform::code::shared::SharedModules;

/// The results that states of a tree share. By default, nothing is shared.
#[derive(Debug, Clone)]
pub struct SharedRoots<C> {
    pub(in crate::terraform) modules: SharedModules,
    roots: Arc<Mutex<MadeRoots<C>>>,
}

#[derive(Debug)]
struct MadeRoots<C> {
    /// The roots, by number.
    all: Vec<MadeRoot<C>>,
    by_directory: HashMap<String, Vec<usize>>,
    #[cfg(test)]
    taken: usize,
}

#[derive(Debug)]
struct MadeRoot<C> {
    /// The root without its blocks, while the first state has them.
    planned: Option<EvaluatedRoot<C>>,
    asked: AskedOfTree,
    /// The memory limit of the evaluation.
    allowed: u64,
    has_blocks: bool,
}

impl<C> Default for MadeRoots<C> {
    fn default() -> Self {
        MadeRoots {
            all: Vec::new(),
            by_directory: HashMap::new(),
            #[cfg(test)]
            taken: 0,
        }
    }
}

impl<C> Default for SharedRoots<C> {
    fn default() -> Self {
        SharedRoots { modules: SharedModules::default(), roots: Arc::default() }
    }
}

impl<C: Clone> SharedRoots<C> {
    /// Creates a cache that records results for one other state.
    pub fn kept() -> Self {
        SharedRoots { modules: SharedModules::kept(), roots: Arc::default() }
    }

    /// Creates a cache for any number of other states, each of which gets copies.
    pub fn lasting() -> Self {
        SharedRoots { modules: SharedModules::lasting(), roots: Arc::default() }
    }

    /// Returns the cache for the other state, given the differences.
    #[must_use]
    pub fn for_other(&self, differing: Option<Differing>) -> Self {
        let shared = |it| SharedRoots { modules: self.modules.for_other(it), roots: self.roots.clone() };
        differing.map(shared).unwrap_or_default()
    }

    /// Allows reuse: the texts of the first state are at the same positions in the second one.
    pub fn allow(&self) {
        self.modules.allow();
    }

    /// Records a planned root, with a number to restore its blocks.
    pub(super) fn keep(&self, planned: &mut EvaluatedRoot<C>, asked: AskedOfTree, allowed: u64) {
        // Roots that two tools read differently are compared only within one state.
        if !self.modules.is_first() || planned.root.has_files_of_one_tool {
            return;
        }
        drop(std::mem::take(&mut planned.root.switched_off));
        let has_blocks = self.modules.is_lasting();
        let blocks = if has_blocks { Vec::new() } else { std::mem::take(&mut planned.root.blocks) };
        let mut roots = lock(&self.roots);
        let number = roots.all.len();
        planned.number = Some(number);
        roots.by_directory.entry(planned.directory.clone()).or_default().push(number);
        roots.all.push(MadeRoot { planned: Some(planned.clone()), asked, allowed, has_blocks });
        if !has_blocks {
            planned.root.blocks = blocks;
        }
    }

    /// Returns a root in which nothing differs, with the directories of its modules.
    pub(super) fn root(
        &self,
        directory: &str,
        variant: &RootVariant,
        allowed: u64,
    ) -> Option<(EvaluatedRoot<C>, Vec<String>)> {
        let differing = self.modules.differing()?;
        let mut roots = lock(&self.roots);
        let MadeRoots { all, by_directory, .. } = &mut *roots;
        let number = by_directory.get(directory)?.iter().copied().find(|number| {
            let made = all.get(*number).filter(|it| it.has_blocks);
            let planned = made.and_then(|it| it.planned.as_ref());
            planned.is_some_and(|it| it.variant == *variant)
        })?;
        let made = all.get_mut(number)?;
        // A root that ran out of memory could now get further, or less far.
        let memory = made.planned.as_ref()?.root.memory;
        if memory >= made.allowed.min(allowed) || !made.asked.misses(differing) {
            return None;
        }
        let modules = made.asked.parts().map(str::to_owned).collect();
        let planned = if self.modules.is_lasting() { made.planned.clone() } else { made.planned.take() };
        #[cfg(test)]
        {
            roots.taken += 1;
        }
        Some((planned?, modules))
    }

    /// Returns how many roots other states reused.
    #[cfg(test)]
    pub(crate) fn times_taken(&self) -> usize {
        lock(&self.roots).taken
    }

    /// Takes the blocks of the first state, and returns the module calls, which the first state still needs.
    pub(crate) fn take_blocks(&self, roots: &[RootOverview], blocks: Vec<EvaluatedBlock>) -> Vec<EvaluatedBlock> {
        let is_call = |block: &EvaluatedBlock| block.keyword == "module";
        if !self.modules.is_first() {
            return blocks.into_iter().filter(is_call).collect();
        }
        let kept = blocks.iter().filter(|it| is_call(it)).cloned().collect();
        let mut blocks: Vec<Option<EvaluatedBlock>> = blocks.into_iter().map(Some).collect();
        let mut known = lock(&self.roots);
        for root in roots {
            let made = root.number.and_then(|number| known.all.get_mut(number));
            let (Some(made), Some(own)) = (made, blocks.get_mut(root.blocks.clone())) else { continue };
            if let Some(planned) = &mut made.planned {
                planned.root.blocks = own.iter_mut().filter_map(Option::take).collect();
                made.has_blocks = true;
            }
        }
        kept
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
