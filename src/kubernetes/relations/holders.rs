//! Links workloads to the objects that apply to them: disruption budgets, queues, quotas, priority classes, namespaces.
//! Each link has the place that proves it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, Link, LinkKind, Purpose};
use crate::source::Span;

use crate::kubernetes::objects::index::distance;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::pods::workload::FoundResource;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::rows::table::Relates;
use crate::languages::yaml::Node;

use super::nearby;

/// The limit on objects with the same name. The first by path are used.
const MOST_NAMESAKES: usize = 64;

/// An object that applies to others.
pub(in crate::kubernetes) struct Relation {
    relates: &'static Relates,
    path: Arc<str>,
    address: String,
    namespace: Option<Arc<str>>,
    /// The name or label by which workloads find this object.
    by: By,
    /// The place that proves the link.
    span: Span,
    /// The accelerators of each kind that the object allows to all of its workloads together.
    quotas: Vec<(Arc<str>, Fact<f64>)>,
    /// Labels that apply to everything in the object, such as a namespace.
    labels: Vec<(Arc<str>, Arc<str>, Span)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum By {
    /// The object is found by one label of its selector. The other labels are compared afterwards.
    Label(Arc<str>, Arc<str>),
    /// The object is found by a fact of the workload that contains its name.
    Fact(Key, Arc<str>),
    Namespace(Arc<str>),
}

impl Relation {
    pub(in crate::kubernetes) fn new(
        object: &KubernetesObject<'_>,
        relates: &'static Relates,
        path: &Arc<str>,
    ) -> Option<Relation> {
        let name = object.root.at("metadata.name");
        let (by, span, labels) = if let Some(selector) = relates.selects.as_ref() {
            let selector = selector.first(object.root)?;
            let labels = texts(selector);
            let (key, value, _) = labels.first()?.clone();
            (By::Label(key, value), selector.span, labels)
        } else if let Some(fact) = relates.named_by.as_deref().and_then(Key::named) {
            (By::Fact(fact, object.name.clone()?), name?.span, Vec::new())
        } else if let Some(limits) = relates.limits.as_ref() {
            let limits = limits.first(object.root)?.entries();
            let entry = limits.iter().find(|entry| is_accelerator(&entry.key))?;
            (By::Namespace(object.namespace.clone()?), entry.span(), Vec::new())
        } else {
            let labels = object.root.at("metadata.labels").map(texts).unwrap_or_default();
            (By::Namespace(object.name.clone()?), name?.span, labels)
        };
        let limits = relates.limits.as_ref().and_then(|path| path.first(object.root)).map(quotas).unwrap_or_default();
        Some(Relation {
            quotas: limits,
            relates,
            path: path.clone(),
            address: object.address(),
            namespace: object.namespace.clone(),
            by,
            span,
            labels,
        })
    }

