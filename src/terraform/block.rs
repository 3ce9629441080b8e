//! Evaluated blocks, one for each instance.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inventory::{Declaration, Fact, Range};
use crate::source::Span;

use crate::languages::hcl::value::{Cause, Value};

use super::address::{base, parts, without_key};

/// One instance of a block after evaluation: `count`, `for_each` and `dynamic` are expanded.
#[derive(Debug, Clone)]
pub struct Block {
    /// `resource`, `data`, `module`, `output`, ... or the name of a nested block.
    pub keyword: String,
    /// The labels: `["aws_instance", "train"]`.
    pub labels: Vec<String>,
    /// `module.a["x"].aws_instance.b[0]`; empty for nested blocks.
    pub address: String,
    pub span: Span,
    pub body: Span,
    pub attributes: BTreeMap<String, Attribute>,
    pub blocks: Vec<Block>,
    /// Nested blocks of this name may exist: their `dynamic` runs over something unknown. An empty name stands for any:
    /// a part of the block does not parse.
    pub open_blocks: Vec<(String, Arc<Cause>)>,
    /// How many of it there are: 1 for an expanded instance; a range or unknown where `count` or `for_each` is not known.
    pub instances: Fact<Range>,
    /// The provider configuration that a resource uses.
    pub provider: Option<Arc<Provider>>,
    /// For module calls: the source as written. Calls whose code is on disk are expanded and appear as resources too.
    pub source: Option<String>,
    /// Resources and data sources that the arguments name, by address without index: `module.a.aws_launch_template.gpu`,
    /// with the place of the reference. What comes through variables and locals shows in `Cause::computed_by`.
    pub references: Vec<(String, Span)>,
}

#[derive(Debug, Clone)]
pub struct Attribute {
    pub value: Value,
    /// The name and the expression.
    pub span: Span,
    pub expression: Span,
    /// The expression is written here in full: no reference, no function.
    pub literal: bool,
    /// What the value begins with, where it is a text of which no more is known.
    pub beginning: Option<Arc<str>>,
}

/// A `provider` block: region, project, default tags.
#[derive(Debug, Clone)]
pub struct Provider {
    pub name: String,
    pub alias: Option<String>,
    pub span: Span,
    pub attributes: BTreeMap<String, Attribute>,
    pub blocks: Vec<Block>,
}

impl Block {
    /// Its `count` is 0: it is what the first of them would be.
    pub(super) fn is_none(&self) -> bool {
        self.instances.value().is_some_and(|range| range.ceiling == 0.0)
    }
    /// How other blocks of its module name it: `aws_instance.a`, `module.b`.
    pub(super) fn reference(&self) -> Option<String> {
        Some(match (self.keyword.as_str(), self.labels.as_slice()) {
            ("module", [name, ..]) => format!("module.{name}"),
            ("data", [kind, name, ..]) => format!("data.{kind}.{name}"),
            (_, [kind, name, ..]) => format!("{kind}.{name}"),
            _ => return None,
        })
    }

    /// What it is called, and how blocks of its module and those of the root name it.
    pub(super) fn declaration(&self) -> Declaration {
        let call = match parts(&self.address)[..] {
            ["module", call, ..] => Some(format!("module.{}", without_key(call))),
            _ => None,
        };
        Declaration {
            address: self.address.as_str().into(),
            block: base(&self.address).into(),
            name: self.labels.last().map(String::as_str).unwrap_or_default().into(),
            namespace: Fact::Absent,
            part: Arc::default(),
            references: self.reference().into_iter().chain(call).map(Arc::from).collect(),
        }
    }
}
