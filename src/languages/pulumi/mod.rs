//! Pulumi: evaluates a YAML program with the configuration of a stack to its resources. Also reads the output of
//! `pulumi preview --json` and `pulumi stack export` for any program.
//!
//! Follows Pulumi YAML (language reference, 2026-11): configuration, variables, `${…}`, `fn::…`. Values from providers,
//! other stacks and secrets are unknown, with a cause. Nothing is refused. Evaluation has a budget.
//!
//! There is no external test yet; `tests/templates/pulumi` contains the test cases. No crate reads these files with
//! places.

mod program;
mod state;

pub(crate) use program::{PulumiProgram, PulumiStack};
pub(crate) use state::state;
