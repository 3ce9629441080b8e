//! `Fn::Sub`, and what texts that are known in part have in common.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::languages::document::DocData;
use crate::languages::hcl::value::{Cause, Value};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::evaluate::LoopNames;
use super::stack::StackInstance;

/// Of a text with more alternatives, it is only said that it is not known.
const MOST_CANDIDATES: usize = 16;

impl StackInstance<'_> {
    /// A text with `${names}`, and maybe a map of what some of them mean.
    pub(super) fn substituted(&self, argument: &Node, at: Span, names: &LoopNames) -> Value {
        let (text, own) = match argument.items() {
            [text, own, ..] => (text, Some(self.doc(own, names))),
            [text] => (text, None),
            [] => (argument, None),
        };
        let Some(text) = text.text() else { return Value::refused("`Fn::Sub` takes a text", at) };
        let own = own.as_ref().map(|own| &own.data);
        let meaning = |name: &str| match own {
            Some(DocData::Map(entries, _)) => entries.iter().find(|(key, _)| &**key == name).map(|(_, it)| it.value()),
            _ => None,
        };
        let parts = parts(text).into_iter().map(|part| match part {
            TextPart::Text(text) => Value::text(text, at),
            TextPart::Name(name) => meaning(name).unwrap_or_else(|| match name.split_once('.') {
                Some((resource, attribute)) if names.get(name).is_none() => self.attribute(resource, attribute, at),
                _ => self.named(name, at, names),
            }),
        });
        joined(&parts.collect::<Vec<_>>(), "", at)
    }
}

enum TextPart<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// `${name}` is filled in, `${!name}` stands for `${name}`.
fn parts(text: &str) -> Vec<TextPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        parts.push(TextPart::Text(before));
        let Some((name, behind)) = after.split_once('}') else {
            parts.push(TextPart::Text("${"));
            rest = after;
            continue;
        };
        match name.strip_prefix('!') {
            Some(_) => {
                parts.push(TextPart::Text("${"));
                rest = after.get(1..).unwrap_or_default();
            }
            None => {
                parts.push(TextPart::Name(name.trim()));
                rest = behind;
            }
        }
    }
    parts.push(TextPart::Text(rest));
    parts
}

/// Texts with something between, as one: with all that it may be where only one is not known.
pub(super) fn joined(parts: &[Value], between: &str, at: Span) -> Value {
    let secret = parts.iter().any(Value::any_sensitive);
    let Some(cause) = parts.iter().find_map(Value::any_cause) else {
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
    Value::because(&Arc::new(cause), at).marked(secret)
}

fn text_of(parts: &[Value], between: &str, at: Span) -> Value {
    let texts: Option<Vec<_>> = parts.iter().map(Value::as_text).collect();
    match texts {
        Some(texts) => Value::text(texts.join(between), at),
        None => Value::refused("only texts and numbers make a text", at),
    }
}

/// The text with `${…}` where it is not known.
fn outline(parts: &[Value], between: &str) -> String {
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
