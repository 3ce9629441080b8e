//! Evaluated blocks as they are, for rules about any type.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inventory::{FrontEnd, MOST_VALUES, Origin, Raw, RawData, RawTree, RunId, Unknown};
use crate::languages::hcl::value::{Cause, Data, Value};
use crate::source::Span;

use super::block::{Attribute, Block};

/// Blocks of a configuration that are something by themselves.
const KEYWORDS: [&str; 3] = ["resource", "data", "module"];

pub(super) fn blocks(blocks: &[Block], front_end: FrontEnd, run: &RunId) -> impl Iterator<Item = Raw> {
    let known = blocks.iter().filter(|block| KEYWORDS.contains(&block.keyword.as_str()));
    known.map(move |block| {
        let (kind, name) = match block.labels.as_slice() {
            [kind, name, ..] => (kind.as_str(), name.as_str()),
            [name] => ("", name.as_str()),
            [] => ("", ""),
        };
        Raw {
            front_end,
            keyword: block.keyword.as_str().into(),
            kind: kind.into(),
            name: name.into(),
            address: block.address.as_str().into(),
            run: Some(run.clone()),
            span: block.span,
            body: block.body,
            origin: Origin::Written,
            tree: Builder { left: MOST_VALUES }.block(block),
        }
    })
}

struct Builder {
    /// Values that may still be made.
    left: u32,
}

impl Builder {
    /// False where no more may be made.
    fn take(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    /// Attributes, and lists of nested blocks by their names, as a plan writes them. What is null is not set.
    fn block(&mut self, block: &Block) -> RawTree {
        if !self.take() {
            return RawTree::too_large(block.span);
        }
        let mut entries: BTreeMap<Arc<str>, RawTree> = BTreeMap::new();
        for (name, Attribute { value, span, .. }) in &block.attributes {
            if !value.is_null() {
                entries.insert(name.as_str().into(), RawTree { span: *span, ..self.value(value) });
            }
        }
        let mut nested: BTreeMap<&str, Vec<&Block>> = BTreeMap::new();
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
                // some of them may be known, but not how many there are
                entries.insert(name.as_str().into(), RawTree::new(RawData::Unknown(unknown), cause.span));
            }
        }
        RawTree::new(RawData::Map(entries.into_iter().collect(), open), block.span)
    }

    fn value(&mut self, value: &Value) -> RawTree {
        if !self.take() {
            return RawTree::too_large(value.span);
        }
        // a secret must not reach a message, whatever a page says
        if value.sensitive {
            return RawTree::unknown("it is sensitive", value.span);
        }
        let data = match &value.data {
            Data::Null => RawData::Null,
            Data::Bool(flag) => RawData::Flag(*flag),
            Data::Number(number) => match number.as_i64() {
                Some(n) => RawData::Integer(n),
                None => RawData::Number(number.as_f64()),
            },
            Data::Text(text) => RawData::Text(text.clone()),
            Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
                RawData::List(items.iter().map(|item| self.value(item)).collect())
            }
            Data::Map(entries) | Data::Object(entries) => {
                let known = entries.iter().filter(|(_, value)| !value.is_null());
                let known = known.map(|(key, value)| (key.clone(), self.value(value))).collect();
                RawData::Map(known, entries.rest.as_ref().map(|cause| unknown(cause, value.span)))
            }
            Data::Unknown(cause) => {
                let candidates: Vec<RawTree> = cause.candidates.iter().map(|it| self.value(it)).collect();
                let why = cause.why.as_str().into();
                RawData::Unknown(Arc::new(Unknown { span: value.span, why, candidates }))
            }
        };
        RawTree::new(data, value.span)
    }
}

fn unknown(cause: &Cause, span: Span) -> Arc<Unknown<RawTree>> {
    Arc::new(Unknown { span, why: cause.why.as_str().into(), candidates: Vec::new() })
}
