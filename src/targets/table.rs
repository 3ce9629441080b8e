//! Reads the schema of a type from the embedded tables of `schema/targets`.

use super::condition::{TargetCondition, TargetPath};

include!(concat!(env!("OUT_DIR"), "/targets.rs"));

/// The schema of a type: its properties, and effects that no schema has.
#[derive(Debug, Default)]
pub(super) struct TypeSchema {
    pub(super) properties: Vec<Property>,
    pub(super) effects: Vec<TargetEffect>,
    /// Whether the target converts words to numbers and back, as Terraform and CloudFormation do.
    pub(super) is_lenient: bool,
}

/// The schema of one property; the columns of `schema/targets/README.md`.
#[derive(Debug, Default)]
pub(super) struct Property {
    pub(super) path: String,
    pub(super) kind: &'static str,
    pub(super) is_required: bool,
    pub(super) is_computed: bool,
    pub(super) values: Vec<&'static str>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) pattern: &'static str,
    pub(super) requires: Vec<TargetPath>,
    pub(super) conflicts: Vec<TargetPath>,
    pub(super) exactly_one: Vec<Vec<TargetPath>>,
    pub(super) at_least_one: Vec<Vec<TargetPath>>,
    pub(super) when: Vec<TargetCondition>,
    flags: &'static str,
}

/// An effect that no schema describes.
#[derive(Debug)]
pub(super) struct TargetEffect {
    pub(super) condition: TargetCondition,
    /// Whether the target accepts it without an effect.
    pub(super) is_useless: bool,
    pub(super) effect: &'static str,
    /// What to write instead.
    pub(super) right: &'static str,
}

/// Sources whose programs convert scalars.
const LENIENT: [&str; 5] = ["aws", "google", "azurerm", "kubernetes-provider", "cfn-lint"];

/// A property that a table lists for a type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListedProperty {
    /// Its path; `[]` follows names of lists.
    pub(crate) path: &'static str,
    /// The kind of its value: `string`, `number`, `list(object)`.
    pub(crate) kind: &'static str,
    /// True if its parent needs it.
    pub(crate) is_required: bool,
    /// True if a change replaces the resource.
    pub(crate) is_fixed: bool,
}

/// Returns the properties of the first type whose name satisfies a condition; empty if no table has such a type.
pub(crate) fn listed(is_it: impl Fn(&str) -> bool) -> Vec<ListedProperty> {
    let lines = TYPES.iter().find(|(name, _)| is_it(name)).map_or("", |(_, lines)| lines).lines();
    let property = |line: &'static str| {
        let cells: Vec<&'static str> = line.split('\t').collect();
        let [path, kind, need, ..] = cells[..] else { return None };
        let flags = cells.get(COLUMNS - 1).copied().unwrap_or_default();
        let is_fixed = flags.split('|').any(|flag| flag == "new");
        let is_path = !path.is_empty() && path != "!";
        is_path.then(|| ListedProperty { path, kind, is_required: need == "required", is_fixed })
    };
    lines.filter_map(property).collect()
}

/// Returns the names of all types. Those of Azure are in lower case.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|(name, _)| *name)
}

impl TypeSchema {
    /// Returns the schema of a type; `None` if the tables do not have it.
    pub(super) fn named(name: &str) -> Option<TypeSchema> {
        let name = name.split('@').next().unwrap_or_default();
        let is_azure = name.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("Microsoft."));
        let key = if is_azure { name.to_ascii_lowercase() } else { name.to_owned() };
        let at = TYPES.binary_search_by(|(known, _)| (*known).cmp(&key)).ok()?;
        let mut found = TypeSchema::default();
        TYPES.get(at)?.1.lines().for_each(|line| found.read(line));
        (!found.properties.is_empty()).then_some(found)
    }

    fn read(&mut self, line: &'static str) {
        let cells: Vec<&'static str> = line.split('\t').collect();
        if let ["!", condition, verdict, effect, right] = cells[..] {
            let condition = TargetCondition::parse(condition);
            self.effects.extend(condition.map(|condition| TargetEffect {
                condition,
                is_useless: verdict == "useless",
                effect,
                right,
            }));
            return;
        }
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let split = |at: usize, by: &'static str| cell(at).split(by).filter(|it| !it.is_empty());
        let paths = |text: &'static str| text.split('+').filter_map(TargetPath::parse).collect::<Vec<_>>();
        if cell(0).is_empty() {
            self.is_lenient = LENIENT.contains(&cell(COLUMNS));
        }
        self.properties.push(Property {
            path: cell(0).replace("[]", ""),
            kind: cell(1),
            is_required: cell(2) == "required",
            is_computed: cell(2) == "computed",
            values: split(3, "|").collect(),
            min: cell(4).parse().ok(),
            max: cell(5).parse().ok(),
            pattern: cell(6),
            requires: split(7, "|").filter_map(TargetPath::parse).collect(),
            conflicts: split(8, "|").filter_map(TargetPath::parse).collect(),
            exactly_one: split(9, "|").map(paths).collect(),
            at_least_one: split(10, "|").map(paths).collect(),
            when: split(11, " ;; ").filter_map(TargetCondition::parse).collect(),
            flags: cell(12),
        });
    }

    /// Returns the property at a path. A map has any key.
    pub(super) fn property(&self, path: &str) -> Option<&Property> {
        self.properties.iter().find(|it| it.path == path).or_else(|| {
            let (parent, _) = path.rsplit_once('.')?;
            self.properties.iter().find(|it| it.path.strip_suffix(".*") == Some(parent))
        })
    }

    /// Returns the properties directly below a path.
    pub(super) fn below<'t>(&'t self, path: &'t str) -> impl Iterator<Item = (&'t Property, &'t str)> {
        self.properties.iter().filter_map(move |it| {
            let (parent, name) = it.path.rsplit_once('.').unwrap_or(("", &it.path));
            (parent == path && !name.is_empty()).then_some((it, name))
        })
    }
}

/// The number of columns of a schema. Its first row has one more, the source.
const COLUMNS: usize = 13;

impl Property {
    pub(super) fn has_flag(&self, flag: &str) -> bool {
        self.flags.split('|').any(|it| it == flag)
    }

    /// Returns whether values below the property have no schema of their own.
    pub(super) fn is_free(&self) -> bool {
        self.kind.split('|').any(|kind| kind == "any" || kind.starts_with("map("))
    }

    pub(super) fn may_be(&self, kinds: &[&str]) -> bool {
        self.kind.split('|').any(|kind| kinds.contains(&kind))
    }

    pub(super) fn starts_with(&self, kinds: &[&str]) -> bool {
        self.kind.split('|').any(|kind| kinds.iter().any(|start| kind.starts_with(start)))
    }
}
