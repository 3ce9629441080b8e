//! Defines the fields of pods and containers in a cluster, as rules name them.

use crate::languages::cel::{ServerRecord, ServerValue, quoted};

type Meaning = Result<ServerValue, String>;

/// Returns a field of a pod. The record is a template: `metadata` and `spec`.
pub(super) fn field_of_pod(pod: &ServerRecord, field: &str) -> Meaning {
    let of = &pod.of;
    let optional = |path: String| Ok(ServerValue::Optional(path));
    let listed = |path: &str| Ok(ServerValue::Plain(format!("{of}.?spec.?{path}.orValue([])")));
    match field {
        "spec" => optional(format!("{of}.?spec")),
        "labels" | "annotations" => optional(format!("{of}.?metadata.?{field}")),
        "security" => optional(format!("{of}.?spec.?securityContext")),
        "service_account" => optional(format!("{of}.?spec.?serviceAccountName.or({of}.?spec.?serviceAccount)")),
        "volumes" | "tolerations" => listed(field),
        "containers" => Ok(ServerValue::Records(ServerRecord {
            kind: "container",
            of: containers(of),
            within: of.clone(),
            number: None,
        })),
        "node_labels" => Ok(ServerValue::Record(ServerRecord { kind: "node_labels", ..pod.clone() })),
        _ => Err(format!("the API server does not know `{field}` of a pod: write it as a path in `spec`")),
    }
}

/// Returns all containers, each as a map of the container and its role.
fn containers(pod: &str) -> String {
    let with_role = |list: &str, role: &str| {
        format!("{pod}.?spec.?{list}.orValue([]).map(i, {{'of': dyn(i), 'role': dyn({role})}})")
    };
    format!(
        "({} + {} + {})",
        with_role("containers", "'main'"),
        with_role("initContainers", "i.?restartPolicy.orValue('') == 'Always' ? 'sidecar' : 'init'"),
        with_role("ephemeralContainers", "'ephemeral'")
    )
}

/// Returns a field of a container. The record is a map of the container and its role.
pub(super) fn field_of_container(container: &ServerRecord, field: &str) -> Meaning {
    let of = format!("{}.of", container.of);
    let image = |test: &str, part: &str| {
        let image = format!("[?{of}.?image].map(i, string(i))");
        Ok(ServerValue::Optional(format!("{image}.filter(i, {test}).map(i, [i.split('@')[0]].map(n, {part})[0])[?0]")))
    };
    match field {
        "role" => Ok(ServerValue::Plain(format!("{}.role", container.of))),
        "tag" => image(
            &format!("!i.contains('@') || i.split('@')[0].matches({})", quoted(TAGGED)),
            &format!("n.matches({}) ? n.substring(n.lastIndexOf(':') + 1) : 'latest'", quoted(TAGGED)),
        ),
        "digest" => image("i.contains('@')", "i.substring(i.indexOf('@') + 1)"),
        "registry" => image("true", &format!("n.matches({}) ? n.split('/')[0] : 'docker.io'", quoted(HOSTED))),
        "image_name" => image(
            "true",
            &format!(
                "[n.matches({}) ? n.substring(n.indexOf('/') + 1) : n].map(r, \
                 r.matches({}) ? r.substring(0, r.lastIndexOf(':')) : r)[0]",
                quoted(HOSTED),
                quoted(TAGGED)
            ),
        ),
        "security" => Ok(ServerValue::Record(ServerRecord { kind: "security", of, ..container.clone() })),
        "mounts" => {
            Err("the rule reads `mounts`, which cannot be exported: use `volumeMounts` and `volumes`".to_owned())
        }
        _ => Ok(ServerValue::Optional(format!("{of}[?{}]", quoted(field)))),
    }
}

/// Matches a name with a tag: a colon after the last slash.
const TAGGED: &str = ":[^/:]*$";

/// Matches a name whose first part is a host.
const HOSTED: &str = "^(?:[^/]*[.:][^/]*|localhost)/";

/// Returns a field of the security context of a container, or else of its pod.
pub(super) fn field_of_security(security: &ServerRecord, field: &str) -> Meaning {
    let key = quoted(field);
    let ServerRecord { of, within, .. } = security;
    Ok(ServerValue::Optional(format!("{of}.?securityContext[?{key}].or({within}.?spec.?securityContext[?{key}])")))
}

/// Returns the values of a label that a node must have, as an optional list.
pub(super) fn field_of_node_labels(pod: &ServerRecord, key: &str) -> Meaning {
    let (of, key) = (&pod.of, quoted(key));
    let terms = format!(
        "{of}.?spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])"
    );
    let requires = format!("e.key == {key} && !(e.operator in ['NotIn', 'DoesNotExist'])");
    Ok(ServerValue::Optional(format!(
        "({of}.?spec.?nodeSelector[?{key}].hasValue() ? optional.of(dyn([{of}.spec.nodeSelector[{key}]])) : \
         {terms}.exists(t, t.?matchExpressions.orValue([]).exists(e, {requires})) ? optional.of(dyn({terms}.map(t, \
         t.?matchExpressions.orValue([]).filter(e, {requires} && e.operator == 'In').map(e, e.?values.orValue([])\
         .map(v, string(v)).join(' ')).join(' ')).join(' ').split(' ').filter(v, v != ''))) : optional.none())"
    )))
}
