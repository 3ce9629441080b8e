//! Merges the three trees of a plan: known values, unknown values and secrets.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::languages::hcl::syntax::json::{Json, JsonKind};
use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers, ProviderComputed};
use crate::source::Span;
use crate::terraform::block::{EvaluatedAttribute, EvaluatedBlock};
use crate::terraform::border::{Fact, Range};

use super::configuration::PlanConfiguration;

/// The three trees of one side of a change.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sides<'j> {
    pub(super) values: Option<&'j Json>,
    pub(super) unknown: Option<&'j Json>,
    pub(super) sensitive: Option<&'j Json>,
}

/// The configuration of the same place: `None` if it is unclear, `Some(None)` if nothing is set, or an expression.
type Written<'j> = Option<Option<&'j Json>>;

/// The members of a block.
#[derive(Debug, Default)]
pub(super) struct MergedMembers {
    pub(super) attributes: BTreeMap<String, EvaluatedAttribute>,
    pub(super) blocks: Vec<EvaluatedBlock>,
}

/// Parts of attribute names that contain secrets. Formats before Terraform 0.15 do not mark secrets.
const SECRET_NAMES: [&str; 6] = ["password", "secret", "token", "private_key", "credential", "connection_string"];

pub(super) struct Merge<'c, 'j> {
    configuration: &'c PlanConfiguration<'j>,
    /// Strings that are sensitive in any place.
    hidden: &'c HashSet<&'j str>,
    /// The module instance that contains the resource.
    module: &'c str,
    for_each: Option<&'j Json>,
    /// True if the format does not mark sensitive values.
    marks_missing: bool,
    head: Span,
    pub(super) references: Vec<(String, Span)>,
    pub(super) secrets: Vec<Span>,
}

impl<'c, 'j> Merge<'c, 'j> {
    pub(super) fn new(
        configuration: &'c PlanConfiguration<'j>,
        hidden: &'c HashSet<&'j str>,
        module: &'c str,
        written: Option<&'j Json>,
        sides: &Sides<'j>,
        head: Span,
    ) -> Self {
        let for_each = written.and_then(|it| it.get("for_each_expression"));
        let marks_missing = sides.sensitive.is_none();
        Merge {
            configuration,
            hidden,
            module,
            for_each,
            marks_missing,
            head,
            references: Vec::new(),
            secrets: Vec::new(),
        }
    }

    /// Returns the attributes of a block, and its nested blocks, which are lists of objects.
    pub(super) fn body(&mut self, sides: &Sides<'j>, written: Written<'j>) -> MergedMembers {
        let mut body = MergedMembers::default();
        for (name, span, below) in members(sides) {
            let said = written.map(|it| it.and_then(|it| it.get(name)));
            if let Some(items) = blocks(&below) {
                self.nested(name, items, said, &mut body.blocks);
                continue;
            }
            let secret = self.marks_missing && is_secret_name(name);
            let Some(value) = self.value(&below, said, secret) else { continue };
            let expression = value.span;
            let attribute =
                EvaluatedAttribute { value, span: span.to(expression), expression, literal: true, beginning: None };
            body.attributes.insert(name.to_owned(), attribute);
        }
        body
    }

    fn nested(&mut self, name: &str, items: Vec<Sides<'j>>, written: Written<'j>, blocks: &mut Vec<EvaluatedBlock>) {
        let said = written.flatten().map(Json::items).unwrap_or_default();
        // The expressions do not include blocks from `dynamic`.
        let all_said = said.len() == items.len();
        for (at, item) in items.iter().enumerate() {
            let written = if all_said { Some(said.get(at)) } else { None };
            let span = item.values.map_or(self.head, |it| it.span);
            let MergedMembers { attributes, blocks: below } = self.body(item, written);
            blocks.push(EvaluatedBlock {
                keyword: name.to_owned(),
                labels: Vec::new(),
                address: String::new(),
                span,
                body: span,
                attributes: attributes.into_iter().collect(),
                blocks: below,
                open_blocks: Vec::new(),
                instances: Fact::written(Range::exactly(1.0), span),
                provider: None,
                source: None,
                references: Vec::new(),
            });
        }
    }

    /// Returns one value; `None` if there is none, or if the configuration leaves the choice to the provider.
    fn value(&mut self, sides: &Sides<'j>, written: Written<'j>, secret: bool) -> Option<HclValue> {
        if let Some(Some(expression)) = written {
            let place = if is_true(sides.unknown) { sides.unknown } else { sides.values };
            self.refer(expression, place.map_or(self.head, |it| it.span));
        }
        self.inner(sides, written, secret)
    }

    fn inner(&mut self, sides: &Sides<'j>, written: Written<'j>, secret: bool) -> Option<HclValue> {
        let is_hidden = |json: &Json| json.text().is_some_and(|text| self.hidden.contains(text));
        let secret = secret || is_true(sides.sensitive) || sides.values.is_some_and(is_hidden);
        if secret {
            self.secrets.extend(sides.values.map(|it| it.span));
        }
        if let Some(unknown) = sides.unknown.filter(|it| it.flag() == Some(true)) {
            if matches!(written, Some(None)) {
                return None;
            }
            let cause = Arc::new(self.cause(written.flatten(), unknown.span));
            return Some(HclValue::because(&cause, unknown.span).marked(secret));
        }
        let span = sides.values.map_or(self.head, |it| it.span);
        let data = match sides.values.map(|it| &it.kind) {
            Some(JsonKind::Null) | None if !has_members(sides.unknown) => return None,
            Some(JsonKind::Bool(flag)) => HclData::Bool(*flag),
            Some(JsonKind::Number(number)) => HclData::Number(number.clone()),
            Some(JsonKind::Text(text, _)) => HclData::Text(text.clone()),
            Some(JsonKind::List(_)) => self.list(sides, written, secret, span)?,
            _ => self.object(sides, written, secret)?,
        };
        Some(HclValue::new(data, span).marked(secret))
    }

