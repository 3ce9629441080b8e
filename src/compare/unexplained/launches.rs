//! Finds changes in programs and scripts that launch machines or pods: another request for accelerators, or another
//! number of instances, nodes or workers. gpulint runs no program, so the effect of such a change is unknown.

use std::collections::BTreeSet;

use regex::Regex;

use super::accelerator_lines::AcceleratorSearch;
use super::change::{ChangedLine, ChangedText, FileRole, lines};
use super::changed_files::ChangedFiles;
use super::commands::{ChangedCommands, ShellCommand};
use super::words::{LAUNCHERS, is_naming};
use crate::inventory::accelerators;
use crate::inventory::snake_case::snake_case;
use crate::source::{file_name, parent, static_regex};

/// The most programs that are searched for imports of a changed file.
const MOST_PROGRAMS: usize = 200;
/// Longer programs are not written by hand.
const LONGEST_PROGRAM: usize = 1 << 18;
/// The lines before a value that may contain its key.
const NEAR: usize = 1;

/// Words in names of amounts of machines, and of times at which they run.
const AMOUNTS: [&str; 22] = [
    "replica",
    "replicas",
    "instance",
    "instances",
    "node",
    "nodes",
    "worker",
    "workers",
    "machine",
    "machines",
    "capacity",
    "parallelism",
    "gpu",
    "gpus",
    "accelerator",
    "accelerators",
    "gres",
    "schedule",
    "cron",
    "timetable",
    "desired",
    "containers",
];
/// Words in names of other properties of machines.
const OTHERS: [&str; 24] = [
    "name",
    "id",
    "ids",
    "image",
    "label",
    "labels",
    "role",
    "version",
    "timeout",
    "port",
    "selector",
    "group",
    "arn",
    "retries",
    "type",
    "types",
    "class",
    "profile",
    "family",
    "seed",
    "memory",
    "util",
    "utilization",
    "rank",
];

/// Returns the first changed line of a launch, and what it changes.
pub(super) fn changed(changed: &ChangedFiles, file: &ChangedText) -> Option<(usize, String)> {
    match file.role {
        FileRole::Beside => None,
        FileRole::Code => Program::of(changed, file)?.change(changed),
        FileRole::Read | FileRole::Script => command(changed, file).or_else(|| unread_call(file)),
    }
}

/// Returns the first new line with a call of AWS that creates machines or changes their number, or with arguments for
/// Terraform in the environment. The amounts are in a string that gpulint does not read.
fn unread_call(file: &ChangedText) -> Option<(usize, String)> {
    file.added_lines().find_map(|line| {
        let call = SDK_CALL.find(line.text).map(|it| format!("calls `{}`", it.as_str()));
        let set = || ARGUMENTS.find(line.text).map(|it| format!("sets `{}` for Terraform", it.as_str()));
        Some((line.number, call.or_else(set)?))
    })
}

/// Returns the first changed command that requests accelerators, or the first changed variable of such a command.
fn command(changed: &ChangedFiles, file: &ChangedText) -> Option<(usize, String)> {
    let is_pipeline = file.is_yaml() && !file.is.contains("apiVersion");
    if !(file.role == FileRole::Script || is_pipeline) {
        return None;
    }
    let asking = AcceleratorSearch::of(changed.head, file);
    let all = ChangedCommands::of(file);
    let asked = |command: &ShellCommand| {
        // A line with a fact of a resource is part of a deployment that gpulint evaluates.
        let is_read = || changed.is_explained(file.path, command.first..command.last + 1);
        let is_cloud = CLOUDS.is_match(&command.text) && !command.text.trim_start().starts_with('#') && !is_read();
        let flag = || ACCELERATOR_FLAG.captures(&command.text)?.get(1).map(|it| it.as_str().to_owned());
        is_cloud.then(|| asking.asked(command.as_line()).or_else(flag)).flatten()
    };
    if let Some((command, name)) = all.new.iter().find_map(|it| Some((it, asked(it)?))) {
        return Some((command.number, format!("changes a command that requests `{name}`")));
    }
    let asking: Vec<&ShellCommand> = all.all.iter().filter(|it| asked(it).is_some()).collect();
    let new = all.new.iter().filter(|_| !asking.is_empty());
    let mut assigned = new.filter_map(|it| Some((it.number, ASSIGNED.captures(&it.text)?.get(1)?.as_str())));
    let is_used = |name: &str| {
        let forms = [format!("${name}"), format!("${{{name}"), format!("$({name}")];
        asking.iter().any(|command| forms.iter().any(|form| holds_word(&command.text, form)))
    };
    let (line, name) = assigned.find(|(_, name)| !is_naming(name) && is_used(name))?;
    Some((line, format!("changes `{name}` for a command that requests accelerators")))
}

