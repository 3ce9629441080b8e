//! Converts a resource of a document to the block that resource definitions read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inventory::{Fact, Range};
use crate::languages::document::{DocData, DocResource, DocValue, Presence};
use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers};
use crate::source::Span;
use crate::terraform::{EvaluatedAttribute, EvaluatedBlock, Provider};

use super::names::{NameMapping, TypeNames, TypeNaming, small};

/// Returns the block of a resource.
pub(super) fn block(resource: &DocResource, table: &dyn TypeNaming, provider: &Arc<Provider>) -> EvaluatedBlock {
    let names = &*table.of(resource);
    let mut body = BlockBody::default();
    Reader { names }.members(&resource.properties, "", &mut body);
    let calls =
        names.calls.as_ref().map(|at| body.attributes.get(at).map_or_else(String::new, |it| location(&it.value)));
    let instances = match &resource.presence {
        Presence::Sure => Fact::written(Range::exactly(1.0), resource.head),
        Presence::Never(span) => Fact::written(Range::exactly(0.0), *span),
        Presence::Unknown { why, span } => Fact::unknown(why.as_str(), *span),
    };
    let references = resource.references.iter().map(|(to, span)| (to.to_string(), *span)).collect();
    let name = name_of(resource);
    let (keyword, labels) = match calls {
        Some(_) => ("module", vec![name]),
        None => ("resource", vec![names.is.clone(), name]),
    };
    EvaluatedBlock {
        labels,
        source: calls,
        address: resource.address.to_string(),
        instances,
        provider: Some(provider.clone()),
        references,
        ..body.block(keyword, resource.head, resource.body)
    }
}

/// Returns the readable name. Programs that generate documents invent names, and record the original path next to them.
fn name_of(resource: &DocResource) -> String {
    let path = resource.remarks.iter().find(|(key, _)| &**key == "aws:cdk:path").map(|(_, doc)| doc.value());
    match path.as_ref().and_then(HclValue::as_text) {
        Some(path) => path.strip_suffix("/Resource").unwrap_or(&path).to_owned(),
        None => resource.name.to_string(),
    }
}

/// Returns the location of another document, as far as it is known.
fn location(value: &HclValue) -> String {
    let outline = value.cause().and_then(|cause| cause.outline.as_deref());
    value.as_text().map(Cow::into_owned).or_else(|| outline.map(str::to_owned)).unwrap_or_default()
}

/// The content of a block.
#[derive(Default)]
struct BlockBody {
    attributes: BTreeMap<String, EvaluatedAttribute>,
    blocks: Vec<EvaluatedBlock>,
    open: Vec<(String, Arc<Cause>)>,
}

impl BlockBody {
    fn attribute(&mut self, name: &str, doc: DocValue) {
        let DocValue { key, at, literal, .. } = doc;
        let attribute =
            EvaluatedAttribute { span: key.to(at), expression: at, literal, beginning: None, value: doc.value() };
        self.attributes.insert(name.to_owned(), attribute);
    }

    fn block(self, keyword: &str, span: Span, body: Span) -> EvaluatedBlock {
        EvaluatedBlock {
            keyword: keyword.to_owned(),
            labels: Vec::new(),
            address: String::new(),
            span,
            body,
            attributes: self.attributes.into_iter().collect(),
            blocks: self.blocks,
            open_blocks: self.open,
            instances: Fact::written(Range::exactly(1.0), span),
            provider: None,
            source: None,
            references: Vec::new(),
        }
    }
}

struct Reader<'n> {
    names: &'n TypeNames,
}

