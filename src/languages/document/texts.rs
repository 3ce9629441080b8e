//! Defines strings that are partly known.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclValue};
use crate::source::Span;

/// The limit on candidates. A string with more of them has none.
const MOST_CANDIDATES: usize = 16;

/// Joins strings with a separator. If only one of them is unknown, the result has a candidate for each of its
/// candidates.
pub(crate) fn joined(parts: &[HclValue], between: &str, at: Span) -> HclValue {
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
