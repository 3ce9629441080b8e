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
    pub usd: f64,
    /// The months of the budget's period: 1, 3 or 12.
    pub months: f64,
    pub until: Option<Date>,
    pub owner: Option<&'a str>,
    /// Whether the budget covers all repositories together.
    pub covers_organization: bool,
    pub span: Span,
}

/// An entry of `[[approved]]`: an approved resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovedSetting<'a> {
    pub address: &'a str,
    pub path: Option<&'a str>,
    pub usd: f64,
    pub until: Date,
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

/// The keys for the amount of a budget, with the months of its period.
pub(super) const BUDGET_AMOUNTS: [(SettingKey<Number>, f64); 3] = [
    (setting!("budgets[].monthly_usd"), 1.0),
    (setting!("budgets[].quarterly_usd"), 3.0),
    (setting!("budgets[].yearly_usd"), 12.0),
];

impl<'a> BudgetSetting<'a> {
    pub(super) fn of(table: &ConfigTable<'a>) -> Option<Self> {
        // If a budget has several amounts, the strictest one counts.
        let amounts = BUDGET_AMOUNTS.into_iter().filter_map(|(key, months)| {
            let entry = table.at(key)?;
            Some((entry.value.number()?, months, entry.span))
        });
        let (usd, months, span) = amounts.min_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)))?;
        let of = owner(
            table,
            [setting!("budgets[].team"), setting!("budgets[].project"), setting!("budgets[].environment")],
            setting!("budgets[].label"),
        );
        Some(BudgetSetting {
            of,
            usd,
            months,
            until: table.date(setting!("budgets[].until")),
            owner: table.text(setting!("budgets[].owner")),
            covers_organization: table.text(setting!("budgets[].scope")) == Some("organization"),
            span,
        })
    }
}

impl<'a> ApprovedSetting<'a> {
    pub(super) fn of(table: &ConfigTable<'a>) -> Option<Self> {
        Some(ApprovedSetting {
            address: table.text(setting!("approved[].address"))?,
            path: table.text(setting!("approved[].path")),
            usd: table.number(setting!("approved[].up_to_monthly_usd"))?,
            until: table.date(setting!("approved[].until"))?,
        })
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
