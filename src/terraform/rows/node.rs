//! Defines the nodes to which paths lead: blocks, and values with their place on the resource.

use std::borrow::Cow;
use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue, ObjectMembers};
use crate::source::{Span, from_base64};

use super::super::block::{EvaluatedAttribute, EvaluatedAttributes, EvaluatedBlock, Provider};
use crate::inventory::row_path::{Into, PathStep, RowPath, StepName, TextForm};

/// A node at the end of a path.
#[derive(Debug, Clone)]
pub(in crate::terraform) enum ValueNode<'a> {
    Block(&'a EvaluatedBlock),
    Provider(&'a Provider),
    Value(PlacedValue),
}

/// A value, with its place on the resource.
#[derive(Debug, Clone)]
pub(in crate::terraform) struct PlacedValue {
    pub(in crate::terraform) value: HclValue,
    /// The attribute, or the place of the value inside it.
    pub(in crate::terraform) said: Span,
    /// The expression of the attribute. If the value is defined elsewhere, it came through a reference.
    pub(in crate::terraform) expression: Span,
    literal: bool,
    /// True if it is unknown whether the value exists.
    pub(super) perhaps: bool,
}

impl PlacedValue {
    /// Returns the same place with another value.
    pub(super) fn holding(&self, value: HclValue) -> PlacedValue {
        let said = if self.expression.contains(value.span) { value.span } else { self.said };
        PlacedValue { value, said, ..*self }
    }

    pub(super) fn of(attribute: &EvaluatedAttribute) -> PlacedValue {
        let EvaluatedAttribute { value, span, expression, literal, .. } = attribute;
        PlacedValue { value: value.clone(), said: *span, expression: *expression, literal: *literal, perhaps: false }
    }

    pub(super) fn text(text: &Arc<str>, span: Span) -> PlacedValue {
        let value = HclValue::text(text.clone(), span);
        PlacedValue { value, said: span, expression: span, literal: true, perhaps: false }
    }

    /// Returns an unknown value that may not exist.
    pub(super) fn doubt(cause: &Arc<Cause>) -> PlacedValue {
        let value = HclValue::because(cause, cause.span);
        PlacedValue { value, said: cause.span, expression: cause.span, literal: false, perhaps: true }
    }

    /// Returns whether the value is a literal on the resource. Otherwise it was computed or came through a reference.
    pub(in crate::terraform) fn is_written_here(&self) -> bool {
        self.expression.contains(self.value.span) && (self.literal || self.expression != self.value.span)
    }

    /// Returns the place of the value if it is defined elsewhere.
    pub(super) fn defined(&self) -> Option<Span> {
        (!self.expression.contains(self.value.span)).then_some(self.value.span)
    }
}

impl<'a> ValueNode<'a> {
    pub(super) fn span(&self) -> Span {
        match self {
            ValueNode::Block(block) => block.span,
            ValueNode::Provider(provider) => provider.span,
            ValueNode::Value(held) => held.said,
        }
    }

    /// Returns the whole code of the node: an expression, or the body of a block.
    pub(super) fn extent(&self) -> Span {
        match self {
            ValueNode::Block(block) => block.body,
            ValueNode::Provider(provider) => provider.span,
            ValueNode::Value(held) => held.expression,
        }
    }

    /// Returns the place of the node itself: the body of a block, or a value where it is defined.
    pub(in crate::terraform) fn place(&self) -> Span {
        match self {
            ValueNode::Block(block) => block.body,
            ValueNode::Provider(provider) => provider.span,
            ValueNode::Value(held) => held.value.span,
        }
    }

    /// Returns the nodes below `steps`, in the order of the code. `from` resolves paths from the start of the whole
    /// path.
    pub(super) fn walk(self, steps: &[PathStep], from: &dyn Fn(&RowPath) -> Vec<ValueNode<'a>>) -> Vec<ValueNode<'a>> {
        let mut nodes = vec![self];
        for (at, step) in steps.iter().enumerate() {
            let name = match &step.name {
                StepName::Written(name) => name.clone(),
                StepName::At(path) => match from(path).first().and_then(ValueNode::text) {
                    Some(name) => name,
                    None => return Vec::new(),
                },
            };
            let last = at + 1 == steps.len();
            nodes = nodes.into_iter().flat_map(|node| node.step(&name, step, last)).collect();
        }
        nodes
    }

    fn step(self, name: &str, step: &PathStep, last: bool) -> Vec<ValueNode<'a>> {
        let mut found = self.below(name);
        if let Some(text) = step.read {
            found = found.into_iter().filter_map(|node| node.read(text)).collect();
        }
        match &step.into {
            // The end of a path may be a whole list.
            Into::First if last => found.truncate(1),
            Into::First => found = found.into_iter().next().map(ValueNode::first).into_iter().collect(),
            Into::Whole => {}
            Into::All => found = found.into_iter().flat_map(ValueNode::elements).collect(),
            Into::Where(key, text) => {
                found = found.into_iter().flat_map(ValueNode::elements).filter(|it| it.has(key, text)).collect();
            }
        }
        found
    }

    /// Returns attributes, blocks and keys with this name. A node that may exist but cannot be seen is an unknown
    /// value.
    pub(super) fn below(self, name: &str) -> Vec<ValueNode<'a>> {
        match self {
            ValueNode::Block(block) => {
                let mut found = named(&block.attributes, &block.blocks, name);
                // A block that cannot be parsed may contain any argument.
                let may_be = |keyword: &str| keyword == name || (keyword.is_empty() && found.is_empty());
                let open: Vec<_> = block.open_blocks.iter().filter(|(keyword, _)| may_be(keyword)).collect();
                found.extend(open.into_iter().map(|(_, cause)| ValueNode::Value(PlacedValue::doubt(cause))));
                found
            }
            ValueNode::Provider(provider) => named(&provider.attributes, &provider.blocks, name),
            ValueNode::Value(held) => match member(&held.value, name, 0) {
                Some(value) if !value.is_null() => {
                    let listed = held.value.entries().is_none_or(|entries| entries.get(name).is_some());
                    vec![ValueNode::Value(PlacedValue { perhaps: held.perhaps || !listed, ..held.holding(value) })]
                }
                _ => Vec::new(),
            },
        }
    }

    /// Returns the first element of a list that is in place of a block.
    pub(super) fn first(self) -> ValueNode<'a> {
        match &self {
            ValueNode::Value(held) => match &held.value.data {
                HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => match items.first() {
                    Some(item) => ValueNode::Value(held.holding(item.clone())),
                    None => self,
                },
                _ => self,
            },
            ValueNode::Block(_) | ValueNode::Provider(_) => self,
        }
    }

    pub(super) fn elements(self) -> Vec<ValueNode<'a>> {
        self.keyed_elements().into_iter().map(|(_, node)| node).collect()
    }

    /// Returns the elements of a list or a map with their keys. Any other node is its own only element.
    pub(super) fn keyed_elements(self) -> Vec<(Option<Arc<str>>, ValueNode<'a>)> {
        let ValueNode::Value(held) = &self else { return vec![(None, self)] };
        match &held.value.data {
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
                let present = items.iter().filter(|it| !matches!(it.data, HclData::Null));
                present.map(|item| (None, ValueNode::Value(held.holding(item.clone())))).collect()
            }
            HclData::Map(items) | HclData::Object(items) => items
                .iter()
                .filter(|(_, item)| !item.is_null())
                .map(|(key, item)| (Some(key.clone()), ValueNode::Value(held.holding(item.clone()))))
                .collect(),
            _ => vec![(None, self)],
        }
    }

    pub(super) fn has(&self, key: &str, text: &str) -> bool {
        let found = self.clone().below(key);
        found.first().and_then(ValueNode::text).is_some_and(|it| it.eq_ignore_ascii_case(text))
    }

    /// Returns the label that an object with `key` and `value` represents.
    pub(super) fn labelled(self) -> Option<(String, PlacedValue)> {
        let key = self.clone().below("key").first().and_then(ValueNode::text)?;
        match self.below("value").into_iter().next()? {
            ValueNode::Value(held) => Some((key, held)),
            _ => None,
        }
    }

    /// Returns a scalar as a string.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            ValueNode::Value(held) => scalar(&held.value),
            ValueNode::Block(_) | ValueNode::Provider(_) => None,
        }
    }

    /// Returns whether the value is an empty string, which means that the argument is not set.
    pub(super) fn is_empty_text(&self) -> bool {
        matches!(self, ValueNode::Value(PlacedValue { value: HclValue { data: HclData::Text(text), .. }, .. }) if text.trim().is_empty())
    }

    /// Returns whether the value is `{}` or `[]`, the usual result of a conditional for "none".
    pub(super) fn is_empty_collection(&self) -> bool {
        let ValueNode::Value(held) = self else { return false };
        match &held.value.data {
            HclData::List(all) | HclData::Set(all) | HclData::Tuple(all) => all.is_empty(),
            HclData::Map(all) | HclData::Object(all) => all.known.is_empty() && all.rest.is_none(),
            _ => false,
        }
    }

    /// Parses a string in another language; `None` if it is not in that language.
    fn read(self, as_text: TextForm) -> Option<ValueNode<'a>> {
        let ValueNode::Value(held) = &self else { return None };
        let text = match &held.value.data {
            HclData::Text(text) => text,
            // Values that are already in the form of that language.
            HclData::Map(_) | HclData::Object(_) | HclData::List(_) | HclData::Tuple(_)
                if as_text == TextForm::Json =>
            {
                return Some(self);
            }
            HclData::Unknown(cause) => {
                let part = (as_text == TextForm::Json).then(|| from_outline(cause, held.value.span)).flatten();
                let value = part.map_or_else(|| held.value.clone(), |data| held.value.with(data));
                return Some(ValueNode::Value(PlacedValue { value, ..held.clone() }));
            }
            _ => return None,
        };
        let data = match as_text {
            TextForm::Json => from_json(&serde_json::from_str(text).ok()?, None, held.value.span, 0),
            TextForm::Base64 => HclData::Text(decode_base64(text)?.into()),
        };
        let value = held.value.with(data);
        Some(ValueNode::Value(PlacedValue { value, ..held.clone() }))
    }
}

