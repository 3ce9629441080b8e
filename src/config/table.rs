//! What may stand in `gpulint.toml`. One table: reading, `config schema`, `config init` and `config show` follow it.

use crate::diagnostic::Level;

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    Text,
    Texts,
    /// A path, relative to the file that it stands in; kept relative to the tree.
    Path,
    Paths,
    /// A form of paths of what is checked, in which `*` stands for anything; relative to the file that it stands in.
    Pattern,
    /// One or several of them.
    Patterns,
    Number,
    Flag,
    Date,
    OneOf(&'static [&'static str]),
    /// A parameter that a rule declares; the rule checks it.
    Parameter,
    /// The same, or a table of these.
    RuleParameter,
}

impl SettingKind {
    pub fn name(self) -> String {
        match self {
            SettingKind::Text | SettingKind::Path | SettingKind::Pattern => "a string".to_owned(),
            SettingKind::Texts | SettingKind::Paths => "a list of strings".to_owned(),
            SettingKind::Patterns => "a string or a list of strings".to_owned(),
            SettingKind::Number => "a number".to_owned(),
            SettingKind::Flag => "true or false".to_owned(),
            SettingKind::Date => "a date such as 2027-03-31".to_owned(),
            SettingKind::OneOf(names) => format!("one of {}", names.join(", ")),
            SettingKind::Parameter => "a string, a number, true, false or a list of strings".to_owned(),
            SettingKind::RuleParameter => {
                "a string, a number, true, false, a list of strings or a table of these".to_owned()
            }
        }
    }
}

pub struct Setting {
    /// `rules.*.level`: `*` is any name; `suppress[].rules`: in each of several tables.
    pub path: &'static str,
    pub kind: SettingKind,
    pub meaning: &'static str,
    /// What is used where it is not set, as TOML; none where nothing is.
    pub default: Option<&'static str>,
}

const PURCHASES: SettingKind = SettingKind::OneOf(&["on-demand", "spot", "reserved-1y", "reserved-3y"]);
const LEVELS: SettingKind = SettingKind::OneOf(&[Level::Note.name(), Level::Warning.name(), Level::Error.name()]);
const CONFIDENCES: SettingKind = SettingKind::OneOf(&["low", "medium", "high"]);
/// What a label may declare, by the names that `gpulint.dev/…` has for it.
const DECLARED: SettingKind = SettingKind::OneOf(&[
    "model",
    "params",
    "precision",
    "cache-precision",
    "task",
    "context",
    "batch-size",
    "tensor-parallel",
    "pipeline-parallel",
    "data-parallel",
    "method",
    "sharding",
    "optimizer",
    "purpose",
    "schedule",
    "tokens-per-day",
    "input-tokens",
    "output-tokens",
    "ms-per-token",
    "requests-per-day",
    "seats",
    "private-data",
    "train-tokens",
]);
const UNEXPLAINED: SettingKind = SettingKind::OneOf(&["fail", "tell"]);
const PROFILES: SettingKind = SettingKind::OneOf(&["essential", "standard", "all"]);

macro_rules! settings {
    ($($path:literal $kind:expr, $default:expr, $meaning:literal;)+) => {
        pub const SETTINGS: &[Setting] =
            &[$(Setting { path: $path, kind: $kind, meaning: $meaning, default: $default }),+];
    };
}

