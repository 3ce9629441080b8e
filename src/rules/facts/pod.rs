//! Provides pods of any object: their template, with the settings of their kind.

use std::sync::{Arc, LazyLock};

use super::raw::{at, value};
use super::table::{Records, rows};
use super::{FactContext, kinds, unknown_sum};
use crate::inventory::{BillingRole, Inventory, RawContainer, RawPod, RawTree, Resource, Taint};
use crate::languages::cel::{CelMap, CelType, CelValue, MapKey, UnknownValue};

pub(super) static POD: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "pod",
        kinds::POD,
        None,
        rows! {
            name: CelType::Text, "Name of the pod template, if the object has several: worker, head." => |asking, id| of(asking, id, |pod| if pod.name.is_empty() { CelValue::Absent } else { CelValue::Text(pod.name.clone()) });
            containers: CelType::list(CelType::Any), "All containers as written. gpulint adds `role` (main, init, sidecar or ephemeral), the \
             parts of the image (`registry`, `image_name`, `tag`, `digest`), `security` (the container's settings over those of the pod) \
             and `mounts` ({path, name, volume})." => |asking, id| of(asking, id, containers);
            volumes: CelType::list(CelType::Any), "Volumes of the pod." => |asking, id| of(asking, id, |pod| list(&pod.spec, "volumes"));
            node_labels: CelType::map(CelType::Text, CelType::list(CelType::Text)), "Labels that the node must have, by nodeSelector or a required \
             nodeAffinity, each with the allowed values. An empty list allows any value." => |asking, id| of(asking, id, |pod| value(&pod.node_labels));
            tolerations: CelType::list(CelType::Any), "Taints that the pod tolerates." => |asking, id| of(asking, id, |pod| list(&pod.spec, "tolerations"));
            security: CelType::Any, "Security context for all containers of the pod." => |asking, id| of(asking, id, |pod| at(&pod.spec, &["securityContext"]));
            service_account: CelType::Text, "Service account of the pod." => |asking, id| of(asking, id, |pod| match at(&pod.spec, &["serviceAccountName"]) {
                CelValue::Absent => at(&pod.spec, &["serviceAccount"]),
                account => account,
            });
            labels: CelType::Any, "Labels of the pod." => |asking, id| of(asking, id, |pod| pod.labels.as_ref().map_or(CelValue::Absent, value));
            annotations: CelType::Any, "Annotations of the pod." => |asking, id| of(asking, id, |pod| pod.annotations.as_ref().map_or(CelValue::Absent, value));
            spec: CelType::Any, "The whole specification of the pod as written." => |asking, id| of(asking, id, |pod| value(&pod.spec));
        },
    )
});

/// Pods have consecutive numbers, object by object.
#[derive(Debug, Default)]
pub(super) struct PodNumbers {
    firsts: Vec<u32>,
}

impl PodNumbers {
    pub(super) fn new(inventory: &Inventory) -> PodNumbers {
        let mut next = 0;
        let first = |pods: usize| {
            let first = next;
            next += pods as u32;
            first
        };
        PodNumbers { firsts: inventory.objects.iter().map(|object| object.pods.len()).map(first).collect() }
    }

    /// Returns the object of a pod, and the position of the pod in it.
    fn place(&self, id: u32) -> Option<(usize, usize)> {
        let object = self.firsts.partition_point(|first| *first <= id).checked_sub(1)?;
        Some((object, (id - self.firsts.get(object)?) as usize))
    }
}

fn of(asking: &FactContext<'_>, id: u32, read: impl Fn(&RawPod) -> CelValue) -> CelValue {
    let inventory = asking.world.inventory;
    let place = asking.raws.pod_numbers(inventory).place(id);
    let pod = place.and_then(|(object, place)| inventory.objects.get(object)?.pods.get(place));
    pod.map_or(CelValue::Absent, read)
}

/// Returns the pods of an object.
pub(super) fn of_object(asking: &FactContext<'_>, object: u32) -> CelValue {
    let inventory = asking.world.inventory;
    let first = asking.raws.pod_numbers(inventory).firsts.get(object as usize).copied().unwrap_or_default();
    let count = inventory.objects.get(object as usize).map_or(0, |object| object.pods.len() as u32);
    CelValue::list((first..first + count).map(|id| POD.value(id)))
}

