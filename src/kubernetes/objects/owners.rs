//! Finds the owners that an object declares.

use std::sync::Arc;

use crate::languages::yaml::Node;

/// The label by which a Deployment identifies its ReplicaSets and their pods.
const HASH: &str = "pod-template-hash";

/// The kind and the name of an owner.
pub(in crate::kubernetes) type Owner = (Arc<str>, Arc<str>);

/// Returns the owners of an object. The Deployment counts as the owner instead of its ReplicaSet.
pub(in crate::kubernetes) fn owners(root: &Node) -> Vec<Owner> {
    let references = root.at("metadata.ownerReferences").map(Node::items).unwrap_or_default();
    let named = references.iter().filter_map(|it| Some((it.text_at("kind")?.clone(), it.text_at("name")?.clone())));
    let mut owners: Vec<Owner> = named.collect();
    let hash = root.at("metadata.labels").and_then(|labels| labels.text_at(HASH));
    let above = owners.iter().find_map(|(kind, name)| match (&**kind, hash) {
        ("ReplicaSet", Some(hash)) => name.strip_suffix(&**hash)?.strip_suffix('-').map(Arc::from),
        _ => None,
    });
    owners.extend(above.map(|name| (Arc::from("Deployment"), name)));
    owners
}
