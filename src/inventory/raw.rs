//! Blocks and objects as they are written, for rules about any type.

use std::sync::Arc;

use crate::source::Span;

use super::fact::{Origin, Unknown};
use super::resource::FrontEnd;
use super::run::RunId;

/// An object or a block as its text writes it, whether or not it has to do with accelerators: what rules of a team's own
/// may look at when no fact says it.
#[derive(Debug, Clone)]
pub struct Raw {
    pub front_end: FrontEnd,
    /// Terraform's word for the block: `resource`, `data`, `module`, `provider`, `variable`, `output`, `terraform`; empty for
    /// objects.
    pub keyword: Arc<str>,
    /// The Terraform type or the Kubernetes kind.
    pub kind: Arc<str>,
    pub name: Arc<str>,
    pub address: Arc<str>,
    /// The file that it stands in, as a path of the tree; settled once all text is read.
    pub path: Arc<str>,
    /// What makes it, where that is known.
    pub run: Option<RunId>,
    /// Why there may be none of it, where that is open.
    pub perhaps: Option<Arc<Unknown<RawTree>>>,
    /// The header: the first line of the block, or the first key of the document.
    pub span: Span,
    /// The whole block or document.
    pub body: Span,
    /// What its pods are, where rules ask for that.
    pub pods: Vec<RawPod>,
    /// The addresses of the blocks of its run that it refers to, by whatever expressions.
    pub references: Vec<Arc<str>>,
    /// What all of it is known by, at best.
    pub origin: Origin,
    pub tree: RawTree,
}

/// Pods of one description in an object, whatever holds them.
#[derive(Debug, Clone)]
pub struct RawPod {
    /// What the object calls them, where it has several: worker, head.
    pub name: Arc<str>,
    /// The part of a resource that they are, where they ask for accelerators.
    pub part: Option<Arc<str>>,
    pub spec: RawTree,
    pub containers: Vec<RawContainer>,
    pub labels: Option<RawTree>,
    pub annotations: Option<RawTree>,
    /// The labels that a node must have, each with a list of the values that will do: empty where any will.
    pub node_labels: RawTree,
    pub origin: Origin,
}

/// A container, with what the kind of its object says of it elsewhere.
#[derive(Debug, Clone)]
pub struct RawContainer {
    /// main, init, sidecar or ephemeral.
    pub role: &'static str,
    pub tree: RawTree,
}

/// A value with its place.
#[derive(Debug, Clone)]
pub struct RawTree {
    pub span: Span,
    pub data: Data,
}

#[derive(Debug, Clone)]
pub enum Data {
    Null,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(Arc<str>),
    List(Vec<RawTree>),
    /// Sorted by key; there may be more keys, and why.
    Map(Vec<(Arc<str>, RawTree)>, Option<Arc<Unknown<RawTree>>>),
    Unknown(Arc<Unknown<RawTree>>),
    /// A text of which only the beginning is known.
    Beginning(Arc<str>, Arc<Unknown<RawTree>>),
}

/// Values of one object or block that are kept. What people write is far smaller; aliases and functions can make a few
/// lines stand for billions.
pub const MOST_VALUES: u32 = 50_000;

impl RawTree {
    pub fn new(data: Data, span: Span) -> RawTree {
        RawTree { span, data }
    }

    pub fn unknown(why: impl Into<Arc<str>>, span: Span) -> RawTree {
        RawTree::new(Data::Unknown(Arc::new(Unknown { span, why: why.into(), candidates: Vec::new() })), span)
    }

    pub fn too_large(span: Span) -> RawTree {
        RawTree::unknown(format!("it has more than {MOST_VALUES} values"), span)
    }

    /// A member by key, or of a list by number.
    pub fn member(&self, key: &str) -> Option<&RawTree> {
        match &self.data {
            Data::Map(entries, _) => {
                let place = entries.binary_search_by(|(known, _)| (**known).cmp(key)).ok()?;
                entries.get(place).map(|(_, value)| value)
            }
            Data::List(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// What keys, one after the other, lead to.
    pub fn find<'k>(&self, path: impl IntoIterator<Item = &'k str>) -> Option<&RawTree> {
        path.into_iter().try_fold(self, |tree, key| tree.member(key))
    }
}
