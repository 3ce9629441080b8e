//! Packs: directories with rules, settings and prices that a platform team provides to many repositories. They are
//! part of the repository. Only `gpulint rules vendor` fetches them.

mod content;
mod copy;
mod fetch;
mod lock;

use std::collections::{BTreeMap, BTreeSet};

use super::prices;
use super::settings;
use super::settings::refused;
use crate::catalog::Catalog;
use crate::cli::Failure;
use crate::cli::io::place::WorkingTree;
use crate::config::{self, Config, Rule as RuleConfig, setting};
use crate::diagnostic::{Diagnostic, Level};
use crate::rules::{self, PackName, PageText};
use crate::source::{SourceFiles, Span, file_name};
pub(in crate::cli) use copy::Copies;

/// The name of a pack's price file.
const PRICES: &str = "prices.csv";

/// A configured pack.
pub(in crate::cli) struct LoadedPack {
    /// The pack's directory in the tree.
    path: String,
    /// Whether the pack is a copy of another repository's files.
    is_copy: bool,
    /// The position of the setting that names the pack.
    span: Span,
    /// The settings of the pack.
    pub(in crate::cli) config: Config,
    pub(in crate::cli) pages: Vec<PageText>,
}

impl LoadedPack {
    pub(in crate::cli) fn path(&self) -> &str {
        &self.path
    }

    /// The rules that the repository cannot change or suppress.
    pub(in crate::cli) fn fixed_rules(&self) -> impl Iterator<Item = &str> {
        self.config.rules().into_iter().filter(is_fixed).map(|rule| rule.name)
    }

