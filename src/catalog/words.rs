//! A cache of words that are names. Unsupported files are searched word by word, and the same words repeat in
//! each file and each of its states.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// So many words are remembered, and no longer ones.
const MOST_WORDS: usize = 50_000;
const LONGEST_WORD: usize = 64;

/// What was asked of one catalog; its copies share it.
#[derive(Clone, Default)]
pub(super) struct KnownWords(Arc<RwLock<HashMap<Box<str>, bool>>>);

impl KnownWords {
    /// What is remembered of a word, or what is found out about it now.
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
