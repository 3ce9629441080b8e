//! Detects templates whose objects run no containers, whatever their values are.

use regex::Regex;

use crate::source::static_regex;

/// Kinds that run no container, set no number of replicas and contain no files of other tools.
pub(crate) const IDLE_KINDS: &[&str] = &[
    "ClusterRole",
    "ClusterRoleBinding",
    "Ingress",
    "Namespace",
    "NetworkPolicy",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PodDisruptionBudget",
    "PodMonitor",
    "Role",
    "RoleBinding",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServiceMonitor",
    "StorageClass",
];

/// Returns true if each object of a template has one of these kinds. Each document must contain its kind, and none
/// may come from a helper.
pub(crate) fn makes_only(text: &str, kinds: &[&str]) -> bool {
    let mut written = KIND.captures_iter(text).filter_map(|found| found.get(1)).peekable();
    written.peek().is_some()
        && written.all(|kind| kinds.contains(&kind.as_str()))
        && !text.lines().any(may_print_object)
}

/// Returns true if a line may print an object. An indented line is part of the object around it.
fn may_print_object(line: &str) -> bool {
    WHOLE_DOCUMENT.is_match(line) && !line.contains("indent ")
}

static_regex!(static KIND: Regex = r#"(?m)^kind:[ \t]*["']?([^\s"'#]*)"#);
static_regex!(
    /// Matches an action at the start of a line that may print an object.
    static WHOLE_DOCUMENT: Regex = r"^\{\{-?\s*(?:include|template|tpl|toYaml|range\b.*\btoYaml|\.)"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_templates_are_those_at_the_beginning_of_lines() {
        let is_idle = |text: &str| makes_only(text, IDLE_KINDS);
        for text in [
            "kind: Secret\nmetadata: {}\n",
            "kind: Role\nrules:\n{{ toYaml .Values.rules | nindent 2 }}\n",
            "{{- if .Values.a }}\napiVersion: v1\nkind: \"Service\"\n---\nkind: Role # all\n{{- end }}\n",
        ] {
            assert!(is_idle(text), "{text}");
        }
        for text in [
            "",
            "kind: Secret\n---\nkind: Deployment\n",
            "kind: {{ .Values.kind }}\n",
            "kind: Service\n---\n{{ include \"a.pod\" . }}\n",
            "kind: Service\n---\n{{- .Values.extra }}\n",
            "  kind: Secret\n",
        ] {
            assert!(!is_idle(text), "{text}");
        }
    }
}