/// Returns the pod of a resource.
pub(super) fn of_resource(asking: &FactContext<'_>, resource: &Resource) -> CelValue {
    if resource.role != BillingRole::Requested {
        return CelValue::Absent;
    }
    let inventory = asking.world.inventory;
    let found = asking.raws.raw_of(inventory, resource).filter(|(is_object, _)| *is_object).and_then(|(_, object)| {
        let pods = &inventory.objects.get(object)?.pods;
        let place = pods.iter().position(|pod| pod.part.as_ref() == Some(&resource.declared.part))?;
        let first = asking.raws.pod_numbers(inventory).firsts.get(object)?;
        Some(POD.value(first + place as u32))
    });
    found.unwrap_or_else(|| {
        unknown_sum(&"a program generates its pods, so gpulint does not know them as written".into())
    })
}

/// Returns a list that the specification may omit.
fn list(spec: &RawTree, key: &str) -> CelValue {
    match at(spec, &[key]) {
        CelValue::Absent | CelValue::Null => CelValue::list([]),
        found => found,
    }
}

fn containers(pod: &RawPod) -> CelValue {
    // If a list is filled in later, its length is unknown.
    if let CelValue::Unknown(unknown) = at(&pod.spec, &["containers"]) {
        return CelValue::Unknown(unknown);
    }
    CelValue::list(pod.containers.iter().map(|container| self::container(container, pod)))
}

fn container(container: &RawContainer, pod: &RawPod) -> CelValue {
    let CelValue::Map(map) = value(&container.tree) else { return value(&container.tree) };
    let mut map = Arc::unwrap_or_clone(map);
    map.set("role", CelValue::text(container.role));
    let image = ImageParts::of(&at(&container.tree, &["image"]));
    for (key, part) in
        [("registry", image.registry), ("image_name", image.name), ("tag", image.tag), ("digest", image.digest)]
    {
        map.set(key, part);
    }
    map.set("security", over(at(&pod.spec, &["securityContext"]), at(&container.tree, &["securityContext"])));
    map.set("mounts", mounts(container, pod));
    CelValue::Map(Arc::new(map))
}

/// Merges two maps key by key. The second one has precedence.
fn over(below: CelValue, above: CelValue) -> CelValue {
    match (below, above) {
        (CelValue::Map(below), CelValue::Map(above)) => {
            let mut all = CelMap::lenient(above.open.clone().or_else(|| below.open.clone()));
            for (key, value) in below.iter().chain(above.iter()) {
                if let CelValue::Text(key) = key {
                    all.set_shared(key, value.clone());
                }
            }
            CelValue::Map(Arc::new(all))
        }
        (CelValue::Unknown(unknown), _) | (_, CelValue::Unknown(unknown)) => CelValue::Unknown(unknown),
        (below, CelValue::Absent | CelValue::Null) => below,
        (_, above) => above,
    }
}

/// Returns the mounts of its volumes, each with its volume.
fn mounts(container: &RawContainer, pod: &RawPod) -> CelValue {
    let (mounts, volumes) = match (list(&container.tree, "volumeMounts"), list(&pod.spec, "volumes")) {
        (CelValue::List(mounts), CelValue::List(volumes)) => (mounts, volumes),
        (CelValue::Unknown(unknown), _) | (_, CelValue::Unknown(unknown)) => return CelValue::Unknown(unknown),
        _ => return CelValue::list([]),
    };
    let mount = |mount: &CelValue| {
        let CelValue::Map(written) = mount else { return mount.clone() };
        let mut made = CelMap::lenient(written.open.clone());
        let name = member(written, "name");
        made.set("path", member(written, "mountPath"));
        made.set("volume", volume(&name, &volumes));
        made.set("name", name);
        CelValue::Map(Arc::new(made))
    };
    CelValue::list(mounts.iter().map(mount))
}

fn volume(name: &CelValue, volumes: &[CelValue]) -> CelValue {
    let mut unknown: Option<Arc<UnknownValue>> = None;
    for volume in volumes {
        match volume {
            CelValue::Map(map) => match (member(map, "name"), name) {
                (CelValue::Text(own), CelValue::Text(wanted)) if own == *wanted => return volume.clone(),
                (CelValue::Unknown(why), _) => unknown = unknown.or(Some(why)),
                _ => {}
            },
            CelValue::Unknown(why) => unknown = unknown.or_else(|| Some(why.clone())),
            _ => {}
        }
    }
    match (name, unknown) {
        (CelValue::Unknown(why), _) => CelValue::Unknown(why.clone()),
        (_, Some(why)) => CelValue::Unknown(why),
        _ => CelValue::Absent,
    }
}

