//! Provides choices from a seed, or from the bytes of a fuzzer.

/// Choices that look random and are the same for the same start.
pub(crate) struct Choice<'a> {
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Choice<'a> {
    #[allow(dead_code, reason = "for tests; a fuzzer has bytes")]
    pub(crate) fn seeded(seed: u64) -> Self {
        Choice { bytes: &[], state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    #[allow(dead_code, reason = "for a fuzzer; tests have seeds")]
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Self {
        Choice { bytes, state: 1 }
    }

    /// Returns a number below `end`. If the bytes are used up, the rest depends only on their end.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if let Some((first, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            self.state = self.state.wrapping_mul(31).wrapping_add(u64::from(*first));
            return usize::from(*first) % end.max(1);
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 11).unwrap_or(0) % end.max(1)
    }

    pub(crate) fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
