//! Defines evaluated blocks, one for each instance.

use std::sync::Arc;

use crate::source::Span;
use crate::terraform::border::{Fact, Range};

use crate::languages::hcl::value::{Cause, HclValue};

/// One instance of a block after evaluation, with `count`, `for_each` and `dynamic` expanded.
#[derive(Debug, Clone)]
pub struct EvaluatedBlock {
    /// The keyword: `resource`, `data`, `module`, `output`, ... or the name of a nested block.
    pub keyword: String,
    /// The labels: `["aws_instance", "train"]`.
    pub labels: Vec<String>,
    /// The address, such as `module.a["x"].aws_instance.b[0]`; empty for nested blocks.
    pub address: String,
    pub span: Span,
    pub body: Span,
    pub attributes: EvaluatedAttributes,
    pub blocks: Vec<EvaluatedBlock>,
    /// Names of nested blocks that may exist, because their `dynamic` iterates over an unknown value. An empty name
    /// means any block, because a part of this block cannot be parsed.
    pub open_blocks: Vec<(String, Arc<Cause>)>,
    /// The number of instances: 1 for an expanded instance, otherwise a range or unknown.
    pub instances: Fact<Range>,
    /// The provider configuration that a resource uses.
    pub provider: Option<Arc<Provider>>,
    /// The source of a module call, as written. If the code of a call is on disk, its content appears as resources,
    /// too.
    pub source: Option<String>,
    /// Resources and data sources that the arguments reference, by address without index
    /// (`module.a.aws_launch_template.gpu`), with the place of the reference. References through variables and locals
    /// are in `Cause::computed_by`.
    pub references: Vec<(String, Span)>,
}

/// The arguments of a block, sorted by name. The list has no unused capacity: a node of a map has room for eleven
/// arguments, and most blocks have few.
#[derive(Debug, Clone, Default)]
pub struct EvaluatedAttributes(Box<[(String, EvaluatedAttribute)]>);

#[derive(Debug, Clone)]
pub struct EvaluatedAttribute {
    pub value: HclValue,
    /// The position of the name and the expression.
    pub span: Span,
    pub expression: Span,
    /// True if the expression is a complete literal, without references and functions.
    pub literal: bool,
    /// The known start of a string whose rest is unknown.
    pub beginning: Option<Arc<str>>,
}

/// A `provider` block: region, project, default tags.
#[derive(Debug, Clone)]
pub struct Provider {
    pub name: String,
    pub alias: Option<String>,
    pub span: Span,
    pub attributes: EvaluatedAttributes,
    pub blocks: Vec<EvaluatedBlock>,
}

impl EvaluatedAttributes {
    pub fn get(&self, name: &str) -> Option<&EvaluatedAttribute> {
        self.0.get(self.place(name)?).map(|(_, attribute)| attribute)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut EvaluatedAttribute> {
        let place = self.place(name)?;
        self.0.get_mut(place).map(|(_, attribute)| attribute)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()
    }

    pub fn iter(&self) -> <&Self as IntoIterator>::IntoIter {
        self.into_iter()
    }

    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(name, _)| name)
    }

    pub fn values(&self) -> impl Iterator<Item = &EvaluatedAttribute> {
        self.0.iter().map(|(_, attribute)| attribute)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Of several arguments with one name, the last one stays.
impl FromIterator<(String, EvaluatedAttribute)> for EvaluatedAttributes {
    fn from_iter<I: IntoIterator<Item = (String, EvaluatedAttribute)>>(attributes: I) -> Self {
        let mut all: Vec<(String, EvaluatedAttribute)> = attributes.into_iter().collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all.dedup_by(|later, kept| {
            let is_repeated = later.0 == kept.0;
            if is_repeated {
                std::mem::swap(later, kept);
            }
            is_repeated
        });
        EvaluatedAttributes(all.into())
    }
}

impl<'a> IntoIterator for &'a EvaluatedAttributes {
    type Item = (&'a String, &'a EvaluatedAttribute);
    type IntoIter = std::iter::Map<
        std::slice::Iter<'a, (String, EvaluatedAttribute)>,
        fn(&'a (String, EvaluatedAttribute)) -> Self::Item,
    >;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(name, attribute)| (name, attribute))
    }
}

impl EvaluatedBlock {
    /// Returns whether the `count` of the block is 0. The block then shows its first instance as it would be.
    pub(super) fn is_none(&self) -> bool {
        self.instances.value().is_some_and(|range| range.ceiling == 0.0)
    }

    /// Returns the reference that other blocks of its module use: `aws_instance.a`, `module.b`.
    pub(super) fn reference(&self) -> Option<String> {
        Some(match (self.keyword.as_str(), self.labels.as_slice()) {
            ("module", [name, ..]) => format!("module.{name}"),
            ("data", [kind, name, ..]) => format!("data.{kind}.{name}"),
            (_, [kind, name, ..]) => format!("{kind}.{name}"),
            _ => return None,
        })
    }
}
