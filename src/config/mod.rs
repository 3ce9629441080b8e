//! `gpulint.toml` → settings.
//!
//! Each value remembers where it stands, so that a message can point at it. Knows no rule by name: whoever loads the
//! rules checks the names that stand here.

mod document;
mod pack;
mod read;
mod runs;
mod table;
mod version;

use std::collections::BTreeMap;

pub use document::{example, schema};
pub use pack::{Origin, Pack};
pub use runs::Run;
pub use table::{Kind, SETTINGS, Setting};

use crate::diagnostic::{Diagnostic, Level};
use crate::source::{Date, Sources, Span};

/// The name of the file.
pub const FILE_NAME: &str = "gpulint.toml";

/// Files that extend each other in a row.
const LONGEST_CHAIN: usize = 16;

/// Each of them reads all rules again.
const MOST_LAYERS: usize = 64;

/// Lists of tables, which add up where one file extends another.
const LISTS: [&str; 9] = ["suppress", "budgets", "limits", "paths", "contracts", "hardware", "usage", "packs", "runs"];

/// What one or several files set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    entries: BTreeMap<Vec<String>, Entry>,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub value: Value,
    pub span: Span,
    pub key: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Texts(Vec<(String, Span)>),
    Integer(i64),
    Number(f64),
    Flag(bool),
    Date(Date),
}

/// What is set for one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule<'a> {
    pub name: &'a str,
    /// Where the rule is named.
    pub span: Span,
    pub level: Option<Level>,
    pub ignorable: Option<bool>,
    /// In a pack: the repository below cannot change or ignore it.
    pub forbid: Option<bool>,
    pub parameters: Vec<(&'a str, &'a Entry)>,
}

/// What bounds may be raised to: beyond it a machine of a code host has no memory, no stack or no time left.
const LARGEST_BOUNDS: [(&str, f64); 6] = [
    ("bounds.file-mib", 1_024.0),
    ("bounds.nesting", 200.0),
    ("bounds.evaluation-steps", 1e9),
    ("bounds.yaml-nodes", 1e8),
    ("bounds.seconds", 86_400.0),
    ("bounds.render-seconds", 3_600.0),
];

/// An entry of `[[suppress]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Suppress<'a> {
    pub rules: &'a [(String, Span)],
    pub address: Option<&'a str>,
    pub path: Option<&'a str>,
    pub until: Option<Date>,
    pub reason: Option<&'a str>,
    pub span: Span,
}

/// An entry of `[[budgets]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget<'a> {
    /// `("team", "search")`; none: everything counts.
    pub of: Option<(&'a str, &'a str)>,
    pub monthly_usd: f64,
    pub span: Span,
}

/// An entry of `[[limits]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit<'a> {
    /// `("team", "search")`; none: everything counts.
    pub of: Option<(&'a str, &'a str)>,
    pub accelerators: Option<f64>,
    pub machines: Option<f64>,
    pub resource_accelerators: Option<f64>,
    pub resource_machines: Option<f64>,
}

/// An entry of `[[paths]]`: settings of some files.
#[derive(Debug, Clone, PartialEq)]
pub struct PathLayer<'a> {
    pub patterns: &'a [(String, Span)],
    /// The rest of it, as if it stood at the top.
    pub config: Config,
}

