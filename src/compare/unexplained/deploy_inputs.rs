//! Finds changed values that scripts, pipelines and settings files pass to deploy tools. gpulint does not parse these
//! files, so it reports changes to:
//!
//! 1. a Terraform variable (`TF_VAR_n`, `-var n=`) that a root with accelerators declares, a chart value (`--set
//!    gpu.count=`) whose name is about numbers or accelerators, a file with variables or values, or a workspace;
//! 2. a name from which a file with accelerators takes a number or a machine (`replicas: ${REPLICAS}`);
//! 3. a command that changes how many machines or pods run (`kubectl scale`, `set-desired-capacity`).
//!
//! gpulint reports them only if something in the repository has accelerators.

use std::collections::BTreeSet;

use regex::Regex;

use super::change::{ChangedLine, ChangedText, FileRole, lines};
use super::changed_files::ChangedFiles;
use super::commands::{ChangedCommands, ShellCommand, documents};
use super::own_variables;
use super::parameters::TemplateParameters;
use super::words::{is_identity, is_naming, speaks};
use crate::front_ends::files;
use crate::inventory::RunKind;
use crate::source::{file_name, parent, static_regex};

/// Names of places. Only the provider uses such a value, unless another file uses the name.
const PLACES: [&str; 9] = [
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "GOOGLE_REGION",
    "GOOGLE_ZONE",
    "GCLOUD_REGION",
    "CLOUDSDK_COMPUTE_REGION",
    "CLOUDSDK_COMPUTE_ZONE",
    "ARM_LOCATION",
    "OCI_REGION",
];

/// The number of lines around a value that may contain its name.
const NEAR: usize = 3;

/// The names that files with accelerators take from outside, directly or through lines that pass values on.
#[derive(Default)]
pub(super) struct ExternalNames {
    variables: BTreeSet<String>,
    placeholders: BTreeSet<String>,
    workspaces: bool,
    parameters: TemplateParameters,
    /// The scripts and pipelines whose literal values gpulint evaluates as values of roots.
    evaluated: BTreeSet<String>,
    /// The names of directories that contain files with accelerators.
    directories: BTreeSet<String>,
}

fn names(pattern: &Regex, text: &str) -> Vec<String> {
    let first = |it: regex::Captures| Some(it.iter().skip(1).flatten().next()?.as_str().to_owned());
    pattern.captures_iter(text).filter_map(first).collect()
}

impl ExternalNames {
    pub(super) fn of(changed: &ChangedFiles) -> ExternalNames {
        let head = changed.head;
        let roots: BTreeSet<&str> = changed.resources().iter().filter_map(|it| it.root.as_deref()).collect();
        let is_of_root = |path: &&String| files::is_terraform(path) && roots.contains(parent(path));
        let of_roots = head.files.iter().filter(is_of_root);
        let folders: BTreeSet<&str> =
            changed.speaking.iter().filter(|path| path.ends_with(".bicep")).map(|path| parent(path)).collect();
        let is_parameters = |path: &&String| path.ends_with(".bicepparam") && folders.contains(parent(path));
        let of_roots = of_roots.chain(head.files.iter().filter(is_parameters));
        let files: BTreeSet<&String> =
            of_roots.chain(changed.speaking.iter().filter(|path| !path.ends_with('/'))).collect();
        let folders = changed.speaking.iter().flat_map(|path| parent(path).split('/'));
        let mut taken = ExternalNames {
            parameters: TemplateParameters::of(changed),
            evaluated: evaluated_callers(changed),
            directories: folders.filter(|it| !it.is_empty()).map(str::to_owned).collect(),
            ..ExternalNames::default()
        };
        for path in files {
            let Some(text) = head.text(path) else { continue };
            let is_terraform = files::is_terraform(path);
            let is_parameters = path.ends_with(".bicepparam");
            taken.variables.extend(names(&DECLARED, &text).into_iter().filter(|name| is_terraform && !is_naming(name)));
            taken.workspaces |= text.contains("terraform.workspace");
            for line in
                text.lines().filter(|line| line.contains(['$', '{', '(', '@']) && (is_parameters || speaks(line)))
            {
                taken.placeholders.extend(names(&PLACEHOLDERS, line));
            }
        }
        let callers = changed.callers().iter().map(|(_, text)| &**text);
        let changed = changed.texts.iter().filter(|file| file.role == FileRole::Script || file.is_yaml());
        for text in callers.chain(changed.map(|file| file.is.as_str())) {
            let makes_machines = MODULES.is_match(text);
            let fills_in = |line: &str| makes_machines && line.contains("{{") && speaks(line);
            let calls = text.lines().filter(|line| taken.hands_over(line) || fills_in(line));
            let placeholders: Vec<String> = calls.flat_map(|line| names(&PLACEHOLDERS, line)).collect();
            taken.placeholders.extend(placeholders.into_iter().filter(|name| !is_naming(name)));
        }
        taken
    }

