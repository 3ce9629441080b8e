//! Reads labels that attribute cost, and the labels and taints by which pods select pools.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use crate::inventory::{CostLabels, Fact, FactOrigin, KnownFact, NodeSelector, Taint, UnknownFact};
use crate::languages::hcl::value::HclData;
use crate::source::Span;

use super::fact::{WantedType, plain};
use super::language::{LabelsAt, ProviderRow, RowTable, TypeRow};
use super::node::{PlacedValue, ValueNode};
use super::scope::RowScope;
use crate::inventory::row_path::{Into, RowPath, Start};
use crate::terraform::block::EvaluatedBlock;

pub(super) type LabelEntries = BTreeMap<String, Fact<Arc<str>>>;

/// Returns the labels and tags of a resource, including the provider's default labels.
pub(super) fn labels(scope: &RowScope<'_>, row: &TypeRow, provider: Option<&ProviderRow>) -> CostLabels {
    let mut labels = CostLabels { taggable: row.taggable.unwrap_or(!row.labels.0.is_empty()), ..CostLabels::default() };
    for place in row.labels.0.iter().chain(provider.into_iter().flat_map(|it| &it.labels.0)) {
        let found = at(scope, place);
        labels.span = labels.span.or(found.span);
        labels.open = labels.open.or(found.open);
        for (key, fact) in found.entries {
            labels.entries.entry(key).or_insert(fact);
        }
    }
    labels.span = labels.span.or_else(|| held_by(scope, row.labels.0.first()?));
    labels
}

/// Returns the block that would contain the labels, if it is another one, such as the template of a group.
fn held_by(scope: &RowScope<'_>, place: &LabelsAt) -> Option<Span> {
    let LabelsAt::Map(RowPath { start: start @ Start::Link(_), .. }) = place else { return None };
    match scope.find(&RowPath { start: start.clone(), steps: Vec::new() }).as_slice() {
        [only @ ValueNode::Block(_)] => Some(only.span()),
        _ => None,
    }
}

/// The limit on different keys of labels in a deployment. Further keys are not read.
const MOST_KEYS: usize = 1_000;

/// The keys of labels in the blocks of a deployment, which show whether it attributes cost with labels.
pub(super) struct LabelsOfBlocks<'a> {
    table: &'static RowTable,
    blocks: &'a [EvaluatedBlock],
    /// Each key with the address of its block if no other block has the key. The map is created for the first resource
    /// that may have labels.
    keys: OnceCell<BTreeMap<Arc<str>, Option<&'a str>>>,
}

impl<'a> LabelsOfBlocks<'a> {
    pub(super) fn new(table: &'static RowTable, blocks: &'a [EvaluatedBlock]) -> Self {
        LabelsOfBlocks { table, blocks, keys: OnceCell::new() }
    }

    /// Returns the keys of all blocks except one.
    pub(super) fn beside(&self, block: &EvaluatedBlock) -> Arc<[Arc<str>]> {
        let keys = self.keys.get_or_init(|| self.all());
        let others = keys.iter().filter(|(_, only)| only.is_none_or(|only| only != block.address));
        others.map(|(key, _)| key.clone()).collect()
    }

    fn all(&self) -> BTreeMap<Arc<str>, Option<&'a str>> {
        let mut keys = BTreeMap::new();
        for block in self.blocks {
            for key in self.keys_of(block) {
                let address = block.address.as_str();
                if keys.len() < MOST_KEYS || keys.contains_key(&key) {
                    let only = keys.entry(key).or_insert(Some(address));
                    *only = only.filter(|only| *only == address);
                }
            }
        }
        keys
    }

    /// Returns the keys of a block's labels. Labels of nodes, which a definition distinguishes, do not count.
    fn keys_of(&self, block: &EvaluatedBlock) -> Vec<Arc<str>> {
        const NAMES: [&str; 2] = ["tags", "labels"];
        let kind = block.labels.first().filter(|_| block.keyword == "resource");
        let are_of_nodes = |name: &str| {
            let rows = kind.map(|kind| self.table.of_type(kind)).unwrap_or_default();
            let mut places = rows.iter().flat_map(|row| &row.node_labels.0);
            places.any(|place| matches!(place, LabelsAt::Map(path) if path.name() == name))
        };
        let maps = NAMES.iter().filter(|name| !are_of_nodes(name)).filter_map(|name| block.attributes.get(name));
        let entries = maps.filter_map(|map| map.value.entries());
        entries.flat_map(|entries| entries.iter().map(|(key, _)| key.clone())).collect()
    }
}