    /// Returns the elements of a list. A nested block that is not written is an empty list.
    fn list(&mut self, sides: &Sides<'j>, written: Written<'j>, secret: bool, span: Span) -> Option<HclData> {
        let said = written.flatten().filter(|it| is_expression(it)).map(Some);
        let items = elements(sides);
        let value = |item: &Sides<'j>| self.inner(item, said, secret).unwrap_or_else(|| HclValue::null(span));
        let items: Vec<HclValue> = items.iter().map(value).collect();
        (!items.is_empty()).then(|| HclData::Tuple(Arc::new(items)))
    }

    fn object(&mut self, sides: &Sides<'j>, written: Written<'j>, secret: bool) -> Option<HclData> {
        let mut entries = ObjectMembers::default();
        for (name, _, member) in members(sides) {
            let secret = secret || (self.marks_missing && is_secret_name(name));
            let value = match written {
                Some(Some(expression)) if !is_expression(expression) => {
                    self.value(&member, Some(expression.get(name)), secret)
                }
                Some(Some(expression)) => self.inner(&member, Some(Some(expression)), secret),
                // The provider computed the value, or the configuration does not show its origin.
                _ => self.inner(&member, None, secret),
            };
            if let Some(value) = value {
                entries.known.insert(name.into(), value);
            }
        }
        (!entries.known.is_empty()).then(|| HclData::Object(Arc::new(entries)))
    }

    fn refer(&mut self, expression: &'j Json, span: Span) {
        if !is_expression(expression) {
            return;
        }
        let addresses = self.configuration.addresses(expression, self.module, self.for_each);
        self.references.extend(addresses.into_iter().map(|address| (address, span)));
    }

    /// Returns why a value is unknown before Terraform applies the plan.
    fn cause(&self, expression: Option<&'j Json>, span: Span) -> Cause {
        let addresses = expression.map(|it| self.configuration.addresses(it, self.module, self.for_each));
        match addresses.unwrap_or_default().into_iter().next() {
            Some(address) => {
                let why = format!("`{address}` is known only after apply");
                let computed_by = Some(ProviderComputed { address: address.into(), attribute: "".into() });
                Cause { computed_by, ..Cause::new(why, span) }
            }
            None => Cause::new("the value is known only after apply", span),
        }
    }
}

fn is_true(json: Option<&Json>) -> bool {
    json.and_then(Json::flag) == Some(true)
}

/// Returns whether the JSON is an expression and not a block.
fn is_expression(json: &Json) -> bool {
    json.get("references").is_some() || json.get("constant_value").is_some()
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Adds the strings of attributes whose names suggest secrets.
pub(super) fn named_secrets<'j>(json: Option<&'j Json>, found: &mut HashSet<&'j str>) {
    let Some(json) = json else { return };
    for (name, value) in json.entries() {
        if is_secret_name(&name.text) {
            super::configuration::all_texts(value, found);
        } else {
            named_secrets(Some(value), found);
        }
    }
    for item in json.items() {
        named_secrets(Some(item), found);
    }
}

pub(super) fn by_name(json: Option<&Json>) -> HashMap<&str, &Json> {
    json.map(Json::entries).unwrap_or_default().iter().map(|(name, value)| (&*name.text, value)).collect()
}

/// Returns the members of an object, known or unknown, each with its key.
fn members<'j>(sides: &Sides<'j>) -> Vec<(&'j str, Span, Sides<'j>)> {
    let (unknown, sensitive) = (by_name(sides.unknown), by_name(sides.sensitive));
    let mut seen = HashSet::new();
    let known = sides.values.map(Json::entries).unwrap_or_default();
    let rest = sides.unknown.map(Json::entries).unwrap_or_default();
    let values = by_name(sides.values);
    let mut found = Vec::new();
    for (name, _) in known.iter().chain(rest) {
        let key = &*name.text;
        if seen.insert(key) {
            let value = |from: &HashMap<&str, &'j Json>| from.get(key).copied();
            let below = Sides { values: value(&values), unknown: value(&unknown), sensitive: value(&sensitive) };
            found.push((key, name.span, below));
        }
    }
    found
}

fn has_members(json: Option<&Json>) -> bool {
    json.is_some_and(|it| !it.entries().is_empty())
}

/// Returns the elements of a list. The marks may have fewer elements than the list.
fn elements<'j>(sides: &Sides<'j>) -> Vec<Sides<'j>> {
    let (unknown, sensitive) = (sides.unknown.map(Json::items), sides.sensitive.map(Json::items));
    // If a whole list is secret, all of its elements are secret.
    let whole = sides.sensitive.filter(|it| it.flag() == Some(true));
    let at = |from: Option<&'j [Json]>, index: usize| from.and_then(|it| it.get(index));
    let items = sides.values.map(Json::items).unwrap_or_default().iter().enumerate();
    items
        .map(|(index, item)| Sides {
            values: Some(item),
            unknown: at(unknown, index),
            sensitive: whole.or_else(|| at(sensitive, index)),
        })
        .collect()
}

/// Returns the elements of a list of objects, which is the JSON form of nested blocks.
fn blocks<'j>(sides: &Sides<'j>) -> Option<Vec<Sides<'j>>> {
    let items = sides.values.map(Json::items).unwrap_or_default();
    let all_objects = !items.is_empty() && items.iter().all(|it| matches!(it.kind, JsonKind::Object(_)));
    all_objects.then(|| elements(sides))
}