    /// Returns whether the object applies to a workload that was found by name or by one label.
    fn holds(&self, found: &FoundResource) -> bool {
        let same_space = match (&self.namespace, &found.namespace) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        let carried = |(key, value, _): &(Arc<str>, Arc<str>, Span)| {
            found.resource.labels.entries.get(&**key).and_then(Fact::value).is_some_and(|own| own == value)
        };
        same_space && (self.relates.selects.is_none() || self.labels.iter().all(carried))
    }
}

/// Returns the resource that a key of a quota limits: `nvidia.com/gpu` for `requests.nvidia.com/gpu`.
fn limited(key: &str) -> &str {
    key.strip_prefix("requests.").or(key.strip_prefix("limits.")).unwrap_or(key)
}

fn is_accelerator(key: &str) -> bool {
    DEVICES.device(limited(key)).is_some()
}

/// Returns the accelerators of each kind that a quota allows, by the name of the resource.
fn quotas(limits: &Node) -> Vec<(Arc<str>, Fact<f64>)> {
    let entries = limits.entries().iter().filter(|entry| is_accelerator(&entry.key));
    entries.map(|entry| (limited(&entry.key).into(), amount::amount(&entry.value))).collect()
}

fn texts(map: &Node) -> Vec<(Arc<str>, Arc<str>, Span)> {
    let entries = map.entries().iter();
    entries.filter_map(|entry| Some((entry.key.clone(), entry.value.text()?.clone(), entry.span()))).collect()
}

/// Links workloads to the objects that apply to them. Of several objects with the same name, the nearest applies.
pub(in crate::kubernetes) fn apply(relations: &[Relation], found: &mut [(Arc<str>, FoundResource)]) {
    let mut index: HashMap<&By, Vec<&Relation>> = HashMap::new();
    for relation in relations {
        let namesakes = index.entry(&relation.by).or_default();
        if namesakes.len() < MOST_NAMESAKES {
            namesakes.push(relation);
        }
    }
    if index.is_empty() {
        return;
    }
    let facts: BTreeSet<Key> = relations.iter().filter_map(|it| Key::named(it.relates.named_by.as_deref()?)).collect();
    let scattered = scattered(relations, found);
    for (path, found) in found.iter_mut() {
        let labels = found.resource.labels.entries.iter();
        let mut asked: Vec<By> =
            labels.filter_map(|(key, value)| Some(By::Label(key.as_str().into(), value.value()?.clone()))).collect();
        asked.extend(found.namespace.clone().map(By::Namespace));
        for &fact in &facts {
            let named = found.resource.fact(fact).value().and_then(|value| value.as_text()).map(Arc::from);
            asked.extend(named.map(|name| By::Fact(fact, name)));
        }
        asked.sort_by_key(|by| format!("{by:?}"));
        asked.dedup();
        let mut nearest: Vec<&Relation> = Vec::new();
        for by in &asked {
            let all = index.get(by).into_iter().flatten().filter(|relation| relation.holds(found));
            let mut by_kind: HashMap<LinkKind, (usize, &Relation)> = HashMap::new();
            let near = |relation: &&&Relation| {
                let is_only = !scattered.contains(&(by, relation.relates.link));
                nearby::why(&relation.path, path, is_only).is_some()
            };
            for relation in all.filter(near) {
                let far = distance(path, &relation.path);
                let kept = by_kind.entry(relation.relates.link).or_insert((far, relation));
                if far < kept.0 {
                    *kept = (far, relation);
                }
            }
            nearest.extend(by_kind.into_values().map(|(_, relation)| relation));
        }
        nearest.sort_by(|a, b| (a.relates.link, &a.address).cmp(&(b.relates.link, &b.address)));
        for relation in nearest {
            attach(found, relation, nearby::why(&relation.path, path, true).unwrap_or_default());
        }
    }
}

/// Returns names that occur in several folders.
fn scattered<'r>(relations: &'r [Relation], found: &[(Arc<str>, FoundResource)]) -> HashSet<(&'r By, LinkKind)> {
    let mut places: HashMap<(&By, LinkKind), Vec<&str>> = HashMap::new();
    for relation in relations {
        places.entry((&relation.by, relation.relates.link)).or_default().push(&relation.path);
    }
    let mut carriers: HashMap<(&str, &str), Vec<&str>> = HashMap::new();
    for (path, found) in found {
        for (key, value) in &found.resource.labels.entries {
            if let Some(value) = value.value() {
                carriers.entry((key, value)).or_default().push(path);
            }
        }
    }
    let is_one = |by: &By| match by {
        By::Label(key, value) => {
            nearby::is_one_folder(carriers.get(&(&**key, &**value)).into_iter().flatten().copied())
        }
        By::Fact(..) | By::Namespace(_) => true,
    };
    let names =
        places.into_iter().filter(|((by, _), paths)| !is_one(by) || !nearby::is_one_folder(paths.iter().copied()));
    names.map(|(name, _)| name).collect()
}

/// Sets the purpose of a workload that listens on a port and receives requests there: it is a server, unless another
/// fact sets its purpose.
fn serve(found: &mut FoundResource, relation: &Relation) {
    if found.listens && found.resource.fact(Key::Purpose).is_absent() {
        let why = format!("{} sends requests to its port", relation.address);
        found
            .resource
            .set(Key::Purpose, Fact::known(Purpose::Inference.into(), relation.span, FactOrigin::Inferred(why.into())));
    }
}

/// Sets the accelerators that the namespace of the workload may request, if the quota names what the workload requests.
fn limit(found: &mut FoundResource, relation: &Relation) {
    let Some(device) = found.device.as_deref() else { return };
    if let Some((_, most)) = relation.quotas.iter().find(|(name, _)| **name == *device) {
        found.resource.set(Key::QuotaAccelerators, most.clone().map(FactValue::Number));
    }
}

fn attach(found: &mut FoundResource, relation: &Relation, why: Arc<str>) {
    let resource = &mut found.resource;
    let (kind, to) = (relation.relates.link, relation.address.clone());
    if resource.links.iter().any(|link| link.kind == kind && link.to == to) {
        return;
    }
    resource.links.push(Link { kind, to, span: relation.span, why });
    if kind == LinkKind::Quota {
        limit(found, relation);
        return;
    }
    if kind == LinkKind::Service {
        serve(found, relation);
        return;
    }
    if kind != LinkKind::Namespace {
        return;
    }
    // Labels that the cluster sets do not identify an owner.
    const OWN: [&str; 2] = ["kubernetes.io/metadata.name", "name"];
    let plain = |key: &str| !OWN.contains(&key) && !key.starts_with("pod-security.kubernetes.io/");
    for (key, value, span) in relation.labels.iter().filter(|(key, ..)| plain(key)) {
        let fact =
            Fact::Known(KnownFact { value: value.clone(), span: *span, defined: None, origin: FactOrigin::Resolved });
        resource.labels.entries.entry(key.to_string()).or_insert(fact);
    }
}
