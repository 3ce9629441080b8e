//! Reads lists of tables in the settings: `[[suppress]]`, `[[budgets]]` and `[[limits]]`.

use std::collections::BTreeMap;

use super::key::{self, Any, Number, Text, Texts};
use super::{ConfigEntry, SettingKey, SettingValue, setting};
use crate::source::{Date, Span};

/// One table of a list.
#[derive(Debug, Clone, Default)]
pub struct ConfigTable<'a>(BTreeMap<&'a str, &'a ConfigEntry>);

/// An entry of `[[suppress]]`, which suppresses findings.
#[derive(Debug, Clone, PartialEq)]
pub struct Suppress<'a> {
    pub rules: &'a [(String, Span)],
    pub address: Option<&'a str>,
    pub path: Option<&'a str>,
    pub until: Option<Date>,
    pub reason: Option<&'a str>,
    pub span: Span,
}

/// An entry of `[[budgets]]`, which limits a cost.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetSetting<'a> {
    /// The label and its value, such as `("team", "search")`. If it is `None`, everything counts.
    pub of: Option<(&'a str, &'a str)>,
    pub monthly_usd: f64,
    pub span: Span,
}

/// An entry of `[[limits]]`, which limits accelerators or machines.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitSetting<'a> {
    /// The label and its value, such as `("team", "search")`. If it is `None`, everything counts.
    pub of: Option<(&'a str, &'a str)>,
    pub accelerators: Option<f64>,
    pub machines: Option<f64>,
    pub resource_accelerators: Option<f64>,
    pub resource_machines: Option<f64>,
}

impl<'a> ConfigTable<'a> {
    pub(super) fn add(&mut self, key: &'a str, entry: &'a ConfigEntry) {
        self.0.insert(key, entry);
    }

    pub fn get(&self, key: SettingKey<Any>) -> Option<&'a ConfigEntry> {
        self.at(key)
    }

    pub(super) fn at<T>(&self, key: SettingKey<T>) -> Option<&'a ConfigEntry> {
        self.0.get(key.name()).copied()
    }

    pub fn text(&self, key: SettingKey<Text>) -> Option<&'a str> {
        self.at(key)?.value.text()
    }

    pub fn text_at(&self, key: SettingKey<Text>) -> Option<(&'a str, Span)> {
        let entry = self.at(key)?;
        Some((entry.value.text()?, entry.span))
    }

    pub fn texts(&self, key: SettingKey<Texts>) -> &'a [(String, Span)] {
        match self.at(key).map(|entry| &entry.value) {
            Some(SettingValue::Texts(texts)) => texts,
            _ => &[],
        }
    }

    pub fn number(&self, key: SettingKey<Number>) -> Option<f64> {
        self.at(key)?.value.number()
    }

    pub fn date(&self, key: SettingKey<key::Date>) -> Option<Date> {
        self.at(key)?.value.date()
    }

    pub(super) fn first(&self) -> Option<&'a ConfigEntry> {
        self.0.values().next().copied()
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, &'a ConfigEntry)> {
        self.0.iter().map(|(key, entry)| (*key, *entry))
    }
}

impl<'a> Suppress<'a> {
    pub(super) fn of(table: &ConfigTable<'a>) -> Option<Self> {
        let span = table.entries().map(|(_, entry)| entry.key).reduce(Span::to)?;
        Some(Suppress {
            rules: table.texts(setting!("suppress[].rules")),
            address: table.text(setting!("suppress[].address")),
            path: table.text(setting!("suppress[].path")),
            until: table.date(setting!("suppress[].until")),
            reason: table.text(setting!("suppress[].reason")),
            span,
        })
    }
}

impl<'a> BudgetSetting<'a> {
    pub(super) fn of(table: &ConfigTable<'a>) -> Option<Self> {
        let monthly = table.get(setting!("budgets[].monthly_usd"))?;
        let of = owner(
            table,
            [setting!("budgets[].team"), setting!("budgets[].project"), setting!("budgets[].environment")],
            setting!("budgets[].label"),
        );
        Some(BudgetSetting { of, monthly_usd: monthly.value.number()?, span: monthly.span })
    }
}

impl<'a> LimitSetting<'a> {
    pub(super) fn of(table: &ConfigTable<'a>) -> Self {
        LimitSetting {
            of: owner(
                table,
                [setting!("limits[].team"), setting!("limits[].project"), setting!("limits[].environment")],
                setting!("limits[].label"),
            ),
            accelerators: table.number(setting!("limits[].accelerators")),
            machines: table.number(setting!("limits[].machines")),
            resource_accelerators: table.number(setting!("limits[].resource_accelerators")),
            resource_machines: table.number(setting!("limits[].resource_machines")),
        }
    }
}

/// Returns the label of the resources to which a table applies: one of the keys such as `team`, or a `label` key.
fn owner<'a>(
    table: &ConfigTable<'a>,
    named: [SettingKey<Text>; 3],
    label: SettingKey<Text>,
) -> Option<(&'a str, &'a str)> {
    named
        .into_iter()
        .find_map(|key| Some((key.name(), table.text(key)?)))
        .or_else(|| table.text(label)?.split_once('='))
}