    /// Whether a file belongs to a copied pack.
    pub(in crate::cli) fn brings(&self, file: &str) -> bool {
        self.is_copy && file.strip_prefix(self.path.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Returns the configured packs, in the order of the settings.
pub(in crate::cli) fn load(
    sources: &SourceFiles,
    config: &Config,
    place: &WorkingTree,
) -> Result<Vec<LoadedPack>, Failure> {
    let refuse = |wrong: &[Diagnostic]| refused(sources, &place.paths(), wrong, "the packs have errors");
    let copies = Copies::configured(sources, config).map_err(|wrong| refuse(&[wrong]))?;
    let wrong: Vec<Diagnostic> = copies.all.iter().filter_map(|copy| copies.judge(copy, sources).err()).collect();
    if !wrong.is_empty() {
        return Err(refuse(&wrong));
    }
    let mut copies = copies.all.iter();
    let mut packs = Vec::new();
    for named in config.packs() {
        let copy = named.origin.and_then(|_| copies.next());
        let Some(path) = copy.map(|copy| copy.path.as_str()).or(named.path) else { continue };
        let entries = sources.tree().list(path);
        if entries.is_empty() {
            let message = format!("`{}` contains no pack", place.paths().show(path));
            let wrong = Diagnostic::new(Level::Error, message, Some(named.span)).with_help(
                "set the path to a directory of the repository with rule files, a gpulint.toml or a prices.csv",
            );
            return Err(refuse(&[wrong]));
        }
        let has = |name: &str| entries.iter().any(|entry| !entry.is_directory && entry.name == name);
        let settings_file = format!("{path}/{}", config::FILE_NAME);
        let settings_file = has(config::FILE_NAME).then_some(settings_file);
        let config = settings::load(sources, settings_file.as_deref(), place)?;
        let wrong = without_effect(&config);
        if !wrong.is_empty() {
            return Err(refuse(&wrong));
        }
        let mut pages = settings::pages_in(sources, path, place)?;
        let pack = name_of(path, &config);
        let undetermined = settings::level_without_result(&config);
        for page in &mut pages {
            (page.pack, page.undetermined) = (Some(pack.clone()), undetermined);
        }
        packs.push(LoadedPack { path: path.to_owned(), is_copy: copy.is_some(), span: named.span, config, pages });
    }
    Ok(packs)
}

/// Returns the name of a pack: its directory and its version.
fn name_of(path: &str, config: &Config) -> PackName {
    let name = file_name(path);
    let version = config.text(setting!("version")).map(|(version, _)| format!(" {version}")).unwrap_or_default();
    let pages = config.text(setting!("rules-url")).map(|(pages, _)| pages.to_owned());
    PackName { name: format!("{name}{version}"), pages }
}

/// Whether the repository cannot change a rule. A rule that must not be suppressed must not be changed, either,
/// because other parameters could disable it.
fn is_fixed(rule: &RuleConfig<'_>) -> bool {
    rule.forbid == Some(true) || rule.ignorable == Some(false)
}

/// Refuses settings in a pack that do not concern rules. These belong to the repository.
fn without_effect(config: &Config) -> Vec<Diagnostic> {
    let refuse = |(path, entry): (String, &config::ConfigEntry)| {
        Diagnostic::new(Level::Error, format!("a pack cannot set `{path}`"), Some(entry.key)).with_help(
            "packs can set only rules, labels, tiers, approvals, budgets, limits and `fail-on-examples`; set everything else in the repository that uses the pack",
        )
    };
    config.refused_in_packs().map(refuse).collect()
}

/// Adds the prices of packs. Those of the first pack have priority.
pub(in crate::cli) fn prices(
    catalog: Catalog,
    sources: &SourceFiles,
    packs: &[LoadedPack],
    place: &WorkingTree,
) -> Result<Catalog, Failure> {
    packs.iter().rev().try_fold(catalog, |catalog, pack| {
        let path = format!("{}/{PRICES}", pack.path);
        match sources.open(&path) {
            Ok(file) => prices::lay_over(catalog, &place.paths().show(&path), &sources.text(file), None),
            Err(_) => Ok(catalog),
        }
    })
}

/// Merges the rule settings of packs and the repository. Forbidden changes have no effect and are reported.
pub(in crate::cli) fn add(packs: &[LoadedPack], own: &Config, into: &mut rules::RuleSettings) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    // A pack that forbids changes has priority, whatever the order of packs in the repository.
    let mut fixed_by: BTreeMap<&str, &LoadedPack> = BTreeMap::new();
    for pack in packs {
        for rule in pack.config.rules().into_iter().filter(is_fixed) {
            if let Some(first) = fixed_by.get(rule.name) {
                wrong.push(forbidden(first, rule.name, rule.span));
                continue;
            }
            fixed_by.insert(rule.name, pack);
            into.forced.insert(rule.name.to_owned());
            wrong.extend(relaxed(pack, rule.name, own));
            into.rules.insert(rule.name.to_owned(), settings::overridden(&rule));
        }
    }
    for pack in packs {
        wrong.extend(not_to_be_set(pack, own));
        wrong.extend(pack.config.rules().iter().flat_map(|rule| keep_parameters(pack, rule, own, into)));
        for rule in pack.config.rules().into_iter().filter(|rule| !is_fixed(rule)) {
            if let Some(first) = fixed_by.get(rule.name) {
                wrong.push(forbidden(first, rule.name, rule.span));
                continue;
            }
            let of_pack = settings::overridden(&rule);
            let known = into.rules.entry(rule.name.to_owned()).or_default();
            known.span = known.span.or(of_pack.span);
            if known.level.is_none() && known.note_until.is_none() {
                (known.level, known.note_until) = (of_pack.level, of_pack.note_until);
            }
            known.undetermined = known.undetermined.or(of_pack.undetermined);
            let named: BTreeSet<String> = known.parameters.iter().map(|(name, ..)| name.clone()).collect();
            known.parameters.extend(of_pack.parameters.into_iter().filter(|(name, ..)| !named.contains(name)));
        }
        add_rule_settings(pack, into);
    }
    wrong
}

/// Merges labels, tiers, amounts and budgets. The repository has priority, except for rules that the pack forbids to
/// change.
fn add_rule_settings(pack: &LoadedPack, into: &mut rules::RuleSettings) {
    let of_pack = settings::rule_settings(&pack.config);
    let fixed: Vec<&str> = pack.fixed_rules().collect();
    let lay = |rule: &str, known: &mut BTreeMap<String, Vec<String>>, given: BTreeMap<String, Vec<String>>| {
        for (name, values) in given {
            if fixed.contains(&rule) || !known.contains_key(&name) {
                known.insert(name, values);
            }
        }
    };
    lay("unknown-label-value", &mut into.label_values, of_pack.label_values);
    lay("tier-violation", &mut into.tiers, of_pack.tiers);
    let missing = of_pack.required_labels.into_iter().filter(|label| !into.required_labels.contains(label));
    let missing: Vec<String> = missing.collect();
    into.required_labels.extend(missing);
    into.removed.extend(of_pack.removed);
    into.budgets.extend(of_pack.budgets);
    into.limits.extend(of_pack.limits);
    let is_kept = fixed.contains(&"needs-approval");
    lay_over(&mut into.approvals_above_usd, of_pack.approvals_above_usd, is_kept);
    lay_over(&mut into.approvals_above_accelerators, of_pack.approvals_above_accelerators, is_kept);
    lay_over(&mut into.approves_up_to_usd, of_pack.approves_up_to_usd, is_kept);
    lay_over(&mut into.approving_label, of_pack.approving_label, is_kept);
    lay_over(&mut into.approvers, of_pack.approvers, is_kept);
    if into.reviewers.is_empty() || is_kept && !of_pack.reviewers.is_empty() {
        into.reviewers = of_pack.reviewers;
    }
    let missing = of_pack.approvals_accelerators.into_iter().filter(|it| !into.approvals_accelerators.contains(it));
    let missing: Vec<String> = missing.collect();
    into.approvals_accelerators.extend(missing);
    for layer in &mut into.layers {
        layer.rules.retain(|name, _| !fixed.contains(&name.as_str()));
        if fixed.contains(&"unknown-label-value") {
            layer.label_values.retain(|name, _| !pack.config.names(setting!("labels.values"), name));
        }
        if fixed.contains(&"tier-violation") {
            layer.tiers.retain(|name, _| !pack.config.names(setting!("tiers"), name));
        }
        if fixed.contains(&"needs-approval") {
            layer.approvals_above_usd = None;
        }
        // Labels that a pack requires are always required.
        if let Some(required) = &mut layer.required_labels {
            let missing = pack.config.texts(setting!("labels.required")).iter().map(|(label, _)| label);
            let missing: Vec<String> = missing.filter(|label| !required.contains(label)).cloned().collect();
            required.extend(missing);
        }
    }
}

/// Uses the value of a pack if the repository has none, or if the repository cannot change it.
fn lay_over<T>(own: &mut Option<T>, of_pack: Option<T>, is_kept: bool) {
    if own.is_none() || is_kept && of_pack.is_some() {
        *own = of_pack;
    }
}

/// Keeps parameters that a pack forbids to change, and reports settings of the repository that change them.
fn keep_parameters(
    pack: &LoadedPack,
    rule: &RuleConfig<'_>,
    own: &Config,
    into: &mut rules::RuleSettings,
) -> Vec<Diagnostic> {
    let kept = |name: &str| rule.forbidden_parameters.iter().any(|it| it == name);
    if rule.forbidden_parameters.is_empty() || is_fixed(rule) {
        return Vec::new();
    }
    let layers = own.layers();
    let all = std::iter::once(own).chain(layers.iter().map(|layer| &layer.config)).flat_map(Config::rules);
    let set = all.filter(|it| it.name == rule.name).flat_map(|it| it.parameters);
    let told = set.filter(|(name, _)| kept(name)).map(|(name, entry)| {
        let what = format!("{}.{name}", rule.name);
        forbidden(pack, &what, entry.key)
    });
    let told = told.collect();
    if let Some(known) = into.rules.get_mut(rule.name) {
        known.parameters.retain(|(name, ..)| !kept(name));
    }
    for layer in &mut into.layers {
        if let Some(known) = layer.rules.get_mut(rule.name) {
            known.parameters.retain(|(name, ..)| !kept(name));
        }
    }
    told
}

/// Reports settings of the repository about a rule that a pack forbids to change.
fn relaxed(pack: &LoadedPack, name: &str, own: &Config) -> Vec<Diagnostic> {
    let layers = own.layers();
    let all = || std::iter::once(own).chain(layers.iter().map(|layer| &layer.config));
    let set = all().flat_map(Config::rules).filter(|rule| rule.name == name).map(|rule| rule.span);
    let ignored = all()
        .flat_map(|config| config.texts(setting!("ignore")))
        .filter(|(ignored, _)| ignored == name)
        .map(|(_, span)| *span);
    set.chain(ignored).map(|span| forbidden(pack, name, span)).collect()
}

fn forbidden(pack: &LoadedPack, name: &str, span: Span) -> Diagnostic {
    let message = format!("the pack forbids changes to `{name}`");
    let mut diagnostic = Diagnostic::new(Level::Error, message, Some(span));
    diagnostic
        .notes
        .push((Some(pack.span), format!("`{}` sets `forbid`, `forbid-parameters` or `ignorable = false`", pack.path)));
    diagnostic.with_help("remove this setting, or ask the owners of the pack")
}

/// Whether a path is the setting or a part of it, such as `prices.discount.aws` or `exclude[0]`.
fn is_at(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Reports settings of the repository that a pack forbids.
fn not_to_be_set(pack: &LoadedPack, own: &Config) -> Vec<Diagnostic> {
    let kept = pack.config.texts(setting!("forbid-settings"));
    let layers = own.layers();
    let all = std::iter::once(own).chain(layers.iter().map(|layer| &layer.config)).flat_map(Config::entries);
    let is_kept = |path: &str| kept.iter().any(|(name, _)| is_at(path, name));
    let refuse = |(path, entry): (String, &config::ConfigEntry)| {
        let mut diagnostic =
            Diagnostic::new(Level::Error, format!("the pack forbids the setting `{path}`"), Some(entry.key));
        diagnostic.notes.push((Some(pack.span), format!("`{}` lists it in `forbid-settings`", pack.path)));
        diagnostic.with_help("remove this setting, or ask the owners of the pack")
    };
    all.filter(|(path, _)| is_kept(path)).map(refuse).collect()
}
