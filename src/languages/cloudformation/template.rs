//! The sections of a template.

use crate::languages::yaml::{Node, NodeEntry};
use crate::source::Span;

/// Transforms that add nothing to what rents machines, or whose words are read here.
const KNOWN_TRANSFORMS: [&str; 6] = [
    "AWS::LanguageExtensions",
    "AWS::Serverless-2016-10-31",
    "AWS::CodeDeployBlueGreen",
    "AWS::CodeStar",
    "AWS::SecretsManager-2020-07-23",
    "AWS::SecretsManager-2024-09-16",
];

/// A template as it is written.
#[derive(Debug)]
pub(crate) struct CloudTemplate {
    root: Node,
    /// Files or programs may change all of it: `AWS::Include`, macros of one's own.
    pub(crate) has_macros: bool,
}

impl CloudTemplate {
    /// A document that has resources with types of AWS; none where it is something else.
    pub(crate) fn of(root: &Node) -> Option<Self> {
        let of_aws = |kind: &str| kind.starts_with("AWS::") || kind.starts_with("Custom::");
        let resources = root.get("Resources")?.entries();
        let has_type = |entry: &NodeEntry| entry.value.text_at("Type").is_some_and(|kind| of_aws(kind));
        let is_one = resources.iter().any(|entry| has_type(entry) || entry.key.starts_with("Fn::ForEach"));
        let is_one = is_one || root.get("AWSTemplateFormatVersion").is_some();
        is_one.then(|| CloudTemplate { has_macros: has_macros(root), root: root.clone() })
    }

    pub(super) fn section(&self, name: &str) -> &[NodeEntry] {
        self.root.get(name).map(Node::entries).unwrap_or_default()
    }

    pub(super) fn entry(&self, section: &str, name: &str) -> Option<&NodeEntry> {
        self.root.get(section)?.entry(name)
    }

    /// The names of its parameters, with whether each has a value of its own.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&str, bool)> {
        self.section("Parameters").iter().map(|entry| (&*entry.key, entry.value.get("Default").is_some()))
    }

    pub(crate) fn span(&self) -> Span {
        self.root.span
    }
}

/// `Transform: name`, a list of names, or objects with a `Name`.
fn has_macros(root: &Node) -> bool {
    let Some(transform) = root.get("Transform").or_else(|| root.get("Fn::Transform")) else { return false };
    let each = if transform.items().is_empty() { std::slice::from_ref(transform) } else { transform.items() };
    let names = each.iter().filter_map(|node| node.text().or_else(|| node.text_at("Name")));
    names.into_iter().any(|name| !KNOWN_TRANSFORMS.contains(&&**name))
}
