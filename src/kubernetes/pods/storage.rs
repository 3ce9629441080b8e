//! Reads the claims of a pod, the network file systems that it mounts, and the checkpoints that are lost with it.

use std::sync::Arc;

use crate::inventory::{DiskSpeed, Fact, FactOrigin, FactValue, Key, MachineDisk, Volume, programs};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::containers;
use super::pod::{Pod, PodContainer};
use super::request;
use crate::kubernetes::objects::index::{NamePlace, ObjectIndex};
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::facts::{Facts, fill};

/// Drivers and provisioners of file systems that are slow at small random reads, by a part of their name. Parallel file
/// systems (Lustre, Weka, GPFS) and caches for buckets are not among them.
const SLOW: [(&str, &str); 6] = [
    ("efs.csi.aws.com", "efs"),
    ("filestore.csi.storage.gke.io", "filestore"),
    ("file.csi.azure.com", "azure-files"),
    ("azure-file", "azure-files"),
    ("smb.csi", "smb"),
    ("nfs", "nfs"),
];

/// The parameters of a storage class that name the kind of its disks, by provisioner.
const KIND_PARAMETERS: [&str; 4] = ["type", "skuName", "skuname", "storageaccounttype"];

/// Storage classes that clusters of the clouds have by default, and the kinds of their disks (documentation of EKS, GKE
/// and AKS, 2026-11). `gp3` is the usual name of a class that one creates for this kind.
const KINDS_OF_CLASSES: [(&str, &str); 7] = [
    ("gp2", "gp2"),
    ("gp3", "gp3"),
    ("standard-rwo", "pd-balanced"),
    ("premium-rwo", "pd-ssd"),
    ("managed-csi", "StandardSSD_LRS"),
    ("managed-csi-premium", "Premium_LRS"),
    ("managed-premium", "Premium_LRS"),
];

const BYTES_OF_GIB: f64 = 1_073_741_824.0;

pub(in crate::kubernetes) fn facts(pod: &Pod, index: &ObjectIndex<'_>, facts: &mut Facts) {
    for volume in pod.spec.get("volumes").map(Node::items).unwrap_or_default() {
        fill(facts, Key::DataStorage, of_volume(volume, index));
    }
    fill(facts, Key::Volumes, claims(pod, index));
    let lost = lost_checkpoints(pod, index, facts);
    fill(facts, Key::CheckpointLost, lost);
}

/// Returns the claims of this tree that the pod mounts, as volumes with their sizes and kinds.
pub(in crate::kubernetes) fn volumes(pod: &Pod, index: &ObjectIndex<'_>) -> Vec<Volume> {
    let volumes = pod.spec.get("volumes").map(Node::items).unwrap_or_default();
    let names = volumes.iter().filter_map(|volume| volume.at("persistentVolumeClaim.claimName"));
    let found = names.filter_map(|name| {
        let claim = index.find("/PersistentVolumeClaim", name.text()?, NamePlace::of(name.span))?;
        let disk = disk(claim.root.get("spec")?, index)?;
        Some(Volume { name: format!("PersistentVolumeClaim/{}", name.text()?).into(), disk, is_unused: false })
    });
    found.collect()
}

/// Returns the disks that a controller creates for each of its pods.
pub(in crate::kubernetes) fn disks(pod: &Pod, root: &Node, index: &ObjectIndex<'_>) -> Vec<MachineDisk> {
    let templates = root.at("spec.volumeClaimTemplates").map(Node::items).unwrap_or_default();
    let templates = templates.iter().filter_map(|template| template.get("spec"));
    let volumes = pod.spec.get("volumes").map(Node::items).unwrap_or_default();
    let own = volumes.iter().filter_map(|volume| volume.at("ephemeral.volumeClaimTemplate.spec"));
    templates.chain(own).filter_map(|claim| disk(claim, index)).collect()
}

/// Returns the disk that a claim requests. Its kind follows from its storage class.
fn disk(claim: &Node, index: &ObjectIndex<'_>) -> Option<MachineDisk> {
    let size = claim.at("resources.requests.storage")?;
    let gib = amount::amount(size).map(|bytes| FactValue::Number(bytes / BYTES_OF_GIB));
    let kind = match claim.get("storageClassName") {
        Some(class) => kind_of_class(class, index),
        None => Fact::unknown("no storage class is named", size.span),
    };
    Some(MachineDisk { gib, kind, count: Fact::Absent, speed: DiskSpeed::default() })
}

