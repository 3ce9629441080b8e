//! The rules and the prices that apply: built-in ones, those of packs, and custom ones, as the settings and the
//! command line choose them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::packs::{self, LoadedPack};
use super::{names, organization, prices, settings};
use crate::catalog::Catalog;
use crate::cli::Failure;
use crate::cli::args::{InputArguments, Selection};
use crate::cli::io::place::WorkingTree;
use crate::config::{Config, SettingKey, key, setting};
use crate::diagnostic::{Diagnostic, Level};
use crate::rules::{KnownNames, PageText, Rules};
use crate::source::{Date, SourceFiles, Span};

/// Returns the catalog of `--prices`, overlaid with the prices of packs and with custom prices and models.
pub(in crate::cli) fn catalog(
    input: &InputArguments,
    sources: &SourceFiles,
    config: &Config,
    place: &WorkingTree,
    packs: &[LoadedPack],
) -> Result<Catalog, Failure> {
    let catalog = priced(input, sources, config, place, packs)?;
    let unknown = names::unknown(config, &catalog);
    if !unknown.is_empty() {
        return Err(settings::refused(sources, &place.paths(), &unknown, "the settings contain unknown names"));
    }
    let catalog = with_configs(catalog, sources, config, place)?;
    let Some((shown, text)) = file_of(setting!("models.file"), sources, config, place)? else { return Ok(catalog) };
    let with_models = catalog.with_models(&shown, &text);
    with_models.map_err(|error| Failure::new(error.to_string()).with_help(settings::MODEL_COLUMNS))
}

/// Adds the models of `models.configs`.
fn with_configs(
    mut catalog: Catalog,
    sources: &SourceFiles,
    config: &Config,
    place: &WorkingTree,
) -> Result<Catalog, Failure> {
    for (name, entry) in config.below(setting!("models.configs")) {
        let Some(path) = entry.value.text() else { continue };
        let shown = place.paths().show(path);
        let file = sources.open(path).map_err(|error| {
            Failure::new(format!("`{shown}` cannot be read: {error}"))
                .with_help("correct `models.configs` in gpulint.toml")
        })?;
        catalog = catalog
            .with_model_config(name, &shown, &sources.text(file))
            .map_err(|error| Failure::new(error.to_string()).with_help(settings::MODEL_CONFIG))?;
    }
    Ok(catalog)
}

fn priced(
    input: &InputArguments,
    sources: &SourceFiles,
    config: &Config,
    place: &WorkingTree,
    packs: &[LoadedPack],
) -> Result<Catalog, Failure> {
    let (catalog, has_own) = prices::catalog(input.prices.as_deref())?;
    if has_own {
        return Ok(catalog);
    }
    let catalog = packs::prices(catalog, sources, packs, place)?;
    let Some((shown, text)) = file_of(setting!("prices.file"), sources, config, place)? else { return Ok(catalog) };
    let rate = config.number(setting!("prices.usd_per_unit"));
    prices::lay_over(catalog, &shown, &text, rate)
}

/// Returns the file of a setting: its path for messages, and its content.
fn file_of(
    setting: SettingKey<key::Text>,
    sources: &SourceFiles,
    config: &Config,
    place: &WorkingTree,
) -> Result<Option<(String, Arc<str>)>, Failure> {
    let Some((path, _)) = config.text(setting) else { return Ok(None) };
    let shown = place.paths().show(path);
    match sources.open(path) {
        Ok(file) => Ok(Some((shown, sources.text(file)))),
        Err(error) => Err(Failure::new(format!("`{shown}` cannot be read: {error}"))
            .with_help(format!("correct `{}` in gpulint.toml", setting.path()))),
    }
}

/// Returns the built-in and the custom rules, with their settings. Rule files that
/// do not load are reported, and the others are used.
pub(in crate::cli) fn rules(
    sources: &SourceFiles,
    config: &Config,
    asked: &Selection,
    place: &WorkingTree,
    packs: &[LoadedPack],
    today: Date,
    names: impl FnOnce() -> KnownNames,
) -> Result<(Rules, Vec<Diagnostic>, Vec<PageText>), Failure> {
    let mut rule_settings = settings::rule_settings(config);
    rule_settings.change_labels = asked.change_labels.iter().flat_map(|it| it.0.iter().cloned()).collect();
    rule_settings.is_pull_request = asked.compares && (asked.change_labels.is_some() || asked.approved_by.is_some());
    rule_settings.profile = asked.profile.unwrap_or(rule_settings.profile);
    if !asked.select.is_empty() {
        rule_settings.select = settings::chosen(&asked.select, &[]);
    }
    if !asked.ignore.is_empty() {
        rule_settings.ignore = settings::chosen(&asked.ignore, &[]);
    }
    for layer in &mut rule_settings.layers {
        layer.profile = layer.profile.filter(|_| asked.profile.is_none());
        layer.select.take_if(|_| !asked.select.is_empty());
        layer.ignore.take_if(|_| !asked.ignore.is_empty());
    }
    let relaxed = packs::add(packs, config, &mut rule_settings);
    let reviews = asked.approved_by.iter().flat_map(|it| &it.0);
    let may_approve = |name: &&String| rule_settings.reviewers.iter().any(|it| it.eq_ignore_ascii_case(name));
    rule_settings.approved_by = reviews.filter(may_approve).cloned().collect();
    rule_settings.stage(today);
    for budget in &mut rule_settings.budgets {
        budget.place =
            budget.span.map(|span| place.paths().locate(sources, span)).map(|at| format!("{}:{}", at.path, at.line));
    }
    organization::add_use(&mut rule_settings.budgets, asked, config, packs, today)?;
    let mut pages: Vec<PageText> = packs.iter().flat_map(|pack| pack.pages.iter().cloned()).collect();
    let of_packs = pages.len();
    for (directory, span) in config.texts(setting!("rules-dir")) {
        pages.extend(pages_of(sources, directory, Some(*span), place)?);
    }
    for directory in &asked.rules {
        pages.extend(pages_of(sources, &place.named_file(directory)?, None, place)?);
    }
    let undetermined = settings::level_without_result(config);
    pages.iter_mut().skip(of_packs).for_each(|page| page.undetermined = undetermined);
    // A directory can be in the settings and on the command line.
    let mut known = BTreeSet::new();
    pages.retain(|page| known.insert(page.path.clone()));
    rule_settings.names = (!pages.is_empty()).then(|| Arc::new(names()));
    let (rules, mut wrong) = Rules::load(&pages, rule_settings);
    wrong.extend(relaxed);
    Ok((rules, wrong, pages))
}

/// Returns the rule files of a directory.
fn pages_of(
    sources: &SourceFiles,
    directory: &str,
    from: Option<Span>,
    place: &WorkingTree,
) -> Result<Vec<PageText>, Failure> {
    let pages = settings::pages_in(sources, directory, place)?;
    if pages.is_empty() {
        let shown = place.paths().show(directory);
        let folder = if shown.is_empty() { ".".to_owned() } else { shown };
        let message = format!("no rule files in `{folder}`");
        let wrong = Diagnostic::new(Level::Error, message, from)
            .with_help("run `gpulint rules new NAME` to write a rule file, a Markdown file with the name of its rule");
        return Err(settings::refused(sources, &place.paths(), &[wrong], "the rules cannot be used"));
    }
    Ok(pages)
}
