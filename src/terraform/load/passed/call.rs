//! Reads the options of Terraform's commands and the inputs of actions that run Terraform.

use std::sync::Arc;

use crate::languages::pipeline::{CallContext, CalledTool, PipelineCall, PlacedWord, entered, words};
use crate::languages::shell::{HOLE, assignment, cut_templates, program_at, program_name};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::values::{PassedCall, PassedFile, PassedValue};

const TOOLS: [&str; 2] = ["terraform", "tofu"];
/// The start of environment variables with values.
const VARIABLE: &str = "TF_VAR_";

/// Returns the values that a call passes to a root; `None` if it neither plans nor applies one.
pub(super) fn passed(path: &str, call: &PipelineCall) -> Option<PassedCall> {
    let mut it = match &call.tool {
        CalledTool::Command(words) => of_command(path, words, &call.context)?,
        CalledTool::Step(action, inputs) => of_step(path, action, inputs, &call.context)?,
    };
    let given = it.context.variables.iter();
    let given = given.filter_map(|(name, word)| Some((name.strip_prefix(VARIABLE)?, word)));
    let environment: Vec<PassedValue> = given
        .map(|(name, word)| PassedValue { is_environment: true, ..value(path, name, &word.text, word.at) })
        .collect();
    it.values.splice(0..0, environment);
    let workspace = it.context.variables.get("TF_WORKSPACE").map(|it| it.text.clone());
    it.workspace = it.workspace.or(workspace).filter(|name| !name.contains(HOLE) && !name.is_empty());
    (!it.values.is_empty() || !it.files.is_empty()).then_some(it)
}

fn blank(path: &str, context: &CallContext) -> PassedCall {
    PassedCall {
        path: path.to_owned(),
        context: context.clone(),
        folder: context.folder.clone(),
        files: Vec::new(),
        values: Vec::new(),
        workspace: None,
        applies: false,
    }
}

fn value(path: &str, name: &str, text: &str, at: Span) -> PassedValue {
    let text = match text.contains(HOLE) {
        true => Err(format!("{path} sets `{name}` to a value that is not in the file")),
        false => Ok(text.to_owned()),
    };
    PassedValue { name: name.to_owned(), text, at, is_environment: false }
}

fn of_command(path: &str, words: &[PlacedWord], context: &CallContext) -> Option<PassedCall> {
    let mut it = blank(path, context);
    let is_tool = |word: &PlacedWord| TOOLS.contains(&program_name(&word.text));
    let first = program_at(words.iter().map(|word| word.text.as_str()), &[])?;
    // `aws-vault exec prod -- terraform apply`
    let after = words.iter().position(|word| word.text == "--").map(|at| at + 1);
    let at = [Some(first), after].into_iter().flatten().find(|at| words.get(*at).is_some_and(is_tool))?;
    for word in words.iter().take(first) {
        if let Some((name, text)) = assignment(&word.text) {
            let word = PlacedWord { text: text.to_owned(), at: word.at };
            Arc::make_mut(&mut it.context.variables).insert(name.to_owned(), word);
        }
    }
    let mut rest = words.iter().skip(at + 1);
    loop {
        let word = rest.next()?;
        match option(&word.text) {
            Some(("chdir", Some(folder))) => it.folder = entered(&it.folder, folder),
            Some(_) => {}
            None if word.text == "apply" => break it.applies = true,
            None if word.text == "plan" => break,
            None => return None,
        }
    }
    options(&mut it, &rest.cloned().collect::<Vec<_>>())
}

/// Splits `-name=value` and `--name=value`.
fn option(word: &str) -> Option<(&str, Option<&str>)> {
    let option = word.strip_prefix('-')?.trim_start_matches('-');
    Some(option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value))))
}

/// Adds the options after `plan` or `apply`; `None` if the command destroys the root.
fn options(it: &mut PassedCall, words: &[PlacedWord]) -> Option<PassedCall> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some((name, given)) = option(&word.text) else { continue };
        match name {
            "destroy" => return None,
            "var" | "var-file" => {
                let own = given.map(|text| PlacedWord { text: text.to_owned(), at: word.at });
                let word = own.or_else(|| words.next().cloned())?;
                match name {
                    "var" => argument(it, &word),
                    _ => it.files.push(PassedFile { written: word.text.clone(), at: word.at }),
                }
            }
            _ => {}
        }
    }
    Some(it.clone())
}

fn argument(it: &mut PassedCall, word: &PlacedWord) {
    if let Some((name, text)) = word.text.split_once('=').filter(|(name, _)| !name.contains(HOLE)) {
        let passed = value(&it.path, name.trim(), text, word.at);
        it.values.push(passed);
    }
}

type Inputs = [(Arc<str>, Node)];

fn of_step(path: &str, action: &str, inputs: &Inputs, context: &CallContext) -> Option<PassedCall> {
    let mut it = blank(path, context);
    let input = |name: &str| inputs.iter().find(|(key, _)| &**key == name).map(|(_, node)| node);
    let text = |name: &str| input(name).and_then(Node::text).map(|it| cut_templates(it, false));
    let in_shell = |node: &Node| words(node.text()?, node.span).into_iter().next().map(|word| word.text);
    let folder = |name: &str| input(name).and_then(in_shell).unwrap_or_default();
    if action.contains("/terraform-apply") || action.contains("/terraform-plan") {
        it.applies = action.contains("/terraform-apply");
        it.folder = folder("path");
        it.workspace = text("workspace");
        if let Some((variables, text)) = input("variables").and_then(|node| Some((node, node.text()?))) {
            let lines = text.lines().filter_map(|line| line.split_once('='));
            for (name, given) in lines {
                let given = cut_templates(given.trim(), false);
                let given = given.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(&given);
                it.values.push(value(path, name.trim(), given, variables.span));
            }
        }
        let files = input("var_file").and_then(|node| Some((node.text()?, node.span)));
        let files = files.into_iter().flat_map(|(text, at)| text.lines().map(move |line| (line, at)));
        // The paths start at the folder of the repository.
        it.files.extend(files.map(|(line, at)| PassedFile { written: format!("/{}", line.trim()), at }));
        return Some(it);
    }
    if !action.starts_with("TerraformTask") && !action.starts_with("TerraformCLI") {
        return None;
    }
    let command = text("command")?;
    it.applies = command == "apply";
    it.folder = folder("workingDirectory");
    let given = input("commandOptions").and_then(|node| Some((node.text()?, node.span)));
    let given = given.map(|(text, at)| words(text, at)).unwrap_or_default();
    ["plan", "apply"].contains(&command.as_str()).then(|| options(&mut it, &given))?
}
