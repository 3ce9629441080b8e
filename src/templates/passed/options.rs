//! Reads the options of deploy commands and the inputs of deploy steps.

use crate::languages::hcl::value::{HclNumber, HclValue};
use crate::languages::pipeline::{CalledTool, PipelineCall, PlacedWord, words};
use crate::languages::shell::{HOLE, program_at, program_name};
use crate::languages::yaml::{self, Node};

use super::deployment::{DeployTarget, PassedDeployment};

/// Words before a command beyond those of every script.
const RUNNERS: [&str; 4] = ["uv", "run", "poetry", "pipenv"];

/// Returns the deployment that a call describes; `None` if the call passes no values to a template of this cloud.
pub(super) fn deployment(path: &str, call: &PipelineCall, target: DeployTarget) -> Option<PassedDeployment> {
    let mut it = PassedDeployment::of(path, call.at()?);
    match &call.tool {
        CalledTool::Command(all) => {
            let options = options(all, target)?;
            // The name of the stack is part of messages about values, so it comes first.
            let (values, others): (Vec<_>, Vec<_>) = options.iter().partition(|(name, _)| sets_values(name));
            others.into_iter().chain(values).for_each(|(name, values)| option(&mut it, name, values, target));
        }
        CalledTool::Step(action, inputs) => {
            let reads = step(action, target)?;
            let (values, others): (Vec<_>, Vec<_>) = inputs.iter().partition(|(name, _)| sets_values(name));
            others.into_iter().chain(values).for_each(|(name, value)| reads(&mut it, name, value));
        }
    }
    let passes = !it.values.is_empty() || !it.files.is_empty() || it.open.is_some();
    passes.then_some(it)
}

/// Returns true if an option or input sets parameters.
fn sets_values(name: &str) -> bool {
    name == "-p" || name.to_ascii_lowercase().contains("parameter")
}

/// Returns the options of a command that deploys a template, each with its words.
fn options(words: &[PlacedWord], target: DeployTarget) -> Option<Vec<(&str, Vec<PlacedWord>)>> {
    let text = |at: usize| words.get(at).map_or("", |it| it.text.as_str());
    let first = program_at(words.iter().map(|it| it.text.as_str()), &RUNNERS)?;
    let program = program_name(text(first));
    let plain: Vec<&str> = (first + 1..words.len().min(first + 8)).map(text).collect();
    let follow = |names: &[&str]| plain.iter().position(|it| names.contains(it));
    let verb = match (target, program) {
        (DeployTarget::CloudFormation, "aws") => {
            let service = follow(&["cloudformation"])?;
            let verb = *plain.get(service + 1)?;
            ["deploy", "create-stack", "update-stack", "create-change-set"].contains(&verb).then_some(service + 1)?
        }
        (DeployTarget::CloudFormation, "sam") => follow(&["deploy"]).filter(|at| *at == 0)?,
        (DeployTarget::Azure, "az") => {
            follow(&["deployment", "stack"]).filter(|at| *at <= 1)?;
            follow(&["create"])?
        }
        _ => return None,
    };
    let mut options: Vec<(&str, Vec<PlacedWord>)> = Vec::new();
    for word in words.iter().skip(first + 1 + verb + 1) {
        let is_option = word.text.starts_with("--") || word.text.len() == 2 && word.text.starts_with('-');
        match (is_option, word.text.split_once('=')) {
            (true, Some((name, value))) => {
                options.push((name, vec![PlacedWord { text: value.to_owned(), at: word.at }]));
            }
            (true, None) => options.push((&word.text, Vec::new())),
            (false, _) => options.last_mut()?.1.push(word.clone()),
        }
    }
    Some(options)
}

fn option(it: &mut PassedDeployment, name: &str, values: &[PlacedWord], target: DeployTarget) {
    let Some(first) = values.first() else { return };
    match (target, name) {
        (DeployTarget::CloudFormation, "--template-file" | "--template-body" | "--template" | "-t")
        | (DeployTarget::Azure, "--template-file" | "-f") => it.template = Some(local(&first.text)),
        (DeployTarget::CloudFormation, "--stack-name") | (DeployTarget::Azure, "--name" | "-n") => {
            it.name = Some(first.text.clone()).filter(|name| !name.contains(HOLE));
        }
        (DeployTarget::CloudFormation, "--region") if !first.text.contains(HOLE) => {
            it.region = Some(HclValue::text(first.text.as_str(), first.at));
        }
        (DeployTarget::CloudFormation, "--parameter-overrides" | "--parameters") => {
            values.iter().for_each(|word| cloudformation_value(it, word));
        }
        (DeployTarget::Azure, "--parameters" | "-p") => values.iter().for_each(|word| azure_value(it, word)),
        _ => {}
    }
}

/// Returns a path without `file://` and `@`.
fn local(text: &str) -> String {
    text.trim_start_matches("file://").trim_start_matches('@').to_owned()
}

/// Adds `Name=value`, `ParameterKey=Name,ParameterValue=value`, several of them in one word, or a file.
pub(super) fn cloudformation_value(it: &mut PassedDeployment, word: &PlacedWord) {
    let text = word.text.trim();
    if text.starts_with("file://") {
        return it.files.push(local(text));
    }
    if let Some(rest) = text.strip_prefix("ParameterKey=") {
        return match rest.split_once(",ParameterValue=") {
            Some((name, value)) => it.set(name, value.trim_matches(['"', '\'']), word.at),
            None => it.leave_open(word.at),
        };
    }
    match text.split_once('=').filter(|(name, _)| is_parameter(name)) {
        Some(_) if text.contains(' ') && text.split(' ').filter(|part| part.contains('=')).count() > 1 => {
            let parts = words(text, word.at).into_iter().filter(|part| part.text.len() < text.len());
            parts.for_each(|part| cloudformation_value(it, &part));
        }
        Some((name, value)) => it.set(name, value.trim_matches(['"', '\'']), word.at),
        None => it.leave_open(word.at),
    }
}

