//! Implements the functions of Terragrunt.
//!
//! Results that depend on the user, the place or the time are unknown.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclValue, ObjectMembers};
use crate::source::{Span, join, parent};
use crate::terraform::evaluate::{absolute, relative};

use super::frame::{Frame, settings_of};
use super::merge;
use super::reader::{UNIT, located};

type Function = fn(&Frame<'_>, &TerragruntCall<'_>) -> HclValue;

/// A call whose arguments are known.
pub(super) struct TerragruntCall<'a> {
    arguments: &'a [HclValue],
    span: Span,
}

/// The limit on parent directories, as in Terragrunt.
const MOST_PARENTS: usize = 100;

const TABLE: &[(&str, RangeInclusive<usize>, Function)] = &[
    ("constraint_check", 2..=2, |_, call| HclValue::unknown("gpulint does not evaluate `constraint_check`", call.span)),
    ("deep_merge", 1..=usize::MAX, |_, call| {
        let empty = HclValue::object(ObjectMembers::default(), call.span);
        call.arguments.iter().fold(empty, |all, next| merge::joined(&all, next))
    }),
    ("find_in_parent_folders", 0..=2, find_in_parents),
    ("get_aws_account_alias", 0..=0, |_, call| call.elsewhere("the AWS account that runs Terragrunt")),
    ("get_aws_account_id", 0..=0, |_, call| call.elsewhere("the AWS account that runs Terragrunt")),
    ("get_aws_caller_identity_arn", 0..=0, |_, call| call.elsewhere("the AWS account that runs Terragrunt")),
    ("get_aws_caller_identity_user_id", 0..=0, |_, call| call.elsewhere("the AWS account that runs Terragrunt")),
    ("get_default_retryable_errors", 0..=0, |_, call| call.elsewhere("the version of Terragrunt")),
    ("get_env", 1..=2, get_env),
    ("get_original_terragrunt_dir", 0..=0, |frame, call| call.path(&frame.context.directory)),
    ("get_parent_terragrunt_dir", 0..=1, |frame, call| match included(frame, call) {
        Ok(home) => call.path(&home.unwrap_or_else(|| frame.base.clone())),
        Err(unknown) => unknown,
    }),
    ("get_path_from_repo_root", 0..=0, |frame, call| {
        call.text(&relative(frame.context.reader.repository(&frame.base), &frame.base))
    }),
    ("get_path_to_repo_root", 0..=0, |frame, call| {
        call.text(&relative(&frame.base, frame.context.reader.repository(&frame.base)))
    }),
    ("get_platform", 0..=0, |_, call| call.elsewhere("the operating system on which Terragrunt runs")),
    ("get_repo_root", 0..=0, |frame, call| call.path(frame.context.reader.repository(&frame.base))),
    ("get_terraform_cli_args", 0..=0, |_, call| call.elsewhere("the Terraform command")),
    ("get_terraform_command", 0..=0, |_, call| call.elsewhere("the Terraform command")),
    ("get_terraform_commands_that_need_input", 0..=0, |_, call| call.list("apply import init plan refresh")),
    ("get_terraform_commands_that_need_locking", 0..=0, |_, call| {
        call.list("apply destroy import plan refresh taint untaint")
    }),
    ("get_terraform_commands_that_need_parallelism", 0..=0, |_, call| call.list("apply plan destroy")),
    ("get_terraform_commands_that_need_vars", 0..=0, |_, call| {
        call.list("apply console destroy import plan push refresh")
    }),
    ("get_terragrunt_dir", 0..=0, |frame, call| call.path(&frame.base)),
    ("get_terragrunt_source_cli_flag", 0..=0, |_, call| call.text("")),
    ("get_working_dir", 0..=0, |_, call| call.elsewhere("the directory in which Terragrunt runs")),
    ("mark_as_read", 1..=1, |_, call| call.arguments.first().cloned().unwrap_or_else(|| call.text(""))),
    ("mark_glob_as_read", 1..=1, |_, call| call.elsewhere("the files that match a pattern")),
    ("path_relative_from_include", 0..=1, |frame, call| match included(frame, call) {
        Ok(home) => call.text(&home.map_or_else(|| ".".into(), |home| relative(&frame.base, &home))),
        Err(unknown) => unknown,
    }),
    ("path_relative_to_include", 0..=1, |frame, call| match included(frame, call) {
        Ok(home) => call.text(&home.map_or_else(|| ".".into(), |home| relative(&home, &frame.base))),
        Err(unknown) => unknown,
    }),
    ("read_terragrunt_config", 1..=2, read_config),
    ("read_tfvars_file", 1..=1, read_variables),
    ("run_cmd", 1..=usize::MAX, |_, call| call.elsewhere("the output of a command")),
    ("sops_decrypt_file", 1..=1, |_, call| call.elsewhere("an encrypted file")),
];

