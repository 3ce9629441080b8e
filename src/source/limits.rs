//! Defines the limits for reading any input.

/// Limits for reading. A file that exceeds one is reported, so that it cannot fill the memory or take long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of bytes of a file. The tree enforces this limit.
    pub file_bytes: u64,
    /// The maximum nesting of blocks and brackets.
    pub nesting: u32,
    /// The maximum number of steps for evaluating one Terraform root.
    pub evaluation_steps: u64,
    /// The maximum number of values of a YAML document with its aliases resolved.
    pub yaml_nodes: u32,
}

impl Limits {
    /// The maximum nesting for which the stack is large enough.
    pub const DEEPEST: u32 = 200;

    pub const DEFAULT: Limits = Limits {
        // Larger files are not written by people.
        file_bytes: 64 << 20,
        nesting: Self::DEEPEST,
        // This many steps take about a second. The largest public roots need less than 2% of them.
        evaluation_steps: 6_000_000,
        // Real documents have at most some ten thousand values; an alias bomb has billions.
        yaml_nodes: 2_000_000,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