/// Adds `name=value` or a file.
fn azure_value(it: &mut PassedDeployment, word: &PlacedWord) {
    let text = word.text.trim();
    match text.split_once('=').filter(|(name, _)| is_parameter(name)) {
        Some((_, value)) if value.starts_with(['{', '[', '@']) => it.leave_open(word.at),
        Some((name, value)) => {
            it.set(name, value.trim_matches(['"', '\'']), word.at);
            if let Some(set) = it.values.get_mut(name) {
                *set = typed(set);
            }
        }
        None if text.starts_with('@') || [".json", ".bicepparam"].iter().any(|end| text.ends_with(end)) => {
            it.files.push(local(text));
        }
        None => it.leave_open(word.at),
    }
}

/// Returns a number or a boolean if the command line has one.
fn typed(value: &HclValue) -> HclValue {
    let Some(text) = value.as_text() else { return value.clone() };
    match (text.as_ref(), HclNumber::parse(&text)) {
        ("true", _) => HclValue::bool(true, value.span),
        ("false", _) => HclValue::bool(false, value.span),
        (_, Some(number)) => HclValue::number(number, value.span),
        _ => value.clone(),
    }
}

fn is_parameter(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

type ReadInput = fn(&mut PassedDeployment, &str, &Node);

/// Returns the function that reads the inputs of an action.
fn step(action: &str, target: DeployTarget) -> Option<ReadInput> {
    match target {
        DeployTarget::CloudFormation if action.contains("aws-cloudformation-github-deploy") => Some(github_stack),
        DeployTarget::Azure if action.contains("/arm-deploy") => Some(github_arm),
        DeployTarget::Azure if action.contains("/bicep-deploy") => Some(github_bicep),
        DeployTarget::Azure if action.starts_with("AzureResourceManagerTemplateDeployment") => Some(azure_task),
        _ => None,
    }
}

fn github_stack(it: &mut PassedDeployment, name: &str, value: &Node) {
    let Some(text) = value.text() else { return };
    let place = |text: &str| PlacedWord { text: text.to_owned(), at: value.span };
    match name {
        "template" => it.template = Some(cut(text)),
        "name" => it.name = Some(cut(text)).filter(|name| !name.contains(HOLE)),
        "parameter-overrides" => {
            let parts = cut(text);
            // A comma separates parameters, and values of a list if no name follows.
            let mut all: Vec<String> = Vec::new();
            for part in parts.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
                let is_new =
                    part.starts_with("file://") || part.split_once('=').is_some_and(|(name, _)| is_parameter(name));
                match all.last_mut().filter(|_| !is_new) {
                    Some(last) => last.push_str(&format!(",{part}")),
                    None => all.push(part.to_owned()),
                }
            }
            all.iter().for_each(|part| cloudformation_value(it, &place(part)));
        }
        _ => {}
    }
}

fn github_arm(it: &mut PassedDeployment, name: &str, value: &Node) {
    let Some(text) = value.text() else { return };
    match name {
        "template" => it.template = Some(cut(text)),
        "deploymentName" => it.name = Some(cut(text)).filter(|name| !name.contains(HOLE)),
        "parameters" => words(text, value.span).iter().for_each(|word| azure_value(it, word)),
        _ => {}
    }
}

fn github_bicep(it: &mut PassedDeployment, name: &str, value: &Node) {
    let Some(text) = value.text().filter(|text| !text.trim().is_empty()) else { return };
    match name {
        "template-file" => it.template = Some(cut(text)),
        "name" => it.name = Some(cut(text)).filter(|name| !name.contains(HOLE)),
        "parameters-file" => it.files.push(cut(text)),
        "parameters" => {
            let stream = yaml::read(value.span.file, &cut(text));
            let entries = stream.documents.first().map(|it| it.root.entries()).unwrap_or_default();
            for entry in entries {
                let given = entry.value.text().map_or_else(|| HOLE.to_string(), |it| it.to_string());
                azure_value(it, &PlacedWord { text: format!("{}={given}", entry.key), at: value.span });
            }
            if entries.is_empty() {
                it.leave_open(value.span);
            }
        }
        _ => {}
    }
}

fn azure_task(it: &mut PassedDeployment, name: &str, value: &Node) {
    let Some(text) = value.text().filter(|text| !text.is_empty()) else { return };
    match name {
        "csmFile" => it.template = words(text, value.span).into_iter().next().map(|word| word.text),
        "csmParametersFile" => it.files.extend(words(text, value.span).into_iter().next().map(|word| word.text)),
        "overrideParameters" => {
            let all = words(text, value.span);
            for pair in all.windows(2) {
                if let [name, given] = pair
                    && let Some(name) = name.text.strip_prefix('-').filter(|name| is_parameter(name))
                {
                    azure_value(it, &PlacedWord { text: format!("{name}={}", given.text), at: given.at });
                }
            }
        }
        _ => {}
    }
}

fn cut(text: &str) -> String {
    crate::languages::shell::cut_templates(text.trim(), false)
}
