//! Finds and reads the settings and the baseline.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::policy::PolicyTree;
use super::prices;
use crate::cli::Failure;
use crate::cli::args::InputArguments;
use crate::cli::io::failure::FailurePlace;
use crate::cli::io::output;
use crate::cli::io::place::{self, WorkingTree};
use crate::config::{self, Config, SettingKey, key, setting};
use crate::decide::Baseline;
use crate::diagnostic::{Diagnostic, Level};
use crate::measured::UsageOptions;
use crate::measured::paid::PaidOptions;
use crate::report::{self, ReportStyle, ShownPaths};
use crate::rules::{self, Override, PageText, ParameterValue, Profile};
use crate::source::{self, ReadError, SourceFiles, Span};

/// Returns the settings file: that of --config, or the nearest one up to the root of the repository.
pub(in crate::cli) fn find(
    input: &InputArguments,
    place: &WorkingTree,
    tree: &PolicyTree,
) -> Result<Option<String>, Failure> {
    if input.no_config {
        return Ok(None);
    }
    if let Some(file) = &input.config {
        return Ok(Some(tree.file(place.named_file(file)?)));
    }
    let mut found: Vec<(&Path, Option<String>)> = Vec::new();
    let here = [place.here.clone()];
    let named = if place.named.is_empty() { &here[..] } else { &place.named };
    for path in named {
        let file = nearest(path, place, tree);
        if let Some((other, before)) = found.first()
            && *before != file
        {
            let show = |file: &Option<String>| match file {
                Some(file) => format!("`{}`", place.paths().show(file)),
                None => "none".to_owned(),
            };
            let shown = |path: &Path| place.in_tree(path).map(|path| place.paths().show(&path)).unwrap_or_default();
            let (a, b) = (shown(other), shown(path));
            let message = format!(
                "the given paths have different settings files: {} applies to `{a}`, {} to `{b}`",
                show(before),
                show(&file)
            );
            return Err(
                Failure::new(message).with_help("check the paths separately, or pass one settings file with --config")
            );
        }
        found.push((path, file));
    }
    Ok(found.into_iter().next().and_then(|(_, file)| file))
}

fn nearest(path: &Path, place: &WorkingTree, tree: &PolicyTree) -> Option<String> {
    let directory = if path.is_dir() { path } else { path.parent()? };
    if tree.is_elsewhere() {
        return tree.nearest(&place.in_tree(directory)?);
    }
    let top = place::repository(directory)
        .or_else(|| place.allowed.iter().map(PathBuf::as_path).find(|it| directory.starts_with(it)))?;
    let inside = directory.ancestors().take_while(|ancestor| ancestor.starts_with(top));
    place.in_tree(&inside.map(|ancestor| ancestor.join(config::FILE_NAME)).find(|file| file.is_file())?)
}

/// Reads the settings file, and fails if it has errors.
pub(in crate::cli) fn load(sources: &SourceFiles, path: Option<&str>, place: &WorkingTree) -> Result<Config, Failure> {
    let Some(path) = path else { return Ok(Config::default()) };
    let (config, wrong) = config::load(sources, path, env!("CARGO_PKG_VERSION"));
    if wrong.is_empty() {
        return Ok(config);
    }
    let what = format!("`{}`", place.paths().show(path));
    Err(refused(sources, &place.paths(), &wrong, &what).with_help("run `gpulint config schema` to list every setting"))
}

/// Returns the default path of a file: next to the settings, or else at the root of the tree.
pub(in crate::cli) fn beside(name: &str, settings: Option<&str>, place: &WorkingTree, tree: &PolicyTree) -> String {
    let inside = |directory: &str| match directory {
        "" => name.to_owned(),
        directory => format!("{directory}/{name}"),
    };
    match settings {
        Some(settings) => inside(source::parent(settings)),
        None => {
            let top = place.allowed.first().and_then(|top| place.in_tree(top)).unwrap_or_default();
            tree.file(inside(&top))
        }
    }
}

