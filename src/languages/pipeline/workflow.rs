//! Reads pipelines in YAML and JSON: their steps and scripts, with the environment and the folder of each.

use crate::languages::shell::{self, HOLE, ShellWord};
use crate::languages::yaml::{self, Node};
use crate::source::{FileId, SourceFiles, Span, has_mark};

use super::call::{CallContext, CalledTool, PipelineCall, PlacedWord, ROOM};
use super::script::{ScriptReader, part_with};

/// The limit on nested nodes.
const DEEPEST: usize = 40;
/// Keys with environment variables.
const ENVIRONMENTS: [&str; 4] = ["env", "environment", "variables", "environment_variables"];
/// Keys with the folder of a step or job.
const FOLDERS: [&str; 5] =
    ["working-directory", "workingDirectory", "working_directory", "dir", "defaults.run.working-directory"];

/// Returns the calls of all documents of a file.
pub(super) fn calls(sources: &SourceFiles, file: FileId, text: &str, marks: &[&[u8]]) -> Vec<PipelineCall> {
    let stream = yaml::read_within(file, text, sources.limits());
    let scripts = ScriptReader::default();
    let mut reader = WorkflowReader { file, text, marks, scripts, handed_on: Vec::new() };
    stream.documents.iter().for_each(|it| reader.look_into(&it.root, &CallContext::default(), &[], 0));
    reader.scripts.found
}

struct WorkflowReader<'t> {
    file: FileId,
    text: &'t str,
    marks: &'t [&'t [u8]],
    scripts: ScriptReader,
    /// The variables that the last scripts give to later steps.
    handed_on: Vec<(String, PlacedWord)>,
}

impl WorkflowReader<'_> {
    /// Adds the calls of a node. `before` are the commands that run before each script.
    fn look_into(&mut self, node: &Node, around: &CallContext, before: &[Node], depth: usize) {
        if depth > DEEPEST || self.scripts.room_of_contexts == 0 {
            return;
        }
        if let Some(text) = node.text() {
            if self.has_mark(text) {
                self.script(std::slice::from_ref(node), &mut around.clone());
            }
            return;
        }
        let mut context = self.context_of(node, around);
        let own = node.get("before_script").or_else(|| node.at("default.before_script")).map(Node::items);
        let before = own.unwrap_or(before);
        self.step(node, &context);
        for entry in node.entries().iter().filter(|entry| &*entry.key != "before_script") {
            // The phases of a build share a shell.
            if &*entry.key == "phases" {
                let phases = entry.value.entries().iter().filter_map(|it| it.value.get("commands"));
                let all: Vec<Node> = phases.flat_map(Node::items).cloned().collect();
                self.lines(&all, &mut context.clone());
                continue;
            }
            match is_list_of_lines(&entry.value) {
                true => {
                    let is_script = &*entry.key == "script";
                    let first = before.iter().filter(|_| is_script).cloned();
                    let all: Vec<Node> = first.chain(entry.value.items().iter().cloned()).collect();
                    self.lines(&all, &mut context.clone());
                }
                false => self.look_into(&entry.value, &context, before, depth + 1),
            }
        }
        if !node.items().is_empty() {
            self.handed_on.clear();
        }
        for item in node.items() {
            self.look_into(item, &context, before, depth + 1);
            for (name, word) in std::mem::take(&mut self.handed_on) {
                context.set(&name, word, &mut self.scripts.room_of_contexts);
            }
        }
    }

    /// Adds an action with inputs, or a program of an image with arguments.
    fn step(&mut self, node: &Node, context: &CallContext) {
        let step = node.text_at("uses").or_else(|| node.text_at("task"));
        let inputs = node.get("with").or_else(|| node.get("inputs"));
        if let (Some(step), Some(inputs)) = (step, inputs) {
            let inputs = inputs.entries().iter().map(|it| (it.key.clone(), it.value.clone()));
            let tool = CalledTool::Step(step.clone(), inputs.collect());
            self.scripts.found.push(PipelineCall { tool, context: context.clone() });
        }
        let image = node.text_at("image").or_else(|| node.text_at("name")).filter(|it| self.has_mark(it));
        let (Some(image), Some(arguments)) = (image, node.get("args")) else { return };
        let program = node.text_at("entrypoint").map_or_else(|| program_of(image), |it| it.to_string());
        let program = PlacedWord { text: program, at: node.span };
        let arguments = arguments.items().iter().filter_map(|it| Some((it.text()?, it.span)));
        let arguments = arguments.map(|(text, at)| PlacedWord { text: filled(text, context), at });
        let tool = CalledTool::Command(std::iter::once(program).chain(arguments).collect());
        self.scripts.found.push(PipelineCall { tool, context: context.clone() });
    }

    fn has_mark(&self, text: &str) -> bool {
        has_mark(text.as_bytes(), self.marks)
    }

    /// Returns the context inside a node.
    fn context_of(&mut self, node: &Node, around: &CallContext) -> CallContext {
        let mut context = around.clone();
        for given in ENVIRONMENTS.iter().filter_map(|key| node.get(key)) {
            for (name, word) in variables(given, &context) {
                context.set(&name, word, &mut self.scripts.room_of_contexts);
            }
        }
        if let Some(folder) = FOLDERS.iter().find_map(|path| node.text_at(path)) {
            context.folder = filled(folder, &context);
        }
        context
    }

    /// Adds the commands of a list of strings that run in one shell, if one of them has a mark.
    fn lines(&mut self, lines: &[Node], context: &mut CallContext) {
        if lines.iter().filter_map(Node::text).any(|text| self.has_mark(text)) {
            self.script(lines, context);
        }
    }

    fn script(&mut self, parts: &[Node], context: &mut CallContext) {
        let mut script = String::new();
        let mut starts = Vec::new();
        for (text, node) in parts.iter().filter_map(|it| Some((it.text()?, it))) {
            starts.push((script.len(), node.span));
            script.push_str(&prepared(text, context));
            script.push('\n');
        }
        let (file, text) = (self.file, self.text);
        let place = |word: &ShellWord| {
            let part = starts.iter().rev().find(|(start, _)| *start <= word.start);
            let Some((start, at)) = part else { return Span::new(file, 0, 0) };
            let line = script.get(*start..word.start).map_or(0, |it| it.matches('\n').count());
            place_of(*at, text, line, &word.text)
        };
        let handed_on = self.scripts.run(&script, context, &place);
        self.handed_on.extend(handed_on);
    }
}

