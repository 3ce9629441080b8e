//! Finds checkpoints that training writes to a place that is lost with its pod or its node.

use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Key, programs};
use crate::languages::yaml::Node;

use super::containers;
use super::pod::{Pod, PodContainer};
use super::request;
use crate::kubernetes::objects::index::ObjectIndex;
use crate::kubernetes::rows::facts::Facts;

/// Returns the place that is lost with the pod, if checkpoints are written there and no command copies them elsewhere.
pub(super) fn lost_checkpoints(pod: &Pod, index: &ObjectIndex<'_>, facts: &Facts) -> Fact<FactValue> {
    let Some(Fact::Known(known)) = facts.get(&Key::Checkpoint) else { return Fact::Absent };
    let Some(path) = known.value.as_text().filter(|path| !programs::is_remote_or_open(path)) else {
        return Fact::Absent;
    };
    let containers = || pod.containers.iter().chain(pod.init.iter().map(|init| &init.part));
    // A kind without a specification of pods does not show its volumes.
    let is_pod = pod.spec.get("containers").is_some_and(|list| !list.items().is_empty());
    if !is_pod || containers().any(|part| programs::copies_results(&commands(part, pod, index))) {
        return Fact::Absent;
    }
    let mut asking = pod.containers.iter().filter(|part| request::asks(part));
    let (Some(part), None) = (asking.next(), asking.next()) else { return Fact::Absent };
    match lost_place(path, part, pod) {
        Some(place) => Fact::known(FactValue::text(place), known.span, FactOrigin::Inferred("by its volumes".into())),
        None => Fact::Absent,
    }
}

/// Returns the place of a path, if it is lost with the pod.
fn lost_place(path: &str, part: &PodContainer, pod: &Pod) -> Option<&'static str> {
    let lists = [part.node.get("volumeMounts"), pod.spec.get("volumes")];
    // A template or a platform may add volumes to a list that is not written out.
    if lists.into_iter().flatten().any(|list| list.items().is_empty()) {
        return None;
    }
    let mounts = part.node.get("volumeMounts").map(Node::items).unwrap_or_default();
    let is_lost = |mount: &Node| {
        let name = mount.text_at("name")?;
        let volumes = pod.spec.get("volumes").map(Node::items).unwrap_or_default();
        let volume = volumes.iter().find(|volume| volume.text_at("name").is_some_and(|it| it == name))?;
        volume.get("emptyDir").map(|_| "in an `emptyDir`, which is lost with its pod")
    };
    let of_container = "on the disk of its container, which is lost with its pod";
    if !path.starts_with('/') {
        return mounts.iter().all(|mount| is_lost(mount).is_some()).then_some(of_container);
    }
    let is_around = |mount: &&Node| {
        mount.text_at("mountPath").is_some_and(|at| {
            let at = at.trim_end_matches('/');
            path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let around = mounts.iter().filter(is_around).max_by_key(|mount| mount.text_at("mountPath").map(|at| at.len()));
    around.map_or(Some(of_container), is_lost)
}

/// Returns the words and the scripts of a container.
fn commands(part: &PodContainer, pod: &Pod, index: &ObjectIndex<'_>) -> String {
    let lists = ["command", "args"].iter().filter_map(|key| part.node.get(key));
    let words = lists.flat_map(|list| list.items().iter().chain([list])).filter_map(Node::text);
    let text =
        |word: &Arc<str>| containers::script(word, part, pod, index).and_then(Node::text).unwrap_or(word).to_string();
    words.map(text).collect::<Vec<_>>().join(" ")
}