/// Returns the default paths of usage metrics: next to the settings, or in a directory that contains the named paths.
pub(in crate::cli) fn places_of_usage(
    name: &str,
    beside: String,
    place: &WorkingTree,
    tree: &PolicyTree,
) -> Vec<String> {
    let mut places = vec![beside];
    for path in &place.named {
        let directory = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
        let mut inside = directory.and_then(|it| place.in_tree(it));
        while let Some(directory) = inside {
            let file = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
            let file = tree.file(file);
            // A hook names many files in few directories, so each directory is added once.
            if !places.contains(&file) {
                places.push(file);
            }
            inside = (!directory.is_empty()).then(|| source::parent(&directory).to_owned());
        }
    }
    places
}

/// Returns the existing files of usage metrics with their settings. A file that the settings name must exist.
pub(in crate::cli) fn measured(
    sources: &SourceFiles,
    config: &Config,
    usual: [Vec<String>; 2],
    place: &WorkingTree,
) -> Result<UsageOptions, Failure> {
    let [usual, usual_paid] = usual;
    let help = "correct `measured.files` in gpulint.toml, or write the file with `gpulint usage import`";
    let files = rows_of(sources, config.texts(setting!("measured.files")), usual, place, help)?;
    let help = "correct `paid.files` in gpulint.toml, or write the file with `gpulint usage bill`";
    let paid_files = rows_of(sources, config.texts(setting!("paid.files")), usual_paid, place, help)?;
    let options = usage_options(config);
    Ok(UsageOptions { files, paid: PaidOptions { files: paid_files, ..options.paid }, ..options })
}

/// Returns the settings for usage metrics with the default paths.
pub(in crate::cli) fn usage_options(config: &Config) -> UsageOptions {
    let clusters = config.below(setting!("measured.clusters"));
    let clusters = clusters.filter_map(|(form, entry)| Some((form.to_owned(), entry.value.text()?.to_owned())));
    let default = UsageOptions::default();
    UsageOptions {
        max_age_days: config.number(setting!("measured.max-age-days")).unwrap_or(default.max_age_days),
        min_days: config.number(setting!("measured.min-days")).unwrap_or(default.min_days),
        clusters: clusters.collect(),
        paid: PaidOptions { files: default.paid.files, ..paid(config) },
        files: default.files,
    }
}

/// Returns the settings for bills.
pub fn paid(config: &Config) -> PaidOptions {
    PaidOptions {
        files: Vec::new(),
        complete: config.texts(setting!("paid.complete")).iter().map(|(name, _)| name.clone()).collect(),
        currency: prices::currency(config),
    }
}

/// Returns the files that the settings name, which must exist, or else the first existing default file.
fn rows_of(
    sources: &SourceFiles,
    named: &[(String, Span)],
    usual: Vec<String>,
    place: &WorkingTree,
    help: &str,
) -> Result<Vec<String>, Failure> {
    if named.is_empty() {
        return Ok(usual.into_iter().find(|path| sources.open(path).is_ok()).into_iter().collect());
    }
    for (path, _) in named {
        let failed = |error: ReadError| {
            Failure::new(format!("`{}` cannot be read: {error}", place.paths().show(path))).with_help(help)
        };
        sources.open(path).map_err(failed)?;
    }
    Ok(named.iter().map(|(path, _)| path.clone()).collect())
}

