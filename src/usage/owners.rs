//! Finds the workload of a pod and the pool of a node, from the labels of kube-state-metrics.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::SeriesLabels;
use super::holder::{Holder, first, label};
use super::request::{NAMESPACE, OWNER_METRICS, POD};

/// The kind and name in rows for pods without an owner. gpulint does not store their names.
pub(super) const ALONE: (&str, &str) = ("Pod", "(without an owner)");
pub(super) const UNKNOWN: (&str, &str) = ("Unknown", "(owner not known)");

/// The node labels of clouds and autoscalers that name the pool, as kube-state-metrics writes them.
const POOLS: &[&str] = &[
    "label_cloud_google_com_gke_nodepool",
    "label_eks_amazonaws_com_nodegroup",
    "label_karpenter_sh_nodepool",
    "label_kubernetes_azure_com_agentpool",
    "label_agentpool",
    "label_alpha_eksctl_io_nodegroup_name",
    "label_doks_digitalocean_com_node_pool",
    "label_oke_oraclecloud_com_pool_name",
];

/// The most steps from a pod to its topmost owner.
pub(super) const MOST_STEPS: usize = 4;

type Object = (String, String, String, String);

#[derive(Debug, Default)]
pub(super) struct Owners {
    /// Maps an object (cluster, namespace, kind, name) to its controller's kind and name, or to `None` if it has no
    /// controller.
    owner: BTreeMap<Object, Option<(String, String)>>,
    /// The workloads of pods, from recording rules.
    workload: BTreeMap<(String, String, String), (String, String)>,
    pool: BTreeMap<(String, String), String>,
}

/// The metrics of owners, with the kind of the owned object.
const KINDS: &[(&str, &str)] = &[
    ("kube_pod_owner", "Pod"),
    ("kube_replicaset_owner", "ReplicaSet"),
    ("kube_job_owner", "Job"),
    ("kube_replicationcontroller_owner", "ReplicationController"),
];

impl Owners {
    pub(super) fn is_empty(&self) -> bool {
        self.owner.is_empty() && self.workload.is_empty()
    }

    pub(super) fn take(&mut self, labels: &SeriesLabels, cluster: &str) {
        let metric = label(labels, "__name__");
        let namespace = first(labels, NAMESPACE).to_owned();
        if metric == "kube_node_labels" {
            let pool = first(labels, POOLS).to_owned();
            let node = first(labels, &["exported_node", "node"]).to_owned();
            if !pool.is_empty() && !node.is_empty() {
                self.pool.insert((cluster.to_owned(), node), pool);
            }
        } else if metric == "namespace_workload_pod:kube_pod_owner:relabel" {
            let (kind, name) = (label(labels, "workload_type"), label(labels, "workload"));
            let key = (cluster.to_owned(), namespace, first(labels, POD).to_owned());
            self.workload.insert(key, (kind_of(kind), name.to_owned()));
        } else if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == metric) {
            let Some((_, named)) = OWNER_METRICS.iter().find(|(name, _)| *name == metric) else { return };
            let names = if *kind == "Pod" { POD } else { std::slice::from_ref(named) };
            let key = (cluster.to_owned(), namespace, (*kind).to_owned(), first(labels, names).to_owned());
            let (owner, name) = (label(labels, "owner_kind"), label(labels, "owner_name"));
            // Older versions of kube-state-metrics write `<none>`.
            let is_none = |text: &str| text.is_empty() || text == "<none>";
            let controls = label(labels, "owner_is_controller") != "false";
            if is_none(owner) || is_none(name) {
                self.owner.entry(key).or_insert(None);
            } else if controls {
                self.owner.insert(key, Some((owner.to_owned(), name.to_owned())));
            }
        }
    }

    /// Returns the kind and the name of the workload that created a pod.
    pub(super) fn of(&self, holder: &Holder) -> (String, String) {
        let mut at = (holder.cluster.clone(), holder.namespace.clone(), "Pod".to_owned(), holder.pod.clone());
        for _ in 0..MOST_STEPS {
            match self.owner.get(&at) {
                Some(Some((kind, name))) => (at.2, at.3) = (kind.clone(), name.clone()),
                Some(None) => break,
                None => break,
            }
        }
        if at.2 != "Pod" {
            return (at.2, at.3);
        }
        let key = (holder.cluster.clone(), holder.namespace.clone(), holder.pod.clone());
        if let Some(found) = self.workload.get(&key) {
            return found.clone();
        }
        let (kind, name) = if self.owner.contains_key(&at) { ALONE } else { UNKNOWN };
        match deployment(&holder.pod).filter(|_| kind == UNKNOWN.0) {
            Some(name) => ("Deployment".to_owned(), name),
            None => (kind.to_owned(), name.to_owned()),
        }
    }

    /// Returns the objects whose owners gpulint must still query.
    pub(super) fn next(&self, holders: &BTreeSet<&Holder>) -> BTreeSet<(&'static str, String, String)> {
        let mut wanted = BTreeSet::new();
        for holder in holders {
            let mut at = (holder.cluster.clone(), holder.namespace.clone(), "Pod".to_owned(), holder.pod.clone());
            for _ in 0..MOST_STEPS {
                match self.owner.get(&at) {
                    Some(Some((kind, name))) => (at.2, at.3) = (kind.clone(), name.clone()),
                    Some(None) => break,
                    None => {
                        let metric = KINDS.iter().find(|(_, kind)| *kind == at.2);
                        wanted.extend(metric.map(|(metric, _)| (*metric, at.1.clone(), at.3.clone())));
                        break;
                    }
                }
            }
        }
        wanted
    }

    pub(super) fn pool(&self, cluster: &str, node: &str) -> Option<&str> {
        self.pool.get(&(cluster.to_owned(), node.to_owned())).map(String::as_str)
    }
}

