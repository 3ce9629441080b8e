//! Defines strings that are partly known.

use std::fmt::Write as _;
use std::sync::Arc;

use super::EvaluationState;
use crate::languages::hcl::value::{Cause, HclData, HclValue};
use crate::source::Span;

/// The limit on candidates. A string with more of them has none.
const MOST_CANDIDATES: usize = 16;

/// The bytes of a number, a boolean or the mark of an unknown part.
const SCALAR_BYTES: usize = 16;

/// The memory of a short part of a split string.
pub(crate) const PART_BYTES: usize = 100;

/// Joins strings with a separator. If only one of them is unknown, the result has a candidate for each of its
/// candidates.
pub(crate) fn joined(state: &EvaluationState, parts: &[HclValue], between: &str, at: Span) -> HclValue {
    let most = parts.iter().map(longest).fold(between.len().saturating_mul(parts.len()), usize::saturating_add);
    let times = parts.iter().filter_map(HclValue::cause).map(|cause| cause.candidates.len()).max().unwrap_or(0);
    match state.pay_text(most.saturating_mul(times.min(MOST_CANDIDATES) + 1), at) {
        Ok(()) => joined_parts(parts, between, at),
        Err(unknown) => unknown,
    }
}

/// Returns the bytes of the longest string that a value may be.
pub(crate) fn longest(value: &HclValue) -> usize {
    match (&value.data, value.cause()) {
        (HclData::Text(text), _) => text.len(),
        (_, Some(cause)) => {
            let candidates = cause.candidates.iter().filter(|it| !it.is_unknown()).map(longest);
            candidates.chain(cause.outline.as_ref().map(|it| it.len())).max().unwrap_or(SCALAR_BYTES)
        }
        _ => SCALAR_BYTES,
    }
}

/// Pays for a function that reads these values; `Err` is its unknown result if the budget is exhausted.
pub(crate) fn pay_for_arguments(state: &EvaluationState, values: &[HclValue], at: Span) -> Result<(), HclValue> {
    for value in values {
        state.pay_members(value, at)?;
    }
    state.pay_reading(values.iter().map(longest).fold(0, usize::saturating_add), at)
}

/// Replaces each `old`, which is not empty; returns an unknown value if the budget is exhausted.
pub(crate) fn replaced(state: &EvaluationState, text: &str, old: &str, new: &str, at: Span) -> HclValue {
    let bytes = text.len().saturating_add(text.matches(old).count().saturating_mul(new.len()));
    match state.pay_text(bytes, at) {
        Ok(()) => HclValue::text(text.replace(old, new), at),
        Err(unknown) => unknown,
    }
}

fn joined_parts(parts: &[HclValue], between: &str, at: Span) -> HclValue {
    let secret = parts.iter().any(HclValue::any_sensitive);
    let Some(cause) = parts.iter().find_map(HclValue::any_cause) else {
        return text_of(parts, between, at).marked(secret);
    };
    let mut unknown = parts.iter().enumerate().filter(|(_, part)| !part.is_wholly_known());
    let only = unknown.next().filter(|_| unknown.next().is_none());
    let candidates = only.and_then(|(place, part)| {
        let among = part.cause().map(|it| &it.candidates).filter(|it| it.len() <= MOST_CANDIDATES)?;
        let each = among.iter().map(|candidate| {
            let mut parts = parts.to_vec();
            *parts.get_mut(place)? = candidate.clone();
            candidate.is_wholly_known().then(|| text_of(&parts, between, at))
        });
        each.collect::<Option<Vec<_>>>()
    });
    let outline = Some(outline(parts, between).into());
    let cause = Cause { candidates: candidates.unwrap_or_default(), outline, ..Cause::clone(cause) };
    HclValue::because(&Arc::new(cause), at).marked(secret)
}

fn text_of(parts: &[HclValue], between: &str, at: Span) -> HclValue {
    let texts: Option<Vec<_>> = parts.iter().map(HclValue::as_text).collect();
    match texts {
        Some(texts) => HclValue::text(texts.join(between), at),
        None => HclValue::refused("only strings and numbers can form a string", at),
    }
}

/// Returns the string with `${…}` for unknown parts.
fn outline(parts: &[HclValue], between: &str) -> String {
    let mut text = String::new();
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            text.push_str(between);
        }
        match (part.as_text(), part.cause().and_then(|cause| cause.outline.as_ref())) {
            (Some(known), _) => text.push_str(&known),
            (None, Some(outline)) => text.push_str(outline),
            (None, None) => {
                let _ = write!(text, "${{…}}");
            }
        }
    }
    text
}
