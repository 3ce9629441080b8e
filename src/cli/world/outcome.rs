//! How a run ends.

/// How a run ended; the codes are the same for every verb and format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Outcome {
    /// Something was checked and there is nothing to fail on.
    Passed,
    /// A finding that counts.
    Failed,
    /// Nothing was there to check.
    Empty,
    /// Something is missing of what was measured, and nothing was written.
    Incomplete,
}
