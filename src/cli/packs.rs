//! Packs: directories with pages, settings for them and prices, that a platform team ships to many repositories. They lie
//! in the tree; nothing is fetched.

use std::collections::BTreeSet;

use super::place::Place;
use super::settings::{self, refused};
use super::{Failure, prices};
use crate::catalog::Catalog;
use crate::config::{self, Config};
use crate::diagnostic::{Diagnostic, Level};
use crate::rules::{self, PageText};
use crate::source::{Sources, Span};

/// Prices of a pack.
const PRICES: &str = "prices.csv";

/// A pack that is configured.
pub(super) struct Pack {
    /// Its directory in the tree.
    path: String,
    /// Where it is named.
    span: Span,
    /// What it says about its rules.
    pub(super) config: Config,
    pub(super) pages: Vec<PageText>,
}

/// The packs that a configuration names, in its order.
pub(super) fn load(sources: &Sources, config: &Config, place: &Place) -> Result<Vec<Pack>, Failure> {
    let mut packs = Vec::new();
    for (_, table) in config.tables("packs") {
        let Some((path, span)) = table.get("path").and_then(|entry| Some((entry.value.text()?, entry.span))) else {
            continue;
        };
        let entries = sources.tree().list(path);
        if entries.is_empty() {
            let message = format!("there is no pack in `{}`", place.paths().show(path));
            let wrong = Diagnostic::new(Level::Error, message, Some(span))
                .with_help("a pack is a directory of the repository with pages, a gpulint.toml or a prices.csv");
            return Err(refused(sources, &place.paths(), &[wrong], "the packs cannot be used"));
        }
        let has = |name: &str| entries.iter().any(|entry| !entry.is_directory && entry.name == name);
        let settings_file = format!("{path}/{}", config::FILE_NAME);
        let settings_file = has(config::FILE_NAME).then_some(settings_file);
        let config = settings::load(sources, settings_file.as_deref(), place)?;
        let pages = settings::pages_in(sources, path, place)?;
        packs.push(Pack { path: path.to_owned(), span, config, pages });
    }
    Ok(packs)
}

/// The prices of packs, the first named on top.
pub(super) fn prices(catalog: Catalog, sources: &Sources, packs: &[Pack], place: &Place) -> Result<Catalog, Failure> {
    packs.iter().rev().try_fold(catalog, |catalog, pack| {
        let path = format!("{}/{PRICES}", pack.path);
        match sources.open(&path) {
            Ok(file) => prices::lay_over(catalog, &place.paths().show(&path), &sources.text(file), 1.0),
            Err(_) => Ok(catalog),
        }
    })
}

/// Adds what packs say about rules to what the repository says; what a pack forbids to change stays, and is told.
pub(super) fn add(packs: &[Pack], own: &Config, into: &mut rules::Settings) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for pack in packs {
        for rule in pack.config.rules() {
            let of_pack = settings::overridden(&rule);
            let is_fixed = rule.forbid == Some(true);
            if is_fixed {
                into.forced.insert(rule.name.to_owned());
                wrong.extend(relaxed(pack, rule.name, own));
            }
            let known = into.rules.entry(rule.name.to_owned()).or_default();
            if is_fixed {
                *known = of_pack;
                continue;
            }
            known.span = known.span.or(of_pack.span);
            known.level = known.level.or(of_pack.level);
            let named: BTreeSet<String> = known.parameters.iter().map(|(name, ..)| name.clone()).collect();
            known.parameters.extend(of_pack.parameters.into_iter().filter(|(name, ..)| !named.contains(name)));
        }
    }
    wrong
}

/// What the repository says about a rule that a pack forbids to change.
fn relaxed(pack: &Pack, name: &str, own: &Config) -> Vec<Diagnostic> {
    let set = own.rules().into_iter().filter(|rule| rule.name == name).map(|rule| rule.span);
    let ignored = own.texts("ignore").iter().filter(|(ignored, _)| ignored == name).map(|(_, span)| *span);
    let refuse = |span| {
        let mut diagnostic =
            Diagnostic::new(Level::Error, format!("the pack forbids to change `{name}` here"), Some(span));
        diagnostic.notes.push((Some(pack.span), format!("`{}` says `forbid = true`", pack.path)));
        diagnostic.with_help("ask the owners of the pack")
    };
    set.chain(ignored).map(refuse).collect()
}
