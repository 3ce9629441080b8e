//! Provides evaluated blocks in full, for rules about any type.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, MOST_VALUES, Raw, RawData, RawTree, ReadBy, RunId, UnknownFact};
use crate::languages::hcl::value::{Cause, HclData, HclValue};
use crate::source::Span;

use super::address::base;
use super::block::{EvaluatedAttribute, EvaluatedBlock};
use super::evaluate::{Reached, Reaches};

/// The top-level blocks of a configuration that rules can use.
const KEYWORDS: [&str; 7] = ["resource", "data", "module", "provider", "variable", "output", "terraform"];

/// Returns the blocks of a root and its other top-level blocks.
pub(super) fn blocks<'a>(
    (blocks, others): (&'a [EvaluatedBlock], &'a [EvaluatedBlock]),
    reaches: &'a Reaches,
    front_end: ReadBy,
    run: &'a RunId,
) -> impl Iterator<Item = Raw> + 'a {
    let known = blocks.iter().chain(others).filter(|block| KEYWORDS.contains(&block.keyword.as_str()));
    let mut by_base: HashMap<&str, Vec<&str>> = HashMap::new();
    for block in known.clone() {
        by_base.entry(base(&block.address)).or_default().push(&block.address);
    }
    known.map(move |block| {
        let (kind, name) = match (block.keyword.as_str(), block.labels.as_slice()) {
            ("provider", [kind, ..]) => (kind.as_str(), block.address.splitn(3, '.').nth(2).unwrap_or_default()),
            (_, [kind, name, ..]) => (kind.as_str(), name.as_str()),
            (_, [name]) => ("", name.as_str()),
            (_, []) => ("", ""),
        };
        Raw {
            front_end,
            keyword: block.keyword.as_str().into(),
            kind: kind.into(),
            name: name.into(),
            address: block.address.as_str().into(),
            path: Arc::default(),
            run: Some(run.clone()),
            perhaps: perhaps(block),
            span: block.span,
            body: block.body,
            origin: FactOrigin::Written,
            pods: Vec::new(),
            references: references(block, reaches, &by_base),
            tree: Builder { left: MOST_VALUES }.block(block),
        }
    })
}

/// Returns the addresses of the blocks that a block references: the instance with the written key, or with its own key,
/// or else all instances.
fn references(block: &EvaluatedBlock, reaches: &Reaches, by_base: &HashMap<&str, Vec<&str>>) -> Vec<Arc<str>> {
    let own = base(&block.address);
    let own_key = block.address.get(own.len()..).filter(|key| !key.is_empty());
    let mut found: Vec<Arc<str>> = Vec::new();
    for Reached { block: to, key } in reaches.get(own).into_iter().flatten() {
        let Some(all) = by_base.get(to.as_str()) else { continue };
        let of_key = |key: &str| all.iter().copied().filter(|end| end.get(to.len()..) == Some(key)).collect::<Vec<_>>();
        let same = key.as_deref().or(own_key).map(of_key).filter(|same| !same.is_empty());
        found.extend(same.unwrap_or_else(|| all.clone()).into_iter().map(Arc::from));
    }
    found.sort();
    found.dedup();
    found
}

/// Returns why the block may have no instances: their number is unknown.
fn perhaps(block: &EvaluatedBlock) -> Option<Arc<UnknownFact<RawTree>>> {
    let (why, span) = match &block.instances {
        Fact::Unknown(unknown)
            if unknown.candidates.iter().all(|it| it.floor > 0.0) && !unknown.candidates.is_empty() =>
        {
            return None;
        }
        Fact::Unknown(unknown) => (unknown.why.clone(), unknown.span),
        Fact::Known(known) if known.value.floor <= 0.0 => ("its number may be 0".into(), known.span),
        Fact::Known(_) | Fact::Absent => return None,
    };
    Some(Arc::new(UnknownFact { span, why, candidates: Vec::new() }))
}

struct Builder {
    /// The number of values that may still be created.
    left: u32,
}

impl Builder {
    /// Counts one value; returns false if the limit is reached.
    fn take(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    /// Returns attributes, and lists of nested blocks by name, in the form of a plan. Null attributes are not set.
    fn block(&mut self, block: &EvaluatedBlock) -> RawTree {
        if !self.take() {
            return RawTree::too_large(block.span);
        }
        let mut entries: BTreeMap<Arc<str>, RawTree> = BTreeMap::new();
        for (name, EvaluatedAttribute { value, span, beginning, .. }) in &block.attributes {
            if value.is_null() {
                continue;
            }
            let data = match (self.value(value).data, beginning) {
                (RawData::Unknown(unknown), Some(beginning)) if unknown.candidates.is_empty() && !value.sensitive => {
                    RawData::Beginning(beginning.clone(), unknown)
                }
                (data, _) => data,
            };
            entries.insert(name.as_str().into(), RawTree::new(data, *span));
        }
        // The label of a nested block names the kind of provisioner or backend.
        if let (true, Some(label)) = (block.address.is_empty(), block.labels.first()) {
            let label = RawTree::new(RawData::Text(label.as_str().into()), block.span);
            entries.entry("label".into()).or_insert(label);
        }
        let mut nested: BTreeMap<&str, Vec<&EvaluatedBlock>> = BTreeMap::new();
        for inner in &block.blocks {
            nested.entry(&inner.keyword).or_default().push(inner);
        }
        for (name, inner) in nested {
            let Some(first) = inner.first() else { continue };
            let items = inner.iter().map(|inner| self.block(inner)).collect();
            entries.insert(name.into(), RawTree::new(RawData::List(items), first.span));
        }
        let mut open = None;
        for (name, cause) in &block.open_blocks {
            let unknown = unknown(cause, block.span);
            if name.is_empty() {
                open = Some(unknown);
            } else {
                // Some of the blocks may be known, but their number is not.
                entries.insert(name.as_str().into(), RawTree::new(RawData::Unknown(unknown), cause.span));
            }
        }
        RawTree::new(RawData::Map(entries.into_iter().collect(), open), block.span)
    }

    fn value(&mut self, value: &HclValue) -> RawTree {
        if !self.take() {
            return RawTree::too_large(value.span);
        }
        // A secret must not appear in a message, whatever a rule file requests.
        if value.sensitive {
            return RawTree::unknown("the value is sensitive", value.span);
        }
        let data = match &value.data {
            HclData::Null => RawData::Null,
            HclData::Bool(flag) => RawData::Flag(*flag),
            HclData::Number(number) => match number.as_i64() {
                Some(n) => RawData::Integer(n),
                None => RawData::Number(number.as_f64()),
            },
            HclData::Text(text) => RawData::Text(text.clone()),
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
                RawData::List(items.iter().map(|item| self.value(item)).collect())
            }
            HclData::Map(entries) | HclData::Object(entries) => {
                let known = entries.iter().filter(|(_, value)| !value.is_null());
                let known = known.map(|(key, value)| (key.clone(), self.value(value))).collect();
                RawData::Map(known, entries.rest.as_ref().map(|cause| unknown(cause, value.span)))
            }
            HclData::Unknown(cause) => {
                let candidates: Vec<RawTree> = cause.candidates.iter().map(|it| self.value(it)).collect();
                let why = cause.why.as_str().into();
                RawData::Unknown(Arc::new(UnknownFact { span: value.span, why, candidates }))
            }
        };
        RawTree::new(data, value.span)
    }
}

fn unknown(cause: &Cause, span: Span) -> Arc<UnknownFact<RawTree>> {
    Arc::new(UnknownFact { span, why: cause.why.as_str().into(), candidates: Vec::new() })
}
