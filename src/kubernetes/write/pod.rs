//! Edits pods: accelerators, shared memory, node selection, arguments of programs.

use crate::inventory::{FactValue, Key, Part, Purchase, Resource};
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::devices::{DEVICES, LabelMeaning, word_of_label};
use crate::languages::yaml::{AddedPiece, Node, NodeData, NodeEntry};
use crate::source::{Edit, Span};

use super::declining::{Result, inexpressible, left_alone};
use super::paper::EditedDocument;
use super::{Document, piece, set};

const DEEPEST: usize = 40;
const SHARED: &str = "/dev/shm";

/// Returns the innermost mapping around a position that has a certain key.
pub(super) fn around<'n>(root: &'n Node, place: Span, key: &str) -> Option<&'n Node> {
    let mut found = None;
    let mut here = root;
    for _ in 0..DEEPEST {
        if here.entry(key).is_some() {
            found = Some(here);
        }
        match here.inner().find(|inner| inner.span.contains(place)) {
            Some(inner) => here = inner,
            None => break,
        }
    }
    found
}

/// The pod and the container that request the accelerators.
struct AskingContainer<'n> {
    pod: &'n Node,
    container: &'n Node,
    key: &'n str,
}

fn asking_container<'n>(document: &'n Document, resource: &Resource) -> Result<AskingContainer<'n>> {
    let place = resource.fact(Key::AcceleratorCount).span();
    let Some(place) = place.filter(|place| document.root.span.contains(*place)) else {
        return left_alone("its accelerator request was not found");
    };
    let found = around(&document.root, place, "containers").zip(around(&document.root, place, "resources"));
    let Some((pod, container)) = found else {
        return left_alone("its accelerator request is not in the usual form of containers");
    };
    let listed = pod.get("containers").map(Node::items).unwrap_or_default();
    if !listed.iter().any(|it| it.span == container.span) {
        return left_alone("its accelerator request is not in its containers");
    }
    let entries = sides(container).flat_map(Node::entries);
    let Some(entry) = entries.into_iter().find(|entry| entry.span().contains(place)) else {
        return left_alone("its accelerator request was not found");
    };
    let asks = |it: &&Node| sides(it).any(|side| side.entries().iter().any(|e| DEVICES.device(&e.key).is_some()));
    if listed.iter().filter(asks).count() > 1 {
        return left_alone("several of its containers request accelerators");
    }
    Ok(AskingContainer { pod, container, key: &entry.key })
}

fn sides(container: &Node) -> impl Iterator<Item = &Node> {
    ["limits", "requests"].into_iter().filter_map(|side| container.get("resources")?.get(side))
}

/// Sets limits and requests together, because the cluster requires them to be equal.
pub(super) fn accelerators(
    document: &Document,
    paper: &EditedDocument<'_>,
    resource: &Resource,
    value: &FactValue,
) -> Result<Vec<Edit>> {
    let asking = asking_container(document, resource)?;
    let current = resource.number(Key::AcceleratorCount);
    let whole = value.as_number().filter(|n| *n >= 1.0 && n.fract() == 0.0);
    let Some(whole) = whole else { return left_alone("a pod requests whole accelerators") };
    let entries: Vec<&NodeEntry> = sides(asking.container).filter_map(|side| side.entry(asking.key)).collect();
    if entries.iter().any(|entry| entry.value.number() != current) {
        return left_alone("the written number does not count accelerators");
    }
    let new = AddedPiece::Number(format!("{whole:.0}"));
    let replaced = entries.into_iter().map(|entry| {
        document.is_own(&entry.value)?;
        paper.replace(&entry.value, &new)
    });
    replaced.collect()
}