/// Returns true if a command contains a word that no letter continues.
fn holds_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let behind = text.get(at + word.len()..).unwrap_or_default();
        !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// A changed program that launches machines, or that another program imports for this.
struct Program<'f> {
    file: &'f ChangedText<'f>,
    asking: AcceleratorSearch<'f>,
    /// The programs that use constants of this one, with their own text.
    users: Vec<String>,
}

/// A key and its value, with the line.
struct Pair<'t> {
    line: usize,
    key: &'t str,
    value: &'t str,
}

impl<'f> Program<'f> {
    fn of(changed: &'f ChangedFiles, file: &'f ChangedText) -> Option<Program<'f>> {
        let asking = AcceleratorSearch::of(changed.head, file);
        let is_launcher = |text: &str| LAUNCHERS.is_match(text);
        let mut users = importers(changed, file);
        if is_launcher(&file.is) || DEVICE.is_match(&file.is) {
            users.push(file.is.clone());
        }
        let program = Program { file, asking, users };
        let asks = |text: &String| program.requests(text).next().is_some();
        let is_launch = !program.users.is_empty() && (asks(&file.is) || program.users.iter().any(asks));
        is_launch.then_some(program)
    }

    fn change(&self, changed: &ChangedFiles) -> Option<(usize, String)> {
        let (is, was) = (&self.file.is, &self.file.was);
        let is_new: BTreeSet<usize> = self.file.new_lines().map(|line| line.number).collect();
        let before: Vec<String> = self.requests(was).map(|(_, name)| name).collect();
        let mut known = before.clone();
        for (line, name) in self.requests(is) {
            match known.iter().position(|it| *it == name) {
                Some(at) => drop(known.swap_remove(at)),
                None if changed.is_explained(self.file.path, line..line + 1) => {}
                None if is_new.contains(&line) => return Some((line, format!("names `{name}`"))),
                None => {}
            }
        }
        let old: BTreeSet<(&str, String)> = pairs(was).map(|it| (it.key, plain(it.value))).collect();
        let new = pairs(is).filter(|it| !old.contains(&(it.key, plain(it.value))));
        let mut new = new.filter(|it| is_new.range(it.line.saturating_sub(NEAR)..=it.line).next().is_some());
        let pair = new.find(|it| is_amount(it.key) || self.is_amount_elsewhere(it))?;
        // The key may be on the line before its value.
        let line = if is_new.contains(&pair.line) { pair.line } else { pair.line.saturating_sub(NEAR) };
        Some((line, format!("changes `{}` of a launch with accelerators", pair.key)))
    }

    /// Returns true if a number is the amount of something in a program that launches.
    fn is_amount_elsewhere(&self, pair: &Pair) -> bool {
        let is_number = pair.value.trim_matches(['"', '\'']).starts_with(|c: char| c.is_ascii_digit());
        let is_used = |text: &String| {
            pairs(text).any(|it| is_amount(it.key) && it.key != pair.key && ends_with_word(it.value, pair.key))
        };
        is_number && pair.key.len() > 1 && self.users.iter().any(is_used)
    }

    /// Returns the requests for accelerators in a program, with their lines.
    fn requests<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, String)> + 't {
        let mut follows = false;
        code_lines(text).flat_map(move |line| {
            let device = DEVICE.captures_iter(line.text).filter_map(|it| it.get(0)).map(|it| it.as_str().to_owned());
            // The amount may be on the next line.
            let amount =
                std::mem::replace(&mut follows, KEY_ALONE.is_match(line.text)).then(|| line.text.trim().to_owned());
            let device = device.chain(amount);
            let parameter =
                PARAMETER.captures_iter(line.text).filter_map(|it| it.get(0)).map(|it| it.as_str().to_owned());
            let words = WORDS.captures_iter(line.text).filter_map(|it| it.iter().skip(1).flatten().next());
            let machine = words.map(|it| it.as_str()).filter(|word| self.is_machine(word)).map(str::to_owned);
            device.chain(parameter).chain(machine).map(move |name| (line.number, plain(&name))).collect::<Vec<_>>()
        })
    }

    /// Returns true for the name of a machine or an accelerator, or for the name of a machine family of an enumeration.
    fn is_machine(&self, word: &str) -> bool {
        let chip = word.split([':', '-', '_', '!']).next().unwrap_or_default();
        let is_upper = word.starts_with(|c: char| c.is_ascii_uppercase());
        self.asking.is_machine(word.trim_start_matches("ml."))
            || is_upper && chip.len() > 1 && accelerators::is_chip(&chip.to_ascii_lowercase())
            || word.len() < 8 && is_upper && self.asking.is_family(&word.to_ascii_lowercase())
    }
}

