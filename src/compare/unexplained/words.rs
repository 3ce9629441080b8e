//! Words in names, paths and imports that show whether a change can affect the number or type of machines.

use regex::Regex;

use crate::front_ends::files;
use crate::inventory::accelerators;
use crate::source::{file_name, static_regex};

use super::change::ChangedText;

/// Relevant words in chart values and placeholders, besides accelerators.
const WORDS: [&str; 19] = [
    "replica",
    "instance",
    "count",
    "limit",
    "request",
    "parallel",
    "completion",
    "size",
    "node",
    "machine",
    "capacity",
    "min",
    "max",
    "schedule",
    "suspend",
    "enabled",
    "worker",
    "scale",
    "shape",
];

/// Names whose values are never a number of machines.
const NAMING: [&str; 8] = ["image", "tag", "version", "commit", "sha", "digest", "branch", "name"];

/// The ends of names whose values are accounts and secrets, without `_` and `-`.
const IDENTITIES: [&str; 13] = [
    "projectid",
    "tenantid",
    "accountid",
    "subscriptionid",
    "parentid",
    "clientid",
    "userid",
    "keyid",
    "accesskey",
    "secretkey",
    "secret",
    "password",
    "token",
];

/// Variables that a shell and its programs use to find files, and to format output.
const OF_SHELLS: [&str; 14] = [
    "PATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "SHELL",
    "USER",
    "IFS",
    "TERM",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
];

/// Returns true if a key is about amounts of machines, times or accelerators.
pub(in crate::compare) fn speaks(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    WORDS.iter().any(|word| key.contains(word)) || accelerators::are_mentioned(&key)
}

/// Returns true if the value of this name is never a number of machines.
pub(in crate::compare) fn is_naming(name: &str) -> bool {
    let low = name.to_ascii_lowercase();
    let is_named = NAMING.iter().any(|word| low.ends_with(word)) && !speaks(&low.replace("name", ""));
    is_named || is_identity(name)
}

/// Returns true if the value of this name is an account, a secret, or a path or setting of the shell.
pub(super) fn is_identity(name: &str) -> bool {
    let low: String = name.to_ascii_lowercase().replace(['_', '-'], "");
    let is_known = || IDENTITIES.iter().any(|end| low.ends_with(end)) && !speaks(&low);
    OF_SHELLS.contains(&name) || is_known()
}

/// Returns true if a path belongs to a test, a user interface, a translation or a dashboard, where machines are data.
pub(super) fn is_shown_to_people(path: &str) -> bool {
    const FOLDERS: [&str; 18] = [
        "ui",
        "frontend",
        "locales",
        "locale",
        "i18n",
        "translations",
        "dashboards",
        "grafana",
        "storybook",
        "mocks",
        "__mocks__",
        "__tests__",
        "__fixtures__",
        "fixtures",
        "testdata",
        "e2e",
        "cypress",
        "stories",
    ];
    const ENDINGS: [&str; 6] = [".tsx", ".jsx", ".vue", ".svelte", ".spec", ".stories"];
    let name = file_name(path);
    path.split('/').any(|part| FOLDERS.contains(&part))
        || ENDINGS.iter().any(|ending| name.ends_with(ending) || name.contains(&format!("{ending}.")))
}

/// Returns true if a program launches machines or pods, or a script calls one.
pub(super) fn launches(file: &ChangedText) -> bool {
    files::is_script_alone(file.path) || LAUNCHERS.is_match(&file.is)
}

static_regex!(
/// Imports of libraries that launch or deploy.
pub(super) static LAUNCHERS: Regex = concat!(
        r#"(?m)^\s*(?:import|from|use|using|const|let|var|require|_|[\w.]*\s*["']).*?"#,
        r"(?:\bsagemaker\b|\baiplatform\b|\bsubmitit\b|\bray\b|\bairflow\b|\bkubernetes\b|k8s\.io/|imports/k8s|aws[-_]?cdk|Amazon\.CDK|cdk8s|cdktf|\bpulumi",
        r"|\bboto3\b|aws-sdk|google\.cloud|google-cloud|googleapis|cloud\.google\.com|azure\.(?:ai|mgmt)|@azure/arm|azure-sdk|\bmodal\b|\bdagger\b",
        r"|dask_(?:cloudprovider|jobqueue|kubernetes)|\bprefect\b|\bkfp\b|flytekit|metaflow|databricks|runpod|\bsky\b|\bcoiled\b|anyscale",
        r"|simple_slurm|\breplicate\b|huggingface_hub|zenml|skypilot|troposphere|bentoml)",
    ));
