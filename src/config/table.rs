//! Defines every setting of `gpulint.toml` in one table. Reading, `config schema`, `config init` and `config show` use
//! this table.

use crate::diagnostic::Level;

/// The kind of value of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    Text,
    Texts,
    /// A path, written relative to its settings file and stored relative to the tree.
    Path,
    Paths,
    /// A pattern of checked paths in which `*` matches anything, relative to its settings file.
    Pattern,
    /// One pattern or a list of patterns.
    Patterns,
    Number,
    Flag,
    Date,
    OneOf(&'static [&'static str]),
    /// A parameter that a rule declares. The rule checks its type.
    Parameter,
    /// A parameter of a rule, or a table of parameters.
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

pub struct SettingDescription {
    /// The path of the setting. In `rules.*.level`, `*` is any name. In `suppress[].rules`, `[]` is each table of the
    /// list.
    pub path: &'static str,
    pub kind: SettingKind,
    pub meaning: &'static str,
    /// The default as TOML, or `None` for a setting without one.
    pub default: Option<&'static str>,
    /// An example as TOML, for a setting without a default that differs from other settings of its kind. If the path
    /// ends with `*`, the example begins with a name: `aws = 0.12`.
    pub(super) example: Option<&'static str>,
    /// Whether a pack can set it.
    pub(super) is_for_packs: bool,
}

const PURCHASES: SettingKind = SettingKind::OneOf(&["on-demand", "spot", "reserved-1y", "reserved-3y"]);
const LEVELS: SettingKind = SettingKind::OneOf(&[Level::Note.name(), Level::Warning.name(), Level::Error.name()]);
const LEVELS_OR_OFF: SettingKind =
    SettingKind::OneOf(&["off", Level::Note.name(), Level::Warning.name(), Level::Error.name()]);
const CONFIDENCES: SettingKind = SettingKind::OneOf(&["low", "medium", "high"]);
/// The facts that a label can declare, by their names in `gpulint.dev/…` annotations.
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
    "image-gib",
    "cold-start-seconds",
    "starts-per-month",
    "checkpoint-minutes",
    "interruptions-per-month",
]);
const UNEXPLAINED: SettingKind = SettingKind::OneOf(&["fail", "tell"]);
const SCOPES: SettingKind = SettingKind::OneOf(&["repository", "organization"]);
const PROFILES: SettingKind = SettingKind::OneOf(&["essential", "standard", "all"]);

/// A row begins with `pack` if a pack can set it, and ends with an example if the setting needs one.
macro_rules! settings {
    (@pack) => { false };
    (@pack pack) => { true };
    ($($($pack:ident)? $path:literal $kind:expr, $default:expr, $meaning:literal $(, $example:literal)?;)+) => {
        pub const SETTINGS: &[SettingDescription] = &[$(SettingDescription {
            path: $path,
            kind: $kind,
            meaning: $meaning,
            default: $default,
            example: [$(Some($example),)? None][0],
            is_for_packs: settings!(@pack $($pack)?),
        }),+];
    };
}