    fn hands_over(&self, line: &str) -> bool {
        self.variable(line).is_some()
            || VALUES.captures_iter(line).any(|it| it.get(1).is_some_and(|key| speaks(key.as_str())))
            || SCALES.is_match(line)
    }

    fn variable(&self, text: &str) -> Option<String> {
        names(&VARIABLES, text).into_iter().find(|name| self.variables.contains(name))
    }

    /// Finds a passed value in a part of the tree without accelerators. There, the name of the variable itself must be
    /// about numbers.
    fn far(&self, line: ChangedLine, file: &ChangedText) -> Option<String> {
        let name = self.variable(line.text).or_else(|| self.paired(line, file)).filter(|name| speaks(name))?;
        Some(format!("the variable `{name}`"))
    }

    fn is_handed(&self, line: ChangedLine, file: &ChangedText) -> Option<String> {
        let text = line.text;
        if text.trim_start().starts_with(['#', ';']) || text.trim_start().starts_with("//") {
            return None;
        }
        let is_evaluated = |name: &String| self.evaluated.contains(file.path) && is_literal(text, name);
        if let Some(name) = self.variable(text).or_else(|| self.paired(line, file)).filter(|name| !is_evaluated(name)) {
            return Some(format!("the variable `{name}`"));
        }
        if let Some(found) = FILES.captures(text) {
            return found.iter().skip(1).flatten().next().map(|name| format!("the file `{}`", name.as_str()));
        }
        if self.workspaces && WORKSPACE.is_match(text) {
            return Some("a workspace".to_owned());
        }
        if let Some(key) = VALUES.captures_iter(text).filter_map(|it| it.get(1)).find(|key| speaks(key.as_str())) {
            return Some(format!("the value `{}`", key.as_str()));
        }
        let is_pipeline = || file.is_yaml() && (!file.is.contains("apiVersion") || file.is.contains("tekton.dev"));
        let is_plain_patch = |found: &str| found.contains("patch") && !speaks(text);
        let is_message = MESSAGE.is_match(text) && !text.contains(['|', '>', '`']) && !text.contains("$(");
        let runs = (file.role == FileRole::Script || is_pipeline()) && !is_message;
        let scales = SCALES.find(text).filter(|_| runs).filter(|found| !is_plain_patch(found.as_str()));
        if let Some(found) = scales.or_else(|| DEPLOYS.find(text).filter(|_| runs)) {
            return Some(format!("`{}`", found.as_str().trim()));
        }
        if runs && TIMES.is_match(text) && DEPLOYS.is_match(&file.is) && !only_repeats(text, file) {
            return Some("how often something is deployed".to_owned());
        }
        own_variables::assigned(text, file)
            .into_iter()
            .find(|name| self.placeholders.contains(name) || PLACES.contains(&name.as_str()))
            .filter(|name| !is_identity(name) && !own_variables::stays_inside(name, line, file))
            .map(|name| format!("`{name}`"))
    }

    /// Returns the name near a value: `name: TF_VAR_n` above `value: "8"`, `key = "n"` next to `value = "8"`.
    fn paired(&self, line: ChangedLine, file: &ChangedText) -> Option<String> {
        if !GIVEN.is_match(line.text) {
            return None;
        }
        let first = line.number.saturating_sub(NEAR);
        let around = lines(&file.is).skip(first).take(2 * NEAR + 1);
        let mut found = around.flat_map(|it| names(&NAMED, it.text));
        found.find(|name| self.variables.contains(name) || self.placeholders.contains(name))
    }