settings! {
    "required-version" SettingKind::Text, None, "versions of gpulint that may read this file, as in \">=0.1\"";
    "extend" SettingKind::Path, None, "another file of settings that this one adds to";
    "fail-on" LEVELS, Some("\"warning\""), "lowest level of a finding that makes a run fail";
    "fail-confidence" CONFIDENCES, Some("\"medium\""), "lowest confidence of a finding that makes a run fail";
    "fail-on-unread" SettingKind::Flag, Some("false"), "a run fails where something that matters was not judged";
    "fail-on-examples" SettingKind::Flag, Some("false"), "findings in examples and tests make a run fail as others do";
    "unexplained" UNEXPLAINED, Some("\"fail\""), "what a change does whose effect is not known: fail as growth does, or tell it and pass";
    "min-delta-usd" SettingKind::Number, Some("1000"), "dollars a month that make a finding worse, however small a share they are; a tenth does anyway";
    "min-confidence" CONFIDENCES, Some("\"low\""), "lowest confidence of a finding that is shown";
    "profile" PROFILES, Some("\"standard\""), "the rules to start from";
    "select" SettingKind::Texts, Some("[]"), "rules and groups to add to the profile";
    "ignore" SettingKind::Texts, Some("[]"), "rules and groups to leave out";
    "rules-dir" SettingKind::Paths, Some("[]"), "directories with pages of your own rules";
    "require-reason" SettingKind::Flag, Some("false"), "a suppression without a reason suppresses nothing";
    "require-until" SettingKind::Flag, Some("false"), "a suppression without a last day suppresses nothing";
    "longest-suppression-days" SettingKind::Number, None, "a suppression whose last day is farther off suppresses nothing";
    "forbid-settings" SettingKind::Texts, Some("[]"), "in a pack: settings that the repository below cannot make, as in \"exclude\" or \"prices.discount\"";
    "version" SettingKind::Text, None, "in a pack: its version, told with what its rules find";
    "rules-url" SettingKind::Text, None, "in a pack: where people read about its rules; `{rule}` stands for the name of one";
    "removed-rules" SettingKind::Texts, Some("[]"), "in a pack: names of rules that are gone; settings and comments that still say them are no mistake";
    "baseline" SettingKind::Path, Some("\".gpulint-baseline.json\""), "the file of findings that were accepted at once";
    "render" SettingKind::Flag, Some("false"), "render charts with helm, and kustomizations with kustomize or kubectl, instead of by ourselves";
    "values" SettingKind::Texts, Some("[]"), "files of values to render charts with; \"*\": once more with each of them";
    "exclude" SettingKind::Patterns, Some("[]"), "directories that nobody deploys: they are read, and told beside the bill";
    "runs[].paths" SettingKind::Patterns, None, "the Terraform roots that this run is one of; what is found for them counts no more";
    "runs[].name" SettingKind::Text, None, "what it is called; without it: by its files";
    "runs[].var-files" SettingKind::Paths, None, "its files of variables, the strongest last";
    "runs[].workspace" SettingKind::Text, None, "its workspace";
    "runs[].modules-dir" SettingKind::Path, None, "where its downloaded modules lie";
    "runs[].values" SettingKind::Paths, None, "the files of values that its chart is rendered with";
    "runs[].vars.*" SettingKind::Parameter, None, "the value of a variable";
    "charts.kubernetes" SettingKind::Text, Some("\"1.34\""), "the version of Kubernetes that charts are told";
    "charts.api-versions" SettingKind::Texts, Some("[]"), "what the cluster knows beside Kubernetes itself, as in \"monitoring.coreos.com/v1\"";
    "defaults.provider" SettingKind::Text, None, "cloud of machines where the text names none; then marked as assumed";
    "defaults.region" SettingKind::Text, None, "region where the text names none; then marked as assumed";
    "defaults.accelerator" SettingKind::Text, None, "accelerator of pods that name none; then marked as assumed";
    "labels.required" SettingKind::Texts, Some("[]"), "labels that each resource must carry; empty: at least one that attributes cost";
    "labels.values.*" SettingKind::Texts, None, "the values that a label may have";
    "labels.declare.*" DECLARED, None, "what a label of your own says by hand, as in \"acme.example/llm\" = \"model\"";
    "models.file" SettingKind::Path, None, "a CSV file with your own models, in the columns of `pricing/models.csv`";
    "models.configs.*" SettingKind::Path, None, "the config.json of a model of your own, as in \"acme/legal-9b\" = \"models/legal/config.json\"";
    "rules.*.level" LEVELS, None, "the level of a rule's findings";
    "rules.*.ignorable" SettingKind::Flag, Some("true"), "false: comments, annotations and the baseline cannot silence the rule; in a pack, as `forbid`";
    "rules.*.note-until" SettingKind::Date, None, "up to that day, and with it, the rule only notes";
    "rules.*.forbid" SettingKind::Flag, Some("false"), "in a pack, true: the repository below cannot change or ignore the rule";
    "rules.*.forbid-parameters" SettingKind::Texts, Some("[]"), "in a pack: parameters of the rule that the repository below cannot change";
    "rules.*.*" SettingKind::RuleParameter, None, "a parameter of the rule";
    "packs[].path" SettingKind::Path, None, "a directory with pages, and a gpulint.toml and a prices.csv of its own; for a pack from git, where its copy lies";
    "packs[].git" SettingKind::Text, None, "the repository that it comes from: https://, ssh://, file:// or user@host:path";
    "packs[].commit" SettingKind::Text, None, "its full commit, 40 digits";
    "packs[].sha256" SettingKind::Text, None, "the sum of what it holds; `gpulint rules vendor` tells it";
    "packs[].directory" SettingKind::Text, None, "the directory of that repository, where the pack is not all of it";
    "paths[].match" SettingKind::Patterns, None, "the files that what follows is for, `*` stands for anything; a key of theirs replaces that of the top";
    "paths[].profile" PROFILES, None, "the rules to start from, there";
    "paths[].select" SettingKind::Texts, None, "rules and groups to add to the profile, there";
    "paths[].ignore" SettingKind::Texts, None, "rules and groups to leave out, there";
    "paths[].labels.required" SettingKind::Texts, None, "labels that each resource must carry, there";
    "paths[].labels.values.*" SettingKind::Texts, None, "the values that a label may have, there";
    "paths[].tiers.*" SettingKind::Texts, None, "the accelerators that a purpose may use, there";
    "paths[].approvals.above_monthly_usd" SettingKind::Number, None, "a change above it must be justified, there";
    "paths[].rules.*.level" LEVELS, None, "the level of a rule's findings, there";
    "paths[].rules.*.*" SettingKind::RuleParameter, None, "a parameter of the rule, there";
    "tiers.*" SettingKind::Texts, None, "the accelerators that a purpose may use";
    "budgets[].team" SettingKind::Text, None, "the team whose resources are added up";
    "budgets[].project" SettingKind::Text, None, "the project whose resources are added up";
    "budgets[].environment" SettingKind::Text, None, "the environment whose resources are added up";
    "budgets[].label" SettingKind::Text, None, "key=value: resources with this label are added up";
    "budgets[].monthly_usd" SettingKind::Number, None, "dollars a month that they may cost";
    "limits[].team" SettingKind::Text, None, "the team whose resources are counted; nothing of the next three either: all resources";
    "limits[].project" SettingKind::Text, None, "the project whose resources are counted";
    "limits[].environment" SettingKind::Text, None, "the environment whose resources are counted";
    "limits[].label" SettingKind::Text, None, "key=value: resources with this label are counted";
    "limits[].accelerators" SettingKind::Number, None, "accelerators that all of them may have together";
    "limits[].machines" SettingKind::Number, None, "machines that they may rent together";
    "limits[].resource_accelerators" SettingKind::Number, None, "accelerators that each of them may have";
    "limits[].resource_machines" SettingKind::Number, None, "machines that each of them may rent";
    "approvals.above_monthly_usd" SettingKind::Number, None, "a change above it must be justified";
    "approvals.label" SettingKind::Text, None, "the label on a pull request that approves what it brings";
    "prices.file" SettingKind::Path, None, "a CSV file with your own prices";
    "prices.usd_per_unit" SettingKind::Number, Some("1"), "dollars for one unit of the currency of `prices.file`, as in 1.08";
    "prices.currency" SettingKind::Text, None, "the currency in which amounts are shown, as in \"EUR\"; JSON stays in dollars";
    "prices.units_per_usd" SettingKind::Number, None, "what a dollar is in that currency, as in 0.92; it is never fetched";
    "prices.discount.*" SettingKind::Number, None, "the share by which a provider's list prices are lowered, 0 to 1";
    "contracts[].provider" SettingKind::Text, None, "the cloud that agreed to it; `*` stands for anything, as in the next three";
    "contracts[].machine" SettingKind::Text, None, "the machines that it is for, as in \"p5.*\"";
    "contracts[].accelerator" SettingKind::Text, None, "the accelerators that it is for, as in \"H100*\"";
    "contracts[].region" SettingKind::Text, None, "the regions that it is for";
    "contracts[].purchase" PURCHASES, Some("\"on-demand\""), "the way of buying whose price it is";
    "contracts[].discount" SettingKind::Number, None, "the share by which that price is lowered, 0 to 1";
    "contracts[].usd_per_gpu_hour" SettingKind::Number, None, "dollars for one accelerator and hour, instead of a discount";
    "contracts[].commitment_years" SettingKind::Number, None, "1 or 3: a savings plan, reserved instances or committed use for so long, at its list price";
    "hardware[].accelerator" SettingKind::Text, None, "accelerators of your own, for the provider \"on-prem\"";
    "hardware[].usd_per_gpu_hour" SettingKind::Number, None, "dollars for one accelerator and hour, instead of what follows";
    "hardware[].purchase_usd" SettingKind::Number, None, "what a machine cost";
    "hardware[].gpus" SettingKind::Number, None, "accelerators of a machine";
    "hardware[].years" SettingKind::Number, None, "years over which its cost is spread";
    "hardware[].watts" SettingKind::Number, Some("0"), "power of the machine at work";
    "hardware[].usd_per_kwh" SettingKind::Number, Some("0"), "dollars for a kilowatt-hour";
    "hardware[].staff_usd_per_year" SettingKind::Number, Some("0"), "a machine's share of those who look after it";
    "hardware[].usd_per_month" SettingKind::Number, Some("0"), "what else is paid for a machine each month: its place in a rack, support";
    "hardware[].utilization" SettingKind::Number, Some("1"), "share of the hours in which it works, 0 to 1";
    "usage[].address" SettingKind::Text, None, "the resources that it is about; `*` stands for anything";
    "usage[].label" SettingKind::Text, None, "key=value: the resources that it is about";
    "usage[].hours_per_month" SettingKind::Number, None, "hours of a month that they run";
    "usage[].runs_per_month" SettingKind::Number, None, "runs of a month, instead of hours";
    "usage[].hours_per_run" SettingKind::Number, None, "hours of a run; the time limit of the text where not set";
    "traffic[].address" SettingKind::Text, None, "the servers that it is about; `*` stands for anything";
    "traffic[].label" SettingKind::Text, None, "key=value: the servers that it is about";
    "traffic[].tokens_per_day" SettingKind::Number, None, "tokens that all copies of such a server write on a usual day together";
    "traffic[].requests_per_day" SettingKind::Number, None, "requests, pictures or other answers of a usual day";
    "traffic[].input_tokens" SettingKind::Number, None, "tokens of a usual prompt";
    "traffic[].output_tokens" SettingKind::Number, None, "tokens of a usual answer";
    "traffic[].ms_per_token" SettingKind::Number, None, "the most milliseconds between two tokens of an answer";
    "measured.files" SettingKind::Paths, Some("[\"gpulint-usage.csv\"]"), "files of measured use, as `gpulint usage` writes them";
    "measured.max-age-days" SettingKind::Number, Some("30"), "days after which a measurement is not relied on any more";
    "measured.min-days" SettingKind::Number, Some("7"), "days that a measurement needs at least";
    "measured.clusters.*" SettingKind::Text, None, "the cluster or account that files are deployed to: a form of paths, in which `*` stands for anything = its name in the file of measured use";
    "paid.files" SettingKind::Paths, Some("[\"gpulint-paid.csv\"]"), "files of what was paid, as `gpulint usage bill` writes them";
    "paid.complete" SettingKind::Texts, Some("[]"), "providers of which everything that is paid for stands here, as in [\"aws\"]: machines that stand nowhere are found";
    "bounds.file-mib" SettingKind::Number, Some("64"), "MiB of a file that is read, up to 1024; a larger one is left out, which is told";
    "bounds.nesting" SettingKind::Number, Some("200"), "blocks and brackets inside each other that are read, up to 200; in YAML up to 128";
    "bounds.evaluation-steps" SettingKind::Number, Some("6000000"), "steps that evaluating one Terraform root may take; what is left after them is unknown";
    "bounds.yaml-nodes" SettingKind::Number, Some("2000000"), "values of a YAML document when its aliases are followed";
    "bounds.seconds" SettingKind::Number, Some("600"), "seconds that a run may take; then it ends with exit code 2";
    "bounds.render-seconds" SettingKind::Number, Some("20"), "seconds that helm, kustomize or kubectl may take for one chart or kustomization";
    "suppress[].rules" SettingKind::Texts, None, "the rules that are silenced";
    "suppress[].address" SettingKind::Text, None, "the resource that they are silenced for; `*` stands for anything";
    "suppress[].path" SettingKind::Pattern, None, "the file that they are silenced in; `*` stands for anything";
    "suppress[].until" SettingKind::Date, None, "the last day on which this holds";
    "suppress[].reason" SettingKind::Text, None, "why; it is shown in every report";
}

