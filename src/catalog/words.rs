//! A cache of whether words are names. gpulint searches unsupported files word by word, and words repeat between files
//! and their states.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The maximum number of cached words, and the maximum length of each.
const MOST_WORDS: usize = 50_000;
const LONGEST_WORD: usize = 64;

/// The results for one catalog. Its copies share them.
#[derive(Clone, Default)]
pub(super) struct KnownWords(Arc<RwLock<HashMap<Box<str>, bool>>>);

impl KnownWords {
    /// Returns the cached result for a word, or determines it with `find`.
    pub(super) fn is_name(&self, word: &str, find: impl FnOnce() -> bool) -> bool {
        let KnownWords(known) = self;
        let remembered = known.read().unwrap_or_else(PoisonError::into_inner).get(word).copied();
        if let Some(remembered) = remembered {
            return remembered;
        }
        let found = find();
        let mut known = known.write().unwrap_or_else(PoisonError::into_inner);
        if word.len() <= LONGEST_WORD && known.len() < MOST_WORDS {
            known.insert(word.into(), found);
        }
        found
    }
}
