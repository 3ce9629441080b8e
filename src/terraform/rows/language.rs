//! The words of `resources/`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::inventory::{CountedIn, Key, LinkKind, Value};
use crate::source::AdaptiveRegex;

use crate::inventory::row_path::RowPath;

/// What `resources/` says about one type, or about a part of it.
#[derive(Debug, Deserialize)]
pub(super) struct TypeRow {
    #[serde(default)]
    pub(super) role: RowRole,
    /// A key of `[providers]`.
    pub(super) provider: String,
    /// Whose machine it is, where the type does not tell.
    #[serde(default)]
    pub(super) rented_from: Spec,
    /// The parts that the row describes, each its own resource; the whole block where this is missing.
    pub(super) each: Option<RowPath>,
    /// Where a part finds what it does not say itself.
    #[serde(default)]
    pub(super) defaults: Many<RowPath>,
    /// The row does not hold for a block where these are false.
    #[serde(default)]
    pub(super) when: Conditions,
    /// Texts that name the thing, beside the name of its block.
    #[serde(default)]
    pub(super) names: Many<RowPath>,
    #[serde(default)]
    pub(super) region: Spec,
    #[serde(default)]
    pub(super) count: Many<Count>,
    /// Labels that attribute cost.
    #[serde(default)]
    pub(super) labels: Many<LabelsAt>,
    /// Labels of this type reach the bill; where not said, whether it has any.
    pub(super) taggable: Option<bool>,
    /// Labels that the nodes of a pool carry.
    #[serde(default)]
    pub(super) node_labels: Many<LabelsAt>,
    /// Labels that the cloud itself puts on the nodes of a pool.
    #[serde(default)]
    pub(super) implied_labels: BTreeMap<String, Spec>,
    #[serde(default)]
    pub(super) taints: Many<LabelsAt>,
    /// Texts of scripts that start programs.
    #[serde(default)]
    pub(super) scripts: Many<RowPath>,
    /// Containers that run on it.
    #[serde(default)]
    pub(super) containers: Many<ContainerAt>,
    /// Its containers have accelerators, whatever they ask for.
    #[serde(default)]
    pub(super) accelerated: bool,
    /// What it is for, where neither its program nor labels nor names tell.
    #[serde(default)]
    pub(super) likely_purpose: Spec,
    #[serde(default)]
    pub(super) links: BTreeMap<String, LinkWord>,
    /// What a control does to the things that its link `target` leads to.
    pub(super) link: Option<LinkName>,
    /// What each machine brings with it that is billed apart.
    #[serde(default)]
    pub(super) disks: Vec<DiskWord>,
    /// What a schedule makes of its number.
    #[serde(default)]
    pub(super) shifts: Vec<ShiftWord>,
    /// Nested blocks that are whole with what a fix writes into them: it may make them.
    #[serde(default)]
    pub(super) creates: Many<String>,
    /// What is written for a value of a fact, where that is more than the one place that is read.
    #[serde(default)]
    pub(super) write: BTreeMap<String, BTreeMap<String, Assignments>>,
    /// Any fact of the inventory, by its name.
    #[serde(flatten)]
    pub(super) facts: BTreeMap<String, Spec>,
    #[serde(skip)]
    pub(super) keyed: Vec<(Key, Spec)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RowRole {
    #[default]
    Rented,
    Requested,
    /// Costs nothing by itself: something else rents what it describes.
    Template,
    /// No resource: it says something about the one that it refers to.
    Control,
    /// No resource with accelerators: a volume or a file system that such a one may use.
    Storage,
}

/// Disks of each machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiskWord {
    /// Where they stand, each its own; what the row describes where this is missing.
    pub(super) at: Option<RowPath>,
    #[serde(default)]
    pub(super) when: Conditions,
    pub(super) gib: Spec,
    #[serde(default)]
    pub(super) kind: Spec,
    #[serde(default)]
    pub(super) count: Spec,
    #[serde(default)]
    pub(super) iops: Spec,
    #[serde(default)]
    pub(super) throughput: Spec,
    /// Every machine has one: its size is not known where the text does not say it.
    #[serde(default)]
    pub(super) always: bool,
}

