//! Finds settings that a change relaxes: a later state fails less than the earlier one.

use std::collections::{BTreeMap, BTreeSet};

use super::Config;
use super::entry::{ConfigEntry, SettingValue};
use super::read::display;
use super::table::{self, Next, SettingDescription, SettingKind};
use crate::source::Span;

/// The direction in which a setting lets more pass: upwards are a larger number, a later name of those that the setting
/// can have, true, and more entries.
#[derive(Clone, Copy, PartialEq)]
enum Relaxes {
    Upwards,
    Downwards,
}

/// The settings that limit cost or decide which findings fail.
const LIMITS: [(&str, Relaxes); 34] = [
    ("fail-on", Relaxes::Upwards),
    ("fail-confidence", Relaxes::Upwards),
    ("fail-on-unread", Relaxes::Downwards),
    ("fail-on-examples", Relaxes::Downwards),
    ("unexplained", Relaxes::Upwards),
    ("min-delta-usd", Relaxes::Upwards),
    ("min-confidence", Relaxes::Upwards),
    ("profile", Relaxes::Downwards),
    ("select", Relaxes::Downwards),
    ("ignore", Relaxes::Upwards),
    ("exclude", Relaxes::Upwards),
    ("require-reason", Relaxes::Downwards),
    ("require-until", Relaxes::Downwards),
    ("rules.*.level", Relaxes::Downwards),
    ("undetermined", Relaxes::Downwards),
    ("rules.*.undetermined", Relaxes::Downwards),
    ("rules.*.ignorable", Relaxes::Upwards),
    ("packs[].path", Relaxes::Downwards),
    ("packs[].git", Relaxes::Downwards),
    ("approvals.above_monthly_usd", Relaxes::Upwards),
    ("approvals.above_accelerators", Relaxes::Upwards),
    ("approvals.accelerators", Relaxes::Downwards),
    ("approvals.reviewers", Relaxes::Upwards),
    ("approvals.up_to_monthly_usd", Relaxes::Upwards),
    ("approved[].up_to_monthly_usd", Relaxes::Upwards),
    ("approved[].until", Relaxes::Upwards),
    ("budgets[].monthly_usd", Relaxes::Upwards),
    ("budgets[].quarterly_usd", Relaxes::Upwards),
    ("budgets[].yearly_usd", Relaxes::Upwards),
    ("organization.key", Relaxes::Downwards),
    ("limits[].accelerators", Relaxes::Upwards),
    ("limits[].machines", Relaxes::Upwards),
    ("limits[].resource_accelerators", Relaxes::Upwards),
    ("limits[].resource_machines", Relaxes::Upwards),
];

/// A setting that a change relaxes.
#[derive(Debug, PartialEq)]
pub struct RelaxedSetting {
    /// The setting, and the value before and after: `fail-on (warning → error)`.
    pub what: String,
    /// The value in the later state.
    pub span: Option<Span>,
}

/// Returns the settings that limit less in `after` than in `before`.
pub fn relaxed(before: &Config, after: &Config) -> Vec<RelaxedSetting> {
    let (before, after) = (limits(before), limits(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let relaxed = names.into_iter().filter_map(|name| {
        let (was, is) = (before.get(name), after.get(name));
        let limit = was.or(is)?;
        let change = limit.relaxation(was.map(|it| it.entry), is.map(|it| it.entry))?;
        Some(RelaxedSetting { what: format!("{name} ({change})"), span: is.map(|it| it.entry.span) })
    });
    relaxed.collect()
}

struct Limit<'a> {
    setting: &'static SettingDescription,
    relaxes: Relaxes,
    entry: &'a ConfigEntry,
}

/// Returns the limits of a state by their names. A table of a list is named after its texts, such as the team.
fn limits(config: &Config) -> BTreeMap<String, Limit<'_>> {
    let mut found = BTreeMap::new();
    for (keys, entry) in &config.entries {
        let names: Vec<&str> = keys.iter().map(String::as_str).collect();
        let Next::Value(setting) = table::next(&names) else { continue };
        let Some(relaxes) = direction(setting.path, keys) else { continue };
        let name = match keys.as_slice() {
            [list, index, key] if setting.path.contains("[]") => {
                let mut texts: Vec<String> = Vec::new();
                let table = [list.clone(), index.clone()];
                for (other, entry) in config.entries.range(table.to_vec()..).take_while(|it| it.0.starts_with(&table)) {
                    let name = other.last().filter(|it| *it != key);
                    texts.extend(name.and_then(|name| Some(format!(" {name} {}", entry.value.text()?))));
                }
                format!("{list}.{key}{}", texts.concat())
            }
            keys => display(keys),
        };
        found.insert(name, Limit { setting, relaxes, entry });
    }
    found
}

fn direction(path: &str, keys: &[String]) -> Option<Relaxes> {
    // The parameters of this rule are amounts.
    if path == "rules.*.*" && keys.get(1).is_some_and(|rule| rule == "over-budget") {
        return Some(Relaxes::Upwards);
    }
    LIMITS.iter().find(|(limit, _)| *limit == path).map(|(_, relaxes)| *relaxes)
}

