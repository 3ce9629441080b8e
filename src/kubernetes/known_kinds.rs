//! Recognizes manifests all of whose objects gpulint understands.

use super::rows::table::KINDS;

/// The mark of a value that sops encrypted.
const ENCRYPTED: &str = "ENC[";

/// Returns true if every document of the manifest is an object of a built-in kind of Kubernetes, or of a kind in the table.
/// The objects do not have to request accelerators. An encrypted file is not understood.
pub fn knows_all_objects(text: &str) -> bool {
    !is_encrypted(text) && text.split("\n---").filter(|document| has_content(document)).all(is_known)
}

/// Returns true if sops encrypted values of the file.
pub fn is_encrypted(text: &str) -> bool {
    text.contains(ENCRYPTED)
}

fn has_content(document: &str) -> bool {
    document.lines().any(|line| !line.trim().is_empty() && !line.starts_with(['#', '-']))
}

fn is_known(document: &str) -> bool {
    let (Some(version), Some(kind)) = (value(document, "apiVersion"), value(document, "kind")) else { return false };
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let is_built_in = !group.contains('.') || group.ends_with(".k8s.io") && !group.ends_with("x-k8s.io");
    is_built_in || KINDS.find(group, kind).is_some()
}

/// Returns the value of a key of the object itself, which is not indented.
fn value<'t>(document: &'t str, key: &str) -> Option<&'t str> {
    let mut values = document.lines().filter_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'));
    let value = values.next()?.split(" #").next()?.trim();
    Some(value.trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_must_be_known() {
        let of = |group: &str, kind: &str| format!("apiVersion: {group}v1\nkind: {kind} # a kind\nspec: {{}}\n");
        let (pod, pool, other) = (of("", "Pod"), of("karpenter.sh/", "NodePool"), of("policy.karmada.io/", "Override"));
        assert!(knows_all_objects(&pod));
        assert!(knows_all_objects(&format!("# two\n---\n{pod}\n---\n{pool}---\n")));
        assert!(!knows_all_objects(&format!("{pod}---\n{other}")));
        assert!(!knows_all_objects("replicas: 1\n") && knows_all_objects("---\n# nothing\n"));
        assert!(!knows_all_objects(&of("x.x-k8s.io/", "Odd")));
    }
}