/// Adds a volume in memory at the path that programs use.
pub(super) fn shared_memory(document: &Document, paper: &EditedDocument<'_>, resource: &Resource) -> Result<Vec<Edit>> {
    let AskingContainer { pod, container, .. } = asking_container(document, resource)?;
    let mounts = container.get("volumeMounts");
    let is_taken = |it: &Node| it.text_at("mountPath").is_some_and(|path| path.trim_end_matches('/') == SHARED);
    if mounts.map(Node::items).unwrap_or_default().iter().any(is_taken) {
        return left_alone(format!("`{SHARED}` already has a mount"));
    }
    let volumes = pod.get("volumes");
    let known = volumes.map(Node::items).unwrap_or_default();
    let is_free = |name: &&str| !known.iter().any(|it| it.text_at("name").is_some_and(|known| **known == **name));
    let Some(name) = ["dshm", "shm", "shared-memory"].into_iter().find(is_free) else {
        return left_alone("the usual volume names for shared memory are already in use");
    };
    let named = ("name".to_owned(), AddedPiece::text(name));
    let mut memory = vec![("medium".to_owned(), AddedPiece::text("Memory"))];
    memory.extend(size_limit(container).map(|size| ("sizeLimit".to_owned(), AddedPiece::Text(size))));
    let volume = AddedPiece::Map(vec![named.clone(), ("emptyDir".to_owned(), AddedPiece::Map(memory))]);
    let mount = AddedPiece::Map(vec![named, ("mountPath".to_owned(), AddedPiece::text(SHARED))]);
    Ok(vec![
        add_item(document, paper, container, "volumeMounts", mount)?,
        add_item(document, paper, pod, "volumes", volume)?,
    ])
}

/// Returns half of the memory of a container: a volume in memory counts against its limit, and a full volume must not
/// end the container. Without a limit and a request, Kubernetes limits the volume by the memory of the node.
fn size_limit(container: &Node) -> Option<String> {
    let limit = sides(container).find_map(|side| side.get("memory"))?;
    let half = amount::gib(limit).value().copied()? / 2.0;
    match half {
        half if half >= 1.0 => Some(format!("{:.0}Gi", half.floor())),
        half if half * 1024.0 >= 1.0 => Some(format!("{:.0}Mi", (half * 1024.0).floor())),
        _ => None,
    }
}

/// Adds an item to a list, and creates the list if it is missing.
fn add_item(document: &Document, paper: &EditedDocument<'_>, map: &Node, key: &str, item: AddedPiece) -> Result<Edit> {
    match map.get(key) {
        Some(list) if matches!(list.data, NodeData::List(_)) => {
            document.is_own(list)?;
            paper.append(list, &item)
        }
        _ => set(document, paper, map, &[key], &AddedPiece::List(vec![item])),
    }
}

pub(super) fn priority(
    document: &Document,
    paper: &EditedDocument<'_>,
    resource: &Resource,
    value: &FactValue,
) -> Result<Vec<Edit>> {
    let pod = asking_container(document, resource)?.pod;
    Ok(vec![set(document, paper, pod, &["priorityClassName"], &piece(value))?])
}

/// Selects spot nodes by the cloud's label, and tolerates their taint.
pub(super) fn spot(document: &Document, paper: &EditedDocument<'_>, resource: &Resource) -> Result<Vec<Edit>> {
    if resource.pools().next().is_some() {
        return left_alone("its node pool decides: change the pool");
    }
    let Ok(AskingContainer { pod, .. }) = asking_container(document, resource) else {
        return inexpressible(resource, Part::Fact(Key::Purchase));
    };
    let selector = pod.get("nodeSelector");
    let keys = selector.map(Node::entries).unwrap_or_default();
    let said = |entry: &&NodeEntry, what: LabelMeaning| {
        DEVICES.label(&entry.key).is_some_and(|label| label.fact == Some(what))
    };
    if let Some(entry) = keys.iter().find(|entry| said(entry, LabelMeaning::Purchase)) {
        let selected = labelled_spot(document, paper, &entry.key, &entry.value)?;
        let tolerated = toleration(document, paper, pod, &entry.key)?;
        return Ok([selected].into_iter().chain(tolerated).collect());
    }
    let purchase = resource.fact(Key::Purchase).span();
    if pod.get("affinity").zip(purchase).is_some_and(|(affinity, span)| affinity.span.contains(span)) {
        return left_alone("its node affinity decides how its nodes are bought");
    }
    if keys.iter().any(|entry| said(&entry, LabelMeaning::Pool)) {
        return left_alone("it selects a pool by name: change the pool");
    }
    let has = |start: &str| keys.iter().any(|entry| entry.key.starts_with(start));
    let label = resource.text(Key::Provider).and_then(|provider| DEVICES.spot(provider, has));
    let Some((label, value)) = label.and_then(|label| Some((label, word_of_label(&label.key, Purchase::Spot.name())?)))
    else {
        return left_alone("the label of its spot nodes is unknown");
    };
    let key = label.key.as_str();
    let selected = set(document, paper, pod, &["nodeSelector", key], &AddedPiece::text(value))?;
    Ok([selected].into_iter().chain(toleration(document, paper, pod, key)?).collect())
}

