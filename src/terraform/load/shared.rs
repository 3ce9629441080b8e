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
    /// The roots of the state before, in a sequence of states.
    earlier: Option<Arc<Mutex<MadeRoots<C>>>>,
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
    asked: Arc<AskedOfTree>,
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

impl<C: Clone> MadeRoots<C> {
    /// Records a root. Without `has_blocks`, the state keeps the blocks for now, and the root gets the number under
    /// which its blocks are restored.
    fn add(&mut self, planned: &mut EvaluatedRoot<C>, asked: Arc<AskedOfTree>, allowed: u64, has_blocks: bool) {
        let number = self.all.len();
        planned.number = Some(number);
        let blocks = if has_blocks { Vec::new() } else { std::mem::take(&mut planned.root.blocks) };
        self.by_directory.entry(planned.directory.clone()).or_default().push(number);
        self.all.push(MadeRoot { planned: Some(planned.clone()), asked, allowed, has_blocks });
        if !has_blocks {
            planned.root.blocks = blocks;
        }
    }
}

impl<C> Default for SharedRoots<C> {
    fn default() -> Self {
        SharedRoots { modules: SharedModules::default(), roots: Arc::default(), earlier: None }
    }
}

impl<C: Clone> SharedRoots<C> {
    /// Creates a cache that records results for one other state.
    pub fn kept() -> Self {
        SharedRoots { modules: SharedModules::kept(), ..Self::default() }
    }

    /// Creates a cache for any number of other states, each of which gets copies.
    pub fn lasting() -> Self {
        SharedRoots { modules: SharedModules::lasting(), ..Self::default() }
    }

    /// Returns the cache for the other state, given the differences.
    #[must_use]
    pub fn for_other(&self, differing: Option<Differing>) -> Self {
        let shared = |it| SharedRoots { modules: self.modules.for_other(it), roots: self.roots.clone(), earlier: None };
        differing.map(shared).unwrap_or_default()
    }

    /// Returns the cache for the next state of a sequence, which takes the roots of this state. Without known
    /// differences, the sequence starts again.
    #[must_use]
    pub fn for_next(&self, differing: Option<Differing>) -> Self {
        let earlier = differing.is_some().then(|| self.roots.clone());
        SharedRoots { modules: self.modules.for_next(differing), roots: Arc::default(), earlier }
    }

    /// Allows reuse: the texts of the first state are at the same positions in the second one.
    pub fn allow(&self) {
        self.modules.allow();
    }

    /// Records a planned root, with a number to restore its blocks.
    pub(super) fn keep(&self, planned: &mut EvaluatedRoot<C>, asked: AskedOfTree, allowed: u64) {
        // Roots that two tools read differently are compared only within one state.
        if !self.modules.is_recorded() || planned.root.has_files_of_one_tool {
            return;
        }
        drop(std::mem::take(&mut planned.root.switched_off));
        lock(&self.roots).add(planned, Arc::new(asked), allowed, self.modules.is_lasting());
    }

    /// Returns a root in which nothing differs, with the directories of its modules.
    pub(super) fn root(
        &self,
        directory: &str,
        variant: &RootVariant,
        allowed: u64,
    ) -> Option<(EvaluatedRoot<C>, Vec<String>)> {
        let differing = self.modules.differing()?;
        let mut roots = lock(self.earlier.as_ref().unwrap_or(&self.roots));
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
        let mut planned = EvaluatedRoot { number: None, ..planned? };
        let (asked, allowed) = (made.asked.clone(), made.allowed);
        #[cfg(test)]
        {
            roots.taken += 1;
        }
        drop(roots);
        if self.earlier.is_some() {
            lock(&self.roots).add(&mut planned, asked, allowed, false);
        }
        Some((planned, modules))
    }

    /// Returns how many roots other states reused.
    #[cfg(test)]
    pub(crate) fn times_taken(&self) -> usize {
        lock(&self.roots).taken
    }

    /// Takes the blocks of the first state, and returns the module calls, which the first state still needs.
    pub(crate) fn take_blocks(&self, roots: &[RootOverview], blocks: Vec<EvaluatedBlock>) -> Vec<EvaluatedBlock> {
        let is_call = |block: &EvaluatedBlock| block.keyword == "module";
        if !self.modules.is_recorded() {
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
