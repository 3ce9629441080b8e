//! Defines blocks and objects as written, for rules about any type.

use std::sync::Arc;

use crate::source::Span;

use super::fact::{FactOrigin, UnknownFact};
use super::resource::ReadBy;
use super::run::RunId;

/// An object or a block as written, with or without accelerators. Custom rules use it for values that no fact has.
#[derive(Debug, Clone)]
pub struct Raw {
    pub front_end: ReadBy,
    /// Terraform keyword of the block: `resource`, `data`, `module`, `provider`, `variable`, `output`, `terraform`.
    /// Empty for objects.
    pub keyword: Arc<str>,
    /// The Terraform type or the Kubernetes kind.
    pub kind: Arc<str>,
    pub name: Arc<str>,
    pub address: Arc<str>,
    /// The path of the file that contains it, set after all files are read.
    pub path: Arc<str>,
    /// The deployment that creates it, if known.
    pub run: Option<RunId>,
    /// The reason why it may not exist.
    pub perhaps: Option<Arc<UnknownFact<RawTree>>>,
    /// The first line of the block, or the first key of the document.
    pub span: Span,
    /// The whole block or document.
    pub body: Span,
    /// Pods of the object, if a rule uses them.
    pub pods: Vec<RawPod>,
    /// Addresses of the blocks in its deployment that its expressions refer to.
    pub references: Vec<Arc<str>>,
    /// The strongest origin that any of its values can have.
    pub origin: FactOrigin,
    pub tree: RawTree,
}

/// Pods of one template in an object of any kind.
#[derive(Debug, Clone)]
pub struct RawPod {
    /// The name of the template, if the object has several: worker, head.
    pub name: Arc<str>,
    /// The part of the resource that consists of these pods, if they request accelerators.
    pub part: Option<Arc<str>>,
    pub spec: RawTree,
    pub containers: Vec<RawContainer>,
    pub labels: Option<RawTree>,
    pub annotations: Option<RawTree>,
    /// Labels that the node must have, each with a list of allowed values. An empty list allows any value.
    pub node_labels: RawTree,
    pub origin: FactOrigin,
}

/// A container, with the settings that its object defines for it in other places.
#[derive(Debug, Clone)]
pub struct RawContainer {
    /// The role of the container: main, init, sidecar or ephemeral.
    pub role: &'static str,
    pub tree: RawTree,
}

/// A value with its place.
#[derive(Debug, Clone)]
pub struct RawTree {
    pub span: Span,
    pub data: RawData,
}

#[derive(Debug, Clone)]
pub enum RawData {
    Null,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(Arc<str>),
    List(Vec<RawTree>),
    /// Entries sorted by key, and the reason why there may be more.
    Map(Vec<(Arc<str>, RawTree)>, Option<Arc<UnknownFact<RawTree>>>),
    Unknown(Arc<UnknownFact<RawTree>>),
    /// A string with a known beginning and an unknown rest.
    Beginning(Arc<str>, Arc<UnknownFact<RawTree>>),
}

/// The limit on the stored values of one object or block. Real files are far smaller, but aliases and functions can
/// expand a few lines to billions of values.
pub const MOST_VALUES: u32 = 50_000;

impl RawTree {
    pub fn new(data: RawData, span: Span) -> RawTree {
        RawTree { span, data }
    }

    pub fn unknown(why: impl Into<Arc<str>>, span: Span) -> RawTree {
        RawTree::new(RawData::Unknown(Arc::new(UnknownFact { span, why: why.into(), candidates: Vec::new() })), span)
    }

    pub fn too_large(span: Span) -> RawTree {
        RawTree::unknown(format!("the object has more than {MOST_VALUES} values"), span)
    }

    /// Returns a member by key, or a list element by index.
    pub fn member(&self, key: &str) -> Option<&RawTree> {
        match &self.data {
            RawData::Map(entries, _) => {
                let place = entries.binary_search_by(|(known, _)| (**known).cmp(key)).ok()?;
                entries.get(place).map(|(_, value)| value)
            }
            RawData::List(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Returns the value that a path of keys leads to.
    pub fn find<'k>(&self, path: impl IntoIterator<Item = &'k str>) -> Option<&RawTree> {
        path.into_iter().try_fold(self, |tree, key| tree.member(key))
    }
}