/// Returns the programs that import a changed file and launch something.
fn importers(changed: &ChangedFiles, file: &ChangedText) -> Vec<String> {
    let name = file_name(file.path);
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let folder = parent(parent(file.path));
    let is_near = |path: &&String| {
        path.ends_with(ending) && *path != file.path && (folder.is_empty() || path.starts_with(folder))
    };
    if !pairs(&file.is).any(|it| it.value.contains(|c: char| c.is_ascii_digit())) {
        return Vec::new();
    }
    let near = changed.head.files.iter().filter(is_near).take(MOST_PROGRAMS);
    let texts = near.filter_map(|path| changed.head.text(path)).filter(|text| text.len() < LONGEST_PROGRAM);
    let imports = |text: &str| text.lines().any(|line| IMPORT.is_match(line) && line.contains(stem));
    texts.filter(|text| imports(text) && LAUNCHERS.is_match(text)).map(|text| text.to_string()).collect()
}

/// Returns the lines of a program without comments and documentation strings.
fn code_lines(text: &str) -> impl Iterator<Item = ChangedLine<'_>> {
    let mut open: Option<&str> = None;
    lines(text).filter(move |line| {
        let text = line.text.trim();
        match open {
            Some(mark) => {
                open = open.filter(|_| !text.contains(mark));
                return false;
            }
            None => {
                let start = text.trim_start_matches(['r', 'R', 'u', 'f']);
                let mark = ["\"\"\"", "'''"].into_iter().find(|mark| start.starts_with(mark));
                open = mark.filter(|mark| start.matches(mark).count() == 1);
                if mark.is_some() {
                    return false;
                }
            }
        }
        !["#", "//", "*", "/*", "--"].iter().any(|mark| text.starts_with(mark))
    })
}

/// Returns the numbers of new lines that request nothing: documentation strings, and the lines of commands that only look
/// different.
pub(super) fn passed_over(file: &ChangedText) -> BTreeSet<usize> {
    let new = file.new_lines().map(|line| line.number);
    let kept: BTreeSet<usize> = match file.role {
        FileRole::Code => code_lines(&file.is).map(|line| line.number).collect(),
        FileRole::Script => ChangedCommands::of(file).new.iter().flat_map(|it| it.first..=it.last).collect(),
        FileRole::Read | FileRole::Beside => return BTreeSet::new(),
    };
    new.filter(|number| !kept.contains(number)).collect()
}

/// Returns the keys and values of a program, in keyword arguments, constants, maps and calls.
fn pairs(text: &str) -> impl Iterator<Item = Pair<'_>> {
    code_lines(text).filter(|line| !line.text.contains("DataLoader")).flat_map(|line| {
        let found = PAIRS.captures_iter(line.text).chain(CALLS.captures_iter(line.text));
        let pair = |it: regex::Captures<'_>| Some((it.get(1)?.range(), it.get(2)?.range()));
        let ranges: Vec<_> = found.filter_map(pair).collect();
        ranges.into_iter().filter_map(move |(key, value)| {
            Some(Pair { line: line.number, key: line.text.get(key)?, value: line.text.get(value)? })
        })
    })
}

/// Returns an expression without quotes and spaces, so that its format does not matter.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '"' | '\'' | '`') && !c.is_whitespace()).collect()
}

/// Returns true if a name means an amount of machines or pods, or the times at which they run.
fn is_amount(key: &str) -> bool {
    // `minReplicas` and `MIN_REPLICAS` have the same words.
    let key = snake_case(key);
    let words: Vec<&str> = key.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let is_limit = has(&["min", "max", "desired", "pool", "cluster", "fleet"]) && has(&["size", "count"]);
    !has(&OTHERS) && (has(&AMOUNTS) || is_limit || words == ["count"])
}

