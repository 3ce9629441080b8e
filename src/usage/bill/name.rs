//! Chooses the name of a bill row: the workload, the pool, the machine or the label, from the cloud's columns or tags.
//!
//! Names never contain account numbers, resource ids or spreadsheet formulas.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::measured::paid::{KeyKind, is_harmless};

/// The tags by key. Keys are in lower case, with `-` for all punctuation and without the prefix of user tags.
type BillTags = BTreeMap<String, String>;

/// The tags that name a node pool, the most reliable first. `aks-managed-poolName` and similar keys end in the same
/// words.
const POOLS: [&str; 9] = [
    "karpenter-sh-nodepool",
    "karpenter-sh-provisioner-name",
    "eks-nodegroup-name",
    "alpha-eksctl-io-nodegroup-name",
    "goog-k8s-node-pool-name",
    "cloud-google-com-gke-nodepool",
    "aks-managed-poolname",
    "kubernetes-azure-com-agentpool",
    "aws-autoscaling-groupname",
];
const CLUSTERS: [&str; 6] = [
    "aws-eks-cluster-name",
    "eks-cluster-name",
    "goog-k8s-cluster-name",
    "aks-managed-cluster-name",
    "alpha-eksctl-io-cluster-name",
    "kubernetes-cluster",
];
const NAMESPACES: [&str; 2] = ["aws-eks-namespace", "goog-k8s-namespace"];
const KINDS: [&str; 2] = ["aws-eks-workload-type", "goog-k8s-workload-type"];
const WORKLOADS: [&str; 2] = ["aws-eks-workload-name", "goog-k8s-workload-name"];

/// The cells of a row from which gpulint takes its name.
pub(super) struct NameCells<'r> {
    pub(super) tags: &'r str,
    pub(super) allocated_tags: &'r str,
    pub(super) allocated: &'r str,
    pub(super) id: &'r str,
    pub(super) name: &'r str,
    /// The account numbers, which no name may contain.
    pub(super) accounts: [&'r str; 2],
}

/// The name of a row, and whether gpulint omitted a better name because it is unsafe to write.
#[derive(Debug, PartialEq)]
pub(super) struct BillName {
    pub(super) kind: KeyKind,
    pub(super) key: String,
    pub(super) is_hidden: bool,
}

impl NameCells<'_> {
    /// Returns the name. `by_tags` contains the tags to use if a resource has no name of its own.
    pub(super) fn name(&self, by_tags: &[String]) -> BillName {
        let mut tags = tags(self.tags);
        tags.extend(self::tags(self.allocated_tags));
        let mut is_hidden = false;
        let found = self.candidates(&tags, by_tags).into_iter().find(|(_, key)| {
            let is_good = is_harmless(key) && !self.names_account(key);
            is_hidden |= !is_good;
            is_good
        });
        let (kind, key) = found.unwrap_or_default();
        BillName { kind, key, is_hidden }
    }

    fn candidates(&self, tags: &BillTags, by_tags: &[String]) -> Vec<(KeyKind, String)> {
        let of = |keys: &[&str]| keys.iter().find_map(|key| tags.get(*key)).filter(|it| !it.is_empty());
        let cluster = of(&CLUSTERS);
        let mut all = Vec::new();
        if let (Some(namespace), Some(name)) = (of(&NAMESPACES), of(&WORKLOADS)) {
            // Google writes the kind as `apps/v1-Deployment`.
            let kind = of(&KINDS).map(|it| it.rsplit(['/', '-']).next().unwrap_or(it)).unwrap_or_default();
            let parts = [cluster.map_or("", String::as_str), namespace, kind, name];
            all.push((KeyKind::Workload, parts.join("/")));
        }
        let within = |name: &str| cluster.map_or_else(|| name.to_owned(), |cluster| format!("{cluster}/{name}"));
        all.extend(of(&POOLS).map(|pool| (KeyKind::Pool, within(pool))));
        let tag = of(&["name"]).map(String::as_str);
        let display = Some(self.name).filter(|it| !it.is_empty() && *it != self.id);
        let names =
            [tag, display.map(last_part), name_of_id(self.id), Some(self.allocated).filter(|it| !it.is_empty())];
        all.extend(names.into_iter().flatten().map(|name| (KeyKind::Name, name.to_owned())));
        let by_tag = |key: &String| {
            Some((KeyKind::Tag, format!("{key}={}", tags.get(&plain(key)).filter(|it| !it.is_empty())?)))
        };
        all.extend(by_tags.iter().filter_map(by_tag));
        all
    }

    /// Whether a key contains an account number, an id, or something similar.
    fn names_account(&self, key: &str) -> bool {
        let holds = |account: &&str| account.len() >= 6 && key.contains(*account);
        let is_id = self.id == key && !self.id.is_empty();
        is_id || self.accounts.iter().any(holds) || looks_like_an_id(key)
    }
}

/// Returns the last part of a name: `//compute.googleapis.com/projects/p/zones/z/instances/trainer` → trainer
fn last_part(name: &str) -> &str {
    match name.starts_with('/') || name.starts_with("arn:") {
        true => name.rsplit(['/', ':']).next().unwrap_or(name),
        false => name,
    }
}