fn kind_of_class(class: &Node, index: &ObjectIndex<'_>) -> Fact<FactValue> {
    let Some(name) = class.text() else { return Fact::unknown("the storage class is unknown", class.span) };
    let found = index.find("storage.k8s.io/StorageClass", name, NamePlace::of(class.span));
    let stated = found.and_then(|found| {
        let parameters = found.root.get("parameters")?;
        KIND_PARAMETERS.iter().find_map(|key| parameters.get(key)?.text())
    });
    if let Some(kind) = stated {
        return Fact::known(FactValue::text(&**kind), class.span, FactOrigin::Resolved);
    }
    match KINDS_OF_CLASSES.iter().find(|(known, _)| **known == **name).filter(|_| found.is_none()) {
        Some((_, kind)) => {
            let why = "the class of this name that the cloud creates";
            Fact::known(FactValue::text(*kind), class.span, FactOrigin::Inferred(why.into()))
        }
        None => Fact::unknown(format!("the storage class {name} does not name a kind of disk"), class.span),
    }
}

/// Returns the claims of this tree that it mounts, with their sizes.
fn claims(pod: &Pod, index: &ObjectIndex<'_>) -> Fact<FactValue> {
    let volumes = pod.spec.get("volumes").map(Node::items).unwrap_or_default();
    let names = volumes.iter().filter_map(|volume| volume.at("persistentVolumeClaim.claimName"));
    let found = names.filter_map(|name| {
        let claim = index.find("/PersistentVolumeClaim", name.text()?, NamePlace::of(name.span))?;
        let size = claim.root.at("spec.resources.requests.storage").and_then(Node::text);
        let size = size.map(|size| format!(" ({size})")).unwrap_or_default();
        Some((name.span, format!("PersistentVolumeClaim/{}{size}", name.text()?)))
    });
    let found: Vec<(Span, String)> = found.collect();
    let Some((first, _)) = found.first() else { return Fact::Absent };
    Fact::known(
        FactValue::List(found.iter().map(|(_, text)| text.as_str().into()).collect()),
        *first,
        FactOrigin::Resolved,
    )
}

fn of_volume(volume: &Node, index: &ObjectIndex<'_>) -> Fact<FactValue> {
    if let Some(nfs) = volume.get("nfs") {
        return Fact::written(FactValue::text("nfs"), nfs.span);
    }
    if volume.get("azureFile").is_some() {
        return Fact::written(FactValue::text("azure-files"), volume.span);
    }
    if let Some(driver) = volume.at("csi.driver") {
        return driver.text().map_or(Fact::Absent, |name| of_driver(name, driver.span));
    }
    let Some(name) = volume.at("persistentVolumeClaim.claimName") else { return Fact::Absent };
    let Some(text) = name.text() else { return Fact::Absent };
    index.find("/PersistentVolumeClaim", text, NamePlace::of(name.span)).map_or(Fact::Absent, |claim| {
        let class = claim.root.at("spec.storageClassName");
        let provisioner = class.and_then(|class| of_class(class, index)).unwrap_or_default();
        provisioner.or(|| of_bound(claim.root, index))
    })
}

fn of_class(class: &Node, index: &ObjectIndex<'_>) -> Option<Fact<FactValue>> {
    let found = index.find("storage.k8s.io/StorageClass", class.text()?, NamePlace::of(class.span))?;
    let provisioner = found.root.get("provisioner")?;
    Some(resolved(of_driver(provisioner.text()?, class.span)))
}

/// Returns the slow file system behind a claim that names its volume.
fn of_bound(claim: &Node, index: &ObjectIndex<'_>) -> Fact<FactValue> {
    let Some((name, text)) = claim.at("spec.volumeName").and_then(|it| Some((it, it.text()?))) else {
        return Fact::Absent;
    };
    let Some(volume) = index.find("/PersistentVolume", text, NamePlace::of(name.span)) else { return Fact::Absent };
    if let Some(nfs) = volume.root.at("spec.nfs") {
        return resolved(Fact::written(FactValue::text("nfs"), nfs.span));
    }
    let driver = volume.root.at("spec.csi.driver").and_then(|it| Some((it, it.text()?)));
    driver.map_or(Fact::Absent, |(node, name): (&Node, &Arc<str>)| resolved(of_driver(name, node.span)))
}

fn of_driver(name: &str, span: Span) -> Fact<FactValue> {
    let slow = SLOW.iter().find(|(part, _)| name.contains(part));
    slow.map_or(Fact::Absent, |(_, kind)| Fact::written(FactValue::text(*kind), span))
}

fn resolved(fact: Fact<FactValue>) -> Fact<FactValue> {
    match fact {
        Fact::Known(mut known) => {
            known.origin = FactOrigin::Resolved;
            Fact::Known(known)
        }
        other => other,
    }
}

/// Returns the place that is lost with the pod, if checkpoints are written there and no command copies them elsewhere.
fn lost_checkpoints(pod: &Pod, index: &ObjectIndex<'_>, facts: &Facts) -> Fact<FactValue> {
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
