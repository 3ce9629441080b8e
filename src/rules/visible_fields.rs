//! Lists the values that a rule sees for an address, for authors of rules.

use super::RuleSettings;
use super::evaluate::EvaluationContext;
use super::facts::{self, FactContext, RuleContext, Subject};
use super::page::LooksAt;
use super::template;
use crate::fit::Market;
use crate::inventory::{Raw, RawData, RawTree};
use crate::languages::cel::{CelHost, CelMap, CelType, CelValue, Read};
use crate::source::Span;

/// A name that rules can use, with its value here.
#[derive(Debug, Clone, PartialEq)]
pub struct VisibleField {
    pub name: String,
    pub value: String,
    /// The reason why the value is unknown.
    pub unknown: Option<String>,
    /// Origin: written, resolved, default, inferred or assumed.
    pub origin: Option<&'static str>,
    pub span: Option<Span>,
}

/// The limit on the listed values of an object or a block.
const MOST: usize = 500;

/// Returns the values of everything with this address: facts of resources, and objects and blocks as written.
pub fn seen(address: &str, world: &RuleContext<'_>, settings: &RuleSettings) -> Vec<VisibleField> {
    let market = Market::new(world.catalog, world.pricing);
    let ground = EvaluationContext::new(world, settings, &market);
    let mut found = Vec::new();
    for (place, resource) in world.inventory.resources.iter().enumerate() {
        if resource.address == address {
            facts_of(&ground.asking(Subject::Resource, place), world, &mut found);
        }
    }
    let inventory = world.inventory;
    for (root, raws) in [("object", &inventory.objects), ("block", &inventory.blocks)] {
        for Raw { tree, .. } in raws.iter().filter(|raw| *raw.address == *address) {
            let limit = found.len() + MOST;
            parts(root.to_owned(), tree, limit, &mut found);
        }
    }
    found
}

fn facts_of(asking: &FactContext<'_>, world: &RuleContext<'_>, into: &mut Vec<VisibleField>) {
    let Some((_, schema)) = facts::implied(LooksAt::Resource) else { return };
    for (place, field) in schema.fields.iter().enumerate() {
        let read = asking.read(place);
        let stand = facts::stand(world, read);
        let origin = stand.as_ref().and_then(|it| it.origin.as_ref()).map(|it| it.name());
        let span = stand.and_then(|it| it.span);
        let value = asking.field(read.record, place);
        if let (CelType::Record(inner), CelValue::Record(record)) = (&field.holds, &value) {
            for (place, part) in inner.fields.iter().enumerate() {
                let read = Read { record: *record, field: place };
                let name = format!("{}.{}", field.name, part.name);
                one(asking, name, asking.field(read.record, place), origin, span, into);
            }
            continue;
        }
        // Manifests and blocks are listed separately, with the line of each part.
        if let (CelValue::Map(map), "labels") = (&value, field.name) {
            members(asking, field.name, map, into);
            continue;
        }
        one(asking, field.name.to_owned(), value, origin, span, into);
    }
}

/// Returns the facts with a known place that an evaluation read, each once.
pub(super) fn of_reads(asking: &FactContext<'_>, world: &RuleContext<'_>, reads: &[Read]) -> Vec<VisibleField> {
    let mut all: Vec<VisibleField> = Vec::new();
    for read in reads {
        let Some(stand) = facts::stand(world, *read).filter(|it| it.span.is_some()) else { continue };
        let origin = stand.origin.as_ref().map(|it| it.name());
        let value = asking.field(read.record, read.field);
        let known = all.len();
        one(asking, stand.name.to_owned(), value, origin, stand.span, &mut all);
        if all.get(known).is_some_and(|new| new.unknown.is_some() || all.iter().take(known).any(|it| it == new)) {
            all.pop();
        }
    }
    all
}

/// Lists each label with its line.
fn members(asking: &FactContext<'_>, of: &str, map: &CelMap, into: &mut Vec<VisibleField>) {
    let entries = asking.world.inventory.resources.get(asking.resource).map(|it| &it.labels.entries);
    for (key, value) in map.iter() {
        let CelValue::Text(key) = key else { continue };
        let span = entries.and_then(|entries| entries.get(&**key)?.span());
        one(asking, member(of, key), value.clone(), None, span, into);
    }
    if let Some(open) = &map.open {
        let unknown = Some(format!("it may have more entries: {}", open.why));
        into.push(VisibleField { name: of.to_owned(), value: String::new(), unknown, origin: None, span: open.span });
    }
}

/// Returns text such as `labels.team`, `labels["gpulint.dev/model"]`.
fn member(of: &str, key: &str) -> String {
    let is_plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain { format!("{of}.{key}") } else { format!("{of}[{key:?}]") }
}

/// Lists one value, unless it is absent.
fn one(
    asking: &FactContext<'_>,
    name: String,
    value: CelValue,
    origin: Option<&'static str>,
    span: Option<Span>,
    into: &mut Vec<VisibleField>,
) {
    let value = match value {
        CelValue::Absent => return,
        CelValue::Record(record) => match record.schema.number {
            Some(number) => asking.field(record, number),
            None => return,
        },
        other => other,
    };
    if let CelValue::Unknown(unknown) = &value {
        let (unknown, span) = (Some(unknown.why.to_string()), span.or(unknown.span));
        into.push(VisibleField { name, value: String::new(), unknown, origin, span });
        return;
    }
    let text = value.as_number().map_or_else(|| template::plain(&value), super::format::number);
    if !text.is_empty() {
        into.push(VisibleField { name, value: text, unknown: None, origin, span });
    }
}

/// Lists each value of a tree by its path.
fn parts(name: String, tree: &RawTree, limit: usize, into: &mut Vec<VisibleField>) {
    if into.len() >= limit {
        return;
    }
    let plain = |value: String, unknown: Option<String>| VisibleField {
        name: name.clone(),
        value,
        unknown,
        origin: None,
        span: Some(tree.span),
    };
    match &tree.data {
        RawData::Map(entries, open) => {
            for (key, member) in entries {
                parts(self::member(&name, key), member, limit, into);
            }
            if let Some(open) = open {
                into.push(plain(String::new(), Some(format!("it may have more entries: {}", open.why))));
            }
        }
        RawData::List(items) => {
            for (place, item) in items.iter().enumerate() {
                parts(format!("{name}[{place}]"), item, limit, into);
            }
        }
        RawData::Beginning(beginning, unknown) => {
            into.push(plain(String::new(), Some(format!("it begins with {beginning:?}, and {}", unknown.why))));
        }
        RawData::Unknown(unknown) => into.push(plain(String::new(), Some(unknown.why.to_string()))),
        RawData::Null => into.push(plain("null".to_owned(), None)),
        RawData::Flag(flag) => into.push(plain(flag.to_string(), None)),
        RawData::Integer(n) => into.push(plain(n.to_string(), None)),
        RawData::Number(n) => into.push(plain(n.to_string(), None)),
        RawData::Text(text) => into.push(plain(format!("{text:?}"), None)),
    }
}
