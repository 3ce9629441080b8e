//! What reading may cost, whatever the text says.

/// What reading may cost, whatever the text says: beyond it stands a message instead of a full memory or a long wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file; whoever brings the tree keeps it.
    pub file_bytes: u64,
    /// Blocks and brackets inside each other.
    pub nesting: u32,
    /// What evaluating one Terraform root may take.
    pub evaluation_steps: u64,
    /// Values of a YAML document when its aliases are followed.
    pub yaml_nodes: u32,
}

impl Limits {
    /// More would not fit the stack.
    pub const DEEPEST: u32 = 200;

    pub const DEFAULT: Limits = Limits {
        // Larger files are no text that a person wrote.
        file_bytes: 64 << 20,
        nesting: Self::DEEPEST,
        // About a second. The largest public roots take less than a fiftieth of it.
        evaluation_steps: 6_000_000,
        // Real documents hold at most some ten thousand; an alias bomb holds billions.
        yaml_nodes: 2_000_000,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
