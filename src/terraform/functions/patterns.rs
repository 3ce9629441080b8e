//! Regular expressions.

use std::sync::Arc;

use regex::{Captures, Regex, RegexBuilder};

use crate::terraform::value::{Entries, Value};

use super::{Arguments, Failure, Function, Outcome};

pub(super) const TABLE: &[(&str, Function)] = &[("regex", first), ("regexall", all)];

/// Bytes of a compiled pattern: what a pattern of a few letters can ask for is bounded.
const LARGEST_PATTERN: usize = 1 << 19;
/// What compiling one costs.
const PATTERN_STEPS: u64 = 2_000;

/// A pattern, compiled once for each root.
fn compile(a: &Arguments<'_>, pattern: &str) -> Result<Regex, Failure> {
    if let Some(known) = a.evaluator.patterns.borrow().get(pattern) {
        return known.clone().ok_or_else(|| "this is no regular expression".into());
    }
    a.evaluator.budget.spend(PATTERN_STEPS)?;
    let build = |pattern: String| {
        RegexBuilder::new(&pattern).size_limit(LARGEST_PATTERN).dfa_size_limit(LARGEST_PATTERN).build().ok()
    };
    let built = super::go_pattern::in_rust(pattern).and_then(build);
    a.evaluator.patterns.borrow_mut().insert(pattern.into(), built.clone());
    built.ok_or_else(|| "this is no regular expression".into())
}

pub(super) fn replace(a: &Arguments<'_>, text: &str, pattern: &str, to: &str) -> Outcome {
    let regex = compile(a, pattern)?;
    a.evaluator.budget.spend_reading(text.len())?;
    let replaced = regex.replace_all(text, to);
    a.answer(replaced.into_owned())
}

fn first(a: &Arguments<'_>) -> Outcome {
    a.exactly(2)?;
    let regex = compile(a, &a.text(0)?)?;
    match regex.captures(&a.text(1)?) {
        Some(captures) => Ok(captured(a, &regex, &captures)),
        None => Err("the pattern does not match".into()),
    }
}

fn all(a: &Arguments<'_>) -> Outcome {
    a.exactly(2)?;
    let regex = compile(a, &a.text(0)?)?;
    let text = a.text(1)?;
    a.evaluator.budget.spend_reading(text.len())?;
    a.answer_list(regex.captures_iter(&text).map(|captures| captured(a, &regex, &captures)).collect())
}

/// A string without groups, a list with unnamed ones, an object with named ones.
fn captured(a: &Arguments<'_>, regex: &Regex, captures: &Captures<'_>) -> Value {
    let group = |index: usize| match captures.get(index) {
        Some(found) => Value::text(found.as_str(), a.span),
        None => Value::null(a.span),
    };
    if regex.captures_len() == 1 {
        return group(0);
    }
    let names: Vec<(usize, &str)> =
        regex.capture_names().enumerate().filter_map(|(index, name)| Some((index, name?))).collect();
    if names.is_empty() {
        return Value::tuple((1..regex.captures_len()).map(group).collect(), a.span);
    }
    let entries: Entries = names.into_iter().map(|(index, name)| (Arc::from(name), group(index))).collect();
    Value::object(entries, a.span)
}