/// Returns the user's name at the end of an id, for the ids that have one.
fn name_of_id(id: &str) -> Option<&str> {
    const GIVEN: [&str; 9] = [
        ":endpoint/",
        ":notebook-instance/",
        ":training-job/",
        ":cluster/",
        "/virtualMachineScaleSets/",
        "/virtualMachines/",
        "/onlineEndpoints/",
        "/instances/",
        "/computes/",
    ];
    let lower = id.to_ascii_lowercase();
    let (start, given) = GIVEN.iter().find_map(|it| Some((lower.find(&it.to_ascii_lowercase())?, it)))?;
    let name = id.get(start + given.len()..)?;
    Some(name.split(['/', ':']).next().unwrap_or(name)).filter(|it| !it.is_empty())
}

fn looks_like_an_id(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut digits = 0;
    let has_number = lower.bytes().any(|it| {
        digits = if it.is_ascii_digit() { digits + 1 } else { 0 };
        digits >= 12
    });
    let is_instance = lower.split(['/', '=']).any(|part| {
        part.strip_prefix("i-").is_some_and(|it| it.len() >= 8 && it.bytes().all(|it| it.is_ascii_alphanumeric()))
    });
    let is_guid = lower.split(['/', '=']).any(|part| {
        let lengths: Vec<usize> = part.split('-').map(str::len).collect();
        lengths == [8, 4, 4, 4, 12] && part.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-')
    });
    has_number || is_instance || is_guid || lower.contains("arn:") || lower.contains("/subscriptions/")
}

fn plain(key: &str) -> String {
    let key = key.to_ascii_lowercase();
    let key = key.strip_prefix("user:").or_else(|| key.strip_prefix("user_")).unwrap_or(&key);
    key.replace([':', '/', '.', '_', ' '], "-")
}

fn tags(cell: &str) -> BillTags {
    let cell = cell.trim();
    if cell.is_empty() {
        return BillTags::new();
    }
    // Azure's own export omits the braces.
    let read = serde_json::from_str(cell).or_else(|_| serde_json::from_str(&format!("{{{cell}}}")));
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match read.unwrap_or_default() {
        Value::Object(all) => all.iter().filter_map(|(key, value)| Some((plain(key), text(value)?))).collect(),
        Value::Array(all) => {
            let pair = |it: &Value| Some((plain(it.get("key")?.as_str()?), text(it.get("value")?)?));
            all.iter().filter_map(pair).collect()
        }
        _ => BillTags::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(tags: &str, id: &str, name: &str) -> (KeyKind, String, bool) {
        let cells =
            NameCells { tags, allocated_tags: "", allocated: "", id, name, accounts: ["210987654321", "ml-prod-7"] };
        let BillName { kind, key, is_hidden } = cells.name(&["team".to_owned()]);
        (kind, key, is_hidden)
    }

    #[test]
    fn the_narrowest_name_is_taken() {
        let cases = [
            (
                r#"{"aws:eks:cluster-name":"prod","aws:eks:namespace":"serving","aws:eks:workload-type":"Deployment","aws:eks:workload-name":"llama"}"#,
                "",
                "",
                KeyKind::Workload,
                "prod/serving/Deployment/llama",
            ),
            (
                r#"{"goog-k8s-namespace":"ns","goog-k8s-workload-type":"apps/v1-Deployment","goog-k8s-workload-name":"x"}"#,
                "",
                "",
                KeyKind::Workload,
                "/ns/Deployment/x",
            ),
            (r#"{"eks:nodegroup-name":"gpu","Name":"node"}"#, "i-0abc12345", "", KeyKind::Pool, "gpu"),
            (r#""aks-managed-poolName": "gpu","#, "", "", KeyKind::Unmatched, ""),
            (r#""aks-managed-poolName": "gpu""#, "", "", KeyKind::Pool, "gpu"),
            (r#"{"user:Name":"lab"}"#, "i-0abc12345", "", KeyKind::Name, "lab"),
            (r#"[{"key":"team","value":"ml"}]"#, "i-0abc12345", "i-0abc12345", KeyKind::Tag, "team=ml"),
            ("", "arn:aws:sagemaker:us-east-1:210987654321:endpoint/llm", "", KeyKind::Name, "llm"),
            (
                "",
                "//compute.googleapis.com/projects/ml-prod-7/zones/z/instances/trainer",
                "//compute.googleapis.com/projects/ml-prod-7/zones/z/instances/trainer",
                KeyKind::Name,
                "trainer",
            ),
            (
                "",
                "/subscriptions/0d1e/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/lab",
                "lab",
                KeyKind::Name,
                "lab",
            ),
            (r#"{"live":true}"#, "i-0abc12345", "", KeyKind::Unmatched, ""),
            ("no json", "", "", KeyKind::Unmatched, ""),
        ];
        for (tags, id, name, kind, key) in cases {
            assert_eq!(named(tags, id, name), (kind, key.to_owned(), false), "{tags} {id} {name}");
        }
    }

    #[test]
    fn accounts_ids_and_formulas_are_no_names() {
        for tags in [
            r#"{"Name":"=HYPERLINK(1)"}"#,
            r#"{"Name":"@x"}"#,
            "{\"Name\":\"a\\u001b[2Jb\"}",
            r#"{"Name":"job-210987654321"}"#,
            r#"{"Name":"i-0abc1234567"}"#,
            r#"{"Name":"x-ml-prod-7"}"#,
            r#"{"Name":"0a1b2c3d-1111-2222-3333-0a1b2c3d4e5f"}"#,
        ] {
            assert_eq!(named(tags, "i-0abc12345", ""), (KeyKind::Unmatched, String::new(), true), "{tags}");
        }
    }
}