    /// Returns the first changed line that passes something to a deploy tool, and a description of what it passes.
    pub(super) fn over(&self, file: &ChangedText, is_near: bool) -> Option<(Option<usize>, String)> {
        let commands = ChangedCommands::of(file);
        let handed = |command: &ShellCommand| {
            let line = command.as_line();
            let by_call =
                || CALLS_CLOUDS.find(line.text).map(|it| format!("`{}`", it.as_str())).filter(|_| is_calling(file));
            if is_near { self.is_handed(line, file).or_else(by_call) } else { self.far(line, file) }
        };
        let new = commands.new.iter().find_map(|command| Some((self.line_of(command, file), handed(command)?)));
        let new = new.or_else(|| self.parameters.given(file, &commands)).or_else(|| self.in_document(&commands));
        if let Some((line, what)) = new {
            let reason =
                format!("line {} passes {what} to a deploy tool, and gpulint cannot read its effect", line + 1);
            return Some((Some(line), reason));
        }
        if !is_near {
            return None;
        }
        let mut gone = commands.gone.iter();
        let mut stops = gone.clone().filter_map(|it| STOPS.find(&it.text)).filter(|it| !file.is.contains(it.as_str()));
        if let Some(found) = stops.next() {
            return Some((None, format!("before the change, the file ran `{}`; now it does not", found.as_str())));
        }
        let kept: BTreeSet<String> = commands.all.iter().filter_map(|it| self.is_handed(it.as_line(), file)).collect();
        let what = gone.find_map(|it| self.is_handed(it.as_line(), file).filter(|what| !kept.contains(what)))?;
        Some((None, format!("before the change, the file passed {what} to a deploy tool; now it does not")))
    }

    /// Returns the changed line of a command that passes something by itself, or the first changed line.
    fn line_of(&self, command: &ShellCommand, file: &ChangedText) -> usize {
        let mut new = file.new_lines().filter(|it| (command.first..=command.last).contains(&it.number));
        new.find(|line| self.is_handed(*line, file).is_some()).map_or(command.number, |line| line.number)
    }

    /// Returns the first changed value in a here-document that a deploy tool takes for a directory with accelerators.
    fn in_document(&self, commands: &ChangedCommands) -> Option<(usize, String)> {
        let takes = |text: &str| {
            let target = TARGET.captures(text).and_then(|it| it.get(1)).map(|it| it.as_str());
            let is_taken_later = |name: &str| {
                commands
                    .all
                    .iter()
                    .any(|it| it.text.contains(name) && TAKES_VALUES.is_match(&it.text) && self.leads(&it.text))
            };
            TAKES_VALUES.is_match(text) && self.leads(text) || target.is_some_and(is_taken_later)
        };
        let lines = documents(&commands.all, takes);
        let new = commands.new.iter().filter(|it| lines.contains(&it.number));
        let mut keys =
            new.filter_map(|it| Some((it.number, names(&own_variables::ASSIGNED, &it.text).into_iter().next()?)));
        keys.find(|(_, key)| !is_naming(key)).map(|(line, key)| (line, format!("the value `{key}`")))
    }

    /// Returns true if a command names a directory with accelerators.
    fn leads(&self, text: &str) -> bool {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "._-/".contains(c)));
        let words = words.map(|word| word.trim_start_matches("./").trim_matches('/'));
        words.filter(|word| word.len() > 1).any(|word| self.directories.contains(file_name(word)))
    }
}

/// Returns the scripts and pipelines that deployments of Terraform roots and Terragrunt units read.
fn evaluated_callers(changed: &ChangedFiles) -> BTreeSet<String> {
    let runs = changed.states.after.inventory.runs.iter();
    let runs = runs.filter(|run| matches!(run.kind, RunKind::Root | RunKind::Unit));
    let inputs = runs.flat_map(|run| run.inputs.iter()).map(|path| path.to_string());
    inputs.filter(|path| files::may_call_deploy_tools(path)).collect()
}

/// Returns true if a line sets a variable to a value that contains no other variable.
fn is_literal(line: &str, name: &str) -> bool {
    let value = line.find(name).and_then(|at| line.get(at + name.len()..)).unwrap_or_default();
    let value = value.trim_start_matches([':', '=', '"', '\'', ' ']);
    !value.split_ascii_whitespace().next().unwrap_or_default().contains(['$', '`', '{', '%'])
}

/// Returns true if a loop runs the same commands again until they succeed: no deploy command uses its variable, and
/// each of them has the same effect if it runs again.
fn only_repeats(text: &str, file: &ChangedText) -> bool {
    let Some(name) = LOOP.captures(text).and_then(|it| it.get(1)).map(|it| it.as_str()) else { return false };
    let is_used = |line: &str| line.contains(&format!("${name}")) || line.contains(&format!("${{{name}"));
    let mut deploying = file.is.lines().filter(|line| DEPLOYS.is_match(line) || SCALES.is_match(line));
    deploying.all(|line| REPEATABLE.is_match(line) && !is_used(line))
}