/// Reads the baseline, if it exists.
pub(in crate::cli) fn baseline(sources: &SourceFiles, path: &str, place: &WorkingTree) -> Result<Baseline, Failure> {
    let failed = |why: String| {
        Failure::new(format!("the baseline `{}` is invalid: {why}", place.paths().show(path)))
            .with_help("remove the file, and run `gpulint baseline create` to write a new one")
    };
    match sources.open(path) {
        Ok(file) => Baseline::read(&sources.text(file)).map_err(failed),
        Err(ReadError::Missing) => Ok(Baseline::default()),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Returns the labels that declare a fact, from `labels.declare`.
pub(in crate::cli) fn declaring_labels(config: &Config) -> BTreeMap<String, String> {
    let declared = config.below(setting!("labels.declare"));
    declared.filter_map(|(label, entry)| Some((label.to_owned(), entry.value.text()?.to_owned()))).collect()
}

/// The help for an error in a CSV file of models.
pub(in crate::cli) const MODEL_COLUMNS: &str =
    "use the columns of gpulint's `pricing/models.csv`; `model_id` and `params_b` are required";

/// The help for an error in a model's config.json.
pub(in crate::cli) const MODEL_CONFIG: &str =
    "use the config.json that is published with the model's weights; add values that it lacks to `models.file`";

/// Returns the settings for rules.
pub fn rule_settings(config: &Config) -> rules::RuleSettings {
    rules::RuleSettings {
        forced: Default::default(),
        removed: config.texts(setting!("removed-rules")).iter().map(|(name, _)| name.clone()).collect(),
        profile: config.text(setting!("profile")).and_then(|(name, _)| Profile::from_name(name)).unwrap_or_default(),
        select: chosen(&[], config.texts(setting!("select"))),
        ignore: chosen(&[], config.texts(setting!("ignore"))),
        rules: config.rules().iter().map(|rule| (rule.name.to_owned(), overridden(rule))).collect(),
        required_labels: config.texts(setting!("labels.required")).iter().map(|(label, _)| label.clone()).collect(),
        label_values: config
            .below(setting!("labels.values"))
            .map(|(key, entry)| (key.to_owned(), entry.value.texts()))
            .collect(),
        tiers: config
            .below(setting!("tiers"))
            .map(|(purpose, entry)| (purpose.to_owned(), entry.value.texts()))
            .collect(),
        budgets: config.budgets().iter().map(budget).collect(),
        limits: config.limits().iter().map(limit).collect(),
        approvals_above_usd: config.number(setting!("approvals.above_monthly_usd")),
        approvals_above_accelerators: config.number(setting!("approvals.above_accelerators")),
        approvals_accelerators: config
            .texts(setting!("approvals.accelerators"))
            .iter()
            .map(|(name, _)| name.clone())
            .collect(),
        approvers: config.text(setting!("approvals.by")).map(|(by, _)| by.to_owned()),
        approved: config.approved().iter().map(approved).collect(),
        reviewers: config.texts(setting!("approvals.reviewers")).iter().map(|(name, _)| name.clone()).collect(),
        approved_by: Vec::new(),
        approves_up_to_usd: config.number(setting!("approvals.up_to_monthly_usd")),
        approving_label: config.text(setting!("approvals.label")).map(|(label, _)| label.to_owned()),
        change_labels: Vec::new(),
        is_pull_request: false,
        layers: config.layers().iter().map(layer).collect(),
        names: None,
    }
}

/// Returns the settings of a `[[paths]]` table, without defaults.
fn layer(it: &config::PathLayer<'_>) -> rules::PathSettings {
    let rules::RuleSettings {
        profile,
        select,
        ignore,
        rules,
        required_labels,
        label_values,
        tiers,
        approvals_above_usd,
        ..
    } = rule_settings(&it.config);
    let says = |key: SettingKey<key::Any>| it.config.get(key).is_some();
    rules::PathSettings {
        patterns: it.patterns.iter().map(|(pattern, _)| pattern.clone()).collect(),
        profile: says(setting!("profile")).then_some(profile),
        select: says(setting!("select")).then_some(select),
        ignore: says(setting!("ignore")).then_some(ignore),
        rules,
        required_labels: says(setting!("labels.required")).then_some(required_labels),
        label_values,
        tiers,
        approvals_above_usd,
    }
}

fn approved(it: &config::ApprovedSetting<'_>) -> rules::ApprovedResource {
    rules::ApprovedResource {
        address: it.address.to_owned(),
        path: it.path.map(str::to_owned),
        usd: it.usd,
        until: it.until,
    }
}

fn limit(it: &config::LimitSetting<'_>) -> rules::CountLimit {
    let (name, label) = whose(it.of);
    rules::CountLimit {
        name,
        label,
        accelerators: it.accelerators,
        machines: it.machines,
        resource_accelerators: it.resource_accelerators,
        resource_machines: it.resource_machines,
    }
}

fn budget(it: &config::BudgetSetting<'_>) -> rules::Budget {
    let (name, label) = whose(it.of);
    rules::Budget {
        name,
        label,
        usd: it.usd,
        months: it.months,
        until: it.until,
        owner: it.owner.map(str::to_owned),
        covers_organization: it.covers_organization,
        elsewhere: it.covers_organization.then(rules::UseElsewhere::unknown),
        span: Some(it.span),
        place: None,
    }
}

/// Returns the name of a group of resources for messages, and the label that selects them.
fn whose(of: Option<(&str, &str)>) -> (String, Option<(String, String)>) {
    match of {
        None => ("all of it".to_owned(), None),
        Some(("label", pair)) => {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (pair.to_owned(), Some((key.trim().to_owned(), value.trim().to_owned())))
        }
        Some((key, value)) => (format!("{key} {value}"), Some((key.to_owned(), value.to_owned()))),
    }
}

/// Returns the names of the command line, or else those of the settings.
pub(super) fn chosen(asked: &[String], configured: &[(String, Span)]) -> Vec<(String, Option<Span>)> {
    if asked.is_empty() {
        configured.iter().map(|(name, span)| (name.clone(), Some(*span))).collect()
    } else {
        asked.iter().map(|name| (name.clone(), None)).collect()
    }
}

pub(in crate::cli) fn overridden(rule: &config::Rule) -> Override {
    let parameter =
        |(name, entry): &(&str, &config::ConfigEntry)| ((*name).to_owned(), parameter(&entry.value), Some(entry.span));
    Override {
        span: Some(rule.span),
        level: rule.level,
        note_until: rule.note_until,
        undetermined: rule.undetermined,
        parameters: rule.parameters.iter().map(parameter).collect(),
    }
}

/// Returns the level of a finding if a rule file of these settings cannot be evaluated.
pub(in crate::cli) fn level_without_result(config: &Config) -> Option<Level> {
    config.text(setting!("undetermined")).and_then(|(name, _)| Level::from_name(name))
}

/// Converts a value into a parameter of a rule.
fn parameter(value: &config::SettingValue) -> ParameterValue {
    match value {
        config::SettingValue::Text(text) => ParameterValue::Text(text.clone()),
        config::SettingValue::Texts(_) => ParameterValue::Texts(value.texts()),
        config::SettingValue::Integer(n) => ParameterValue::Integer(*n),
        config::SettingValue::Number(n) => ParameterValue::Number(*n),
        config::SettingValue::Flag(flag) => ParameterValue::Flag(*flag),
        config::SettingValue::Date(date) => ParameterValue::Text(date.to_string()),
        config::SettingValue::Map(entries) => {
            ParameterValue::Map(entries.iter().map(|(key, value)| (key.clone(), parameter(value))).collect())
        }
    }
}

/// Returns the Markdown files of a directory, except README.md.
pub(in crate::cli) fn pages_in(
    sources: &SourceFiles,
    directory: &str,
    place: &WorkingTree,
) -> Result<Vec<PageText>, Failure> {
    let entries = sources.tree().list(directory);
    let is_page = |name: &str| name.ends_with(".md") && name != "README.md";
    let names = entries.into_iter().filter(|entry| !entry.is_directory && is_page(&entry.name));
    let mut pages = Vec::new();
    for entry in names {
        let path = if directory.is_empty() { entry.name } else { format!("{directory}/{}", entry.name) };
        let file = sources
            .open(&path)
            .map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", place.paths().show(&path))))?;
        pages.push(PageText { text: sources.text(file), path, file, pack: None, undetermined: None });
    }
    Ok(pages)
}

/// Returns the failure for errors in given files, with the lines in question.
pub(in crate::cli) fn refused(sources: &SourceFiles, paths: &ShownPaths, wrong: &[Diagnostic], what: &str) -> Failure {
    let style = ReportStyle { color: output::errors_in_color(), ..ReportStyle::default() };
    let count = if wrong.len() == 1 { "1 error".to_owned() } else { format!("{} errors", wrong.len()) };
    let place = |it: &Diagnostic| {
        let span = sources.origin(it.span?);
        let help = it.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
        let message = format!("{}{help}", it.message);
        Some(FailurePlace {
            path: sources.path(span.file),
            text: sources.text(span.file),
            range: span.range(),
            message,
        })
    };
    Failure::new(format!("{what}: {count}, listed above"))
        .with_details(report::diagnostics(sources, paths, wrong, style))
        .at(wrong.iter().filter_map(place).collect())
}
