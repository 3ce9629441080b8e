//! What a cluster made of other objects, as `kubectl get -o yaml` shows it: the pods of a ReplicaSet, the ReplicaSets of
//! a Deployment. Their owner stands for them where it is there.

use std::collections::HashSet;
use std::sync::Arc;

use crate::kubernetes::pods::workload::Found;
use crate::yaml::Node;

/// The label by which a Deployment tells the ReplicaSets that it made, and their pods.
const HASH: &str = "pod-template-hash";

/// Kind and name of an owner.
pub(in crate::kubernetes) type Owner = (Arc<str>, Arc<str>);

/// The owners of an object; a ReplicaSet speaks for its Deployment.
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

/// Leaves out what others own that are here themselves.
pub(in crate::kubernetes) fn leave_out(found: &mut Vec<(Arc<str>, Found)>) {
    if found.iter().all(|(_, it)| it.owners.is_empty()) {
        return;
    }
    type Known = HashSet<(Option<Arc<str>>, Arc<str>, Arc<str>)>;
    let known = |it: &Found| Some((it.namespace.clone(), Arc::from(it.kind.as_str()), it.name.clone()?));
    let here: Known = found.iter().filter_map(|(_, it)| known(it)).collect();
    // Nothing owns itself, whatever a text says.
    let owned = |it: &Found| {
        let mut owners = it.owners.iter().filter(|(kind, name)| it.kind != **kind || it.name.as_ref() != Some(name));
        owners.any(|(kind, name)| here.contains(&(it.namespace.clone(), kind.clone(), name.clone())))
    };
    found.retain(|(_, it)| !owned(it));
}
