//! Searches for many words at once.

use aho_corasick::packed::{Config, Searcher};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

/// Words that are searched at once. Creating them costs a tenth of compiling a pattern, which is relevant for a small
/// run.
#[derive(Debug)]
pub enum Needles {
    /// Compares many bytes at a time, if the processor supports it and the words are few.
    Packed(Searcher),
    OneByOne(AhoCorasick),
    /// There are no searchable words, so every position matches.
    Everywhere,
}

impl Needles {
    pub fn new(words: &[impl AsRef<[u8]>]) -> Self {
        if let Some(searcher) = Config::new().builder().extend(words).build() {
            return Needles::Packed(searcher);
        }
        let kind = Some(AhoCorasickKind::NoncontiguousNFA);
        let words = AhoCorasick::builder().kind(kind).match_kind(MatchKind::LeftmostFirst).build(words);
        words.map_or(Needles::Everywhere, Needles::OneByOne)
    }

    /// Returns true if a word occurs at a place for which `counts` returns true. `counts` gets the index of the word
    /// and the place. If several words begin at one place, `counts` gets the first one.
    pub fn any(&self, text: &[u8], counts: impl Fn(usize, usize) -> bool) -> bool {
        let mut from = 0;
        loop {
            let found = match self {
                Needles::Packed(words) => words.find_in(text, (from..text.len()).into()),
                Needles::OneByOne(words) => words.find(Input::new(text).range(from..)),
                Needles::Everywhere => return true,
            };
            let Some(found) = found else { return false };
            if counts(found.pattern().as_usize(), found.start()) {
                return true;
            }
            from = found.start() + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_where_it_stands_alone() {
        let needles = Needles::new(&["gpu-memory", "gpu"]);
        let places = |text: &str| {
            let seen = std::cell::RefCell::new(Vec::new());
            needles.any(text.as_bytes(), |word, at| {
                seen.borrow_mut().push((word, at));
                false
            });
            seen.into_inner()
        };
        assert_eq!(places("gpugpu-memory gp"), [(1, 0), (0, 3)]);
        assert!(needles.any(b"a gpu", |word, at| (word, at) == (1, 2)));
        assert!(places("").is_empty());
    }

    #[test]
    fn many_words_are_found_one_by_one() {
        let words: Vec<String> = (100..300).map(|number| format!("word{number}")).collect();
        let needles = Needles::new(&words);
        assert!(matches!(needles, Needles::OneByOne(_)), "{needles:?}");
        assert!(needles.any(b"a word299", |word, at| (word, at) == (199, 2)));
        assert!(!needles.any(b"a word300", |_, _| true));
    }
}
