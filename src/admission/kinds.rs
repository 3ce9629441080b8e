//! Finds where a cluster keeps the objects of a kind.

use crate::kubernetes::cluster_groups;

/// API group and version of kinds with several groups, and of kinds without pods.
const KINDS: [(&str, &str, &str); 30] = [
    ("ConfigMap", "", "v1"),
    ("CronJob", "batch", "v1"),
    ("DaemonSet", "apps", "v1"),
    ("Deployment", "apps", "v1"),
    ("HorizontalPodAutoscaler", "autoscaling", "v2"),
    ("InferenceService", "serving.kserve.io", "v1beta1"),
    ("Ingress", "networking.k8s.io", "v1"),
    ("Job", "batch", "v1"),
    ("JobSet", "jobset.x-k8s.io", "v1alpha2"),
    ("LeaderWorkerSet", "leaderworkerset.x-k8s.io", "v1"),
    ("LimitRange", "", "v1"),
    ("MPIJob", "kubeflow.org", "v2beta1"),
    ("Namespace", "", "v1"),
    ("NetworkPolicy", "networking.k8s.io", "v1"),
    ("NodePool", "karpenter.sh", "v1"),
    ("Notebook", "kubeflow.org", "v1"),
    ("PersistentVolumeClaim", "", "v1"),
    ("Pod", "", "v1"),
    ("PodDisruptionBudget", "policy", "v1"),
    ("PyTorchJob", "kubeflow.org", "v1"),
    ("RayCluster", "ray.io", "v1"),
    ("RayJob", "ray.io", "v1"),
    ("RayService", "ray.io", "v1"),
    ("ReplicaSet", "apps", "v1"),
    ("ResourceQuota", "", "v1"),
    ("Service", "", "v1"),
    ("ServiceAccount", "", "v1"),
    ("StatefulSet", "apps", "v1"),
    ("TFJob", "kubeflow.org", "v1"),
    ("TrainJob", "trainer.kubeflow.org", "v1alpha1"),
];

/// A kind of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerKind {
    pub(super) kind: String,
    pub(super) group: String,
    /// `*` for any version.
    pub(super) version: String,
    pub(super) plural: String,
}

/// Returns a kind by its name. `api` is the group, version and plural of custom resources.
pub(super) fn kind_named(kind: &str, api: Option<&str>) -> Result<ServerKind, String> {
    let made = |group: &str, version: &str, plural: String| ServerKind {
        kind: kind.to_owned(),
        group: group.to_owned(),
        version: version.to_owned(),
        plural,
    };
    let given: Option<[&str; 3]> = api.and_then(|api| api.split('/').collect::<Vec<_>>().try_into().ok());
    let known = KINDS.iter().find(|(known, ..)| *known == kind);
    match (given, known) {
        (Some([group, version, named]), _) if known.is_none() || named == plural(kind) => {
            return Ok(made(group, version, named.to_owned()));
        }
        (_, Some((_, group, version))) => return Ok(made(group, version, plural(kind))),
        _ => {}
    }
    match cluster_groups(kind).as_slice() {
        [only] => Ok(made(only, "*", plural(kind))),
        _ => Err(format!(
            "the API group of kind `{}` is unknown: set `api: group/version/plural` in the rule file",
            kind.escape_debug()
        )),
    }
}

/// Returns the plural by which the API server names the objects of a kind.
fn plural(kind: &str) -> String {
    let lower = kind.to_ascii_lowercase();
    match lower.as_bytes() {
        [rest @ .., last, b'y'] if !b"aeiou".contains(last) => {
            format!("{}{}ies", String::from_utf8_lossy(rest), char::from(*last))
        }
        [.., b's' | b'x' | b'z'] | [.., b'c' | b's', b'h'] => format!("{lower}es"),
        _ => format!("{lower}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_those_of_the_api_server() {
        for (kind, expected) in [
            ("Ingress", "ingresses"),
            ("NetworkPolicy", "networkpolicies"),
            ("Gateway", "gateways"),
            ("Pod", "pods"),
            ("PodDisruptionBudget", "poddisruptionbudgets"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn the_table_gives_way_to_the_rule_file() {
        let lease = kind_named("GpuLease", Some("gpu.acme.example/v1/gpuleases"));
        assert_eq!(lease.map(|kind| (kind.group, kind.plural)), Ok(("gpu.acme.example".into(), "gpuleases".into())));
        assert!(kind_named("GpuLease", None).is_err());
        assert_eq!(kind_named("RayCluster", None).map(|kind| kind.version), Ok("v1".into()));
    }
}