/// Marks default labels as open: `tags = var.tags` is meant to get other values than the default of the variable.
pub(super) fn open_defaults(labels: &mut CostLabels, default_maps: &[Span]) {
    let places = labels.entries.values().filter_map(|fact| fact.defined());
    let default = places.into_iter().find(|place| default_maps.iter().any(|map| map.contains(*place)));
    if let Some(span) = default {
        let why = "they are the default of a variable".into();
        labels.open.get_or_insert(UnknownFact { span, why, candidates: Vec::new() });
    }
}

/// Returns the labels and taints of a pool's nodes.
pub(super) fn selector(scope: &RowScope<'_>, row: &TypeRow) -> NodeSelector {
    let mut selector = NodeSelector::default();
    for place in &row.node_labels.0 {
        let found = at(scope, place);
        selector.open = selector.open.or(found.open);
        for (key, fact) in found.entries {
            selector.labels.entry(key).or_insert(fact);
        }
    }
    for (key, spec) in &row.implied_labels {
        let fact = scope.fact(spec, WantedType::TEXT);
        if !fact.is_absent() {
            let fact = fact.map(|value| Arc::from(value.to_string().as_str()));
            selector.labels.entry(key.clone()).or_insert(fact);
        }
    }
    for place in &row.taints.0 {
        selector.taints.extend(taints(scope, place));
        selector.open = selector.open.or_else(|| open_taints(scope, place));
    }
    selector
}

/// Returns the variables of a container, and the reason why there may be more.
pub(super) fn variables(scope: &RowScope<'_>, place: &LabelsAt) -> (LabelEntries, Option<Arc<str>>) {
    let found = at(scope, place);
    (found.entries, found.open.map(|open| open.why))
}

#[derive(Default)]
struct FoundLabels {
    entries: LabelEntries,
    open: Option<UnknownFact<()>>,
    span: Option<Span>,
}

impl FoundLabels {
    fn open(&mut self, why: &str, span: Span) {
        self.open = self.open.take().or(Some(UnknownFact { span, why: why.into(), candidates: Vec::new() }));
    }

    fn add(&mut self, key: &str, held: &PlacedValue) {
        let fact = match &held.value.data {
            HclData::Unknown(cause) => Fact::unknown(cause.why.as_str(), held.said),
            HclData::Null => return,
            _ if held.value.sensitive => Fact::unknown("the value is sensitive", held.said),
            _ => {
                let text = plain(&held.value).map(|value| value.to_string()).unwrap_or_default();
                let origin = if held.is_written_here() { FactOrigin::Written } else { FactOrigin::Resolved };
                Fact::Known(KnownFact { value: text.into(), span: held.said, defined: held.defined(), origin })
            }
        };
        self.entries.insert(key.to_owned(), fact);
    }
}

fn at(scope: &RowScope<'_>, place: &LabelsAt) -> FoundLabels {
    let mut found = FoundLabels::default();
    match place {
        LabelsAt::Map(path) => {
            for node in scope.find(path) {
                found.span = found.span.or(Some(node.span()));
                map(&mut found, node);
            }
        }
        LabelsAt::List(list) => {
            // A filter drops blocks that cannot be seen, such as those of a `dynamic` over an unknown map.
            let unseen = scope.find(&unfiltered(&list.list)).into_iter().filter(|node| unknown_of(node).is_some());
            for node in scope.find(&list.list).into_iter().chain(unseen) {
                found.span = found.span.or(Some(node.span()));
                if let Some(unknown) = unknown_of(&node) {
                    found.open(&unknown, node.span());
                    continue;
                }
                let element = RowScope { part: node.clone(), defaults: Vec::new(), ..scope.clone() };
                let key = element.find(&list.key).first().and_then(ValueNode::text);
                match (key, element.find(&list.value).first()) {
                    (Some(key), Some(ValueNode::Value(held))) => found.add(&key, held),
                    (Some(_), _) => {}
                    (None, _) => found.open("the key of a label is unknown", node.span()),
                }
            }
        }
    }
    found
}

/// Returns the path to all elements of a list.
fn unfiltered(list: &RowPath) -> RowPath {
    let mut path = list.clone();
    if let Some(last) = path.steps.last_mut() {
        last.into = Into::Whole;
    }
    path
}

