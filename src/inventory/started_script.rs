//! Scripts that a machine starts, and whether the machine can end its own cost.

use std::sync::Arc;

use crate::source::Span;

/// A script that a machine starts and that its startup script does not contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedScript {
    /// The path in the command.
    pub path: String,
    /// The place of the startup script.
    pub span: Span,
    pub machine: Arc<StoppableMachine>,
}

/// The properties that decide whether a machine can end its own cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoppableMachine {
    /// Whether the provider bills no machine whose system is shut down. `None` if this is unknown.
    pub shutdown_ends_cost: Option<bool>,
    /// Whether a group replaces machines that stop.
    pub is_replaced: bool,
    /// The names of the machine itself.
    pub names: Vec<String>,
}
