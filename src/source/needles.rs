use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

/// Words that are searched for all at once. They cost a tenth of what a pattern of them costs to make, which is much of a
/// small run.
#[derive(Debug)]
pub struct Needles(Option<AhoCorasick>);

impl Needles {
    pub fn new<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Self {
        let kind = Some(AhoCorasickKind::NoncontiguousNFA);
        Needles(AhoCorasick::builder().kind(kind).match_kind(MatchKind::LeftmostFirst).build(words).ok())
    }

    /// Whether one of them stands somewhere where it counts; asked with its number and its place. Where several begin at
    /// one place, the first of them is asked for.
    pub fn any(&self, text: &[u8], counts: impl Fn(usize, usize) -> bool) -> bool {
        let Some(words) = &self.0 else { return true };
        let mut from = 0;
        while let Some(found) = words.find(Input::new(text).range(from..)) {
            if counts(found.pattern().as_usize(), found.start()) {
                return true;
            }
            from = found.start() + 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_where_it_stands_alone() {
        let needles = Needles::new(["gpu-memory", "gpu"]);
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
}