fn unknown_of(node: &ValueNode<'_>) -> Option<String> {
    match node {
        ValueNode::Value(held) => match &held.value.data {
            HclData::Unknown(cause) => Some(cause.why.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Reads a map of labels, also as a block in the syntax of Terraform 0.11.
fn map(found: &mut FoundLabels, node: ValueNode<'_>) {
    if let Some(why) = unknown_of(&node) {
        found.open(&why, node.span());
        return;
    }
    match &node {
        ValueNode::Block(block) => {
            for (key, attribute) in &block.attributes {
                found.add(key, &PlacedValue::of(attribute));
            }
        }
        ValueNode::Value(held) => match &held.value.data {
            // Some providers use a list of `key=value` strings, or of objects with `key` and `value`.
            HclData::List(_) | HclData::Set(_) | HclData::Tuple(_) => {
                for (_, element) in node.clone().keyed_elements() {
                    pair(found, &element);
                }
            }
            HclData::Map(entries) | HclData::Object(entries) => {
                if let Some(cause) = &entries.rest {
                    found.open(&cause.why, held.said);
                } else if entries.is_empty() && !held.is_written_here() {
                    // `tags = var.tags` is meant to get values from the caller.
                    found.open("the variable that sets them is empty by default", held.said);
                }
                for (key, element) in node.clone().keyed_elements() {
                    if let (Some(key), ValueNode::Value(held)) = (key, element) {
                        found.add(&key, &held);
                    }
                }
            }
            _ => {}
        },
        ValueNode::Provider(_) => {}
    }
}

fn pair(found: &mut FoundLabels, element: &ValueNode<'_>) {
    if let Some(why) = unknown_of(element) {
        found.open(&why, element.span());
        return;
    }
    let Some(text) = element.text() else {
        if let Some(entries) = element.clone().labelled() {
            let (key, held) = entries;
            found.add(&key, &held);
        }
        return;
    };
    let (key, value) = text.split_once([':', '=']).unwrap_or((&text, ""));
    let written = matches!(element, ValueNode::Value(held) if held.is_written_here());
    let origin = if written { FactOrigin::Written } else { FactOrigin::Resolved };
    let fact = Fact::known(Arc::from(value.trim()), element.span(), origin);
    found.entries.insert(key.trim().to_owned(), fact);
}

/// The field in which every provider sets the effect of a taint.
static EFFECT: LazyLock<Option<RowPath>> = LazyLock::new(|| "effect".parse().ok());

/// Returns why there may be more taints than those that were read.
fn open_taints(scope: &RowScope<'_>, place: &LabelsAt) -> Option<UnknownFact<()>> {
    let path = match place {
        LabelsAt::Map(path) => path,
        LabelsAt::List(list) => &list.list,
    };
    scope.find(path).into_iter().flat_map(ValueNode::elements).find_map(|node| match &node {
        ValueNode::Value(held) => held.value.cause().map(|cause| UnknownFact {
            span: held.said,
            why: cause.why.as_str().into(),
            candidates: Vec::new(),
        }),
        _ => None,
    })
}

/// Returns taints from blocks with a key and a value, or from strings `key=value:Effect`.
fn taints(scope: &RowScope<'_>, place: &LabelsAt) -> Vec<Taint> {
    match place {
        LabelsAt::Map(path) => {
            let texts = scope.find(path).into_iter().flat_map(ValueNode::keyed_elements);
            texts.filter_map(|(_, node)| taint_of_text(&node.text()?, node.span())).collect()
        }
        LabelsAt::List(list) => {
            let nodes = scope.find(&list.list).into_iter();
            let taint = |node: ValueNode<'_>| {
                let span = node.span();
                let element = RowScope { part: node, defaults: Vec::new(), ..scope.clone() };
                let text = |path| element.find(path).first().and_then(ValueNode::text);
                let key = text(&list.key)?.into();
                let effect = EFFECT.as_ref().and_then(&text).map(Arc::from);
                Some(Taint { key, value: text(&list.value).map(Arc::from), effect, span })
            };
            nodes.filter_map(taint).collect()
        }
    }
}

fn taint_of_text(text: &str, span: Span) -> Option<Taint> {
    let pair = text.split_once(':').map_or(text, |(pair, _)| pair);
    let (key, value) = match pair.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (pair, None),
    };
    let effect = text.split_once(':').map(|(_, effect)| effect.trim().into());
    let value = value.map(|it| it.trim().into());
    (!key.trim().is_empty()).then(|| Taint { key: key.trim().into(), value, effect, span })
}
