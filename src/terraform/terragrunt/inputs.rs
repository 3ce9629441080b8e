//! Collects the values of a unit's variables, in Terragrunt's order of precedence.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::languages::hcl::value::{HclValue, ObjectMembers};
use crate::source::Span;
use crate::terraform::load::root::VariableInput;
use crate::terraform::load::roots::automatic_files;

use super::frame::Context;
use super::member;
use super::reader::located;

/// Returns the sources of values, the lowest precedence first: inputs, files that Terraform loads automatically,
/// arguments of its commands.
pub(super) fn given(context: &Context<'_>, own: &str, settings: &HclValue, module: Option<&str>) -> Vec<VariableInput> {
    let blocks: Vec<HclValue> = member(settings, "terraform")
        .and_then(|it| member(it, "extra_arguments"))
        .map(named)
        .unwrap_or_default()
        .into_iter()
        .filter(|block| texts(block, "commands").iter().any(|(it, _)| matches!(it.as_str(), "plan" | "apply")))
        .collect();
    let inputs = member(settings, "inputs").and_then(HclValue::entries);
    let all = || inputs.into_iter().flat_map(ObjectMembers::iter);
    let input =
        |(name, value): (&std::sync::Arc<str>, &HclValue)| VariableInput::Input(name.to_string(), value.clone());
    let mut given: Vec<VariableInput> = all().filter(|(_, value)| !value.is_null()).map(input).collect();
    given.extend(blocks.iter().flat_map(environment));
    let (automatic, exact) = automatic(context, own, module);
    given.extend(exact.into_iter().map(VariableInput::File));
    // Terragrunt writes nulls into a file whose name sorts before all others.
    let null = |(name, value): (&std::sync::Arc<str>, &HclValue)| VariableInput::Null(name.to_string(), value.clone());
    given.extend(all().filter(|(_, value)| value.is_null()).map(null));
    given.extend(automatic.into_iter().map(VariableInput::File));
    for block in &blocks {
        add_arguments(context, module.unwrap_or(own), own, block, &mut given);
    }
    given.extend(context.reader.options.variable_files.iter().cloned().map(VariableInput::File));
    given
}

/// Returns the files that Terraform loads automatically. Files of the unit replace those of the module.
fn automatic(context: &Context<'_>, own: &str, module: Option<&str>) -> (Vec<String>, Vec<String>) {
    let sources = context.reader.sources;
    let mut files = automatic_files(sources, own);
    if let Some(module) = module.filter(|it| *it != own) {
        let names: BTreeSet<String> = files.iter().map(|it| name_of(it).to_owned()).collect();
        files.extend(automatic_files(sources, module).into_iter().filter(|it| !names.contains(name_of(it))));
    }
    // `terraform.tfvars` comes before `terraform.tfvars.json`.
    files.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    files.into_iter().partition(|it| name_of(it).contains(".auto.tfvars"))
}

/// Returns environment variables that a block sets. They override inputs, and files override them.
fn environment(block: &HclValue) -> Vec<VariableInput> {
    let variables = member(block, "env_vars").and_then(HclValue::entries).into_iter().flat_map(ObjectMembers::iter);
    variables
        .filter_map(|(name, value)| Some(VariableInput::Input(name.strip_prefix("TF_VAR_")?.into(), value.clone())))
        .collect()
}

/// Adds variables and variable files from Terraform's command line.
fn add_arguments(context: &Context<'_>, from: &str, own: &str, block: &HclValue, given: &mut Vec<VariableInput>) {
    let find = |path: &str| {
        let places = [from, own].into_iter().filter_map(|it| located(it, path));
        places.into_iter().find_map(|it| context.reader.find(&context.shadows, &it))
    };
    let mut add = |path: &str, span: Option<Span>| match (find(path), span) {
        (Some(real), _) => given.push(VariableInput::File(real)),
        (None, Some(span)) => {
            let message = format!("the variable file {path} of this unit is not in this repository");
            context.report(Diagnostic::unreadable(message, span));
        }
        (None, None) => {}
    };
    let mut variables = Vec::new();
    for (flag, value, span) in flags(block) {
        match (flag.as_str(), value.split_once('=')) {
            ("var-file", _) => add(&value, Some(span)),
            ("var", Some((name, text))) => {
                variables.push(VariableInput::Argument(name.trim().to_owned(), HclValue::text(text, span)));
            }
            _ => {}
        }
    }
    texts(block, "required_var_files").iter().for_each(|(path, span)| add(path, Some(*span)));
    texts(block, "optional_var_files").iter().for_each(|(path, _)| add(path, None));
    given.extend(variables);
}

/// Returns `-var-file=a`, or the same in two arguments.
fn flags(block: &HclValue) -> Vec<(String, String, Span)> {
    let mut flags = Vec::new();
    let mut arguments = texts(block, "arguments").into_iter();
    while let Some((argument, span)) = arguments.next() {
        let argument = argument.trim_start_matches('-');
        match argument.split_once('=') {
            Some((flag, value)) => flags.push((flag.to_owned(), value.to_owned(), span)),
            None if matches!(argument, "var" | "var-file") => {
                flags.extend(arguments.next().map(|(value, span)| (argument.to_owned(), value, span)));
            }
            None => {}
        }
    }
    flags
}

/// Returns blocks with names, in the form of HCL or JSON.
fn named(value: &HclValue) -> Vec<HclValue> {
    match value.entries() {
        Some(entries) => entries.known.values().cloned().collect(),
        None => value.items().to_vec(),
    }
}

fn texts(block: &HclValue, name: &str) -> Vec<(String, Span)> {
    let items = member(block, name).map(HclValue::items).unwrap_or_default();
    items.iter().filter_map(|it| Some((it.as_text()?.into_owned(), it.span))).collect()
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