/// Reads a file and those that it extends. What is wrong is told; settings that are not wrong are kept.
pub fn load(sources: &Sources, path: &str, version: &str) -> (Config, Vec<Diagnostic>) {
    let mut config = Config::default();
    let mut wrong = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let mut next = Some((path.to_owned(), None));
    while let Some((path, from)) = next.take() {
        let refuse = |why: String| Diagnostic::new(Level::Error, why, from);
        if seen.contains(&path) || seen.len() >= LONGEST_CHAIN {
            wrong
                .push(refuse(format!("`{path}` extends itself, or more than {LONGEST_CHAIN} files follow each other")));
            break;
        }
        let file = match sources.open(&path) {
            Ok(file) => file,
            Err(error) => {
                wrong.push(refuse(format!("`{path}` cannot be read: {error}")));
                break;
            }
        };
        let (layer, errors) = read::read(sources, file);
        wrong.extend(errors);
        next = layer.get(["extend".to_owned()].as_slice()).and_then(|entry| match &entry.value {
            Value::Text(extended) => Some((extended.clone(), Some(entry.span))),
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
    /// Adds what an extended file sets: it counts where nothing is set yet, and its lists of tables are appended.
    fn add_below(&mut self, layer: BTreeMap<Vec<String>, Entry>) {
        let taken: Vec<(&str, usize)> = LISTS.into_iter().map(|name| (name, self.tables(name).count())).collect();
        for (mut keys, entry) in layer {
            if let [name, index, ..] = keys.as_mut_slice()
                && let Some((_, shift)) = taken.iter().find(|(it, _)| it == name)
            {
                *index = read::index_key(index.parse::<usize>().unwrap_or(0).saturating_add(*shift));
            }
            self.entries.entry(keys).or_insert(entry);
        }
    }

    /// What the types of the values cannot say.
    fn judge(&self, version: &str, wrong: &mut Vec<Diagnostic>) {
        let mut refuse = |message: String, span| wrong.push(Diagnostic::new(Level::Error, message, Some(span)));
        if let Some((requirement, span)) = self.text("required-version") {
            match version::meets(version, requirement) {
                Ok(true) => {}
                Ok(false) => refuse(format!("this is gpulint {version}, and `{requirement}` is required"), span),
                Err(why) => refuse(why, span),
            }
        }
        for (provider, entry) in self.below("prices.discount") {
            if !entry.value.number().is_some_and(|share| (0.0..=1.0).contains(&share)) {
                refuse(format!("the discount of {provider} is a share from 0 to 1, as in 0.12 for 12 %"), entry.span);
            }
        }
        self.judge_bounds(&mut refuse);
        for (_, table) in self.tables("limits") {
            let numbers = ["accelerators", "machines", "resource_accelerators", "resource_machines"];
            let given = numbers.iter().filter_map(|key| table.get(key));
            if let Some(entry) = given.clone().find(|it| !it.value.number().is_some_and(|most| most >= 0.0)) {
                refuse("a limit is a number of zero or more".to_owned(), entry.span);
            } else if let (None, Some(entry)) = (given.clone().next(), table.values().next()) {
                refuse(format!("a limit says one of {}", numbers.join(", ")), entry.key);
            }
        }
        let layers = self.layers();
        if let Some(entry) = layers.get(MOST_LAYERS).and_then(|layer| layer.config.entries.values().next()) {
            refuse(format!("there are more than {MOST_LAYERS} [[paths]]"), entry.key);
        }
        for layer in layers.iter().filter(|layer| layer.patterns.is_empty()) {
            if let Some(entry) = layer.config.entries.values().next() {
                refuse("[[paths]] says which files it is for: match = \"envs/prod/**\"".to_owned(), entry.key);
            }
        }
        self.judge_prices(&mut refuse);
        let names_none = |run: &Run| run.paths.is_empty();
        if let Some((_, entry)) = self.entries.iter().find(|(keys, _)| keys.first().is_some_and(|it| it == "runs"))
            && self.runs().iter().any(names_none)
        {
            refuse("[[runs]] says which directories it is for: paths = [\"infra\"]".to_owned(), entry.key);
        }
        for (_, table) in self.tables("packs") {
            pack::judge(&table, &mut refuse);
        }
        for suppress in self.suppressions() {
            if suppress.rules.is_empty() {
                refuse("a suppression names its rules: rules = [\"oversized-gpu\"]".to_owned(), suppress.span);
            } else if suppress.address.is_none() && suppress.path.is_none() {
                let what = "a suppression names an address or a path; `ignore` switches a rule off everywhere";
                refuse(what.to_owned(), suppress.span);
            }
        }
        for (_, table) in self.tables("budgets") {
            if let Some(entry) = table.values().next()
                && !table.get("monthly_usd").and_then(|it| it.value.number()).is_some_and(|usd| usd >= 0.0)
            {
                refuse("a budget says `monthly_usd`, in dollars".to_owned(), entry.key);
            }
        }
    }

    /// Whole numbers, and none so large that it is no limit.
    fn judge_bounds(&self, refuse: &mut impl FnMut(String, Span)) {
        for (bound, most) in LARGEST_BOUNDS {
            if let Some(entry) = self.get(bound)
                && !entry.value.number().is_some_and(|it| it.fract() == 0.0 && (1.0..=most).contains(&it))
            {
                refuse(format!("`{bound}` is a whole number from 1 to {most}"), entry.span);
            }
        }
    }

    fn judge_prices(&self, refuse: &mut impl FnMut(String, Span)) {
        if let Some(entry) = self.get("prices.usd_per_unit")
            && entry.value.number().is_none_or(|rate| rate <= 0.0)
        {
            refuse("`usd_per_unit` is a number above zero, as in 1.08".to_owned(), entry.span);
        }
        for (list, one_of, what) in [
            (
                "contracts",
                &["discount", "usd_per_gpu_hour", "commitment_years"][..],
                "a contract says `discount`, `usd_per_gpu_hour` or `commitment_years`",
            ),
            ("hardware", &["usd_per_gpu_hour", "purchase_usd"], "hardware says `usd_per_gpu_hour` or `purchase_usd`"),
            ("usage", &["hours_per_month", "runs_per_month"], "usage says `hours_per_month` or `runs_per_month`"),
        ] {
            for (_, table) in self.tables(list) {
                let Some(first) = table.values().next() else { continue };
                if !one_of.iter().any(|key| table.contains_key(key)) {
                    refuse(what.to_owned(), first.key);
                }
                let numbers = table.iter().filter_map(|(key, entry)| Some((*key, *entry, entry.value.number()?)));
                for (key, entry, number) in numbers {
                    let is_share = matches!(key, "discount" | "utilization");
                    if key == "commitment_years" && number != 1.0 && number != 3.0 {
                        refuse("`commitment_years` is 1 or 3".to_owned(), entry.span);
                    }
                    if number < 0.0 || (is_share && number > 1.0) {
                        let range = if is_share { "from 0 to 1" } else { "of zero or more" };
                        refuse(format!("`{key}` is a number {range}"), entry.span);
                    }
                }
            }
        }
    }

    pub fn fail_on(&self) -> Option<Level> {
        Level::from_name(self.text("fail-on")?.0)
    }

    /// The value of a setting such as `defaults.region`, and where it stands.
    pub fn text(&self, path: &str) -> Option<(&str, Span)> {
        let entry = self.get(path)?;
        Some((entry.value.text()?, entry.span))
    }

    pub fn texts(&self, path: &str) -> &[(String, Span)] {
        match self.get(path).map(|entry| &entry.value) {
            Some(Value::Texts(texts)) => texts,
            _ => &[],
        }
    }

    pub fn flag(&self, path: &str) -> Option<bool> {
        self.get(path)?.value.flag()
    }

    pub fn number(&self, path: &str) -> Option<f64> {
        self.get(path)?.value.number()
    }

    pub fn get(&self, path: &str) -> Option<&Entry> {
        let keys: Vec<String> = path.split('.').map(str::to_owned).collect();
        self.entries.get(&keys)
    }

    /// The values of a table whose names are free: `tiers`, `prices.discount`.
    pub fn below(&self, path: &str) -> impl Iterator<Item = (&str, &Entry)> {
        let above: Vec<String> = path.split('.').map(str::to_owned).collect();
        self.entries.iter().filter_map(move |(keys, entry)| match keys.split_last() {
            Some((name, rest)) if rest == above => Some((name.as_str(), entry)),
            _ => None,
        })
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
                ignorable: None,
                forbid: None,
                parameters: Vec::new(),
            });
            match key.as_str() {
                "level" => rule.level = entry.value.text().and_then(Level::from_name),
                "ignorable" => rule.ignorable = entry.value.flag(),
                "forbid" => rule.forbid = entry.value.flag(),
                _ => rule.parameters.push((key, entry)),
            }
        }
        rules.into_values().collect()
    }

    pub fn suppressions(&self) -> Vec<Suppress<'_>> {
        self.tables("suppress").filter_map(|(_, table)| Suppress::of(table)).collect()
    }

    pub fn packs(&self) -> Vec<Pack<'_>> {
        self.tables("packs").filter_map(|(_, table)| Pack::of(&table)).collect()
    }

    pub fn limits(&self) -> Vec<Limit<'_>> {
        self.tables("limits").map(|(_, table)| Limit::of(&table)).collect()
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
                ([key], Value::Texts(patterns)) if key == "match" => layer.patterns = patterns,
                _ => {
                    layer.config.entries.insert(rest.to_vec(), entry.clone());
                }
            }
        }
        layers.into_values().collect()
    }

    pub fn budgets(&self) -> Vec<Budget<'_>> {
        self.tables("budgets").filter_map(|(_, table)| Budget::of(&table)).collect()
    }

    /// Every value that is set, by its path, for `config show`.
    pub fn entries(&self) -> impl Iterator<Item = (String, &Entry)> {
        self.entries.iter().map(|(keys, entry)| (read::display(keys), entry))
    }

    /// The tables of a list such as `suppress`.
    pub fn tables<'a>(&'a self, name: &str) -> impl Iterator<Item = (&'a str, BTreeMap<&'a str, &'a Entry>)> {
        let mut tables: BTreeMap<&str, BTreeMap<&str, &Entry>> = BTreeMap::new();
        for (keys, entry) in &self.entries {
            if let [section, index, key] = keys.as_slice()
                && section == name
            {
                tables.entry(index).or_default().insert(key, entry);
            }
        }
        tables.into_iter()
    }
}