fn member(map: &CelMap, key: &str) -> CelValue {
    match (map.get(&MapKey::Text(key.into())), &map.open) {
        (Some(value), _) => value.clone(),
        (None, Some(open)) => CelValue::Unknown(open.clone()),
        (None, None) => CelValue::Absent,
    }
}

/// The parts of the name of an image.
struct ImageParts {
    registry: CelValue,
    name: CelValue,
    tag: CelValue,
    digest: CelValue,
}

/// Registry that Docker uses for an image without one.
const DEFAULT_REGISTRY: &str = "docker.io";

/// Tag that Docker uses for an image without a tag or digest.
const DEFAULT_TAG: &str = "latest";

impl ImageParts {
    fn of(image: &CelValue) -> ImageParts {
        match image {
            CelValue::Text(text) => ImageParts::of_text(text),
            CelValue::Unknown(unknown) => ImageParts::of_beginning(unknown),
            other => {
                ImageParts { registry: other.clone(), name: other.clone(), tag: other.clone(), digest: other.clone() }
            }
        }
    }

    fn of_text(text: &str) -> ImageParts {
        let (rest, digest) = text.split_once('@').map_or((text, None), |(rest, digest)| (rest, Some(digest)));
        let (registry, rest) = registry_of(rest).unwrap_or((DEFAULT_REGISTRY, rest));
        let colon = rest.rfind(':').filter(|colon| !rest[*colon..].contains('/'));
        let (name, tag) = colon.map_or((rest, None), |colon| (&rest[..colon], Some(&rest[colon + 1..])));
        let tag = tag.or(digest.is_none().then_some(DEFAULT_TAG));
        let text = |text: Option<&str>| text.map_or(CelValue::Absent, CelValue::text);
        ImageParts { registry: text(Some(registry)), name: text(Some(name)), tag: text(tag), digest: text(digest) }
    }

    /// Returns the parts that are complete within the known beginning of an image's name.
    fn of_beginning(unknown: &Arc<UnknownValue>) -> ImageParts {
        let beginning = unknown.beginning.as_deref().unwrap_or_default();
        let rest = |beginning: &str| {
            let beginning = Some(Arc::from(beginning)).filter(|it: &Arc<str>| !it.is_empty());
            CelValue::Unknown(Arc::new(UnknownValue { beginning, candidates: Vec::new(), ..(**unknown).clone() }))
        };
        let (registry, behind) = match beginning.split_once('/') {
            Some(_) => {
                let (registry, behind) = registry_of(beginning).unwrap_or((DEFAULT_REGISTRY, beginning));
                (CelValue::text(registry), behind)
            }
            None => (rest(beginning), ""),
        };
        match behind.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')) {
            Some((name, tag)) => ImageParts { registry, name: CelValue::text(name), tag: rest(tag), digest: rest("") },
            None => ImageParts { registry, name: rest(behind), tag: rest(""), digest: rest("") },
        }
    }
}

/// Returns the registry and the rest of a name, if its first part can be a host name.
fn registry_of(name: &str) -> Option<(&str, &str)> {
    let (first, rest) = name.split_once('/')?;
    (first.contains(['.', ':']) || first == "localhost").then_some((first, rest))
}

/// Returns the taints of a pool's nodes.
pub(super) fn taints(resource: &Resource) -> CelValue {
    if resource.role != BillingRole::Rented {
        return CelValue::Absent;
    }
    let known = resource.selector.taints.iter().map(taint);
    let open = resource.selector.open.as_ref().map(|it| super::unknown_fact(&it.why, it.span, Vec::new()));
    CelValue::list(known.chain(open))
}

fn taint(taint: &Taint) -> CelValue {
    let mut map = CelMap::lenient(None);
    map.set("key", CelValue::Text(taint.key.clone()));
    for (key, text) in [("value", &taint.value), ("effect", &taint.effect)] {
        if let Some(text) = text {
            map.set_shared(&key.into(), CelValue::Text(text.clone()));
        }
    }
    CelValue::Map(Arc::new(map))
}

/// Returns the labels of a pool's nodes.
pub(super) fn node_labels(resource: &Resource) -> CelValue {
    if resource.role != BillingRole::Rented {
        return CelValue::Absent;
    }
    let open = resource.selector.open.as_ref().map(|it| super::unknown_fact(&it.why, it.span, Vec::new()));
    let open = open.and_then(|it| if let CelValue::Unknown(unknown) = it { Some(unknown) } else { None });
    let mut map = CelMap::lenient(open);
    for (key, fact) in &resource.selector.labels {
        map.set(key, super::text_of(fact));
    }
    CelValue::Map(Arc::new(map))
}
