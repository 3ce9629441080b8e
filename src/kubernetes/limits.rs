//! Reads the limits that objects set for accelerators: quotas, queues and the limits of pools.

use std::collections::BTreeMap;

use super::rows::devices::DEVICES;
use crate::languages::yaml::{self, Node};
use crate::source::{FileId, Span};

/// The kinds that set limits.
const KINDS: [&str; 6] = ["ResourceQuota", "LimitRange", "ClusterQueue", "Cohort", "NodePool", "Provisioner"];

/// Keys of the limit of a queue, next to the `name` of a resource.
const OF_QUEUES: [&str; 2] = ["nominalQuota", "borrowingLimit"];

/// The sum of a limit in one object, with its first place.
#[derive(Debug, Clone, Copy)]
pub struct AcceleratorLimit {
    pub most: f64,
    pub span: Span,
}

/// Returns the limits of each object in a manifest: the object with the key, and the limit. A file without such an
/// object is not parsed.
pub fn limits(file: FileId, text: &str) -> BTreeMap<String, AcceleratorLimit> {
    let mut found = BTreeMap::new();
    if !KINDS.iter().any(|kind| text.contains(kind)) {
        return found;
    }
    for document in yaml::read(file, text).documents {
        let root = &document.root;
        let (Some(kind), Some(spec)) = (root.text_at("kind"), root.get("spec")) else { continue };
        if KINDS.contains(&&**kind) {
            let name = root.text_at("metadata.name").map_or("-", |name| name);
            let is_pool = ["NodePool", "Provisioner"].contains(&&**kind);
            collect(spec, &format!("{kind}/{name}"), is_pool, &mut found);
        }
    }
    found
}

/// Adds the limits below a node. A pool limits processors and memory, too.
fn collect(node: &Node, object: &str, is_pool: bool, found: &mut BTreeMap<String, AcceleratorLimit>) {
    if let Some(resource) = node.get("name").and_then(Node::text).filter(|name| is_device(name)) {
        for key in OF_QUEUES {
            let Some(limit) = node.get(key) else { continue };
            if let Some(most) = quantity(limit) {
                add(found, format!("{object}: {key} of {resource}"), most, limit.span);
            }
        }
    }
    for entry in node.entries() {
        let is_limit = is_device(&entry.key) || is_pool && ["cpu", "memory"].contains(&&*entry.key);
        match quantity(&entry.value).filter(|_| is_limit) {
            Some(most) => add(found, format!("{object}: {}", entry.key), most, entry.span()),
            None => collect(&entry.value, object, is_pool, found),
        }
    }
    node.items().iter().for_each(|item| collect(item, object, is_pool, found));
}

/// Adds limits of the same name, such as those of several flavors.
fn add(found: &mut BTreeMap<String, AcceleratorLimit>, name: String, most: f64, span: Span) {
    found.entry(name).or_insert(AcceleratorLimit { most: 0.0, span }).most += most;
}

fn is_device(key: &str) -> bool {
    let key = key.strip_prefix("requests.").or_else(|| key.strip_prefix("limits.")).unwrap_or(key);
    DEVICES.device(key).is_some()
}

/// Returns the number of a quantity such as `4`, `"4"` or `64Gi`.
fn quantity(node: &Node) -> Option<f64> {
    let text = node.text()?;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..)? {
        "" => 1.0,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(digits.parse::<f64>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    #[test]
    fn limits_of_quotas_queues_and_pools_are_found() {
        let text = "kind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {requests.nvidia.com/gpu: \"4\", pods: 9}}\n---\n\
                    kind: ClusterQueue\nmetadata: {name: c}\nspec:\n  resourceGroups:\n  - flavors:\n    - name: g5\n      \
                    resources: [{name: nvidia.com/gpu, nominalQuota: 4, borrowingLimit: 2}]\n    - name: p5\n      \
                    resources: [{name: nvidia.com/gpu, nominalQuota: 8}]\n---\n\
                    kind: NodePool\nmetadata: {name: n}\nspec: {limits: {cpu: 1k, nvidia.com/gpu: 16}}\n---\n\
                    kind: Pod\nmetadata: {name: p}\nspec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
        let sources = SourceFiles::new(MemoryTree::new().with("a.yaml", text));
        let found = limits(sources.open("a.yaml").unwrap(), text);
        let found: Vec<(&str, f64)> = found.iter().map(|(name, limit)| (name.as_str(), limit.most)).collect();
        let expected = [
            ("ClusterQueue/c: borrowingLimit of nvidia.com/gpu", 2.0),
            ("ClusterQueue/c: nominalQuota of nvidia.com/gpu", 12.0),
            ("NodePool/n: cpu", 1000.0),
            ("NodePool/n: nvidia.com/gpu", 16.0),
            ("ResourceQuota/q: requests.nvidia.com/gpu", 4.0),
        ];
        assert_eq!(found, expected);
    }
}
