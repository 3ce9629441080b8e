//! The outcome of a subcommand.

/// The outcome of a subcommand. The exit codes are the same for all subcommands and formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum ExitStatus {
    /// Something was checked, and nothing fails the check.
    Passed,
    /// A finding or another result fails the check.
    Failed,
    /// Nothing was found to check.
    Empty,
    /// Measurements are missing, and nothing was written.
    Incomplete,
}
