//! Evaluates `Fn::Sub`.

use crate::languages::document::{DocData, joined};
use crate::languages::hcl::value::HclValue;
use crate::languages::yaml::Node;
use crate::source::Span;

use super::evaluate::LoopNames;
use super::stack::StackInstance;

impl StackInstance<'_> {
    /// Replaces `${names}` in a string; a map may define some of them.
    pub(super) fn substituted(&self, argument: &Node, at: Span, names: &LoopNames) -> HclValue {
        let (text, own) = match argument.items() {
            [text, own, ..] => (text, Some(self.doc(own, names))),
            [text] => (text, None),
            [] => (argument, None),
        };
        let Some(text) = text.text() else { return HclValue::refused("`Fn::Sub` takes a string", at) };
        let own = own.as_ref().map(|own| &own.data);
        let meaning = |name: &str| match own {
            Some(DocData::Map(entries, _)) => entries.iter().find(|(key, _)| &**key == name).map(|(_, it)| it.value()),
            _ => None,
        };
        let parts = parts(text);
        let entries = match own {
            Some(DocData::Map(entries, _)) => entries.len(),
            _ => 0,
        };
        if let Err(unknown) = self.state.pay_steps((parts.len() * (1 + entries / 8)) as u64, at) {
            return unknown;
        }
        let parts = parts.into_iter().map(|part| match part {
            TextPart::Text(text) => HclValue::text(text, at),
            TextPart::Name(name) => meaning(name).unwrap_or_else(|| match name.split_once('.') {
                Some((resource, attribute)) if names.get(name).is_none() => self.attribute(resource, attribute, at),
                _ => self.named(name, at, names),
            }),
        });
        joined(&self.state, &parts.collect::<Vec<_>>(), "", at)
    }
}

enum TextPart<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// Splits a string at its names. `${name}` is replaced, and `${!name}` is an escaped `${name}`.
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
