//! Describes the other fields that a fix of a fact needs, and the values that its target refuses or ignores.

use serde::Deserialize;

use super::path::{FieldPaths, ManifestPath};
use crate::languages::yaml::Node;
use crate::source::AdaptiveRegex;

/// A constant value in a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(in crate::kubernetes) enum KindConstant {
    Flag(bool),
    Number(f64),
    Text(String),
}

/// How a fact, or the minimum number of an object, is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct FactWriting {
    /// Fields that are set together with the fact.
    #[serde(default)]
    pub also: Vec<FieldTogether>,
    /// Conditions under which the target refuses or ignores the value.
    #[serde(default)]
    pub never: Vec<WriteRefusal>,
    /// Groups whose number must become a range.
    pub range: Option<GroupRange>,
    /// A field that needs more keys if the machines are spot.
    pub on_spot: Option<SpotField>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct FieldTogether {
    pub at: ManifestPath,
    pub is: KindConstant,
}

/// A condition on fields of the object, and the reason that a user reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct WriteRefusal {
    pub at: FieldPaths,
    /// The condition holds if one value is among these.
    #[serde(default)]
    pub is: Vec<String>,
    /// The condition holds if all values are among these.
    #[serde(default)]
    pub only: Vec<String>,
    /// The condition holds if this expression matches one value.
    #[serde(rename = "match")]
    pub pattern: Option<String>,
    pub why: String,
}

/// Members of a list whose number an autoscaler may lower.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct GroupRange {
    pub each: ManifestPath,
    /// Keys of a member.
    pub size: String,
    pub min: String,
    pub max: String,
    /// Why pods outside of these members stay.
    pub why: String,
}

/// A scalar, or the mapping that the target accepts instead of the scalar.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct SpotField {
    pub at: ManifestPath,
    /// The key of the scalar in the mapping.
    pub key: String,
    /// The flag that is set with the scalar.
    pub flag: String,
    /// The clouds that need the flag.
    pub providers: Vec<String>,
}

impl WriteRefusal {
    /// Returns whether the condition holds. `framed` paths start below `spec`.
    pub(in crate::kubernetes) fn holds(&self, root: &Node, framed: bool) -> bool {
        let nodes: Vec<&Node> = self.at.0.iter().flat_map(|path| path.below_frame(root, framed)).collect();
        let is_among = |node: &Node, words: &[String]| {
            let flag = node.flag().map(|flag| flag.to_string());
            let text = flag.as_deref().or(node.text().map(|text| &**text));
            text.is_some_and(|text| words.iter().any(|word| word == text))
        };
        if let Some(pattern) = &self.pattern {
            let pattern = AdaptiveRegex::new(pattern.as_str());
            return nodes.iter().any(|node| node.text().is_some_and(|text| pattern.is_match(text)));
        }
        if !self.only.is_empty() {
            return !nodes.is_empty() && nodes.iter().all(|node| is_among(node, &self.only));
        }
        match self.is.is_empty() {
            true => !nodes.is_empty(),
            false => nodes.iter().any(|node| is_among(node, &self.is)),
        }
    }
}