impl Reader<'_> {
    /// Adds the content of a map, or of each map in a list, to a body.
    fn members(&self, doc: &DocValue, path: &str, body: &mut BlockBody) {
        match &doc.data {
            DocData::Map(entries, rest) => {
                body.open.extend(rest.iter().map(|cause| (String::new(), cause.clone())));
                for (key, value) in entries {
                    let path = below(path, key);
                    self.place(&path, value, body);
                    if let (true, DocData::List(_), Some(one)) = (self.names.plural, &value.data, singular(&path)) {
                        self.place(&one, value, body);
                    }
                }
            }
            DocData::List(items) => items.iter().for_each(|item| self.members(item, path, body)),
            DocData::Value(value) => body.open.extend(value.cause().map(|cause| (String::new(), cause.clone()))),
        }
    }

    fn place(&self, path: &str, doc: &DocValue, body: &mut BlockBody) {
        let name = self.names.name(path);
        if name.is_empty() {
            // The scalar has no members. A partly known object has candidates for all of its members.
            return self.members(doc, path, body);
        }
        let taken = self.names.taken(path, &name);
        let is_map = |item: &DocValue| matches!(item.data, DocData::Map(..));
        match &doc.data {
            DocData::Map(..) if taken == NameMapping::Renamed => body.blocks.push(self.nested(&name, path, doc)),
            DocData::List(items) if taken == NameMapping::Renamed && !items.is_empty() && items.iter().all(is_map) => {
                body.blocks.extend(items.iter().map(|item| self.nested(&name, path, item)));
            }
            _ => {
                let value = self.value(taken, path, &doc.value());
                body.attribute(&name, DocValue { data: DocData::Value(value), ..doc.clone() });
            }
        }
    }

    fn nested(&self, name: &str, path: &str, doc: &DocValue) -> EvaluatedBlock {
        let mut body = BlockBody::default();
        self.members(doc, path, &mut body);
        let span = doc.key.to(doc.at);
        body.block(name, span, span)
    }

    fn value(&self, taken: NameMapping, path: &str, value: &HclValue) -> HclValue {
        match taken {
            NameMapping::Renamed => self.renamed(path, value),
            NameMapping::AsMap => value.clone(),
            NameMapping::AsPairs => paired(value),
            NameMapping::AsJson => with_keys(value, &|key| lower_first(key).into()),
        }
    }

    /// Renames the members of a value that does not become a block, and those of its candidates.
    fn renamed(&self, path: &str, value: &HclValue) -> HclValue {
        let each = |items: &[HclValue]| items.iter().map(|item| self.renamed(path, item)).collect::<Vec<_>>();
        match &value.data {
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
                value.with(HclData::Tuple(Arc::new(each(items))))
            }
            HclData::Map(entries) | HclData::Object(entries) => {
                let mut all = ObjectMembers { rest: entries.rest.clone(), ..ObjectMembers::default() };
                for (key, member) in entries.iter() {
                    self.put(&below(path, key), member, &mut all);
                }
                value.with(HclData::Object(Arc::new(all)))
            }
            HclData::Unknown(cause) if !cause.candidates.is_empty() => {
                let cause = Cause { candidates: each(&cause.candidates), ..Cause::clone(cause) };
                value.with(HclData::Unknown(Arc::new(cause)))
            }
            _ => value.clone(),
        }
    }

    fn put(&self, path: &str, member: &HclValue, all: &mut ObjectMembers) {
        let name = self.names.name(path);
        let value = self.value(self.names.taken(path, &name), path, member);
        match value.entries().filter(|_| name.is_empty()) {
            Some(lifted) => all.known.extend(lifted.iter().map(|(key, value)| (key.clone(), value.clone()))),
            None => drop(all.known.insert(name.into(), value)),
        }
    }
}

/// Returns `node_pool` for `node_pools`: Terraform names each block in the singular.
pub(super) fn singular(path: &str) -> Option<String> {
    match path.strip_suffix("ies") {
        Some(stem) => Some(format!("{stem}y")),
        None => path.strip_suffix('s').map(str::to_owned),
    }
}

pub(super) fn below(path: &str, key: &str) -> String {
    if path.is_empty() { small(key) } else { format!("{path}.{}", small(key)) }
}

/// Converts `[{Key: a, Value: b}]` to `{a: b}`; a map stays a map.
fn paired(value: &HclValue) -> HclValue {
    let items = match &value.data {
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => items,
        _ => return value.clone(),
    };
    let mut all = ObjectMembers::default();
    for item in items.iter() {
        let member = |names: [&str; 2]| item.entries().and_then(|it| names.iter().find_map(|name| it.get(name)));
        let name = member(["Key", "Name"]).and_then(HclValue::as_text);
        match (name, member(["Value", "Values"])) {
            (Some(name), Some(value)) => drop(all.known.insert((*name).into(), value.clone())),
            _ => all.rest = all.rest.take().or_else(|| item.any_cause().cloned()),
        }
    }
    value.with(HclData::Object(Arc::new(all)))
}

fn with_keys(value: &HclValue, name: &dyn Fn(&str) -> Arc<str>) -> HclValue {
    let each = |items: &[HclValue]| items.iter().map(|item| with_keys(item, name)).collect::<Vec<_>>();
    match &value.data {
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            value.with(HclData::Tuple(Arc::new(each(items))))
        }
        HclData::Map(entries) | HclData::Object(entries) => {
            let known = entries.iter().map(|(key, member)| (name(key), with_keys(member, name))).collect();
            value.with(HclData::Object(Arc::new(ObjectMembers { known, rest: entries.rest.clone() })))
        }
        HclData::Unknown(cause) if !cause.candidates.is_empty() => {
            let cause = Cause { candidates: each(&cause.candidates), ..Cause::clone(cause) };
            value.with(HclData::Unknown(Arc::new(cause)))
        }
        _ => value.clone(),
    }
}

fn lower_first(key: &str) -> String {
    let mut letters = key.chars();
    let first = letters.next().map(|it| it.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
