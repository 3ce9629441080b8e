//! Implements functions of regular expressions.

use crate::source::go_pattern;
use regex::{Regex, RegexBuilder};

use super::super::failure::TemplateFailure;
use super::How::{Form, Plain};
use super::{FunctionCall, FunctionOutcome, Row};

/// Size limits for compiled patterns; real ones are smaller.
const SIZES: [usize; 4] = [1 << 14, 1 << 16, 1 << 18, 1 << 20];
/// The bytes of a pattern times bytes of a text that count as one step.
const STATES_PER_STEP: u64 = 1 << 16;

pub(super) const TABLE: &[Row] = &[
    ("regexMatch", "ss", Plain, |c| matches(c, false)),
    ("mustRegexMatch", "ss", Plain, |c| matches(c, true)),
    ("regexFind", "ss", Form, find),
    ("mustRegexFind", "ss", Form, find),
    ("regexFindAll", "ssi", Plain, find_all),
    ("mustRegexFindAll", "ssi", Plain, find_all),
    ("regexReplaceAll", "sss", Plain, |c| replace(c, false)),
    ("mustRegexReplaceAll", "sss", Plain, |c| replace(c, false)),
    ("regexReplaceAllLiteral", "sss", Plain, |c| replace(c, true)),
    ("mustRegexReplaceAllLiteral", "sss", Plain, |c| replace(c, true)),
    ("regexSplit", "ssi", Plain, split),
    ("mustRegexSplit", "ssi", Plain, split),
    ("regexQuoteMeta", "s", Form, |c| {
        let quoted: String = c
            .str(0)
            .chars()
            .flat_map(|letter| {
                let special = r"\.+*?()|[]{}^$".contains(letter);
                special.then_some('\\').into_iter().chain([letter])
            })
            .collect();
        c.text_result(quoted)
    }),
];

/// Compiles a pattern and spends steps for the search, in which each byte meets each state in the worst case.
fn pattern(c: &FunctionCall<'_, '_>) -> Result<Regex, TemplateFailure> {
    let text = c.str(0);
    c.spend(text.len() * 64)?;
    c.evaluator.step(50)?;
    let refused = || TemplateFailure::from(format!("error parsing regexp: `{text}`"));
    let written = go_pattern(text).ok_or_else(refused)?;
    let build = |bytes: &usize| Some((*bytes, RegexBuilder::new(&written).size_limit(*bytes).build().ok()?));
    let (bytes, built) = SIZES.iter().find_map(build).ok_or_else(refused)?;
    c.evaluator.step((c.str(1).len() * bytes) as u64 / STATES_PER_STEP)?;
    Ok(built)
}

fn matches(c: &mut FunctionCall<'_, '_>, must: bool) -> FunctionOutcome {
    match pattern(c) {
        Ok(pattern) => Ok(pattern.is_match(c.str(1)).into()),
        Err(why @ TemplateFailure::Budget(_)) => Err(why),
        Err(why) if must => Err(why),
        Err(_) => Ok(false.into()),
    }
}

fn find(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let pattern = pattern(c)?;
    Ok(pattern.find(c.str(1)).map_or("", |found| found.as_str()).into())
}

fn limit(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn find_all(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let pattern = pattern(c)?;
    let all = pattern.find_iter(c.str(1)).take(limit(c.int(2))).map(|found| found.as_str());
    c.heap().texts(all)
}

fn replace(c: &mut FunctionCall<'_, '_>, literal: bool) -> FunctionOutcome {
    let (text, new) = (c.str(1), c.str(2));
    c.may_make((text.len() + 1).saturating_mul(1 + new.len()))?;
    let pattern = pattern(c)?;
    let made = match literal {
        true => pattern.replace_all(text, regex::NoExpand(new)).into_owned(),
        false => pattern.replace_all(text, new).into_owned(),
    };
    c.text_result(made)
}

fn split(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let pattern = pattern(c)?;
    let (text, count) = (c.str(1), c.int(2));
    if count == 0 {
        return c.heap().list(Vec::new());
    }
    if c.str(0).is_empty() {
        return c.heap().texts(text.chars().map(String::from));
    }
    c.heap().texts(pattern.splitn(text, limit(count)))
}
