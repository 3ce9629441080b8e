//! Implements the functions of regular expressions.

use std::sync::Arc;

use regex::{Captures, Regex, RegexBuilder};

use crate::languages::hcl::value::{HclValue, ObjectMembers};

use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[("regex", 2..=2, first), ("regexall", 2..=2, all)];

/// The limit on the bytes of a compiled pattern, because short patterns can become very large.
const LARGEST_PATTERN: usize = 1 << 18;
/// The cost of compiling a pattern.
const PATTERN_STEPS: u64 = 20_000;

/// Compiles a pattern once for each root.
fn compile(a: &CallArguments<'_>, pattern: &str) -> Result<Regex, FunctionFailure> {
    if let Some(known) = a.evaluator.patterns.borrow().get(pattern) {
        return known.clone().ok_or_else(|| "this is not a regular expression".into());
    }
    a.evaluator.budget.spend(PATTERN_STEPS)?;
    let build = |pattern: String| {
        RegexBuilder::new(&pattern).size_limit(LARGEST_PATTERN).dfa_size_limit(LARGEST_PATTERN).build().ok()
    };
    let built = crate::source::go_pattern(pattern).and_then(build);
    a.evaluator.patterns.borrow_mut().insert(pattern.into(), built.clone());
    built.ok_or_else(|| "this is not a regular expression".into())
}

pub(super) fn replace(a: &CallArguments<'_>, text: &str, pattern: &str, to: &str) -> FunctionResult {
    let regex = compile(a, pattern)?;
    a.evaluator.budget.spend_reading(text.len())?;
    let replaced = regex.replace_all(text, to);
    a.answer(replaced.into_owned())
}

fn first(a: &CallArguments<'_>) -> FunctionResult {
    let regex = compile(a, &a.text(0)?)?;
    match regex.captures(&a.text(1)?) {
        Some(captures) => captured(a, &regex, &captures),
        None => Err("the pattern does not match".into()),
    }
}

fn all(a: &CallArguments<'_>) -> FunctionResult {
    let regex = compile(a, &a.text(0)?)?;
    let text = a.text(1)?;
    a.evaluator.budget.spend_reading(text.len())?;
    let found: Result<Vec<HclValue>, FunctionFailure> =
        regex.captures_iter(&text).map(|captures| captured(a, &regex, &captures)).collect();
    a.answer_list(found?)
}

/// Returns a string if there are no groups, a list for unnamed groups, and an object for named ones.
fn captured(a: &CallArguments<'_>, regex: &Regex, captures: &Captures<'_>) -> FunctionResult {
    let group = |index: usize| match captures.get(index) {
        Some(found) => HclValue::text(found.as_str(), a.span),
        None => HclValue::null(a.span),
    };
    if regex.captures_len() == 1 {
        return Ok(group(0));
    }
    let names: Vec<(usize, &str)> =
        regex.capture_names().enumerate().filter_map(|(index, name)| Some((index, name?))).collect();
    if names.is_empty() {
        return Ok(HclValue::tuple((1..regex.captures_len()).map(group).collect(), a.span));
    }
    if names.len() + 1 != regex.captures_len() {
        return Err("some groups of the pattern have names and some have none".into());
    }
    let entries: ObjectMembers = names.into_iter().map(|(index, name)| (Arc::from(name), group(index))).collect();
    Ok(HclValue::object(entries, a.span))
}
