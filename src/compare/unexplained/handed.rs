//! What scripts, pipelines and settings hand over to those who deploy. Nobody reads them here, so that a change is told:
//!
//! 1. a variable of Terraform (`TF_VAR_n`, `-var n=`) that a root with accelerators declares, a value of a chart
//!    (`--set gpu.count=`) by a word that speaks of numbers or accelerators, files of either, a workspace;
//! 2. a name that text with accelerators takes a number or a machine from (`replicas: ${REPLICAS}`);
//! 3. a command that changes numbers of what runs (`kubectl scale`, `set-desired-capacity`).
//!
//! It counts where something here has accelerators.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::States;
use super::change::{Changed, Line, Role};
use crate::front_ends::files;
use crate::source::parent;

/// What values of charts and placeholders speak of that matter.
const WORDS: [&str; 25] = [
    "replica",
    "gpu",
    "nvidia",
    "accelerator",
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
    "amd.com",
    "tpu",
    "neuron",
    "schedule",
    "suspend",
    "enabled",
    "worker",
    "scale",
    "shape",
];

/// The names that text with accelerators takes from outside.
pub(super) struct Taken {
    variables: BTreeSet<String>,
    placeholders: BTreeSet<String>,
    workspaces: bool,
}

impl Taken {
    pub(super) fn of(states: &States, speaking: &BTreeSet<String>) -> Taken {
        let roots: BTreeSet<&str> =
            states.after.inventory.resources.iter().filter_map(|it| it.root.as_deref()).collect();
        let is_of_root = |path: &&String| files::is_terraform(path) && roots.contains(parent(path));
        let files: BTreeSet<&String> = states
            .head
            .files
            .iter()
            .filter(is_of_root)
            .chain(speaking.iter().filter(|path| !path.ends_with('/')))
            .collect();
        let mut taken = Taken { variables: BTreeSet::new(), placeholders: BTreeSet::new(), workspaces: false };
        for path in files {
            let Ok(text) = states.head.sources.tree().read(path) else { continue };
            let text = String::from_utf8_lossy(&text);
            let names = |pattern: &Regex, text: &str| -> Vec<String> {
                pattern
                    .captures_iter(text)
                    .filter_map(|it| Some(it.iter().skip(1).flatten().next()?.as_str().to_owned()))
                    .collect()
            };
            taken.variables.extend(names(&DECLARED, &text).into_iter().filter(|_| files::is_terraform(path)));
            taken.workspaces |= text.contains("terraform.workspace");
            for line in text.lines() {
                let low = line.to_ascii_lowercase();
                if line.contains(['$', '{', '(']) && WORDS.iter().any(|word| low.contains(word)) {
                    taken.placeholders.extend(names(&PLACEHOLDERS, line));
                }
            }
        }
        taken
    }

    fn is_handed(&self, line: Line, file: &Changed) -> Option<String> {
        let text = line.text;
        if text.trim_start().starts_with(['#', ';']) || text.trim_start().starts_with("//") {
            return None;
        }
        let variable =
            VARIABLES.captures_iter(text).filter_map(|it| it.get(1)).find(|it| self.variables.contains(it.as_str()));
        if let Some(name) = variable {
            return Some(format!("the variable `{}`", name.as_str()));
        }
        if let Some(found) = FILES.captures(text) {
            return found.iter().skip(1).flatten().next().map(|name| format!("the file `{}`", name.as_str()));
        }
        if self.workspaces && WORKSPACE.is_match(text) {
            return Some("a workspace".to_owned());
        }
        let speaks = |key: &str| WORDS.iter().any(|word| key.to_ascii_lowercase().contains(word));
        if let Some(key) = VALUES.captures_iter(text).filter_map(|it| it.get(1)).find(|key| speaks(key.as_str())) {
            return Some(format!("the value `{}`", key.as_str()));
        }
        let is_pipeline = || file.is_yaml() && (!file.is.contains("apiVersion") || file.is.contains("tekton.dev"));
        let is_plain_patch = |found: &str| found.contains("patch") && !speaks(text);
        let scales = SCALES.find(text).filter(|_| file.role == Role::Script || is_pipeline());
        if let Some(found) = scales.filter(|found| !is_plain_patch(found.as_str())) {
            return Some(format!("`{}`", found.as_str().trim()));
        }
        let name = ASSIGNED
            .captures_iter(text)
            .filter_map(|it| it.get(1))
            .find(|it| self.placeholders.contains(it.as_str()))?;
        Some(format!("`{}`, which text with accelerators takes,", name.as_str()))
    }