settings! {
    pack "required-version" SettingKind::Text, None, "versions of gpulint that can read this file, such as \">=0.1\"", "\">=0.1\"";
    pack "extend" SettingKind::Path, None, "another settings file that this file extends";
    "fail-on" LEVELS, Some("\"warning\""), "lowest level of findings that fail the check";
    "fail-confidence" CONFIDENCES, Some("\"medium\""), "lowest confidence of findings that fail the check";
    "fail-on-unread" SettingKind::Flag, Some("false"), "fail if a relevant file was not read or a value is unknown";
    pack "fail-on-examples" SettingKind::Flag, Some("false"), "findings in examples and tests fail the check, too";
    "unexplained" UNEXPLAINED, Some("\"fail\""), "effect of a change whose cost effect is unknown: `fail` fails the check, `tell` only reports it";
    "min-delta-usd" SettingKind::Number, Some("1000"), "a finding is worse if its cost rises by this many dollars a month, or by more than 10%";
    "min-confidence" CONFIDENCES, Some("\"low\""), "lowest confidence of findings that gpulint shows";
    "profile" PROFILES, Some("\"standard\""), "the set of rules to start from";
    "select" SettingKind::Texts, Some("[]"), "rules and groups to add to the profile";
    "ignore" SettingKind::Texts, Some("[]"), "rules and groups to leave out";
    "rules-dir" SettingKind::Paths, Some("[]"), "directories with custom rules";
    "entries" SettingKind::Paths, Some("[]"), "files with entries for your own modules, Terraform types and custom resources";
    pack "require-reason" SettingKind::Flag, Some("false"), "ignore suppressions without a reason";
    pack "require-until" SettingKind::Flag, Some("false"), "ignore suppressions without a last day";
    pack "longest-suppression-days" SettingKind::Number, None, "ignore suppressions whose last day is more than this many days ahead";
    pack "forbid-settings" SettingKind::Texts, Some("[]"), "in a pack: settings that repositories which use the pack cannot change, such as \"exclude\" or \"prices.discount\"";
    pack "version" SettingKind::Text, None, "in a pack: its version, which reports show with its findings";
    pack "undetermined" LEVELS_OR_OFF, Some("\"off\""), "the same as `rules.*.undetermined`, for every rule file of this pack or repository";
    pack "rules-url" SettingKind::Text, None, "in a pack: address of the documentation of its rules; `{rule}` is replaced by the rule's name";
    pack "removed-rules" SettingKind::Texts, Some("[]"), "in a pack: names of former rules, which settings and comments can still contain";
    "baseline" SettingKind::Path, Some("\".gpulint-baseline.json\""), "the baseline: a file of accepted findings";
    "render" SettingKind::Flag, Some("false"), "render charts with helm, and kustomizations with kustomize or kubectl, instead of the built-in renderer";
    "values" SettingKind::Texts, Some("[]"), "values files to render charts with; \"*\" renders each chart once more with each values file";
    "exclude" SettingKind::Patterns, Some("[]"), "directories to leave out of the total; reports list their cost separately";
    "runs[].paths" SettingKind::Patterns, None, "Terraform roots that this deployment applies; entries here replace the deployments that gpulint finds for these roots", "[\"infra\"]";
    "runs[].name" SettingKind::Text, None, "name of the deployment in reports [default: the names of its files]", "\"search in production\"";
    "runs[].var-files" SettingKind::Paths, None, "variable files of the deployment; later files override earlier ones", "[\"infra/projects/search.tfvars\"]";
    "runs[].workspace" SettingKind::Text, None, "Terraform workspace of the deployment", "\"prod\"";
    "runs[].modules-dir" SettingKind::Path, None, "directory with the downloaded Terraform modules of the deployment", "\".terraform/modules\"";
    "runs[].values" SettingKind::Paths, None, "values files with which the deployment renders its chart";
    "runs[].vars.*" SettingKind::Parameter, None, "value of a Terraform variable", "replicas = 200";
    "charts.kubernetes" SettingKind::Text, Some("\"1.34\""), "Kubernetes version for which charts are rendered";
    "charts.api-versions" SettingKind::Texts, Some("[]"), "API versions of the cluster in addition to those of Kubernetes, such as \"monitoring.coreos.com/v1\"";
    "defaults.provider" SettingKind::Text, None, "cloud of machines for which the files set none; reports mark it as assumed", "\"aws\"";
    "defaults.region" SettingKind::Text, None, "region of machines for which the files set none; reports mark it as assumed", "\"us-east-1\"";
    "defaults.accelerator" SettingKind::Text, None, "accelerator of pods for which the files set none; reports mark it as assumed", "\"A100-80GB\"";
    pack "labels.required" SettingKind::Texts, Some("[]"), "labels that each resource must have; if empty, each resource needs at least one label that attributes its cost";
    pack "labels.values.*" SettingKind::Texts, None, "the values that a label can have", "environment = [\"production\", \"staging\", \"development\"]";
    pack "labels.declare.*" DECLARED, None, "the fact that a label of yours declares, such as \"acme.example/llm\" = \"model\"", "llm = \"train-tokens\"";
    "models.file" SettingKind::Path, None, "CSV file with your own models, with the columns of `pricing/models.csv`", "\"models.csv\"";
    "models.configs.*" SettingKind::Path, None, "config.json of a model of your own, such as \"acme/legal-9b\" = \"models/legal/config.json\"", "\"acme/legal-9b\" = \"models/legal/config.json\"";
    pack "rules.*.level" LEVELS, None, "level of the rule's findings";
    pack "rules.*.undetermined" LEVELS_OR_OFF, Some("\"off\""), "level of a finding if the rule cannot be evaluated, because a value is unknown; `off` only lists a skipped check; a level that fails the check also sets `fail-on-unread`";
    pack "rules.*.ignorable" SettingKind::Flag, Some("true"), "false: comments, annotations and the baseline cannot suppress the rule; in a pack, use `forbid`";
    pack "rules.*.note-until" SettingKind::Date, None, "until the end of this day, the rule's findings are notes";
    pack "rules.*.forbid" SettingKind::Flag, Some("false"), "in a pack, true: repositories that use the pack cannot change or suppress the rule";
    pack "rules.*.forbid-parameters" SettingKind::Texts, Some("[]"), "in a pack: parameters of the rule that repositories which use the pack cannot change";
    pack "rules.*.*" SettingKind::RuleParameter, None, "value of a parameter of the rule", "min_monthly_usd = 200";
    "packs[].path" SettingKind::Path, None, "directory of a pack: rule files, a gpulint.toml and a prices.csv; for a pack from git, the directory of its copy", "\"platform\"";
    "packs[].git" SettingKind::Text, None, "repository of a pack: https://, ssh://, file:// or user@host:path", "\"https://git.example.org/platform/gpu-rules.git\"";
    "packs[].commit" SettingKind::Text, None, "full commit id of the pack, 40 digits", "\"0123456789012345678901234567890123456789\"";
    "packs[].sha256" SettingKind::Text, None, "checksum of the pack's content; `gpulint rules vendor` prints it", "\"0123456701234567012345670123456701234567012345670123456701234567\"";
    "packs[].directory" SettingKind::Text, None, "directory of the pack in its repository, if the pack is not the whole repository", "\"rules\"";
    "paths[].match" SettingKind::Patterns, None, "files to which this table applies; `*` matches anything; for these files, a key here replaces the same key outside `[[paths]]`", "\"envs/prod/**\"";
    "paths[].profile" PROFILES, None, "the set of rules to start from, for the matching files";
    "paths[].select" SettingKind::Texts, None, "rules and groups to add to the profile, for the matching files";
    "paths[].ignore" SettingKind::Texts, None, "rules and groups to leave out, for the matching files";
    "paths[].labels.required" SettingKind::Texts, None, "labels that each resource of the matching files must have";
    "paths[].labels.values.*" SettingKind::Texts, None, "the values that a label can have in the matching files", "environment = [\"production\"]";
    "paths[].tiers.*" SettingKind::Texts, None, "the accelerators that a purpose can use in the matching files", "interactive = [\"T4\"]";
    "paths[].approvals.above_monthly_usd" SettingKind::Number, None, "dollars per month above which a resource of the matching files needs approval";
    "paths[].rules.*.level" LEVELS, None, "level of the rule's findings in the matching files";
    "paths[].rules.*.undetermined" LEVELS_OR_OFF, None, "level of a finding in the matching files if the rule cannot be evaluated";
    "paths[].rules.*.*" SettingKind::RuleParameter, None, "value of a parameter of the rule for the matching files", "min_monthly_usd = 200";
    pack "tiers.*" SettingKind::Texts, None, "the accelerators that a purpose can use", "interactive = [\"T4\", \"L4\", \"A10G\"]";
    pack "budgets[].team" SettingKind::Text, None, "the team whose resources count toward the budget";
    pack "budgets[].project" SettingKind::Text, None, "the project whose resources count toward the budget";
    pack "budgets[].environment" SettingKind::Text, None, "the environment whose resources count toward the budget";
    pack "budgets[].label" SettingKind::Text, None, "key=value: resources with this label count toward the budget", "\"cost-center=4711\"";
    pack "budgets[].monthly_usd" SettingKind::Number, None, "the budget in dollars per month";
    pack "budgets[].quarterly_usd" SettingKind::Number, None, "the budget in dollars per quarter, instead of `monthly_usd`", "90_000";
    pack "budgets[].yearly_usd" SettingKind::Number, None, "the budget in dollars per year, instead of `monthly_usd`", "360_000";
    pack "budgets[].until" SettingKind::Date, None, "last day of the budget; it still counts afterwards, and reports say that it has ended";
    pack "budgets[].owner" SettingKind::Text, None, "who decides about the budget; messages name the owner", "\"@acme/search-leads\"";
    pack "budgets[].scope" SCOPES, Some("\"repository\""), "`organization`: the budget covers all repositories together, see `--organization`";
    pack "organization.key" SettingKind::Text, None, "public key of the file that `--organization` names, 64 hexadecimal digits; without a key, gpulint checks no signature", "\"0123456701234567012345670123456701234567012345670123456701234567\"";
    pack "limits[].team" SettingKind::Text, None, "the team whose resources count; without team, project, environment and label, all resources count";
    pack "limits[].project" SettingKind::Text, None, "the project whose resources count";
    pack "limits[].environment" SettingKind::Text, None, "the environment whose resources count";
    pack "limits[].label" SettingKind::Text, None, "key=value: resources with this label count", "\"cost-center=4711\"";
    pack "limits[].accelerators" SettingKind::Number, None, "maximum number of accelerators of these resources together", "64";
    pack "limits[].machines" SettingKind::Number, None, "maximum number of provisioned machines of these resources together", "16";
    pack "limits[].resource_accelerators" SettingKind::Number, None, "maximum number of accelerators of each resource", "8";
    pack "limits[].resource_machines" SettingKind::Number, None, "maximum number of provisioned machines of each resource", "8";
    pack "approvals.above_monthly_usd" SettingKind::Number, None, "dollars per month above which a resource needs approval";
    pack "approvals.label" SettingKind::Text, None, "label that approves a pull request and the resources that it adds", "\"gpu-approved\"";
    pack "approvals.above_accelerators" SettingKind::Number, None, "accelerators above which a resource needs approval", "16";
    pack "approvals.accelerators" SettingKind::Texts, Some("[]"), "accelerators that need approval at any number and cost", "[\"H100-80GB\", \"B200\"]";
    pack "approvals.up_to_monthly_usd" SettingKind::Number, None, "dollars per month up to which the label or a review of a pull request approves a resource; a higher amount needs an entry in `[[approved]]`", "50_000";
    pack "approvals.reviewers" SettingKind::Texts, Some("[]"), "users and teams of the code host whose review of the newest commit approves what a pull request adds", "[\"alice\", \"@acme/gpu-approvers\"]";
    pack "approvals.by" SettingKind::Text, None, "who may approve; messages name them", "\"@acme/gpu-approvers\"";
    "approved[].address" SettingKind::Text, None, "the address of an approved resource, without patterns", "'module.train.aws_instance.node[0]'";
    "approved[].path" SettingKind::Pattern, None, "file of the resource, if several have the address; `*` matches anything", "\"envs/prod/*\"";
    "approved[].up_to_monthly_usd" SettingKind::Number, None, "maximum dollars per month of the resource that are approved", "60_000";
    "approved[].until" SettingKind::Date, None, "last day of the approval";
    "approved[].by" SettingKind::Text, None, "who approved", "\"@acme/gpu-approvers\"";
    "approved[].reason" SettingKind::Text, None, "reason or ticket", "\"FIN-123\"";
    "prices.file" SettingKind::Path, None, "CSV file with custom prices", "\"contract-prices.csv\"";
    "prices.usd_per_unit" SettingKind::Number, Some("1"), "dollars per unit of the currency of `prices.file`, such as 1.08";
    "prices.currency" SettingKind::Text, None, "currency of the amounts in reports, such as \"EUR\"; JSON amounts stay in dollars", "\"EUR\"";
    "prices.units_per_usd" SettingKind::Number, None, "units of that currency per dollar, such as 0.92; gpulint never fetches exchange rates", "0.92";
    "prices.discount.*" SettingKind::Number, None, "discount on a provider's list prices, as a share from 0 to 1", "aws = 0.12";
    "contracts[].provider" SettingKind::Text, None, "cloud of the contract; `*` matches anything, also in `machine`, `accelerator` and `region`", "\"aws\"";
    "contracts[].machine" SettingKind::Text, None, "machine types of the contract, such as \"p5.*\"", "\"p5.*\"";
    "contracts[].accelerator" SettingKind::Text, None, "accelerators of the contract, such as \"H100*\"", "\"H100*\"";
    "contracts[].region" SettingKind::Text, None, "regions of the contract", "\"us-*\"";
    "contracts[].purchase" PURCHASES, Some("\"on-demand\""), "the way of buying to which the contract applies";
    "contracts[].discount" SettingKind::Number, None, "discount on the price of that way of buying, as a share from 0 to 1", "0.12";
    "contracts[].usd_per_gpu_hour" SettingKind::Number, None, "dollars per accelerator and hour, instead of a discount", "2.5";
    "contracts[].commitment_years" SettingKind::Number, None, "years of a commitment at its list price, 1 or 3: a savings plan, reserved instances or committed use", "1";
    "hardware[].accelerator" SettingKind::Text, None, "accelerator of your own hardware, for the provider \"on-prem\"", "\"H100*\"";
    "hardware[].usd_per_gpu_hour" SettingKind::Number, None, "dollars per accelerator and hour, instead of all keys below", "2.5";
    "hardware[].purchase_usd" SettingKind::Number, None, "purchase price of a machine in dollars", "250_000";
    "hardware[].gpus" SettingKind::Number, None, "number of accelerators in a machine", "8";
    "hardware[].years" SettingKind::Number, None, "years over which the purchase price is spread", "4";
    "hardware[].watts" SettingKind::Number, Some("0"), "power of a working machine in watts";
    "hardware[].usd_per_kwh" SettingKind::Number, Some("0"), "electricity price in dollars per kilowatt-hour";
    "hardware[].staff_usd_per_year" SettingKind::Number, Some("0"), "staff cost per machine in dollars per year";
    "hardware[].usd_per_month" SettingKind::Number, Some("0"), "other cost per machine in dollars per month, such as rack space and support";
    "hardware[].utilization" SettingKind::Number, Some("1"), "share of the hours in which a machine works, 0 to 1";
    "usage[].address" SettingKind::Text, None, "address of the resources that the entry describes; `*` matches anything", "\"Job/**\"";
    "usage[].label" SettingKind::Text, None, "key=value: the entry describes resources with this label", "\"schedule=office-hours\"";
    "usage[].hours_per_month" SettingKind::Number, None, "hours per month in which the resources run", "220";
    "usage[].runs_per_month" SettingKind::Number, None, "job runs per month, instead of `hours_per_month`", "20";
    "usage[].hours_per_run" SettingKind::Number, None, "hours of one job run [default: the time limit that the files set]", "1.5";
    "usage[].starts_per_month" SettingKind::Number, None, "starts of all replicas together per month", "60";
    "usage[].cold_start_seconds" SettingKind::Number, None, "seconds from the start of a container until it works", "300";
    "usage[].checkpoint_minutes" SettingKind::Number, None, "minutes between two checkpoints of training", "30";
    "usage[].interruptions_per_month" SettingKind::Number, None, "interruptions of each machine per month", "0.3";
    "traffic[].address" SettingKind::Text, None, "address of the servers that the entry describes; `*` matches anything", "\"Deployment/chat/*\"";
    "traffic[].label" SettingKind::Text, None, "key=value: the entry describes servers with this label", "\"app=chat\"";
    "traffic[].tokens_per_day" SettingKind::Number, None, "tokens that all replicas of a server generate together on a usual day", "5_000_000";
    "traffic[].requests_per_day" SettingKind::Number, None, "requests, images or other answers on a usual day", "20_000";
    "traffic[].input_tokens" SettingKind::Number, None, "tokens of a usual prompt", "1024";
    "traffic[].output_tokens" SettingKind::Number, None, "tokens of a usual answer", "256";
    "traffic[].ttft_ms" SettingKind::Number, None, "maximum milliseconds from a request to the first token of its answer, on average", "500";
    "traffic[].ms_per_token" SettingKind::Number, None, "maximum milliseconds between two tokens of an answer", "40";
    "traffic[].requests_per_second" SettingKind::Number, None, "requests per second that all replicas of a server must answer together", "20";
    "measured.files" SettingKind::Paths, Some("[\"gpulint-usage.csv\"]"), "files with usage metrics, written by `gpulint usage fetch` or `gpulint usage import`";
    "measured.max-age-days" SettingKind::Number, Some("30"), "maximum age in days of the measurements that gpulint uses";
    "measured.min-days" SettingKind::Number, Some("7"), "minimum length of a measurement in days";
    "measured.clusters.*" SettingKind::Text, None, "path pattern = the cluster or account in the usage metrics to which matching files are deployed; `*` matches anything", "\"overlays/prod/*\" = \"prod\"";
    "paid.files" SettingKind::Paths, Some("[\"gpulint-paid.csv\"]"), "files with billed cost, written by `gpulint usage bill`";
    "paid.complete" SettingKind::Texts, Some("[]"), "providers whose machines are all defined in these files, such as [\"aws\"]; gpulint reports billed machines that no file defines";
    "bounds.file-mib" SettingKind::Number, Some("64"), "size of the largest file that gpulint reads, in MiB, up to 1024; reports list larger files";
    "bounds.nesting" SettingKind::Number, Some("200"), "deepest nesting of blocks and brackets that gpulint reads, up to 200; in YAML up to 128";
    "bounds.evaluation-steps" SettingKind::Number, Some("6000000"), "maximum steps to evaluate one Terraform root or one deployment of a template; values that need more are unknown";
    "bounds.yaml-nodes" SettingKind::Number, Some("2000000"), "maximum number of values in a YAML document after its aliases are expanded";
    "bounds.seconds" SettingKind::Number, Some("600"), "seconds after which gpulint stops with exit code 2";
    "bounds.render-seconds" SettingKind::Number, Some("20"), "seconds that helm, kustomize or kubectl can take for one chart or kustomization";
    "suppress[].rules" SettingKind::Texts, None, "the rules to suppress", "[\"oversized-gpu\"]";
    "suppress[].address" SettingKind::Text, None, "resource for which the rules are suppressed; `*` matches anything", "'module.legacy.aws_instance.train[\"a\"]'";
    "suppress[].path" SettingKind::Pattern, None, "file in which the rules are suppressed; `*` matches anything", "\"legacy/**\"";
    "suppress[].until" SettingKind::Date, None, "last day of the suppression";
    "suppress[].reason" SettingKind::Text, None, "reason for the suppression, which every report shows", "\"reserved capacity\"";
}