/// Functions that handle unknown arguments themselves.
const LENIENT: [&str; 4] = ["deep_merge", "mark_as_read", "read_terragrunt_config", "run_cmd"];

pub(super) fn find(name: &str) -> Option<(&'static RangeInclusive<usize>, Function)> {
    TABLE.iter().find(|(it, ..)| *it == name).map(|(_, arity, function)| (arity, *function))
}

pub(super) fn call(frame: &Frame<'_>, name: &str, arguments: &[HclValue], span: Span) -> HclValue {
    let Some((arity, function)) = find(name) else {
        return HclValue::refused(format!("there is no function `{name}`"), span);
    };
    if !arity.contains(&arguments.len()) {
        return HclValue::refused(format!("`{name}` does not take {} arguments", arguments.len()), span);
    }
    if let Some(cause) = arguments.iter().find_map(HclValue::cause).filter(|_| !LENIENT.contains(&name)) {
        return HclValue::because(cause, span);
    }
    // Finding and reading files costs more than one step.
    if let Err(cause) = frame.context.budget.spend(100) {
        return HclValue::because(&cause, span);
    }
    function(frame, &TerragruntCall { arguments, span })
}

impl TerragruntCall<'_> {
    fn text(&self, text: &str) -> HclValue {
        HclValue::text(text, self.span)
    }

    fn path(&self, path: &str) -> HclValue {
        self.text(&absolute(path))
    }

    fn list(&self, words: &str) -> HclValue {
        HclValue::list(words.split(' ').map(|it| self.text(it)).collect(), self.span)
    }

    fn elsewhere(&self, why: &str) -> HclValue {
        HclValue::unknown(format!("the value depends on {why}"), self.span)
    }

    fn argument(&self, index: usize) -> Option<Cow<'_, str>> {
        self.arguments.get(index)?.as_text()
    }
}

/// Returns the directory of the `include` that a label names, or of the only one.
fn included(frame: &Frame<'_>, call: &TerragruntCall<'_>) -> Result<Option<String>, HclValue> {
    if frame.is_included {
        return Ok(Some(frame.home.clone()));
    }
    let label = call.argument(0);
    let include = match &label {
        Some(label) => frame.includes.iter().find(|it| it.label == *label),
        None => frame.includes.first(),
    };
    match include.map(|it| &it.frame) {
        Some(Ok(included)) => Ok(Some(included.home.clone())),
        Some(Err(cause)) => Err(HclValue::because(cause, call.span)),
        None => match label {
            Some(label) => Err(HclValue::refused(format!("there is no include `{label}`"), call.span)),
            None => Ok(None),
        },
    }
}