/// Returns the edit that tolerates the taint of spot nodes with a label, if they have one and the pod does not yet.
fn toleration(document: &Document, paper: &EditedDocument<'_>, pod: &Node, label: &str) -> Result<Option<Edit>> {
    let Some(value) = word_of_label(label, Purchase::Spot.name()).filter(|_| DEVICES.is_tainted(label)) else {
        return Ok(None);
    };
    let tolerations = pod.get("tolerations").map(Node::items).unwrap_or_default();
    if tolerations.iter().any(|it| it.text_at("key").is_none_or(|known| &**known == label)) {
        return Ok(None);
    }
    let toleration = [("key", label), ("operator", "Equal"), ("value", value), ("effect", "NoSchedule")];
    let toleration = toleration.map(|(name, text)| (name.to_owned(), AddedPiece::text(text))).to_vec();
    add_item(document, paper, pod, "tolerations", AddedPiece::Map(toleration)).map(Some)
}

/// Returns the value for spot of the label that sets how nodes are bought.
pub(super) fn labelled_spot(
    document: &Document,
    paper: &EditedDocument<'_>,
    label: &str,
    value: &Node,
) -> Result<Edit> {
    labelled(document, paper, label, value, Purchase::Spot)
}

fn labelled(
    document: &Document,
    paper: &EditedDocument<'_>,
    label: &str,
    value: &Node,
    purchase: Purchase,
) -> Result<Edit> {
    let Some(word) = word_of_label(label, purchase.name()) else {
        return left_alone(format!("the label of its nodes has no value for {}", purchase.name()));
    };
    document.is_own(value)?;
    paper.replace(value, &AddedPiece::text(word))
}

/// Selects nodes on demand by the label that selects spot nodes now; `None` if no label does.
pub(super) fn on_demand(
    document: &Document,
    paper: &EditedDocument<'_>,
    resource: &Resource,
) -> Result<Option<Vec<Edit>>> {
    let Ok(AskingContainer { pod, .. }) = asking_container(document, resource) else { return Ok(None) };
    let keys = pod.get("nodeSelector").map(Node::entries).unwrap_or_default();
    let is_about =
        |entry: &&NodeEntry| DEVICES.label(&entry.key).is_some_and(|label| label.fact == Some(LabelMeaning::Purchase));
    let Some(entry) = keys.iter().find(is_about) else { return Ok(None) };
    if DEVICES.is_tainted(&entry.key) {
        return left_alone("nodes on demand do not have the label that it selects: select their pool instead");
    }
    labelled(document, paper, &entry.key, &entry.value, Purchase::OnDemand).map(|edit| Some(vec![edit]))
}

/// Replaces the value of a fact that is a separate scalar or a flag.
pub(super) fn written(
    document: &Document,
    paper: &EditedDocument<'_>,
    resource: &Resource,
    key: Key,
    value: &FactValue,
) -> Result<Vec<Edit>> {
    let known = resource.fact(key);
    let (Some(place), Some(current)) = (known.span(), known.value()) else {
        return inexpressible(resource, Part::Fact(key));
    };
    let Some(node) = at(&document.root, place) else { return inexpressible(resource, Part::Fact(key)) };
    document.is_own(node)?;
    let text = node.text().map_or("", |text| text);
    let new = match (value.as_flag(), text.strip_prefix("--no-")) {
        (Some(true), Some(switch)) => format!("--{switch}"),
        _ if text == current.to_string() => value.to_string(),
        _ => return left_alone(format!("the existing value expresses {} in another form", key.name())),
    };
    let quoted = match value {
        FactValue::Text(_) => AddedPiece::Text(new),
        _ if new.starts_with('-') => AddedPiece::Text(new),
        _ => piece(value),
    };
    Ok(vec![paper.replace(node, &quoted)?])
}

/// Returns the scalar at a position.
fn at(root: &Node, place: Span) -> Option<&Node> {
    let mut here = root;
    for _ in 0..DEEPEST {
        if here.span == place && matches!(here.data, NodeData::Scalar { .. }) {
            return Some(here);
        }
        here = here.inner().find(|inner| inner.span.contains(place))?;
    }
    None
}
