//! Applies the fixes of findings in memory, and verifies them by a check.
//!
//! A new check of the edited files verifies each edit. An edit with any other effect is
//! withdrawn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cli::Failure;
use crate::cli::session::judged::{Identity, JudgedTree, Texts};
use crate::fix;
use crate::rules::{Finding, Safety};
use crate::source::FileId;

use super::proof;

/// The most rounds. A fix can make another one possible, but never in more rounds.
const MOST_ROUNDS: usize = 10;

/// The fixes to apply, and the function that repeats the check.
pub(in crate::cli) struct Fixing<'a> {
    pub(in crate::cli) limit: Safety,
    pub(in crate::cli) is_wanted: &'a dyn Fn(&Identity) -> bool,
    pub(in crate::cli) is_writable: &'a dyn Fn(&JudgedTree, FileId) -> bool,
    /// Checks the tree with these file contents.
    pub(in crate::cli) judge: &'a mut dyn FnMut(&Texts) -> Result<Arc<JudgedTree>, Failure>,
}

/// The fixes that were applied so far.
#[derive(Default)]
pub(in crate::cli) struct Fixes {
    pub(in crate::cli) texts: Texts,
    /// The original contents of the edited files.
    pub(in crate::cli) originals: Texts,
    pub(in crate::cli) fixed: Vec<Identity>,
    /// The resources for which a fix saves money.
    pub(in crate::cli) cheaper: BTreeSet<String>,
    /// The withdrawn fixes with their reasons.
    pub(in crate::cli) given_up: BTreeMap<Identity, String>,
}

impl Fixes {
    /// Applies all possible fixes, and returns the resulting state.
    pub(in crate::cli) fn make(
        fixing: &mut Fixing<'_>,
        first: Arc<JudgedTree>,
    ) -> Result<(Fixes, Arc<JudgedTree>), Failure> {
        let mut fixes = Fixes::default();
        let mut state = first;
        for _ in 0..MOST_ROUNDS {
            match fixes.round(fixing, &state)? {
                Some(after) => state = after,
                None => break,
            }
        }
        Ok((fixes, state))
    }

    /// Applies the edits that work together, or returns `None` if no edit has the intended effect.
    pub(in crate::cli) fn round(
        &mut self,
        fixing: &mut Fixing<'_>,
        state: &JudgedTree,
    ) -> Result<Option<Arc<JudgedTree>>, Failure> {
        loop {
            let chosen = fix::compatible(self.fixable(fixing, state));
            if chosen.is_empty() {
                return Ok(None);
            }
            let mut texts = self.texts.clone();
            let changed = fix::texts(&state.session.sources, &chosen);
            texts.extend(changed.into_iter().map(|(path, text)| (path, text.into_bytes())));
            let after = (fixing.judge)(&texts)?;
            let wrong = proof::wrong(state, &after, &chosen);
            if wrong.is_empty() {
                for file in chosen.iter().flat_map(|it| &it.edits).map(|edit| edit.span.file) {
                    let (path, text) = (state.session.sources.path(file), state.session.sources.text(file));
                    self.originals.entry(path).or_insert_with(|| text.as_bytes().to_vec());
                }
                let cheaper = chosen.iter().filter(|it| it.saves.is_some()).flat_map(|it| state.resources(it));
                self.cheaper.extend(cheaper.map(|resource| resource.address.clone()));
                self.fixed.extend(chosen.iter().map(|it| state.identity(it)));
                self.texts = texts;
                return Ok(Some(after));
            }
            // Each round withdraws an edit, so the loop ends.
            self.given_up.extend(wrong);
        }
    }

    /// Whether a finding can be fixed: it counts, its fix is safe enough, and its file is writable.
    pub(in crate::cli) fn fixable<'s>(&self, fixing: &Fixing<'_>, state: &'s JudgedTree) -> Vec<&'s Finding> {
        let is_fixable = |it: &&Finding| {
            let identity = state.identity(it);
            it.safety().is_some_and(|safety| safety <= fixing.limit)
                && it.edits.iter().all(|edit| (fixing.is_writable)(state, edit.span.file))
                && (fixing.is_wanted)(&identity)
                && !self.given_up.contains_key(&identity)
        };
        state.counting().filter(is_fixable).collect()
    }
}