/// An entry of a schedule: when, and what changes then.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShiftWord {
    /// The entries, each its own; what the row describes where this is missing.
    pub(super) each: Option<RowPath>,
    #[serde(default)]
    pub(super) when: Conditions,
    /// As cron writes it.
    #[serde(default)]
    pub(super) at: Spec,
    /// Instead: the time of day, and the days of the week where it is not all of them.
    #[serde(default)]
    pub(super) clock: Spec,
    #[serde(default)]
    pub(super) hour: Spec,
    #[serde(default)]
    pub(super) minute: Spec,
    #[serde(default)]
    pub(super) days: Spec,
    #[serde(default)]
    pub(super) zone: Spec,
    /// It starts or stops.
    pub(super) is: Option<Switch>,
    /// It sets these; a number below zero sets nothing.
    #[serde(default)]
    pub(super) min: Spec,
    #[serde(default)]
    pub(super) desired: Spec,
    #[serde(default)]
    pub(super) max: Spec,
    /// There are at least so many for so many seconds.
    #[serde(default)]
    pub(super) at_least: Spec,
    #[serde(default)]
    pub(super) lasts: Spec,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Switch {
    Start,
    Stop,
}

/// Where a link leads, and how it is recognized.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkWord {
    /// The types at the other end.
    pub(super) to: Many<String>,
    /// Where the reference stands; anywhere in the block where this is missing.
    #[serde(default)]
    pub(super) at: Many<RowPath>,
    /// Attributes of the other end whose text may stand there instead of a reference.
    #[serde(default)]
    pub(super) by: Many<RowPath>,
    /// The text that stands there is longer than a name: the first group of one of these is the name.
    #[serde(default, rename = "match")]
    pub(super) patterns: Many<AdaptiveRegex>,
    /// Types that stand between, which refer on in their turn.
    #[serde(default)]
    pub(super) through: Many<String>,
    /// The link is drawn the other way: the other end refers to this one, or has at `by` the text that stands here at `at`.
    #[serde(default)]
    pub(super) back: bool,
    /// With `back`: the other end refers to what this link leads to.
    pub(super) of: Option<String>,
    pub(super) kind: Option<LinkName>,
    /// The other end is a reservation, which pays for these machines: it has as many less left.
    #[serde(default)]
    pub(super) covers: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LinkName {
    Autoscaler,
    Stop,
    Settings,
}

impl LinkName {
    pub(super) fn kind(self) -> LinkKind {
        match self {
            LinkName::Autoscaler => LinkKind::Autoscaler,
            LinkName::Stop => LinkKind::Stop,
            LinkName::Settings => LinkKind::Settings,
        }
    }
}

/// How many there are.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Count {
    #[serde(default)]
    pub(super) when: Conditions,
    #[serde(default)]
    pub(super) desired: Spec,
    #[serde(default)]
    pub(super) min: Spec,
    #[serde(default)]
    pub(super) max: Spec,
    /// Numbers by which all three are multiplied.
    #[serde(default)]
    pub(super) times: Many<Spec>,
    /// The three count units, and this is where each kind of machine says how many of them it makes.
    #[serde(default)]
    pub(super) units: Many<RowPath>,
    /// In a control: so many beside those that there are.
    #[serde(default)]
    pub(super) adds: bool,
    /// All three are for each zone.
    pub(super) zones: Option<Zones>,
    #[serde(default)]
    pub(super) of: CountUnit,
    /// Nothing limits it, where `max` says nothing.
    #[serde(default)]
    pub(super) unlimited: bool,
}

/// In how many zones: as many as are listed, else one in a zone, else three in a region.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Zones {
    #[serde(default)]
    pub(super) listed: Many<RowPath>,
    #[serde(default)]
    pub(super) location: Many<RowPath>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CountUnit {
    #[default]
    Machines,
    Cpus,
    Accelerators,
}

impl CountUnit {
    pub(super) fn counted_in(self) -> CountedIn {
        match self {
            CountUnit::Machines => CountedIn::Machines,
            CountUnit::Cpus => CountedIn::Cpus,
            CountUnit::Accelerators => CountedIn::Accelerators,
        }
    }
}

/// A map of labels, or a list of blocks with a key and a value each.
#[derive(Debug)]
pub(super) enum LabelsAt {
    Map(RowPath),
    List(LabelList),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelList {
    pub(super) list: RowPath,
    pub(super) key: RowPath,
    pub(super) value: RowPath,
}

/// Where a container says what it runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContainerAt {
    /// The containers; the part itself where this is missing.
    pub(super) each: Option<RowPath>,
    pub(super) image: Option<RowPath>,
    pub(super) command: Option<RowPath>,
    pub(super) args: Option<RowPath>,
    #[serde(default)]
    pub(super) env: Many<LabelsAt>,
}