fn named<'a>(attributes: &'a EvaluatedAttributes, blocks: &'a [EvaluatedBlock], name: &str) -> Vec<ValueNode<'a>> {
    let attribute = attributes.get(name).filter(|it| !matches!(it.value.data, HclData::Null));
    let mut found: Vec<ValueNode<'a>> = attribute.map(|it| ValueNode::Value(PlacedValue::of(it))).into_iter().collect();
    found.extend(blocks.iter().filter(|it| it.keyword == name).map(ValueNode::Block));
    found
}

/// Returns a scalar as a string.
pub(super) fn scalar(value: &HclValue) -> Option<String> {
    value.as_text().map(Cow::into_owned)
}

/// The maximum depth of a value. Definitions need no deeper values.
const DEEPEST: usize = 64;

/// Returns the value of a key. The member of an unknown value is unknown, with the members of its candidates.
fn member(value: &HclValue, name: &str, depth: usize) -> Option<HclValue> {
    if depth > DEEPEST {
        return None;
    }
    match &value.data {
        HclData::Map(entries) | HclData::Object(entries) => match (entries.get(name), &entries.rest) {
            (Some(value), _) => Some(value.clone()),
            (None, rest) => rest.as_ref().map(|cause| HclValue::because(cause, value.span)),
        },
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => member(items.first()?, name, depth + 1),
        HclData::Unknown(cause) => {
            let found: Vec<Option<HclValue>> =
                cause.candidates.iter().map(|candidate| member(candidate, name, depth + 1)).collect();
            if !found.is_empty() && found.iter().all(Option::is_none) {
                return None;
            }
            let candidates = found.into_iter().collect::<Option<Vec<HclValue>>>().unwrap_or_default();
            let cause = Cause { candidates, ..Cause::clone(cause) };
            Some(HclValue::because(&Arc::new(cause), value.span))
        }
        _ => None,
    }
}

