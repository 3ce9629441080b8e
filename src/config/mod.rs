//! Reads `gpulint.toml` into settings.
//!
//! Each value has its position, so that a message can point at it. This module knows no rules: the code that loads the
//! rules checks the rule names of the settings.

mod document;
mod entry;
mod judge;
pub mod key;
mod pack;
mod read;
mod relaxed;
mod runs;
mod table;
mod tables;
mod version;

use std::collections::BTreeMap;

pub use document::{document, example, schema};
pub use entry::{ConfigEntry, SettingValue};
pub use key::SettingKey;
pub use pack::{PackCommit, PackEntry};
pub use relaxed::relaxed;
pub use runs::RunSetting;
pub use table::{SETTINGS, SettingDescription, SettingKind};
pub use tables::{ApprovedSetting, BudgetSetting, ConfigTable, LimitSetting, Suppress};

use key::{Any, Flag, Names, Number, Tables, Text, Texts};

pub(crate) use super::setting;
use crate::diagnostic::{Diagnostic, Level};
use crate::source::{Date, SourceFiles, Span};

/// The name of the file.
pub const FILE_NAME: &str = "gpulint.toml";

/// The longest chain of files that extend each other.
const LONGEST_CHAIN: usize = 16;

/// The settings of one file and of the files that it extends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    entries: BTreeMap<Vec<String>, ConfigEntry>,
}

/// The settings of one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule<'a> {
    pub name: &'a str,
    /// The position of the rule's name.
    pub span: Span,
    pub level: Option<Level>,
    /// The last day on which its findings are only notes.
    pub note_until: Option<Date>,
    /// The level of a finding if the rule cannot be evaluated. The outer `None` means that the setting is missing, the inner one means `off`.
    pub undetermined: Option<Option<Level>>,
    pub ignorable: Option<bool>,
    /// In a pack: whether repositories that use the pack cannot change or suppress the rule.
    pub forbid: Option<bool>,
    /// In a pack: the parameters that repositories which use the pack cannot change.
    pub forbidden_parameters: Vec<String>,
    pub parameters: Vec<(&'a str, &'a ConfigEntry)>,
}

/// An entry of `[[paths]]`: settings for some files.
#[derive(Debug, Clone, PartialEq)]
pub struct PathLayer<'a> {
    pub patterns: &'a [(String, Span)],
    /// The other keys of the entry, as top-level settings.
    pub config: Config,
}

/// Reads a file and the files that it extends. Returns all valid settings, and the errors.
pub fn load(sources: &SourceFiles, path: &str, version: &str) -> (Config, Vec<Diagnostic>) {
    let mut config = Config::default();
    let mut wrong = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let mut next = Some((path.to_owned(), None));
    while let Some((path, from)) = next.take() {
        let refuse = |why: String| Diagnostic::new(Level::Error, why, from);
        if seen.contains(&path) || seen.len() >= LONGEST_CHAIN {
            wrong
                .push(refuse(format!("`{path}` extends itself, or more than {LONGEST_CHAIN} files extend each other")));
            break;
        }
        let file = match sources.open(&path) {
            Ok(file) => file,
            Err(error) => {
                wrong.push(refuse(format!("gpulint cannot read `{path}`: {error}")));
                break;
            }
        };
        let (layer, errors) = read::read(sources, file);
        wrong.extend(errors);
        next = layer.get(["extend".to_owned()].as_slice()).and_then(|entry| match &entry.value {
            SettingValue::Text(extended) => Some((extended.clone(), Some(entry.span))),
            _ => None,
        });
        config.add_below(layer);
        seen.push(path);
    }
    config.judge(version, &mut wrong);
    wrong.sort_by_key(|it| it.span);
    (config, wrong)
}

impl Config {
    /// Adds the settings of an extended file. They apply only to keys that are not set yet, and their lists of tables
    /// are appended.
    fn add_below(&mut self, layer: BTreeMap<Vec<String>, ConfigEntry>) {
        let taken: Vec<(&str, usize)> = table::lists().map(|name| (name, self.tables_of(name).count())).collect();
        for (mut keys, entry) in layer {
            if let [name, index, ..] = keys.as_mut_slice()
                && let Some((_, shift)) = taken.iter().find(|(it, _)| it == name)
            {
                *index = read::index_key(index.parse::<usize>().unwrap_or(0).saturating_add(*shift));
            }
            self.entries.entry(keys).or_insert(entry);
        }
    }

    pub fn fail_on(&self) -> Option<Level> {
        Level::from_name(self.text(setting!("fail-on"))?.0)
    }

    /// Returns the value of a setting such as `defaults.region`, and its position.
    pub fn text(&self, key: SettingKey<Text>) -> Option<(&str, Span)> {
        let entry = self.at(key)?;
        Some((entry.value.text()?, entry.span))
    }

    pub fn texts(&self, key: SettingKey<Texts>) -> &[(String, Span)] {
        match self.at(key).map(|entry| &entry.value) {
            Some(SettingValue::Texts(texts)) => texts,
            _ => &[],
        }
    }

    pub fn flag(&self, key: SettingKey<Flag>) -> Option<bool> {
        self.at(key)?.value.flag()
    }