/// Paths and what is written there; `absent` takes away what stands there.
#[derive(Debug, Default)]
pub(super) struct Assignments(pub(super) Vec<(RowPath, Constant)>);

/// How a fact is read: the first of these that says something.
#[derive(Debug, Default)]
pub(super) struct Spec(pub(super) Vec<Alternative>);

/// One way to read a fact. Exactly one of `at`, `join`, `is` and `default` says where from.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Alternative {
    pub(super) at: Option<RowPath>,
    /// Several texts that together make one.
    #[serde(default)]
    pub(super) join: Vec<RowPath>,
    #[serde(default)]
    pub(super) with: String,
    /// The type itself, or the condition, says so.
    pub(super) is: Option<Constant>,
    /// The provider's documented default.
    pub(super) default: Option<Constant>,
    /// The value where anything stands at the path, whatever it is.
    pub(super) present: Option<Constant>,
    /// How many elements stand at the path.
    #[serde(default)]
    pub(super) length: bool,
    /// The numbers in the text, multiplied: `2x4` is 8.
    #[serde(default)]
    pub(super) product: bool,
    /// What the words of the provider mean; a word that is not here says nothing, `*` stands for every other.
    #[serde(default)]
    pub(super) map: BTreeMap<String, Constant>,
    /// The first group of this expression is the value; a text that it does not match says nothing.
    #[serde(default, rename = "match")]
    pub(super) pattern: Option<AdaptiveRegex>,
    /// The unit of a number without one; the value is in the unit of the fact.
    pub(super) unit: Option<Duration>,
    /// How a fix writes the number: `{}s`.
    pub(super) form: Option<String>,
    pub(super) times: Option<f64>,
    pub(super) plus: Option<f64>,
    #[serde(default)]
    pub(super) when: Conditions,
    /// Nobody can know it from the text, and why.
    pub(super) unknown: Option<String>,
    /// It is only concluded, and from this.
    pub(super) because: Option<String>,
    /// What is not known says nothing: for texts that seldom say it.
    #[serde(default)]
    pub(super) if_known: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Duration {
    Seconds,
    Minutes,
    Hours,
    Days,
}

impl Duration {
    pub(super) fn seconds(self) -> f64 {
        match self {
            Duration::Seconds => 1.0,
            Duration::Minutes => 60.0,
            Duration::Hours => 3_600.0,
            Duration::Days => 86_400.0,
        }
    }
}

/// All of these hold. A path has one of the texts; `absent`, `present`, `empty`, `!text` (anything else, or nothing) and `>1`
/// stand for what they say, and `~` begins a regular expression.
#[derive(Debug, Default)]
pub(super) struct Conditions(pub(super) Vec<(RowPath, Vec<String>)>);

/// A provider: where its blocks name a region and default labels.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProviderRow {
    /// It rents out machines itself.
    #[serde(default = "yes")]
    pub(super) rents: bool,
    /// Where every resource of the provider, and its configuration, may name the region.
    #[serde(default)]
    pub(super) region: Spec,
    /// What of a zone is the region: the first group.
    pub(super) zone: Option<AdaptiveRegex>,
    /// Labels that the provider puts on everything.
    #[serde(default)]
    pub(super) labels: Many<LabelsAt>,
}

fn yes() -> bool {
    true
}

/// A scalar of the table.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Constant {
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

impl Constant {
    pub(super) fn value(&self) -> Value {
        match self {
            Constant::Flag(flag) => Value::Flag(*flag),
            Constant::Integer(n) => Value::Integer(*n),
            Constant::Number(n) => Value::Number(*n),
            Constant::Text(text) => Value::text(text.as_str()),
        }
    }
}

/// One or several.
#[derive(Debug)]
pub(super) struct Many<T>(pub(super) Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Many(Vec::new())
    }
}

/// The whole table.
#[derive(Debug)]
pub(super) struct RowTable {
    pub(super) providers: BTreeMap<String, ProviderRow>,
    pub(super) types: Section,
    pub(super) modules: Section,
}

/// Rows by sorted names, each name's read when they are first asked for: few of the types stand in one repository.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) texts: &'static [(&'static str, &'static str)],
    pub(super) rows: Vec<OnceLock<Vec<TypeRow>>>,
}
