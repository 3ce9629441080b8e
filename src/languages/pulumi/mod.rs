//! Pulumi: a program in YAML with the configuration of a stack → its resources; and what `pulumi preview --json` or
//! `pulumi stack export` wrote of any program.
//!
//! Follows Pulumi YAML (language reference, 2026-11): configuration, variables, `${…}`, `fn::…`. What providers say, other
//! stacks and secrets is not known here and says so. Refused: nothing. Evaluation has a budget.
//!
//! Judged by nobody outside yet: cases stand in `tests/templates/pulumi`. No crate reads these with places.

mod program;
mod state;

pub(crate) use program::{PulumiProgram, PulumiStack};
pub(crate) use state::state;
