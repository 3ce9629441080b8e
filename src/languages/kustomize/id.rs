//! Defines identities of kinds and objects, and their comparison.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::value::ObjectValue;

/// Group, version and kind; an empty part of a pattern matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Gvk {
    pub group: String,
    pub version: String,
    pub kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub gvk: Gvk,
    pub name: String,
    pub namespace: String,
}

static CLUSTER_SCOPED: LazyLock<HashSet<(&'static str, &'static str)>> = LazyLock::new(|| {
    let lines = include_str!("tables/cluster_scoped.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).collect()
});

impl Gvk {
    pub(super) fn of(value: &ObjectValue) -> Gvk {
        let version = value.text_at("apiVersion").unwrap_or_default();
        Gvk::new(version, value.text_at("kind").unwrap_or_default())
    }

    pub(super) fn new(api_version: &str, kind: &str) -> Gvk {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Gvk { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Parses it from the three fields of a kustomization.
    pub(super) fn written(value: &ObjectValue) -> Gvk {
        let text = |key| value.text_at(key).unwrap_or_default().to_owned();
        Gvk { group: text("group"), version: text("version"), kind: text("kind") }
    }

    pub(super) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    pub(super) fn is_selected_by(&self, pattern: &Gvk) -> bool {
        let same = |pattern: &str, own: &str| pattern.is_empty() || pattern == own;
        same(&pattern.group, &self.group) && same(&pattern.version, &self.version) && same(&pattern.kind, &self.kind)
    }

    pub(super) fn is_cluster_scoped(&self) -> bool {
        CLUSTER_SCOPED.contains(&(self.api_version().as_str(), self.kind.as_str()))
    }
}

impl Id {
    /// Represents the namespace of objects without one.
    const NOWHERE: &str = "_non_namespaceable_";

    pub(super) fn effective_namespace(&self) -> &str {
        if self.gvk.is_cluster_scoped() {
            Self::NOWHERE
        } else if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        }
    }

    pub(super) fn same_namespace(&self, other: &Id) -> bool {
        self.effective_namespace() == other.effective_namespace()
    }

    pub(super) fn same_name(&self, other: &Id) -> bool {
        self.name == other.name && self.gvk == other.gvk
    }

    pub(super) fn same(&self, other: &Id) -> bool {
        self.same_name(other) && self.same_namespace(other)
    }

    /// Formats as `Deployment a`, or `Deployment a in n`.
    pub(super) fn describe_id(&self) -> String {
        match self.namespace.as_str() {
            "" => format!("{} {}", self.gvk.kind, self.name),
            namespace => format!("{} {} in {namespace}", self.gvk.kind, self.name),
        }
    }
}
