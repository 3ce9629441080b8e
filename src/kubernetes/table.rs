//! The rows of `kinds.toml`: where each kind keeps its pods, its machines, their number and the facts about them.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::inventory::Key;

use super::path::Path;

/// One kind of one or several API groups.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub kind: String,
    /// API groups without version; the empty string is the core group.
    pub groups: Vec<String>,
    /// Nothing runs because this object exists: it is a template for others.
    #[serde(default)]
    pub template: bool,
    /// True there: the object waits or stands still.
    pub suspended: Option<Path>,
    #[serde(default)]
    pub facts: BTreeMap<String, Source>,
    #[serde(default)]
    pub pods: Vec<Pods>,
    #[serde(default)]
    pub holds: Vec<Holds>,
    #[serde(default)]
    pub machines: Vec<Machines>,
}

/// Pods that an object creates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pods {
    /// Pod templates: `metadata` and `spec`.
    pub template: Option<Path>,
    /// Pod specifications without that frame.
    pub spec: Option<Path>,
    /// Containers within the pod specification, beside or instead of `containers`.
    #[serde(default)]
    pub containers: Vec<Path>,
    /// What these pods are called when an object has several kinds of them.
    pub role: Option<String>,
    /// The same, as the object names them.
    pub name: Option<Path>,
    /// Factors of the number of pods.
    #[serde(default)]
    pub count: Vec<Factor>,
    /// Factors of the number of pods that together run one copy.
    #[serde(default)]
    pub group: Vec<Factor>,
    #[serde(default)]
    pub facts: BTreeMap<String, Source>,
}

/// Other objects inside an object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Holds {
    /// Whole objects, or with `kind` objects that do not say what they are.
    pub at: Option<Path>,
    /// The `spec` of objects of the kind `kind`.
    pub spec: Option<Path>,
    /// `group/Kind` of a row.
    pub kind: Option<String>,
    /// They stand for themselves, with their own addresses, as in a `List`.
    #[serde(default)]
    pub apart: bool,
    pub name: Option<Path>,
    #[serde(default)]
    pub count: Vec<Factor>,
}

/// Machines that an object rents.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Machines {
    /// One group of machines each; the whole object where it is missing.
    pub each: Option<Path>,
    pub name: Option<Path>,
    #[serde(default)]
    pub count: Vec<Factor>,
    /// Lists of `{key, operator, values}` about node labels.
    #[serde(default)]
    pub requirements: Vec<Path>,
    /// Mappings of node labels.
    #[serde(default)]
    pub labels: Vec<Path>,
    #[serde(default)]
    pub taints: Vec<Path>,
    /// A mapping of resource keys to how much all machines together may have.
    pub limits: Option<Path>,
    #[serde(default)]
    pub facts: BTreeMap<String, Source>,
}