/// Lists of tables, which add up where one file extends another.
pub(super) fn lists() -> impl Iterator<Item = &'static str> {
    let mut before = "";
    SETTINGS.iter().filter_map(move |setting| {
        let (list, _) = setting.path.split_once("[].")?;
        (list != std::mem::replace(&mut before, list)).then_some(list)
    })
}

/// What may follow after the keys so far.
pub(super) enum Next {
    Value(&'static Setting),
    /// A table; the names are those that it may hold, `*` for any.
    Table(Vec<&'static str>),
    Tables,
    Nothing,
}

/// `keys` as in `["rules", "on-demand-batch", "level"]`; a number stands for one of several tables.
pub(super) fn next(keys: &[&str]) -> Next {
    let mut names = Vec::new();
    let mut several = false;
    let mut found: Option<&'static Setting> = None;
    for setting in SETTINGS {
        let mut parts = parts(setting.path);
        // A parameter is what no setting of the same length names.
        if !keys.iter().all(|key| parts.next().is_some_and(|part| part == "*" || part == *key || is_index(part, key))) {
            continue;
        }
        match parts.next() {
            Some("[]") => several = true,
            Some(name) if !names.contains(&name) => names.push(name),
            Some(_) => {}
            None => found = found.or(Some(setting)),
        }
    }
    match found {
        Some(setting) => Next::Value(setting),
        None if several => Next::Tables,
        None if names.is_empty() => Next::Nothing,
        None => Next::Table(names),
    }
}

fn is_index(part: &str, key: &str) -> bool {
    part == "[]" && key.bytes().all(|byte| byte.is_ascii_digit())
}

/// `budgets[].team` → `budgets`, `[]`, `team`
pub(super) fn parts(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('.').flat_map(|part| match part.strip_suffix("[]") {
        Some(name) => vec![name, "[]"],
        None => vec![part],
    })
}
