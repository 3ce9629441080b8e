//! Defines a call of a tool with its surroundings.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::languages::yaml::Node;
use crate::source::Span;

/// The bytes of variables that the commands of one file may repeat.
pub(super) const ROOM: usize = 1 << 20;
/// A word of a command. An unknown part is a hole.
#[derive(Debug, Clone)]
pub(crate) struct PlacedWord {
    pub(crate) text: String,
    pub(crate) at: Span,
}

/// The surroundings of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallContext {
    /// The environment variables and the variables of the script. An unknown value contains a hole.
    pub(crate) variables: Arc<BTreeMap<String, PlacedWord>>,
    /// The folder as written, relative to the folder in which the script or pipeline starts; empty if nothing changes
    /// it.
    pub(crate) folder: String,
}

/// The command or the step of a call.
#[derive(Debug)]
pub(crate) enum CalledTool {
    Command(Vec<PlacedWord>),
    /// A step of a pipeline, with its action and its inputs.
    Step(Arc<str>, Vec<(Arc<str>, Node)>),
}

/// A call of a tool.
#[derive(Debug)]
pub(crate) struct PipelineCall {
    pub(crate) tool: CalledTool,
    pub(crate) context: CallContext,
}

impl PipelineCall {
    /// Returns the place of its first word or input.
    pub(crate) fn at(&self) -> Option<Span> {
        match &self.tool {
            CalledTool::Command(words) => words.first().map(|it| it.at),
            CalledTool::Step(_, inputs) => inputs.first().map(|(_, it)| it.span),
        }
    }
}
