//! Finds the objects that a chart elsewhere makes of its values, by the pattern of their names in the definition.

use std::sync::Arc;

use crate::kubernetes::rows::table::Pods;
use crate::languages::yaml::{Node, NodeEntry};

/// The kind and the name of an object that is not in the tree.
pub(in crate::kubernetes) type MadeObject = (Arc<str>, Arc<str>);

/// Fields of a pod specification that charts take from values for all their pods.
const SHARED: [&str; 5] = ["nodeSelector", "tolerations", "affinity", "runtimeClassName", "priorityClassName"];

/// Returns a pod specification with the fields that its definition finds elsewhere.
pub(super) fn completed(spec: &Node, pods: &Pods, root: &Node) -> Node {
    if pods.around.is_none() && pods.terms.is_none() || !spec.is_map() {
        return spec.clone();
    }
    let mut entries: Vec<NodeEntry> = spec.entries().to_vec();
    let terms = pods.terms.as_ref().and_then(|path| path.first(spec)).filter(|_| spec.get("affinity").is_none());
    if let Some(terms) = terms.filter(|terms| !terms.items().is_empty()) {
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let affinity = Node::framed(required, &Node::framed("nodeSelectorTerms", terms));
        entries.extend(Node::framed("affinity", &Node::framed("nodeAffinity", &affinity)).entries().iter().cloned());
    }
    let around = pods.around.as_ref().and_then(|path| path.first(root)).map(Node::entries).unwrap_or_default();
    let missing = around.iter().filter(|it| SHARED.contains(&&*it.key) && spec.get(&it.key).is_none());
    let missing: Vec<NodeEntry> = missing.filter(|it| !entries.iter().any(|own| own.key == it.key)).cloned().collect();
    entries.extend(missing);
    Node::map(spec.span, entries)
}

/// Returns the kind and the name of the object that a chart makes for pods; `None` if a part of the name is unknown.
pub(super) fn made(pods: &Pods, release: Option<&str>, name: Option<&String>, values: &Node) -> Option<MadeObject> {
    let (kind, form) = pods.makes.as_ref()?.split_once('/')?;
    let mut made = String::new();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('{') {
        let (part, behind) = after.split_once('}')?;
        made.push_str(before);
        match part.strip_prefix("fullname:") {
            Some(chart) => made.push_str(&full_name(chart, release, values)?),
            None if part == "release" => made.push_str(release?),
            None => made.push_str(name?),
        }
        rest = behind;
    }
    made.push_str(rest);
    Some((kind.into(), made.into()))
}

/// Returns the name that the template `fullname` of `helm create` makes.
fn full_name(chart: &str, release: Option<&str>, values: &Node) -> Option<String> {
    let given = |key: &str| values.text_at(key).filter(|it| !it.is_empty()).map(ToString::to_string);
    if let Some(whole) = given("fullnameOverride") {
        return Some(whole);
    }
    let name = given("nameOverride").unwrap_or_else(|| chart.to_owned());
    let release = release?;
    Some(if release.contains(&name) { release.to_owned() } else { format!("{release}-{name}") })
}

/// Returns whether an object is the one that a chart makes.
pub(in crate::kubernetes) fn is_made(made: Option<&MadeObject>, kind: &str, name: &str) -> bool {
    made.is_some_and(|(own_kind, own): &(Arc<str>, Arc<str>)| **own_kind == *kind && **own == *name)
}