/// Returns the names of the lists of tables. If one file extends another, their lists add up.
pub(super) fn lists() -> impl Iterator<Item = &'static str> {
    let mut before = "";
    SETTINGS.iter().filter_map(move |setting| {
        let (list, _) = setting.path.split_once("[].")?;
        (list != std::mem::replace(&mut before, list)).then_some(list)
    })
}

/// The kinds of item that can follow the keys so far.
pub(super) enum Next {
    Value(&'static SettingDescription),
    /// A table with the names of its keys; `*` is any name.
    Table(Vec<&'static str>),
    Tables,
    Nothing,
}

/// Returns what can follow keys such as `["rules", "on-demand-batch", "level"]`. A number is the index of a table in a
/// list.
pub(super) fn next(keys: &[&str]) -> Next {
    let mut names = Vec::new();
    let mut several = false;
    let mut found: Option<&'static SettingDescription> = None;
    for setting in SETTINGS {
        let mut parts = parts(setting.path);
        // A key that no setting names is a parameter of a rule.
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

/// Returns true if a pack can set the value with these keys.
pub(super) fn is_for_packs(keys: &[String]) -> bool {
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    matches!(next(&keys), Next::Value(setting) if setting.is_for_packs)
}

fn is_index(part: &str, key: &str) -> bool {
    part == "[]" && key.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits `budgets[].team` into `budgets`, `[]` and `team`.
pub(super) fn parts(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('.').flat_map(|part| match part.strip_suffix("[]") {
        Some(name) => vec![name, "[]"],
        None => vec![part],
    })
}