/// Returns the nearest file or folder with this name, starting in the parent folder.
fn find_in_parents(frame: &Frame<'_>, call: &TerragruntCall<'_>) -> HclValue {
    let (reader, shadows) = (frame.context.reader, &frame.context.shadows);
    let name = call.argument(0).unwrap_or(Cow::Borrowed(UNIT));
    let mut directory = frame.base.as_str();
    for _ in 0..MOST_PARENTS {
        if directory.is_empty() {
            break;
        }
        directory = parent(directory);
        let Some(path) = join(directory, &name) else { break };
        if reader.find(shadows, &path).is_some() {
            return call.path(&path);
        }
        let json = format!("{path}.json");
        if call.arguments.is_empty() && reader.find(shadows, &json).is_some() {
            return call.path(&json);
        }
    }
    match call.arguments.get(1) {
        Some(fallback) => fallback.clone(),
        None => HclValue::refused(format!("there is no `{name}` in the folders above {}", frame.base), call.span),
    }
}

/// Returns the value of an environment variable that commands of the tree set. Otherwise, the value is unknown, and its
/// default is assumed.
fn get_env(frame: &Frame<'_>, call: &TerragruntCall<'_>) -> HclValue {
    let name = call.argument(0).unwrap_or_default();
    let reader = frame.context.reader;
    if let Some((value, files)) = reader.commands().value(reader.sources, &name, &frame.context.directory) {
        frame.context.files.borrow_mut().extend(files.into_iter().map(Arc::from));
        return value;
    }
    let Some(default) = call.arguments.get(1) else {
        return call.elsewhere(&format!("the environment variable {name}"));
    };
    let shown = default.as_text().map(|it| format!(" `{it}`")).unwrap_or_default();
    let why = format!("the value depends on the environment variable {name}, whose default{shown} is assumed");
    let cause = Cause { candidates: vec![default.clone()], ..Cause::new(why, call.span) };
    HclValue::because(&Arc::new(cause), call.span)
}

fn read_config(frame: &Frame<'_>, call: &TerragruntCall<'_>) -> HclValue {
    let missing = |value: HclValue| call.arguments.get(1).cloned().unwrap_or(value);
    let Some(path) = call.arguments.first() else { return HclValue::null(call.span) };
    if let Some(cause) = path.cause() {
        return match cause.refused {
            true => missing(HclValue::because(cause, call.span)),
            false => HclValue::because(cause, call.span),
        };
    }
    let text = path.as_text().unwrap_or_default();
    // Since 1.1.4, relative paths start at the file that contains them. Before, they started at the unit.
    let places = [&frame.home, &frame.base].into_iter().filter_map(|from| located(from, &text));
    for place in places {
        if let Some((path, real)) = settings_of(frame.context, &place) {
            return frame.read(&path, &real, call.span);
        }
    }
    missing(HclValue::refused(format!("there is no file {text}"), call.span))
}

/// Returns the variables of a file, as a JSON string.
fn read_variables(frame: &Frame<'_>, call: &TerragruntCall<'_>) -> HclValue {
    let text = call.argument(0).unwrap_or_default();
    let places = [&frame.home, &frame.base].into_iter().filter_map(|from| located(from, &text));
    let shadows = &frame.context.shadows;
    let Some(real) = places.into_iter().find_map(|it| frame.context.reader.find(shadows, &it)) else {
        return HclValue::refused(format!("there is no file {text}"), call.span);
    };
    let value = match frame.context.reader.parse(&real) {
        Ok(parsed) => {
            frame.context.files.borrow_mut().insert(real.as_str().into());
            if let Some(error) = &parsed.error {
                let cause = std::sync::Arc::new(Cause::new(error.message.clone(), error.span));
                return HclValue::because(&cause, call.span);
            }
            let attributes = parsed.body.attributes.iter();
            let evaluated = attributes.map(|it| (it.name.text.clone(), frame.evaluate(&it.expression)));
            HclValue::object(evaluated.collect(), parsed.body.span)
        }
        Err(error) => return HclValue::refused(format!("{real}: {error}"), call.span),
    };
    frame.evaluator().call_by_name("jsonencode", vec![value], call.span)
}
