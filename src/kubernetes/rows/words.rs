//! Names of objects and fields, to suggest corrections for typing errors in rule files.

use super::table::{CALLED, CallWords, CommandWords, KINDS};

/// The kind and the group of the object that passes the values of a command to a chart elsewhere.
pub(crate) const CHART_COMMAND: (&str, &str) = ("HelmRelease", "helm");

/// All metadata fields that an API server accepts, for any kind (Kubernetes API reference, `ObjectMeta`, v1.34,
/// 2026-11-20).
pub const METADATA: &[&str] = &[
    "name",
    "namespace",
    "labels",
    "annotations",
    "generateName",
    "finalizers",
    "ownerReferences",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// Fields that are common in manifests. Custom resources have others, so only near misses of these are reported.
pub const FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "spec",
    "status",
    "data",
    "template",
    "replicas",
    "selector",
    "matchLabels",
    "strategy",
    "containers",
    "initContainers",
    "volumes",
    "volumeMounts",
    "image",
    "imagePullPolicy",
    "command",
    "args",
    "resources",
    "limits",
    "requests",
    "nodeSelector",
    "tolerations",
    "affinity",
    "nodeAffinity",
    "podAffinity",
    "podAntiAffinity",
    "serviceAccountName",
    "automountServiceAccountToken",
    "securityContext",
    "privileged",
    "runAsNonRoot",
    "runAsUser",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "hostPath",
    "emptyDir",
    "persistentVolumeClaim",
    "priorityClassName",
    "schedulerName",
    "runtimeClassName",
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "activeDeadlineSeconds",
    "backoffLimit",
    "completions",
    "parallelism",
    "suspend",
    "schedule",
    "jobTemplate",
    "ttlSecondsAfterFinished",
    "topologySpreadConstraints",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "minAvailable",
    "maxUnavailable",
    "minReplicas",
    "maxReplicas",
    "scaleTargetRef",
    "storageClassName",
    "accessModes",
];

/// Kinds that request no accelerators and that rules refer to.
const OTHERS: &[&str] = &[
    "Namespace",
    "Service",
    "Ingress",
    "ConfigMap",
    "Secret",
    "ServiceAccount",
    "PodDisruptionBudget",
    "NetworkPolicy",
    "HorizontalPodAutoscaler",
    "LimitRange",
    "ResourceQuota",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StorageClass",
    "PriorityClass",
    "EC2NodeClass",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "Kustomization",
];

/// Returns the kinds that have definitions, and those above.
pub fn kinds() -> Vec<&'static str> {
    let known = KINDS.known().iter().chain(CALLED.known());
    known.map(|it| it.kind).chain(OTHERS.iter().copied()).collect()
}

/// Returns the kinds that consist of the options of a command, each with an API group.
pub(crate) fn commands() -> impl Iterator<Item = (&'static str, &'static str, &'static CommandWords)> {
    let rows = CALLED.rows();
    rows.filter_map(|row| Some((&*row.kind, row.groups.first()?.as_str(), row.command.as_ref()?)))
}

/// Returns the kinds that consist of the arguments of a call, each with an API group.
pub(crate) fn calls() -> impl Iterator<Item = (&'static str, &'static str, &'static CallWords)> {
    let rows = CALLED.rows();
    rows.filter_map(|row| Some((&*row.kind, row.groups.first()?.as_str(), row.call.as_ref()?)))
}
