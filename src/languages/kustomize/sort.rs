//! Sorts objects into kustomize's output order.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::KustomizeError;
use super::id::{Gvk, Id};
use super::resource::Resources;
use super::value::ObjectValue;

const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

pub(super) fn sort(resources: &mut Resources, options: &Option<ObjectValue>) -> Result<(), KustomizeError> {
    let order = options.as_ref().and_then(|it| it.text_at("order"));
    match (order, options) {
        (Some("fifo"), _) => return Ok(()),
        (None, None) | (Some("legacy"), _) => {}
        (_, options) => {
            let wrong = "`order` must be fifo or legacy";
            return options.as_ref().map_or(Ok(()), |it| Err(KustomizeError::refused(wrong, it.at)));
        }
    }
    let own = options.as_ref().and_then(|it| it.get("legacySortOptions"));
    let listed = |key: &str, usual: &[&str]| match own {
        None => usual.iter().map(|kind| (*kind).to_owned()).collect::<Vec<String>>(),
        Some(own) => {
            own.get(key).map(ObjectValue::items).unwrap_or_default().iter().map(|it| it.raw().to_owned()).collect()
        }
    };
    let (first, last) = (listed("orderFirst", &FIRST), listed("orderLast", &LAST));
    let mut ranks: HashMap<String, i64> = HashMap::new();
    let before = first.len() as i64;
    ranks.extend(first.into_iter().zip(-before..));
    ranks.extend(last.into_iter().zip(1..));
    resources.all.sort_by_cached_key(|resource| Key::new(resource.id(), &ranks));
    Ok(())
}

#[derive(PartialEq, Eq)]
struct Key {
    rank: i64,
    is_core_namespace: bool,
    gvk: String,
    id: String,
}

impl Key {
    fn new(id: Id, ranks: &HashMap<String, i64>) -> Key {
        let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
        let Gvk { group, version, kind } = &id.gvk;
        Key {
            rank: ranks.get(kind).copied().unwrap_or(0),
            is_core_namespace: kind == "Namespace",
            gvk: format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(kind, "~K")),
            id: format!("{}|{}", or(&id.namespace, "~X"), or(&id.name, "~N")),
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_kind = match self.is_core_namespace && other.is_core_namespace {
            true => other.gvk.cmp(&self.gvk),
            false => self.gvk.cmp(&other.gvk),
        };
        self.rank.cmp(&other.rank).then(by_kind).then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
