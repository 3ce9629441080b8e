//! Finds the commands and steps of scripts, Makefiles and pipelines, with the places of their words.

use std::sync::Arc;

use crate::languages::shell;
use crate::languages::yaml::{self, Node};
use crate::source::{FileId, SourceFiles, Span};

use super::deployment::DeployTarget;

/// The bytes of variables that the commands of one file may repeat.
const ROOM: usize = 1 << 20;

/// A word of a command. An unknown part is a hole.
#[derive(Debug, Clone)]
pub(super) struct PlacedWord {
    pub(super) text: String,
    pub(super) at: Span,
}

/// A call of a deploy tool.
pub(super) enum DeployCall {
    Command(Vec<PlacedWord>),
    /// A step of a pipeline, with its action and its inputs.
    Step(Arc<str>, Vec<(Arc<str>, Node)>),
}

impl DeployCall {
    /// Returns the place of its first word or input.
    pub(super) fn at(&self) -> Option<Span> {
        match self {
            DeployCall::Command(words) => words.first().map(|it| it.at),
            DeployCall::Step(_, inputs) => inputs.first().map(|(_, it)| it.span),
        }
    }
}

/// Every file with such a call contains one of these strings.
pub(super) fn marks(target: DeployTarget) -> &'static [&'static [u8]] {
    match target {
        DeployTarget::CloudFormation => &[b"cloudformation", b"sam deploy"],
        DeployTarget::Azure => &[
            b"az deployment",
            b"az stack",
            b"deployment create",
            b"arm-deploy",
            b"AzureResourceManagerTemplateDeployment",
        ],
    }
}

/// Returns the commands and steps of a file.
pub(super) fn calls(sources: &SourceFiles, path: &str, target: DeployTarget) -> Vec<DeployCall> {
    let Ok(file) = sources.open(path) else { return Vec::new() };
    let text = sources.text(file);
    let mut room = ROOM;
    if ![".yml", ".yaml"].iter().any(|ending| path.ends_with(ending)) {
        return commands(&text, &mut room, &|start, end, _| Span::new(file, start, end));
    }
    let stream = yaml::read_within(file, &text, sources.limits());
    let mut reader = PipelineReader { file, text: &text, marks: marks(target), room, found: Vec::new() };
    stream.documents.iter().for_each(|it| reader.look_into(&it.root));
    reader.found
}

fn commands(script: &str, room: &mut usize, place: &dyn Fn(usize, usize, &str) -> Span) -> Vec<DeployCall> {
    let placed = |word: shell::ShellWord| PlacedWord { at: place(word.start, word.end, &word.text), text: word.text };
    let all = shell::certain_commands(script, room).into_iter();
    all.map(|words| DeployCall::Command(words.into_iter().map(placed).collect())).collect()
}

/// Returns the words of a string that a shell would split.
pub(super) fn words(text: &str, at: Span) -> Vec<PlacedWord> {
    let line = shell::cut_templates(text, false).replace('\n', " ");
    let all = shell::certain_commands(&format!("x {line}"), &mut ROOM.clone())
        .into_iter()
        .flat_map(|words| words.into_iter().skip(1));
    all.map(|word| PlacedWord { text: word.text, at }).collect()
}

struct PipelineReader<'t> {
    file: FileId,
    text: &'t str,
    marks: &'static [&'static [u8]],
    room: usize,
    found: Vec<DeployCall>,
}

impl PipelineReader<'_> {
    fn look_into(&mut self, root: &Node) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            let step = node.text_at("uses").or_else(|| node.text_at("task"));
            let inputs = node.get("with").or_else(|| node.get("inputs"));
            if let (Some(step), Some(inputs)) = (step, inputs) {
                let inputs = inputs.entries().iter().map(|it| (it.key.clone(), it.value.clone()));
                self.found.push(DeployCall::Step(step.clone(), inputs.collect()));
            }
            if let Some(text) = node.text().filter(|text| self.has_mark(text)) {
                self.script(text, node.span);
            }
            let mut inner: Vec<&Node> = node.inner().collect();
            inner.reverse();
            open.extend(inner);
        }
    }

    fn has_mark(&self, text: &str) -> bool {
        self.marks.iter().any(|mark| memchr::memmem::find(text.as_bytes(), mark).is_some())
    }

    fn script(&mut self, script: &str, at: Span) {
        let (file, text) = (self.file, self.text.get(at.range()).unwrap_or_default());
        let place = |_: usize, _: usize, word: &str| match text.find(word).filter(|_| word.contains('=')) {
            Some(start) => {
                let start = at.start as usize + start;
                Span::new(file, start, start + word.len())
            }
            // The first line of the script is enough: other lines may belong to other commands.
            None => Span::new(file, at.start as usize, at.start as usize + text.lines().next().map_or(0, str::len)),
        };
        let found = commands(&shell::cut_templates(script, false), &mut self.room, &place);
        self.found.extend(found);
    }
}