/// Returns the place of a word in a string of the file: the word itself or its value, or else its line.
fn place_of(at: Span, text: &str, line: usize, word: &str) -> Span {
    let start = at.start as usize;
    let source = text.get(at.range()).unwrap_or_default();
    // A block starts below its mark.
    let is_block = source.starts_with(['|', '>']);
    let lines = source.split_inclusive('\n').take(line + usize::from(is_block));
    let from = lines.map(str::len).sum::<usize>().min(source.len());
    let rest = source.get(from..).unwrap_or_default();
    match part_with(rest, word) {
        Some(part) => Span::new(at.file, start + from + part.start, start + from + part.end),
        None => {
            let line = rest.lines().next().unwrap_or_default();
            let indent = line.len() - line.trim_start().len();
            Span::new(at.file, start + from + indent, start + from + line.len())
        }
    }
}

fn is_list_of_lines(node: &Node) -> bool {
    !node.items().is_empty() && node.items().iter().all(|item| item.text().is_some())
}

/// Returns the program of an image: `terraform` of `hashicorp/terraform:1.9`.
fn program_of(image: &str) -> String {
    let name = image.rsplit('/').next().unwrap_or(image);
    name.split([':', '@']).next().unwrap_or(name).to_owned()
}

/// Returns the variables of a map, or of a list with `NAME=value` or `name: NAME`, `value: value`.
fn variables(node: &Node, context: &CallContext) -> Vec<(String, PlacedWord)> {
    let hole = || HOLE.to_string();
    let placed =
        |value: &Node| PlacedWord { text: value.text().map_or_else(hole, |it| filled(it, context)), at: value.span };
    let of_map = node.entries().iter().map(|it| (it.key.to_string(), placed(&it.value)));
    let of_list = node.items().iter().filter_map(|item| match item.text() {
        Some(text) => {
            let (name, value) = shell::assignment(text)?;
            Some((name.to_owned(), PlacedWord { text: filled(value, context), at: item.span }))
        }
        None => Some((item.text_at("name")?.to_string(), placed(item.get("value")?))),
    });
    of_map.chain(of_list).collect()
}

/// Returns a value with the variables around it. Another expression is a hole.
fn filled(text: &str, context: &CallContext) -> String {
    let script = prepared(text, context);
    let mut parts = script.split('$');
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = match part.strip_prefix('{').map(|it| it.split_once('}').unwrap_or((it, ""))) {
            Some((name, rest)) => (name, rest),
            None => part.split_at(part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len())),
        };
        match context.variables.get(name) {
            Some(word) if result.len() < ROOM / 64 => result.push_str(&word.text),
            _ => result.push(HOLE),
        }
        result.push_str(rest);
    }
    result
}

/// Returns a script with `${NAME}` instead of `$(NAME)` for each variable of the context.
fn with_braces(script: &str, context: &CallContext) -> String {
    let mut parts = script.split("$(");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')').filter(|(name, _)| context.variables.contains_key(*name)) {
            Some((name, rest)) => result.extend(["${", name, "}", rest]),
            None => result.extend(["$(", part]),
        }
    }
    result
}

/// Returns a script in which a shell finds the variables of the pipeline: `${{ env.NAME }}` and `$(NAME)` are `${NAME}`.
fn prepared(text: &str, context: &CallContext) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${{") {
        let Some((inner, after)) = rest[at + 3..].split_once("}}") else { break };
        result.push_str(&rest[..at]);
        match inner.trim().strip_prefix("env.").filter(|name| shell::is_name(name)) {
            Some(name) => result.extend(["${", name, "}"]),
            None => result.push(HOLE),
        }
        rest = after;
    }
    result.push_str(rest);
    if result.contains("$(") {
        result = with_braces(&result, context);
    }
    shell::cut_templates(&result, false)
}