/// A number that multiplies.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "FactorForm")]
pub(super) struct Factor {
    pub at: Option<Path>,
    pub min: Option<Path>,
    pub max: Option<Path>,
    /// Where nothing is written; 1 if this is not said either.
    pub default: Option<f64>,
    /// One less where there is something at this path.
    pub less_if: Option<Path>,
    /// The number cannot be known from this object, and why.
    pub unknown: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FactorForm {
    Plain(Path),
    Full(Box<FullFactor>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullFactor {
    at: Option<Path>,
    min: Option<Path>,
    max: Option<Path>,
    default: Option<f64>,
    less_if: Option<Path>,
    unknown: Option<String>,
}

impl From<FactorForm> for Factor {
    fn from(form: FactorForm) -> Self {
        match form {
            FactorForm::Plain(at) => Factor { at: Some(at), ..Factor::default() },
            FactorForm::Full(full) => {
                let FullFactor { at, min, max, default, less_if, unknown } = *full;
                Factor { at, min, max, default, less_if, unknown }
            }
        }
    }
}

/// Where a fact comes from.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "SourceForm")]
pub(super) struct Source {
    /// The first of these paths at which something is written.
    pub at: Vec<Path>,
    /// A constant: what the kind itself says, or with `at` what the presence of something there says.
    pub is: Option<Constant>,
    /// The constant is a conclusion rather than a definition; the text says from what.
    pub inferred: Option<String>,
    /// What written values mean; others are unknown.
    pub values: BTreeMap<String, String>,
    /// The written number times this.
    pub scale: Option<f64>,
    /// Written as `30s`, `10m`, `1h30m`: read in seconds, then scaled.
    pub duration: bool,
    /// Written as a quantity: `64Gi`, in GiB; or `500m`, plain.
    pub quantity: Option<Unit>,
    /// The part of the written text that counts: one group of a regular expression.
    pub part: Option<String>,
    /// What it is where nothing is written.
    pub default: Option<Constant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unit {
    Gib,
    Plain,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Constant {
    Flag(bool),
    Number(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SourceForm {
    Plain(Path),
    List(Vec<Path>),
    Full(Box<FullSource>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullSource {
    at: Option<OneOrMore>,
    is: Option<Constant>,
    inferred: Option<String>,
    #[serde(default)]
    values: BTreeMap<String, String>,
    scale: Option<f64>,
    #[serde(default)]
    duration: bool,
    quantity: Option<Unit>,
    part: Option<String>,
    default: Option<Constant>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(Path),
    More(Vec<Path>),
}

impl From<SourceForm> for Source {
    fn from(form: SourceForm) -> Self {
        let plain = |at| Source {
            at,
            is: None,
            inferred: None,
            values: BTreeMap::new(),
            scale: None,
            duration: false,
            quantity: None,
            part: None,
            default: None,
        };
        match form {
            SourceForm::Plain(at) => plain(vec![at]),
            SourceForm::List(at) => plain(at),
            SourceForm::Full(full) => Source {
                at: match full.at {
                    None => Vec::new(),
                    Some(OneOrMore::One(at)) => vec![at],
                    Some(OneOrMore::More(at)) => at,
                },
                is: full.is,
                inferred: full.inferred,
                values: full.values,
                scale: full.scale,
                duration: full.duration,
                quantity: full.quantity,
                part: full.part,
                default: full.default,
            },
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Vec<Row>,
}

/// All rows, found by group and kind.
pub(super) struct Kinds {
    rows: Vec<Row>,
    by_name: HashMap<String, usize>,
}

impl Kinds {
    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut by_name = HashMap::new();
        for (place, row) in file.kind.iter().enumerate() {
            for group in &row.groups {
                if by_name.insert(format!("{group}/{}", row.kind), place).is_some() {
                    return Err(format!("{group}/{} has two rows", row.kind));
                }
            }
        }
        let kinds = Kinds { rows: file.kind, by_name };
        kinds.verify()?;
        Ok(kinds)
    }

    /// The mistakes that a type cannot exclude.
    fn verify(&self) -> Result<(), String> {
        for row in &self.rows {
            let facts = row.pods.iter().map(|pods| &pods.facts).chain(row.machines.iter().map(|m| &m.facts));
            for (name, source) in facts.chain([&row.facts]).flatten() {
                key(name).ok_or_else(|| format!("{}: there is no fact `{name}`", row.kind))?;
                if let Some(part) = &source.part {
                    regex::Regex::new(part).map_err(|error| format!("{}: {error}", row.kind))?;
                }
            }
            for holds in &row.holds {
                if let Some(kind) = &holds.kind {
                    self.by_name.get(kind).ok_or_else(|| format!("{}: there is no row for {kind}", row.kind))?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn find(&self, group: &str, kind: &str) -> Option<&Row> {
        self.named(&format!("{group}/{kind}"))
    }

    /// `group/Kind`.
    pub(super) fn named(&self, name: &str) -> Option<&Row> {
        self.by_name.get(name).and_then(|&place| self.rows.get(place))
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

pub(super) fn key(name: &str) -> Option<Key> {
    Key::ALL.iter().copied().find(|key| key.name() == name)
}

/// The table is part of the program; a test proves that it parses.
pub(super) static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    Kinds::parse(include_str!("kinds.toml")).unwrap_or_else(|_| Kinds { rows: Vec::new(), by_name: HashMap::new() })
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_kinds_is_sound() {
        Kinds::parse(include_str!("kinds.toml")).unwrap();
    }
}