    /// The first line that only one state has and that hands something over, and what.
    pub(super) fn over(&self, file: &Changed) -> Option<(Option<usize>, String)> {
        let is_called = file.role == Role::Script || file.is_yaml() || file.path.ends_with(".json");
        if !is_called {
            return None;
        }
        let mut new = file.new_lines().filter_map(|line| Some((line, self.is_handed(line, file)?)));
        let mut gone = file.gone_lines().filter_map(|line| self.is_handed(line, file));
        // A line that is only moved hands over what it did.
        let is_moved = |line: Line| file.gone_lines().any(|gone| gone.text.trim() == line.text.trim());
        let is_kept = |what: &String| file.is.contains(what.trim_matches('`'));
        match new.find(|(line, _)| !is_moved(*line)) {
            Some((line, what)) => Some((
                Some(line.number),
                format!("line {} hands over {what}, and nobody here reads it", line.number + 1),
            )),
            None => {
                let what = gone.find(|what| !is_kept(what))?;
                let moved = file.new_lines().filter_map(|line| self.is_handed(line, file)).any(|it| it == what);
                (!moved).then(|| (None, format!("it handed over {what} before, and does not any more")))
            }
        }
    }
}

static DECLARED: LazyLock<Regex> = LazyLock::new(|| super::pattern(r#"(?m)^\s*variable\s+"?([\w-]+)"?"#));
static VARIABLES: LazyLock<Regex> =
    LazyLock::new(|| super::pattern(r#"(?:\bTF_VAR_|\s--?var(?:\s+|=)["']?)([A-Za-z_][\w-]*)["']?\s*[:=]"#));
static FILES: LazyLock<Regex> = LazyLock::new(|| {
    super::pattern(
        r#"\s--?var-file(?:\s+|=)["']?([^\s"']+)|\bhelm(?:file)?\b.*\s(?:-f|--values)(?:\s+|=)["']?([^\s"']+)"#,
    )
});
static VALUES: LazyLock<Regex> =
    LazyLock::new(|| super::pattern(r#"\s--set(?:-string|-json|-file)?(?:\s+|=)["']?([^\s"'=]+)="#));
static WORKSPACE: LazyLock<Regex> =
    LazyLock::new(|| super::pattern(r"\bworkspace\s+(?:select|new)\s+\S|\bTF_WORKSPACE\s*[:=]"));
/// A placeholder of a shell, of kustomize or Flux, of Jinja, of Terragrunt.
static PLACEHOLDERS: LazyLock<Regex> = LazyLock::new(|| {
    super::pattern(
        r#"\$\{([A-Za-z_]\w*)(?:\}|:?[-=?+])|\$\(([A-Za-z_]\w*)\)|\$([A-Z_][A-Z0-9_]*)\b|\{\{-?\s*([A-Za-z_]\w*)\s*(?:\||-?\}\})|get_env\(\s*"(\w+)""#,
    )
});
/// A name that is given something.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| super::pattern(r#"\b([A-Za-z_]\w*)["']?\s*(?::?=|:\s)"#));
/// Commands that change how much of something runs.
static SCALES: LazyLock<Regex> = LazyLock::new(|| {
    super::pattern(concat!(
        r"\b(?:kubectl|oc)\s[^#|;]*?\b(?:scale|autoscale|patch|set\s+resources)\b",
        r"|--replicas[= ]\S|\bset-desired-capacity\b|--desired-(?:capacity|count)\b|--(?:max|min)-size\b",
        r"|\bclusters\s+resize\b|--(?:num|max|min|total-max|total-min)-nodes\b|--(?:node|min|max)-count\b|--new-capacity\b",
        r"|--nodes(?:-max|-min)?[= ]\d|\bregister-scalable-target\b|\bput-scheduled-update-group-action\b",
        r"|\bupdate-endpoint-weights-and-capacities\b|\bupdate-nodegroup-config\b|\binstance-groups\s+managed\s+resize\b",
    ))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_over_is_seen_in_every_spelling() {
        let taken = Taken {
            variables: BTreeSet::from(["n".to_owned()]),
            placeholders: BTreeSet::from(["REPLICAS".to_owned()]),
            workspaces: true,
        };
        for (text, told) in [
            ("terraform apply -var n=8", Some("the variable `n`")),
            ("tofu plan -var='n=8'", Some("the variable `n`")),
            ("  TF_VAR_n: 8", Some("the variable `n`")),
            ("export TF_VAR_n=8", Some("the variable `n`")),
            ("terraform apply -var region=x", None),
            ("terraform apply -var-file=big.tfvars", Some("the file `big.tfvars`")),
            ("helm upgrade a ./c --set gpu.count=8", Some("the value `gpu.count`")),
            ("helm upgrade a ./c --set image.tag=8", None),
            ("helm upgrade a ./c -f big.yaml", Some("the file `big.yaml`")),
            ("variable n=8", None),
            ("REPLICAS=64", Some("`REPLICAS`, which text with accelerators takes,")),
            ("  REPLICAS: \"64\"", Some("`REPLICAS`, which text with accelerators takes,")),
            ("\"REPLICAS\": 64", Some("`REPLICAS`, which text with accelerators takes,")),
            ("MY_REPLICAS=64", None),
            ("kubectl -n a scale deployment/llm --replicas=64", Some("`kubectl -n a scale`")),
            ("aws autoscaling set-desired-capacity --x 3", Some("`set-desired-capacity`")),
            ("terraform workspace select big", Some("a workspace")),
        ] {
            let file = Changed::made("a.sh", "", text);
            let line = Line { number: 0, start: 0, text };
            assert_eq!(taken.is_handed(line, &file).as_deref(), told, "{text}");
        }
    }
}