    pub fn number(&self, key: SettingKey<Number>) -> Option<f64> {
        self.at(key)?.value.number()
    }

    pub fn get(&self, key: SettingKey<Any>) -> Option<&ConfigEntry> {
        self.at(key)
    }

    fn at<T>(&self, key: SettingKey<T>) -> Option<&ConfigEntry> {
        let keys: Vec<String> = key.path().split('.').map(str::to_owned).collect();
        self.entries.get(&keys)
    }

    /// Returns the values of a table with free names, such as `tiers` or `prices.discount`.
    pub fn below(&self, key: SettingKey<Names>) -> impl Iterator<Item = (&str, &ConfigEntry)> {
        let above: Vec<&str> = key.path().split('.').collect();
        self.entries.iter().filter_map(move |(keys, entry)| match keys.split_last() {
            Some((name, rest)) if rest == above => Some((name.as_str(), entry)),
            _ => None,
        })
    }

    /// Returns true if a table with free names contains this name.
    pub fn names(&self, key: SettingKey<Names>, name: &str) -> bool {
        self.below(key).any(|(it, _)| it == name)
    }

    pub fn rules(&self) -> Vec<Rule<'_>> {
        let mut rules: BTreeMap<&str, Rule> = BTreeMap::new();
        for (keys, entry) in &self.entries {
            let [section, name, key] = keys.as_slice() else { continue };
            if section != "rules" {
                continue;
            }
            let rule = rules.entry(name).or_insert_with(|| Rule {
                name,
                span: entry.key,
                level: None,
                note_until: None,
                undetermined: None,
                ignorable: None,
                forbid: None,
                forbidden_parameters: Vec::new(),
                parameters: Vec::new(),
            });
            match key.as_str() {
                "level" => rule.level = entry.value.text().and_then(Level::from_name),
                "undetermined" => rule.undetermined = entry.value.text().map(Level::from_name),
                "ignorable" => rule.ignorable = entry.value.flag(),
                "note-until" => rule.note_until = entry.value.date(),
                "forbid" => rule.forbid = entry.value.flag(),
                "forbid-parameters" => rule.forbidden_parameters = entry.value.texts(),
                _ => rule.parameters.push((key, entry)),
            }
        }
        rules.into_values().collect()
    }

    pub fn suppressions(&self) -> Vec<Suppress<'_>> {
        self.tables(setting!("suppress")).filter_map(|table| Suppress::of(&table)).collect()
    }

    pub fn packs(&self) -> Vec<PackEntry<'_>> {
        self.tables(setting!("packs")).filter_map(|table| PackEntry::of(&table)).collect()
    }

    pub fn approved(&self) -> Vec<ApprovedSetting<'_>> {
        self.tables(setting!("approved")).filter_map(|table| ApprovedSetting::of(&table)).collect()
    }

    pub fn limits(&self) -> Vec<LimitSetting<'_>> {
        self.tables(setting!("limits")).map(|table| LimitSetting::of(&table)).collect()
    }

    pub fn layers(&self) -> Vec<PathLayer<'_>> {
        let mut layers: BTreeMap<&str, PathLayer> = BTreeMap::new();
        for (keys, entry) in &self.entries {
            let [section, index, rest @ ..] = keys.as_slice() else { continue };
            if section != "paths" {
                continue;
            }
            let layer = layers.entry(index).or_insert_with(|| PathLayer { patterns: &[], config: Config::default() });
            match (rest, &entry.value) {
                ([key], SettingValue::Texts(patterns)) if key == "match" => layer.patterns = patterns,
                _ => {
                    layer.config.entries.insert(rest.to_vec(), entry.clone());
                }
            }
        }
        layers.into_values().collect()
    }

    pub fn budgets(&self) -> Vec<BudgetSetting<'_>> {
        self.tables(setting!("budgets")).filter_map(|table| BudgetSetting::of(&table)).collect()
    }

    /// Returns every value with its path, for `config show`.
    pub fn entries(&self) -> impl Iterator<Item = (String, &ConfigEntry)> {
        self.entries.iter().map(|(keys, entry)| (read::display(keys), entry))
    }

    /// Returns every value with its path that only a repository can set, not a pack.
    pub(crate) fn refused_in_packs(&self) -> impl Iterator<Item = (String, &ConfigEntry)> {
        self.entries
            .iter()
            .filter(|(keys, _)| !table::is_for_packs(keys))
            .map(|(keys, entry)| (read::display(keys), entry))
    }

    /// Returns the tables of a list such as `suppress`.
    pub fn tables(&self, list: SettingKey<Tables>) -> impl Iterator<Item = ConfigTable<'_>> {
        self.tables_of(list.path())
    }

    fn tables_of(&self, name: &str) -> impl Iterator<Item = ConfigTable<'_>> {
        let mut tables: BTreeMap<&str, ConfigTable> = BTreeMap::new();
        for (keys, entry) in &self.entries {
            if let [section, index, key] = keys.as_slice()
                && section == name
            {
                tables.entry(index).or_default().add(key, entry);
            }
        }
        tables.into_values()
    }
}

#[cfg(test)]
mod tests;