impl Limit<'_> {
    /// Returns the values before and after if the later one limits less.
    fn relaxation(&self, before: Option<&ConfigEntry>, after: Option<&ConfigEntry>) -> Option<String> {
        let texts = |entry: Option<&ConfigEntry>| entry.map_or_else(Vec::new, |it| it.value.texts());
        if matches!(self.setting.kind, SettingKind::Texts | SettingKind::Patterns) {
            let (before, after) = (texts(before), texts(after));
            let (word, more, than) = match self.relaxes {
                Relaxes::Upwards => ("adds", &after, &before),
                Relaxes::Downwards => ("removes", &before, &after),
            };
            let more: Vec<&str> = more.iter().filter(|it| !than.contains(it)).map(String::as_str).collect();
            return (!more.is_empty()).then(|| format!("{word} {}", more.join(", ")));
        }
        let (was, is) = (self.rank(before), self.rank(after));
        let is_relaxed = match self.relaxes {
            Relaxes::Upwards => is > was,
            Relaxes::Downwards => is < was,
        };
        is_relaxed.then(|| format!("{} → {}", self.shown(before), self.shown(after)))
    }

    /// Returns a number that orders the values of the setting. Without a value and a default, an amount has no limit.
    fn rank(&self, entry: Option<&ConfigEntry>) -> f64 {
        let default = self.setting.default.map(|it| it.trim_matches('"'));
        let place = |name: &str| match self.setting.kind {
            SettingKind::OneOf(names) => names.iter().position(|it| *it == name).map(|it| it as f64),
            _ => None,
        };
        match (entry.map(|it| &it.value), self.setting.kind) {
            (Some(SettingValue::Flag(flag)), _) => f64::from(*flag),
            (Some(SettingValue::Text(name)), SettingKind::OneOf(_)) => place(name).unwrap_or(0.0),
            (Some(SettingValue::Text(_)), _) => 1.0,
            (Some(value), _) => {
                value.number().filter(|it| *it > 0.0 || !self.is_off_at_zero()).unwrap_or(f64::INFINITY)
            }
            (None, SettingKind::Text | SettingKind::Path) => 0.0,
            // The level of a rule without a setting is usually a warning.
            (None, SettingKind::OneOf(_)) => default.and_then(place).unwrap_or(1.0),
            (None, _) => match default {
                Some("true") => 1.0,
                Some("false") => 0.0,
                Some(number) => number.parse().unwrap_or(f64::INFINITY),
                None => f64::INFINITY,
            },
        }
    }

    /// Returns true for parameters of rules, which limit nothing at 0.
    fn is_off_at_zero(&self) -> bool {
        self.setting.kind == SettingKind::RuleParameter
    }

    fn shown(&self, entry: Option<&ConfigEntry>) -> String {
        let default = || self.setting.default.map_or("not set", |it| it.trim_matches('"')).to_owned();
        entry.map_or_else(default, |entry| match &entry.value {
            SettingValue::Text(text) => text.clone(),
            SettingValue::Flag(flag) => flag.to_string(),
            value => value.number().map_or_else(default, |number| number.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    fn relaxed_by(before: &str, after: &str) -> Vec<String> {
        let load = |text: &str| {
            let sources = SourceFiles::new(MemoryTree::new().with("gpulint.toml", text));
            super::super::load(&sources, "gpulint.toml", "0.1.0").0
        };
        relaxed(&load(before), &load(after)).into_iter().map(|it| it.what).collect()
    }

    #[test]
    fn each_named_setting_exists() {
        let exists = |path: &str| table::SETTINGS.iter().any(|it| it.path == path);
        assert!(LIMITS.iter().all(|(path, _)| exists(path)));
    }

    #[test]
    fn less_strict_values_are_relaxed() {
        let changes = [
            ("", "fail-on = \"error\"", "fail-on (warning → error)"),
            ("unexplained = \"fail\"", "unexplained = \"tell\"", "unexplained (fail → tell)"),
            ("", "exclude = [\"a/**\"]", "exclude (adds a/**)"),
            ("select = [\"x\", \"y\"]", "select = [\"y\"]", "select (removes x)"),
            ("fail-on-unread = true", "", "fail-on-unread (true → false)"),
            ("[approvals]\nabove_monthly_usd = 5", "", "approvals.above_monthly_usd (5 → not set)"),
            (
                "[[budgets]]\nteam = \"b\"\nmonthly_usd = 2\n[[budgets]]\nteam = \"a\"\nmonthly_usd = 1",
                "[[budgets]]\nteam = \"a\"\nmonthly_usd = 1\n[[budgets]]\nteam = \"b\"\nmonthly_usd = 2000",
                "budgets.monthly_usd team b (2 → 2000)",
            ),
            (
                "[rules.over-budget]\nmax_increase_usd = 5",
                "[rules.over-budget]\nmax_increase_usd = 0",
                "rules.over-budget.max_increase_usd (5 → 0)",
            ),
            ("", "[rules.no-ttl]\nlevel = \"note\"", "rules.no-ttl.level (not set → note)"),
            ("[[packs]]\npath = \"p\"", "", "packs.path (p → not set)"),
        ];
        for (before, after, what) in changes {
            assert_eq!(relaxed_by(before, after), [what], "{before:?} to {after:?}");
            assert!(relaxed_by(after, before).is_empty(), "{after:?} to {before:?}");
        }
    }
}