impl<'a> Suppress<'a> {
    fn of(table: BTreeMap<&'a str, &'a Entry>) -> Option<Self> {
        let span = table.values().map(|entry| entry.key).reduce(Span::to)?;
        let text = |key: &str| table.get(key).and_then(|entry| entry.value.text());
        Some(Suppress {
            rules: match table.get("rules").map(|entry| &entry.value) {
                Some(Value::Texts(rules)) => rules,
                _ => &[],
            },
            address: text("address"),
            path: text("path"),
            until: table.get("until").and_then(|entry| entry.value.date()),
            reason: text("reason"),
            span,
        })
    }
}

impl<'a> Budget<'a> {
    fn of(table: &BTreeMap<&'a str, &'a Entry>) -> Option<Self> {
        let monthly = table.get("monthly_usd")?;
        Some(Budget { of: whose(table), monthly_usd: monthly.value.number()?, span: monthly.span })
    }
}

impl<'a> Limit<'a> {
    fn of(table: &BTreeMap<&'a str, &'a Entry>) -> Self {
        let number = |key: &str| table.get(key).and_then(|entry| entry.value.number());
        Limit {
            of: whose(table),
            accelerators: number("accelerators"),
            machines: number("machines"),
            resource_accelerators: number("resource_accelerators"),
            resource_machines: number("resource_machines"),
        }
    }
}

/// The label by which a table names the resources that it is about.
fn whose<'a>(table: &BTreeMap<&'a str, &'a Entry>) -> Option<(&'a str, &'a str)> {
    ["team", "project", "environment"]
        .into_iter()
        .find_map(|key| Some((key, table.get(key)?.value.text()?)))
        .or_else(|| table.get("label")?.value.text()?.split_once('='))
}

impl Value {
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn texts(&self) -> Vec<String> {
        match self {
            Value::Texts(texts) => texts.iter().map(|(text, _)| text.clone()).collect(),
            _ => Vec::new(),
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Integer(n) => Some(*n as f64),
            Value::Number(n) => Some(*n),
            _ => None,
        }
    }

    pub fn flag(&self) -> Option<bool> {
        match self {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    pub fn date(&self) -> Option<Date> {
        match self {
            Value::Date(date) => Some(*date),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
