//! Defines the sections of a template.

use std::collections::HashMap;
use std::sync::Arc;

use crate::languages::yaml::{Node, NodeEntry};
use crate::source::Span;

/// Transforms that create no machines, or whose syntax this module supports.
const KNOWN_TRANSFORMS: [&str; 6] = [
    "AWS::LanguageExtensions",
    "AWS::Serverless-2016-10-31",
    "AWS::CodeDeployBlueGreen",
    "AWS::CodeStar",
    "AWS::SecretsManager-2020-07-23",
    "AWS::SecretsManager-2024-09-16",
];

/// A template as written.
#[derive(Debug)]
pub(crate) struct CloudTemplate {
    root: Node,
    /// Whether files or programs may change the whole template: `AWS::Include`, or custom macros.
    pub(crate) has_macros: bool,
    /// The place of each entry in its section, for sections whose entries are found by name.
    places: HashMap<&'static str, HashMap<Arc<str>, usize>>,
}

/// The sections whose entries other parts of a template name.
const NAMED: [&str; 4] = ["Parameters", "Mappings", "Conditions", "Resources"];

impl CloudTemplate {
    /// Returns a document that has resources with AWS types; `None` if it is another document.
    pub(crate) fn of(root: &Node) -> Option<Self> {
        let of_aws = |kind: &str| kind.starts_with("AWS::") || kind.starts_with("Custom::");
        let resources = root.get("Resources")?.entries();
        let has_type = |entry: &NodeEntry| entry.value.text_at("Type").is_some_and(|kind| of_aws(kind));
        let is_one = resources.iter().any(|entry| has_type(entry) || entry.key.starts_with("Fn::ForEach"));
        let is_one = is_one || root.get("AWSTemplateFormatVersion").is_some();
        is_one.then(|| CloudTemplate { has_macros: has_macros(root), places: places(root), root: root.clone() })
    }

    pub(super) fn section(&self, name: &str) -> &[NodeEntry] {
        self.root.get(name).map(Node::entries).unwrap_or_default()
    }

    pub(super) fn entry(&self, section: &str, name: &str) -> Option<&NodeEntry> {
        match self.places.get(section) {
            Some(places) => self.section(section).get(*places.get(name)?),
            None => self.root.get(section)?.entry(name),
        }
    }

    /// Returns the names of its parameters, with whether each has a default.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&str, bool)> {
        self.section("Parameters").iter().map(|entry| (&*entry.key, entry.value.get("Default").is_some()))
    }

    pub(crate) fn span(&self) -> Span {
        self.root.span
    }
}

/// Returns the places of named entries. If a name is written twice, the first entry counts.
fn places(root: &Node) -> HashMap<&'static str, HashMap<Arc<str>, usize>> {
    let of_section = |section: &'static str| {
        let entries = root.get(section).map(Node::entries).unwrap_or_default();
        let mut places = HashMap::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            places.entry(entry.key.clone()).or_insert(at);
        }
        (section, places)
    };
    NAMED.into_iter().map(of_section).collect()
}

/// Returns true if `Transform` names a macro that is not supported: `Transform: name`, a list of names, or objects
/// with a `Name`.
fn has_macros(root: &Node) -> bool {
    let Some(transform) = root.get("Transform").or_else(|| root.get("Fn::Transform")) else { return false };
    let each = if transform.items().is_empty() { std::slice::from_ref(transform) } else { transform.items() };
    let names = each.iter().filter_map(|node| node.text().or_else(|| node.text_at("Name")));
    names.into_iter().any(|name| !KNOWN_TRANSFORMS.contains(&&**name))
}