/// Returns true if the last name in an expression is this word: `config.COUNT` ends with `COUNT`.
fn ends_with_word(text: &str, word: &str) -> bool {
    text.trim_end_matches([')', ']', '"', '\''])
        .strip_suffix(word)
        .is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

static_regex!(static IMPORT: Regex = r#"^\s*(?:import|from|use|using|const|let|var|require|\w*\s*")"#);
static_regex!(
/// A device with its amount, in a map of a program.
static DEVICE: Regex = r#"["'](?:[a-z0-9-]+\.)+[a-z]+/(?:gpu|mig-[\w.]+|[vx]?gpu[\w.-]*|gaudi|tpu|neuron\w*)["'][\])]?\s*(?:[:=,]\s*[*&]?(?:[\w.]+\(\s*)*["']?[\w.]*|$)"#);
static_regex!(
/// A device whose amount is on the next line.
static KEY_ALONE: Regex = r#"/(?:gpu|mig-|tpu|neuron)[\w.-]*["']\]?\s*[:=,(]\s*$"#);
static_regex!(
/// A parameter that requests accelerators.
static PARAMETER: Regex = r#"(?i)\b(?:gpus?_per_\w+|num_gpus?|n_gpus|gpu_count|gpus?|slurm_gres|gres|accelerator_?(?:count|type)|hardware|use_gpu|tpus?)["']?\s*[=:]\s*(?:["'][^"']+["']|[1-9]\d*|True)"#);
static_regex!(
/// A string that is a value, or a member of an enumeration of machine families.
static WORDS: Regex = r#""([\w.:!-]{2,40})"(?:[^:]|$)|'([\w.:!-]{2,40})'(?:[^:]|$)|\bInstanceClass\.(\w+)"#);
static_regex!(static PAIRS: Regex = r#"([A-Za-z_][\w.-]*)["']?\s*(?::\s*[A-Za-z][\w\[\]|. ]*=|:?=|:)\s*("[^"]*"|'[^']*'|[^\s,;{}()=]+(?:\([\w."'-]*\))?)"#);
static_regex!(
/// A call with a number.
static CALLS: Regex = r#"\.([A-Za-z_]\w*)\(\s*(["']?\d+["']?)\s*\)"#);
static_regex!(static ASSIGNED: Regex = r#"^\s*(?:(?:export|local|readonly|declare|ENV|ARG|set|-)\s+)*["']?([A-Za-z_]\w*)["']?\s*(?:[:?]?=|:\s)"#);
static_regex!(
/// Programs that create machines or jobs.
static CLOUDS: Regex = r"\b(?:gcloud|aws|az|oci|doctl|ibmcloud|eksctl|sbatch|srun|salloc|sky|replicate|modal|runpodctl|vastai|ray|databricks|curl|http|lambda|linode-cli|hcloud|openstack|aliyun|tccli|yc|fly|flyctl|dstack|anyscale|beam|cerebrium|kubectl|oc|helm|beaker|xpk|ngc)\s");
static_regex!(
/// Variables with arguments that Terraform adds to its command line.
static ARGUMENTS: Regex = r"\b(?:TF|TG|TERRAGRUNT_TF)_CLI_ARGS(?:_\w+)?\b");
static_regex!(
/// A call of AWS that creates machines or changes their number, as EventBridge and Step Functions write it. Starting and
/// stopping machines changes no number.
static SDK_CALL: Regex = r"(?i)\baws-sdk:(?:autoscaling|applicationautoscaling|ec2|eks|batch|sagemaker|emr):(?:run|create|submit|request|batchput|put|set|update|modify|register)[a-z]*(?:instance|fleet|group|capacity|job|endpoint|environment|cluster|target|action)[a-z]*");
static_regex!(
/// An option that requests accelerators.
static ACCELERATOR_FLAG: Regex = r#"(--(?:[a-z-]*(?:accelerator|gpu|gres|hardware)[a-z-]*)[= ]+["']?[\w.:=,-]*\d[\w.:=,-]*|\bhardware\W{1,6}(?:gpu|[abhlt]\d)[\w-]*|"gpus?[\w]*\\?"\s*:\s*\\?"?[\w]+)"#);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_told_from_other_numbers() {
        for name in
            ["instance_count", "InitialInstanceCount", "NODES", "min_replica_count", "maxSize", "schedule", "count"]
        {
            assert!(is_amount(name), "{name}");
        }
        for name in ["batch_size", "EPOCHS", "instance_name", "timeout", "max_length", "node_selector", "retry_count"] {
            assert!(!is_amount(name), "{name}");
        }
    }

    #[test]
    fn pairs_are_found_in_every_language() {
        for (text, key, value) in [
            ("f(instance_count=3, x=1)", "instance_count", "3"),
            ("COUNT: int = 3", "COUNT", "3"),
            ("n := 3", "n", "3"),
            ("  replicas: 3,", "replicas", "3"),
            ("\"MinSize\": \"3\"", "MinSize", "\"3\""),
            ("a.setReplicas(3)", "setReplicas", "3"),
            ("dag = DAG(\"a\", schedule=\"@daily\")", "schedule", "\"@daily\""),
            ("f(n=int(3))", "n", "int(3)"),
        ] {
            let found: Vec<(&str, &str)> = pairs(text).map(|it| (it.key, it.value)).collect();
            assert!(found.contains(&(key, value)), "{text}: {found:?}");
        }
        assert_eq!(pairs("# a=1\n\"\"\"b=2\nc=3\n\"\"\"\nd=4\n").map(|it| it.key).collect::<Vec<_>>(), ["d"]);
    }
}
