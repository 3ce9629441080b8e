//! Which files may hold what front ends read, and which may call them, by their names.

use std::path::Path;

use crate::languages::kustomize;
use crate::terraform::is_read_by_itself;

/// Files that may hold Terraform or Kubernetes, by the end of their names, and those of languages that are told.
const ENDINGS: [&str; 31] = [
    ".tfcomponent.hcl",
    ".tfstack.hcl",
    ".tfdeploy.hcl",
    ".tf",
    ".tofu",
    ".tfvars",
    ".json",
    ".yaml",
    ".yml",
    ".tpl",
    ".tmpl",
    ".j2",
    ".jinja",
    ".jinja2",
    ".gotmpl",
    ".template",
    ".sh",
    ".bash",
    ".mk",
    ".bicep",
    ".bicepparam",
    ".nomad",
    ".nomad.hcl",
    ".pkr.hcl",
    ".jsonnet",
    ".libsonnet",
    ".cue",
    ".k",
    ".sbatch",
    ".slurm",
    ".tfstate",
];

/// Programs, of which the few that rent something are told: they are looked into where the tree is read, and no reason to.
const PROGRAMS: [&str; 1] = [".py"];

/// Settings of others that are told or that a command of a pod may name, by their names.
const SETTINGS: [&str; 4] = ["cerebrium.toml", "config.pbtxt", "gres.conf", "slurm.conf"];

/// Scripts that are called so, whatever they end in.
const SCRIPTS: [&str; 6] = ["Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Jenkinsfile"];

pub(crate) fn is_candidate(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let name_bytes = name.as_encoded_bytes();
    // kubectl reads what it is told to, and whoever names `pod.YAML` gets a pod.
    let ends = |ending: &str| {
        let end = name_bytes.len().checked_sub(ending.len()).and_then(|at| name_bytes.get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
    };
    ENDINGS.iter().chain(&PROGRAMS).any(|ending| ends(ending))
        || kustomize::NAMES.iter().any(|it| name == *it)
        || name
            .to_str()
            .is_some_and(|name| SCRIPTS.contains(&name) || SETTINGS.contains(&name) || is_read_by_itself(name))
}

/// Scripts and pipelines, which may run Terraform or helm with more than stands in files.
pub(crate) fn is_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_data = [".yml", ".yaml"].iter().any(|ending| name.ends_with(ending));
    [".sh", ".bash", ".mk", ".sbatch", ".slurm"].iter().any(|ending| name.ends_with(ending))
        || SCRIPTS.contains(&name)
        || is_data
}

/// Those of them that are no data.
pub(crate) fn is_script_alone(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_data = [".yml", ".yaml"].iter().any(|ending| name.ends_with(ending));
    is_script(path) && !is_data || name == "package.json"
}

/// Terraform by its name; whether a JSON file is a plan, only its text can say.
pub(crate) fn is_terraform(path: &str) -> bool {
    const ENDINGS: [&str; 6] = [".tf", ".tofu", ".tf.json", ".tofu.json", ".tfvars", ".tfvars.json"];
    ENDINGS.iter().any(|ending| path.ends_with(ending)) || is_read_by_itself(path)
}