/// Returns true if a program calls a cloud API.
fn is_calling(file: &ChangedText) -> bool {
    file.role == FileRole::Code && (CALLS_CLOUDS.is_match(&file.is) || CALLS_TERRAFORM.is_match(&file.is))
}

/// Returns true if a file can pass values to a deploy tool: a script, a pipeline, settings, or a program that calls a
/// cloud API.
pub(super) fn may_hand_over(file: &ChangedText) -> bool {
    let is_data = || file.is_yaml() || file.path.ends_with(".json") || file.is.contains("tfe_variable");
    match file.role {
        FileRole::Script => true,
        FileRole::Beside => false,
        FileRole::Read | FileRole::Code => is_data() || is_calling(file),
    }
}

static_regex!(
/// A file that a here-document writes.
static TARGET: Regex = r#"\b(?:cat|tee)\b[^|;]*?(?:>>?|tee(?:\s+-a)?)\s*["']?([\w./${}-]+)"#);
static_regex!(
/// Commands that take values from a file or their input.
static TAKES_VALUES: Regex = r"\bhelm(?:file)?\b.*\s(?:-f|--values)|\b(?:terraform|tofu)\b.*-var-file|\b(?:kubectl|oc)\b.*\s(?:-f|-k)\b|\baz\b.*\s(?:-p|--parameters)\b");
static_regex!(
/// A command that prints a message.
static MESSAGE: Regex = r"^\s*(?:-\s+)?(?:run:\s*)?@?(?:echo|printf)\b");
static_regex!(
/// A program that runs Terraform.
static CALLS_TERRAFORM: Regex = r#"["'\x60\s](?:terraform|tofu)["'\s,]+(?:apply|plan)\b"#);
static_regex!(static LOOP: Regex = r"\bfor\s+(\w+)\s+in\s");
static_regex!(
/// Deploy commands that change nothing if they run again.
static REPEATABLE: Regex = r"\b(?:terraform|tofu|terragrunt|kubectl|oc|pulumi|cdk)\b");
static_regex!(static DECLARED: Regex = r#"(?m)^\s*variable\s+"?([\w-]+)"?"#);
static_regex!(static VARIABLES: Regex = r#"(?:\bTF_VAR_|(?:^|[\s"'\[,=(])--?var[\s=,"']+)([A-Za-z_][\w-]*)["']?\s*[:=]"#);
static_regex!(static FILES: Regex = r#"[\s"'\[,=]--?var-file[\s=,"']+([^\s"',]+)|\bhelm(?:file)?\b.*\s(?:-f|--values)(?:\s+|=)["']?([^\s"']+)"#);
static_regex!(static VALUES: Regex = r#"[\s"'\[,]--set(?:-string|-json|-file)?[\s=,"']+([^\s"'=]+)="#);
static_regex!(static WORKSPACE: Regex = r"\bworkspace\s+(?:select|new)\s+\S|\bTF_WORKSPACE\s*[:=]");
static_regex!(
/// A placeholder of a shell, kustomize, Flux, a pipeline, Jinja, Go, Terragrunt or helmfile.
static PLACEHOLDERS: Regex = concat!(
        r#"\$\{([A-Za-z_]\w*)(?:\}|:?[-=?+])|\$\((?:params\.)?([A-Za-z_]\w*)\)|\$([A-Za-z_]\w*)\b"#,
        r#"|\{\{-?\s*(?:[a-z]+\.)*\.?([A-Za-z_]\w*)\s*(?:\||-?\}\})|(?:get_env\(\s*|\b(?:env|requiredEnv)\s+)"(\w+)"|\breadEnvironmentVariable\(\s*'(\w+)'|\bdata\.values\.(?:\w+\.)*(\w+)"#,
    ));
static_regex!(
/// A value whose name is on another line.
static GIVEN: Regex = r#"\b(?:value|default)["']?\s*[:=]"#);
static_regex!(static NAMED: Regex = r#"\b(?:name|key)["']?\s*[:=]\s*["']?(?:TF_VAR_)?([A-Za-z_][\w-]*)"#);
static_regex!(
/// Commands that change how many machines or pods run.
static SCALES: Regex = concat!(
        r"\b(?:kubectl|oc)\s[^#|;]*?\b(?:scale|autoscale|patch|set\s+resources)\b",
        r"|--replicas[= ]\S|\bset-desired-capacity\b|--desired-(?:capacity|count)\b|--(?:max|min)-size\b",
        r"|\bclusters\s+resize\b|--(?:num|max|min|total-max|total-min)-nodes\b|--(?:node|min|max)-count\b|--new-capacity\b",
        r"|--nodes(?:-max|-min)?[= ]\d|\bregister-scalable-target\b|\bput-scheduled-update-group-action\b",
        r"|\bupdate-endpoint-weights-and-capacities\b|\bupdate-nodegroup-config\b|\binstance-groups\s+managed\s+resize\b",
    ));
static_regex!(
/// Commands that create or delete machines or pods.
static DEPLOYS: Regex = concat!(
        r"\b(?:terraform|tofu|terragrunt)\b[^#|;]*?\bapply\b|\b(?:kubectl|oc)\s[^#|;]*?\b(?:apply|replace)\s",
        r"|\bsky\s+(?:launch|jobs|serve)\b|\bmodal\s+(?:deploy|run)\b|\bpulumi\s+up\b|\bcdk\s+deploy\b",
        r"|\bsed\s+-i\b[^#]*?(?:replicas|gpu|count|instance)",
    ));
static_regex!(
/// Ansible modules that create machines.
static MODULES: Regex = r"\b(?:ec2_instance|ec2_asg|gcp_compute_instance|azure_rm_virtualmachine|os_server|oci_compute_instance)\b");
static_regex!(
/// A command that deletes machines or pods; without it, they continue to run.
static STOPS: Regex = r"\b(?:terraform|tofu|terragrunt)\b[^#|;]*?\bdestroy\b|\bstop-instances\b|--down\b");
static_regex!(
/// Lists whose items a pipeline or script processes one by one.
static TIMES: Regex = r"\bfor\s+\w+\s+in\s|^\s*(?:-\s*)?[\w-]+:\s*\[[^\]]*,[^\]]*\]\s*$|\b(?:parallelism|matrix):");
static_regex!(
/// Cloud API calls in programs.
static CALLS_CLOUDS: Regex = r#"\b(?:set_desired_capacity|update_auto_scaling_group|run_instances|create_auto_scaling_group|create_fleet|create_nodegroup|DesiredCapacity|set_node_pool_size|patch_namespaced_deployment_scale|min_containers|gpu\s*=\s*["'][A-Z])"#);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_over_is_seen_in_every_spelling() {
        let taken = ExternalNames {
            variables: BTreeSet::from(["n".to_owned()]),
            placeholders: BTreeSet::from(["REPLICAS".to_owned()]),
            workspaces: true,
            ..ExternalNames::default()
        };
        for (text, told) in [
            ("terraform apply -var n=8", Some("the variable `n`")),
            ("tofu plan -var='n=8'", Some("the variable `n`")),
            ("  TF_VAR_n: 8", Some("the variable `n`")),
            ("export TF_VAR_n=8", Some("the variable `n`")),
            ("terraform plan -var region=x", None),
            ("terraform apply", Some("`terraform apply`")),
            ("terraform apply -var-file=big.tfvars", Some("the file `big.tfvars`")),
            ("helm upgrade a ./c --set gpu.count=8", Some("the value `gpu.count`")),
            ("helm upgrade a ./c --set image.tag=8", None),
            ("helm upgrade a ./c -f big.yaml", Some("the file `big.yaml`")),
            ("variable n=8", None),
            ("REPLICAS=64", Some("`REPLICAS`")),
            ("  REPLICAS: \"64\"", Some("`REPLICAS`")),
            ("\"REPLICAS\": 64", Some("`REPLICAS`")),
            ("MY_REPLICAS=64", None),
            ("kubectl -n a scale deployment/llm --replicas=64", Some("`kubectl -n a scale`")),
            ("aws autoscaling set-desired-capacity --x 3", Some("`set-desired-capacity`")),
            ("terraform workspace select big", Some("a workspace")),
        ] {
            let file = ChangedText::changed_lines("a.sh", "", text);
            let line = ChangedLine { number: 0, start: 0, text };
            assert_eq!(taken.is_handed(line, &file).as_deref(), told, "{text}");
        }
    }
}
