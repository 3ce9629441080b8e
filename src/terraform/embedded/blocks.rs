//! Converts blocks of the Kubernetes provider to manifests.

use crate::languages::hcl::value::HclData;
use crate::source::{SourceFiles, Span};

use super::super::block::EvaluatedBlock;
use super::Table;
use super::yaml::{ManifestTree, tree_of};

/// Arguments for Terraform or its provider that are not part of a manifest.
const NOT_OF_THE_MANIFEST: &[&str] = &["lifecycle", "timeouts", "provisioner", "connection"];

/// The maximum depth of blocks. Deeper blocks are cut.
const DEEPEST: usize = 40;

/// Returns the manifest of a typed resource; `None` for a type that is not in the table.
pub(super) fn manifest(sources: &SourceFiles, block: &EvaluatedBlock, table: &Table) -> Option<ManifestTree> {
    let kind = block.labels.first()?;
    let (version, name) = table.kinds.get(unversioned(kind))?.split_once(' ')?;
    let mut entries = vec![
        ("apiVersion".to_owned(), block.span, ManifestTree::text(version, block.span)),
        ("kind".to_owned(), block.span, ManifestTree::text(name, block.span)),
    ];
    if let ManifestTree::Map(below) = body(sources, block, table, 0) {
        entries.extend(below);
    }
    Some(ManifestTree::Map(entries))
}

pub(super) fn is_object(kind: &str, table: &Table) -> bool {
    table.kinds.contains_key(unversioned(kind))
}

/// Returns `kubernetes_deployment` for `kubernetes_deployment_v1`.
fn unversioned(kind: &str) -> &str {
    match kind.rsplit_once("_v") {
        Some((name, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => name,
        _ => kind,
    }
}

fn body(sources: &SourceFiles, block: &EvaluatedBlock, table: &Table, depth: usize) -> ManifestTree {
    let mut entries: Vec<(String, Span, ManifestTree)> = Vec::new();
    for (name, attribute) in &block.attributes {
        if !matches!(attribute.value.data, HclData::Null) {
            entries.push((spelt(name, table), attribute.span, tree_of(sources, &attribute.value, 0)));
        }
    }
    for below in block.blocks.iter().filter(|it| !NOT_OF_THE_MANIFEST.contains(&it.keyword.as_str())) {
        if depth >= DEEPEST {
            break;
        }
        let tree = body(sources, below, table, depth + 1);
        add(&mut entries, below, tree, table);
    }
    ManifestTree::Map(entries)
}

/// Adds a block as a list element if the table requires a list or if there are several. Otherwise, adds it as an
/// object.
fn add(entries: &mut Vec<(String, Span, ManifestTree)>, block: &EvaluatedBlock, tree: ManifestTree, table: &Table) {
    let list = table.lists.get(&block.keyword);
    let name = list.cloned().unwrap_or_else(|| spelt(&block.keyword, table));
    match entries.iter_mut().find(|(key, ..)| *key == name) {
        Some((_, _, ManifestTree::List(items))) => items.push(tree),
        Some((_, _, before)) => {
            let first = std::mem::replace(before, ManifestTree::List(Vec::new()));
            *before = ManifestTree::List(vec![first, tree]);
        }
        None if list.is_some() => entries.push((name, block.span, ManifestTree::List(vec![tree]))),
        None => entries.push((name, block.span, tree)),
    }
}

/// Returns `activeDeadlineSeconds` for `active_deadline_seconds`.
fn spelt(name: &str, table: &Table) -> String {
    if let Some(other) = table.names.get(name) {
        return other.clone();
    }
    let mut words = name.split('_');
    let mut spelt = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        spelt.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        spelt.push_str(letters.as_str());
    }
    spelt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelt_as_kubernetes_spells_them() {
        let table = super::super::table();
        for (name, expected) in [
            ("active_deadline_seconds", "activeDeadlineSeconds"),
            ("host_ipc", "hostIPC"),
            ("replicas", "replicas"),
            ("_odd", "Odd"),
        ] {
            assert_eq!(spelt(name, table), expected);
        }
        assert_eq!(unversioned("kubernetes_deployment_v1"), "kubernetes_deployment");
        assert_eq!(unversioned("kubernetes_horizontal_pod_autoscaler_v2beta2"), "kubernetes_horizontal_pod_autoscaler");
        assert_eq!(unversioned("kubernetes_persistent_volume"), "kubernetes_persistent_volume");
    }
}