/// Normalizes the kind, because recording rules write `deployment` or `Deployment`, depending on their version.
fn kind_of(text: &str) -> String {
    let known = ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicaSet", "Pod"];
    let found = known.iter().find(|it| it.eq_ignore_ascii_case(text));
    found.map_or(text, |it| it).to_owned()
}

/// The characters of names that Kubernetes generates: no vowels, and no characters that look alike.
const DRAWN: &str = "bcdfghjklmnpqrstvwxz2456789";

/// Returns the Deployment from a ReplicaSet's name (`name-5d8f7c9b6d`), for clouds that report only the ReplicaSet.
pub(super) fn above(kind: String, name: String) -> (String, String) {
    let named = name.rsplit_once('-').filter(|(_, set)| is_drawn(set, 8..=10)).map(|(name, _)| name.to_owned());
    match named.filter(|it| kind == "ReplicaSet" && !it.is_empty()) {
        Some(deployment) => ("Deployment".to_owned(), deployment),
        None => (kind, name),
    }
}

fn is_drawn(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len()) && text.chars().all(|it| DRAWN.contains(it))
}

/// Returns the Deployment from a pod's name (`name-5d8f7c9b6d-x2x7k`), if no owner is known.
fn deployment(pod: &str) -> Option<String> {
    let (rest, own) = pod.rsplit_once('-')?;
    let (name, set) = rest.rsplit_once('-')?;
    (is_drawn(own, 5..=5) && is_drawn(set, 8..=10) && !name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> SeriesLabels {
        text.split(' ').filter_map(|it| it.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
    }

    fn holder(pod: &str) -> Holder {
        Holder { namespace: "ns".to_owned(), pod: pod.to_owned(), ..Holder::default() }
    }

    #[test]
    fn a_chain_of_owners_is_followed_to_its_end() {
        let mut owners = Owners::default();
        for text in [
            "__name__=kube_pod_owner namespace=ns pod=a owner_kind=ReplicaSet owner_name=llm-1 owner_is_controller=true",
            "__name__=kube_replicaset_owner namespace=ns replicaset=llm-1 owner_kind=Deployment owner_name=llm",
            "__name__=kube_pod_owner namespace=ns pod=b owner_kind=Job owner_name=nightly-1 owner_is_controller=true",
            "__name__=kube_job_owner namespace=ns job_name=nightly-1 owner_kind=CronJob owner_name=nightly",
            "__name__=kube_pod_owner namespace=ns pod=c owner_kind=<none> owner_name=<none> owner_is_controller=<none>",
            "__name__=kube_pod_owner namespace=ns pod=d owner_kind= owner_name=",
            "__name__=kube_pod_owner namespace=x exported_namespace=ns pod=ksm exported_pod=e owner_kind=StatefulSet owner_name=s",
            "__name__=namespace_workload_pod:kube_pod_owner:relabel namespace=ns pod=f workload=w workload_type=statefulset",
        ] {
            owners.take(&labels(text), "");
        }
        let of = |pod: &str| {
            let (kind, name) = owners.of(&holder(pod));
            format!("{kind}/{name}")
        };
        assert_eq!(of("a"), "Deployment/llm");
        assert_eq!(of("b"), "CronJob/nightly");
        assert_eq!(of("c"), "Pod/(without an owner)");
        assert_eq!(of("d"), "Pod/(without an owner)");
        assert_eq!(of("e"), "StatefulSet/s");
        assert_eq!(of("f"), "StatefulSet/w");
        assert_eq!(of("unseen-0"), "Unknown/(owner not known)");
        assert_eq!(of("web-5d8f7c9b6d-x2x7k"), "Deployment/web");
        let all = holder("b-1");
        assert_eq!(owners.next(&BTreeSet::from([&all])).len(), 1);
    }
}
