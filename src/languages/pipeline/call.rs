//! Defines a call of a tool with its surroundings.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::languages::shell::spend;
use crate::languages::yaml::Node;
use crate::source::Span;

/// The bytes of variables that the commands of one file may repeat.
pub(super) const ROOM: usize = 1 << 20;
/// The bytes of variables that all calls of one file may have.
pub(super) const ROOM_OF_CONTEXTS: usize = 16 << 20;

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

impl CallContext {
    /// Sets a variable. Other contexts keep theirs, so that a change may copy all variables. Returns false if they exceed
    /// the remaining bytes.
    pub(super) fn set(&mut self, name: &str, word: PlacedWord, room: &mut usize) -> bool {
        const ENTRY: usize = 100;
        let size = |name: &str, word: &PlacedWord| name.len() + word.text.len() + ENTRY;
        let copied = match Arc::get_mut(&mut self.variables) {
            Some(_) => 0,
            None => self.variables.iter().map(|(name, word)| size(name, word)).sum(),
        };
        let is_allowed = spend(room, copied + size(name, &word));
        if is_allowed {
            Arc::make_mut(&mut self.variables).insert(name.to_owned(), word);
        }
        is_allowed
    }
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
