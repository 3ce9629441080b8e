//! Reads the limits that objects set for accelerators: quotas, queues and the limits of pools.

use std::collections::BTreeMap;

use super::rows::devices::DEVICES;
use crate::languages::yaml::{self, Node};
use crate::source::{FileId, Span};

/// The kinds that set limits.
const KINDS: [&str; 8] =
    ["ResourceQuota", "LimitRange", "ClusterQueue", "Cohort", "NodePool", "Provisioner", "CronJob", "CronWorkflow"];

/// Keys of the limit of a queue, next to the `name` of a resource.
const OF_QUEUES: [&str; 2] = ["nominalQuota", "borrowingLimit"];

/// A limit that an object sets.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectLimit {
    /// Infinite if the object sets no limit.
    pub most: f64,
    pub span: Span,
    /// True for quotas, which limit several objects. Only they protect something after they are gone.
    pub is_quota: bool,
}

impl std::fmt::Display for ObjectLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.most.is_finite() { write!(f, "{}", self.most) } else { f.write_str("no limit") }
    }
}

/// Returns the limits of each object in a manifest: the object with the key, and the limit. A file without such an
/// object is not parsed.
pub fn limits(file: FileId, text: &str) -> BTreeMap<String, ObjectLimit> {
    let mut found = BTreeMap::new();
    if !KINDS.iter().any(|kind| text.contains(kind)) {
        return found;
    }
    for document in yaml::read(file, text).documents {
        let root = &document.root;
        let (Some(kind), Some(spec)) = (root.text_at("kind"), root.get("spec")) else { continue };
        let name = root.text_at("metadata.name").map_or("-", |name| name);
        let namespace = root.text_at("metadata.namespace").map_or(String::new(), |name| format!("{name}/"));
        let mut object = ObjectLimits { object: format!("{kind}/{namespace}{name}"), kind, found: &mut found };
        match &**kind {
            "CronJob" | "CronWorkflow" => object.add_concurrency(spec),
            kind if KINDS.contains(&kind) => object.collect(spec),
            _ => {}
        }
    }
    found
}

/// Collects the limits of one object.
struct ObjectLimits<'a> {
    object: String,
    kind: &'a str,
    found: &'a mut BTreeMap<String, ObjectLimit>,
}

impl ObjectLimits<'_> {
    /// Adds the number of runs at the same time, if the runs request accelerators.
    fn add_concurrency(&mut self, spec: &Node) {
        let policy = spec.get("concurrencyPolicy");
        let is_one = policy.and_then(Node::text).is_some_and(|it| ["Forbid", "Replace"].contains(&&**it));
        if requests_devices(spec) {
            let most = if is_one { 1.0 } else { f64::INFINITY };
            self.add("runs at the same time", most, policy.unwrap_or(spec).span);
        }
    }

    /// Adds the limits below a node. A pool limits processors and memory, too.
    fn collect(&mut self, node: &Node) {
        let is_pool = ["NodePool", "Provisioner"].contains(&self.kind);
        if let Some(resource) = node.get("name").and_then(Node::text).filter(|name| is_device(name)) {
            for key in OF_QUEUES {
                if let Some((most, value)) = node.get(key).and_then(|it| Some((quantity(it)?, it))) {
                    self.add(&format!("{key} of {resource}"), most, value.span);
                }
            }
        }
        for entry in node.entries() {
            let is_limit = is_device(&entry.key) || is_pool && ["cpu", "memory"].contains(&&*entry.key);
            match quantity(&entry.value).filter(|_| is_limit) {
                Some(most) => self.add(&entry.key, most, entry.value.span),
                None => self.collect(&entry.value),
            }
        }
        node.items().iter().for_each(|item| self.collect(item));
    }

    /// Adds a limit. Those of the same name add up, such as the quotas of several flavors.
    fn add(&mut self, key: &str, most: f64, span: Span) {
        let is_quota = ["ResourceQuota", "LimitRange", "ClusterQueue", "Cohort"].contains(&self.kind);
        let limit = self.found.entry(format!("{}: {key}", self.object));
        limit.or_insert(ObjectLimit { most: 0.0, span, is_quota }).most += most;
    }
}

/// Returns true if a value below the node requests accelerators.
fn requests_devices(node: &Node) -> bool {
    let mut entries = node.entries().iter();
    entries.any(|entry| is_device(&entry.key) || requests_devices(&entry.value))
        || node.items().iter().any(requests_devices)
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
        let found: Vec<(&str, f64)> = found.iter().map(|(name, most)| (name.as_str(), most.most)).collect();
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