/// Returns the known parts of a partly known JSON string.
fn from_outline(cause: &Arc<Cause>, span: Span) -> Option<HclData> {
    let json = serde_json::from_str(&with_quoted_holes(cause.outline.as_ref()?)).ok()?;
    let hole = Arc::new(Cause { outline: None, candidates: Vec::new(), ..Cause::clone(cause) });
    Some(from_json(&json, Some(&hole), span, 0))
}

/// Quotes placeholders that are in place of numbers.
fn with_quoted_holes(outline: &str) -> String {
    let mut text = String::with_capacity(outline.len());
    let mut letters = outline.chars().peekable();
    let (mut in_string, mut in_hole, mut escaped) = (false, false, false);
    while let Some(letter) = letters.next() {
        if !in_string && !in_hole && letter == '$' && letters.peek() == Some(&'{') {
            in_hole = true;
            text.push('"');
        }
        in_string ^= letter == '"' && !escaped && !in_hole;
        escaped = letter == '\\' && !escaped;
        text.push(letter);
        if in_hole && letter == '}' {
            in_hole = false;
            text.push('"');
        }
    }
    text
}

/// Converts JSON to a value. `hole` is the reason why a string with a placeholder is unknown.
fn from_json(json: &serde_json::Value, hole: Option<&Arc<Cause>>, span: Span, depth: usize) -> HclData {
    let below = |json| HclValue::new(from_json(json, hole, span, depth + 1), span);
    let hole_in = |text: &str| hole.filter(|_| text.contains("${"));
    match json {
        _ if depth > DEEPEST => HclData::Null,
        serde_json::Value::Null => HclData::Null,
        serde_json::Value::Bool(flag) => HclData::Bool(*flag),
        serde_json::Value::Number(number) => {
            number.as_f64().and_then(HclNumber::from_f64).map_or(HclData::Null, HclData::Number)
        }
        serde_json::Value::String(text) => match hole_in(text) {
            Some(hole) => HclData::Unknown(hole.clone()),
            None => HclData::Text(text.as_str().into()),
        },
        serde_json::Value::Array(items) => HclData::Tuple(Arc::new(items.iter().map(below).collect())),
        serde_json::Value::Object(items) => {
            let known = items.iter().filter(|(key, _)| hole_in(key).is_none());
            let known = known.map(|(key, item)| (Arc::from(key.as_str()), below(item))).collect();
            let rest = items.keys().find_map(|key| hole_in(key)).cloned();
            HclData::Object(Arc::new(ObjectMembers { known, rest }))
        }
    }
}

/// Decodes base64 in both alphabets, and ignores other characters.
fn decode_base64(text: &str) -> Option<String> {
    let digits = text.bytes().filter(|c| !c.is_ascii_whitespace() && *c != b'=');
    let standard = digits.map(|c| match c {
        b'-' => b'+',
        b'_' => b'/',
        c => c,
    });
    String::from_utf8(from_base64(standard)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_or_refused() {
        assert_eq!(decode_base64("aWRsZT0zNjAw").as_deref(), Some("idle=3600"));
        assert_eq!(decode_base64("YQ==").as_deref(), Some("a"));
        assert_eq!(decode_base64("%%%"), None);
    }
}
