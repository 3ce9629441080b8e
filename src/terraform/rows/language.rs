//! Defines the keys of resource definitions in `resources/`.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::inventory::{CountedIn, FactValue, Key, LinkKind};
use crate::source::AdaptiveRegex;

use crate::inventory::row_path::RowPath;

/// The definition of a resource type, or of a part of it.
#[derive(Debug, Deserialize)]
pub(super) struct TypeRow {
    #[serde(default)]
    pub(super) role: RowRole,
    /// A key of `[providers]`.
    pub(super) provider: String,
    /// The provider of the machine, if the type does not determine it.
    #[serde(default)]
    pub(super) rented_from: Spec,
    /// The parts that the definition describes, each a separate resource; the whole block if this is missing.
    pub(super) each: Option<RowPath>,
    /// The place of values that a part does not set itself.
    #[serde(default)]
    pub(super) defaults: Many<RowPath>,
    /// The definition does not apply to a block for which these are false.
    #[serde(default)]
    pub(super) when: Conditions,
    /// Strings that name the resource, in addition to the name of its block.
    #[serde(default)]
    pub(super) names: Many<RowPath>,
    #[serde(default)]
    pub(super) region: Spec,
    #[serde(default)]
    pub(super) count: Many<CountReading>,
    /// Labels that attribute cost.
    #[serde(default)]
    pub(super) labels: Many<LabelsAt>,
    /// Whether labels of this type appear in the bill. By default, this is true if the definition has labels.
    pub(super) taggable: Option<bool>,
    /// The cost is usually split by the pods on the machines, so labels of other resources set no standard for it.
    #[serde(default)]
    pub(super) cost_by_pods: bool,
    /// Labels of the pool's nodes.
    #[serde(default)]
    pub(super) node_labels: Many<LabelsAt>,
    /// Labels that the cloud sets on the nodes of a pool.
    #[serde(default)]
    pub(super) implied_labels: BTreeMap<String, Spec>,
    #[serde(default)]
    pub(super) taints: Many<LabelsAt>,
    /// Scripts that start programs.
    #[serde(default)]
    pub(super) scripts: Many<RowPath>,
    /// Whether machines that stop are replaced, so that a script cannot end them.
    #[serde(default)]
    pub(super) replaces_stopped: bool,
    /// Containers that run on the resource.
    #[serde(default)]
    pub(super) containers: Many<ContainerAt>,
    /// True if the containers have accelerators even if they request none.
    #[serde(default)]
    pub(super) accelerated: bool,
    /// The purpose if neither program nor labels nor names determine it.
    #[serde(default)]
    pub(super) likely_purpose: Spec,
    #[serde(default)]
    pub(super) links: BTreeMap<String, LinkWord>,
    /// The effect of a control on the targets of its link `target`.
    pub(super) link: Option<LinkName>,
    /// The disks of each machine that are billed separately.
    #[serde(default)]
    pub(super) disks: Vec<DiskWord>,
    /// The changes of its number by a schedule.
    #[serde(default)]
    pub(super) shifts: Vec<ShiftWord>,
    /// Nested blocks that a fix may create, because they need no other arguments.
    #[serde(default)]
    pub(super) creates: Many<String>,
    /// The assignments for a value of a fact, if it needs more than the place that is read. Those for the value `*` are
    /// made in addition to that place.
    #[serde(default)]
    pub(super) write: BTreeMap<String, BTreeMap<String, Assignments>>,
    /// The reasons why a fix cannot write a value of a fact, with the conditions for each reason.
    #[serde(default)]
    pub(super) refuses: BTreeMap<String, BTreeMap<String, BTreeMap<String, Conditions>>>,
    /// The resources that a fix adds to set a fact, by the fact.
    #[serde(default)]
    pub(super) companions: BTreeMap<String, Companion>,
    /// Facts of the inventory, by name.
    #[serde(flatten)]
    pub(super) facts: BTreeMap<String, Spec>,
    #[serde(skip)]
    pub(super) keyed: Vec<(Key, Spec)>,
}

/// Resources that a fix adds after a block, to set a fact of that block.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::terraform) struct Companion {
    /// The code of the resources, with `<words>` that depend on the block.
    #[serde(default)]
    pub(in crate::terraform) code: String,
    /// Arguments of the block itself, which must not be set yet.
    #[serde(default)]
    pub(in crate::terraform) attach: BTreeMap<String, String>,
    /// Arguments of the block that the resources change later.
    #[serde(default)]
    pub(in crate::terraform) ignores: Vec<String>,
    /// The only resource of this type in the module whose surroundings contain these strings.
    pub(in crate::terraform) needs: Option<NeededBlock>,
    /// Conditions under which the fix is not written, by reason.
    #[serde(default)]
    pub(super) unless: BTreeMap<String, Conditions>,
}

/// A resource that a companion uses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::terraform) struct NeededBlock {
    pub(in crate::terraform) to: String,
    /// Strings in the block itself, or in a block that it refers to.
    pub(in crate::terraform) says: Vec<String>,
    /// Strings in these blocks, or in those that refer to the block.
    pub(in crate::terraform) around: Vec<String>,
    /// The reason why the fix is not written without it.
    pub(in crate::terraform) why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RowRole {
    #[default]
    Rented,
    Requested,
    /// Costs nothing itself. Another resource provisions the machines that it describes.
    Template,
    /// The block is not a resource, but controls the resource that it refers to.
    Control,
    /// The block is a volume or file system that a resource with accelerators may use.
    Storage,
    /// The block is a disk. The definition of a machine reads the disks that are attached to it.
    Disk,
    /// The block is a budget of the cloud for everything in its root.
    Budget,
}

/// Disks of each machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiskWord {
    /// The places of the disks; the whole part if this is missing.
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
    /// True if every machine has this disk. Its size is unknown if the configuration does not set it.
    #[serde(default)]
    pub(super) always: bool,
}

/// An entry of a schedule: its time and its change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShiftWord {
    /// The places of the entries; the whole part if this is missing.
    pub(super) each: Option<RowPath>,
    #[serde(default)]
    pub(super) when: Conditions,
    /// The time in cron syntax.
    #[serde(default)]
    pub(super) at: Spec,
    /// Alternatively, the time of day, and the days of the week if not all.
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
    /// Whether the entry starts or stops the resource.
    pub(super) is: Option<Switch>,
    /// The entry sets these numbers. A negative number sets nothing.
    #[serde(default)]
    pub(super) min: Spec,
    #[serde(default)]
    pub(super) desired: Spec,
    #[serde(default)]
    pub(super) max: Spec,
    /// The entry sets at least this number for this many seconds.
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

/// The target of a link, and how the link is recognized.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkWord {
    /// The types of the target.
    pub(super) to: Many<String>,
    /// The paths of the reference; anywhere in the block if this is missing.
    #[serde(default)]
    pub(super) at: Many<RowPath>,
    /// Attributes of the target whose value may be written instead of a reference.
    #[serde(default)]
    pub(super) by: Many<RowPath>,
    /// Patterns for longer strings. The first group of a pattern is the name.
    #[serde(default, rename = "match")]
    pub(super) patterns: Many<RowPattern>,
    /// Types in between, which refer to the target.
    #[serde(default)]
    pub(super) through: Many<String>,
    /// True if the link is reversed: the target refers to this block, or has at `by` the string that is here at `at`.
    #[serde(default)]
    pub(super) back: bool,
    /// If `back` is set, the target refers to the target of this other link.
    pub(super) of: Option<String>,
    /// This other link has precedence: this one is followed only if the other one has no target.
    pub(super) unless: Option<String>,
    pub(super) kind: Option<LinkName>,
    /// True if the target is a reservation that covers these machines. They use up its number.
    #[serde(default)]
    pub(super) covers: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LinkName {
    Autoscaler,
    Stop,
    Settings,
    /// The machines on which a request runs.
    Pool,
}

impl LinkName {
    pub(super) fn kind(self) -> LinkKind {
        match self {
            LinkName::Autoscaler => LinkKind::Autoscaler,
            LinkName::Stop => LinkKind::Stop,
            LinkName::Settings => LinkKind::Settings,
            LinkName::Pool => LinkKind::Pool,
        }
    }
}

/// The number of instances.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CountReading {
    #[serde(default)]
    pub(super) when: Conditions,
    #[serde(default)]
    pub(super) desired: Spec,
    /// A number that is added to `desired`.
    #[serde(default)]
    pub(super) also: Spec,
    #[serde(default)]
    pub(super) min: Spec,
    #[serde(default)]
    pub(super) max: Spec,
    /// Factors for all three numbers.
    #[serde(default)]
    pub(super) times: Many<Spec>,
    /// All three numbers count capacity units. Each machine type sets its number of units here.
    #[serde(default)]
    pub(super) units: Many<RowPath>,
    /// True if a control adds the number to the existing one.
    #[serde(default)]
    pub(super) adds: bool,
    /// All three numbers are per zone.
    pub(super) zones: Option<Zones>,
    #[serde(default)]
    pub(super) of: CountUnit,
    /// True if the number is unlimited when `max` is not set.
    #[serde(default)]
    pub(super) unlimited: bool,
}

/// The number of zones: the listed ones, or else one for a zone and three for a region.
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

/// A map of labels, or a list of blocks with a key and a value.
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
    /// Other arguments that a fix writes into a new block. Without them, a fix adds no block.
    #[serde(default)]
    pub(super) beside: BTreeMap<String, RowConstant>,
}

/// The paths to a container's program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContainerAt {
    /// The containers; the part itself if this is missing.
    pub(super) each: Option<RowPath>,
    pub(super) image: Option<RowPath>,
    pub(super) command: Option<RowPath>,
    pub(super) args: Option<RowPath>,
    #[serde(default)]
    pub(super) env: Many<LabelsAt>,
}

/// Changes that a fix makes together, with their paths.
#[derive(Debug, Default)]
pub(super) struct Assignments(pub(super) Vec<(RowPath, Assignment)>);

/// The change that a fix makes at a path. It has exactly one of `to`, `default`, `replace`, `add` and `remove`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Assignment {
    /// The value; `absent` removes the value or the block.
    pub(super) to: Option<RowConstant>,
    /// The value if none is set. An existing value stays.
    pub(super) default: Option<RowConstant>,
    /// The value if another one is set. Without a value, nothing is added.
    pub(super) replace: Option<RowConstant>,
    /// An element that the list at the path must have.
    pub(super) add: Option<String>,
    /// An element that the list at the path must not have.
    pub(super) remove: Option<String>,
    /// The fix makes this change only if these are true.
    #[serde(default)]
    pub(super) when: Conditions,
}

/// The ways to read a fact. The first alternative with a value applies.
#[derive(Debug, Default)]
pub(super) struct Spec(pub(super) Vec<FactReading>);

/// One way to read a fact. It has exactly one of `at`, `join`, `is` and `default`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FactReading {
    pub(super) at: Option<RowPath>,
    /// Several strings that are joined.
    #[serde(default)]
    pub(super) join: Vec<RowPath>,
    #[serde(default)]
    pub(super) with: String,
    /// The value is the number at `at`, divided by the sum of the numbers at these paths.
    #[serde(default)]
    pub(super) share_of: Many<RowPath>,
    /// The value that the type or the condition implies.
    pub(super) is: Option<RowConstant>,
    /// The provider's documented default.
    pub(super) default: Option<RowConstant>,
    /// The value if anything exists at the path.
    pub(super) present: Option<RowConstant>,
    /// True if the value is the number of elements at the path.
    #[serde(default)]
    pub(super) length: bool,
    /// True if the value is the product of the numbers in the string: `2x4` is 8.
    #[serde(default)]
    pub(super) product: bool,
    /// Translates the values of the provider. An unlisted value is ignored, and `*` matches any other value.
    #[serde(default)]
    pub(super) map: BTreeMap<String, RowConstant>,
    /// The first group of this expression is the value. A string that does not match is ignored.
    #[serde(default, rename = "match")]
    pub(super) pattern: Option<RowPattern>,
    /// The unit of a number without one. The value is converted to the unit of the fact.
    pub(super) unit: Option<DurationFormat>,
    /// The form in which a fix writes the number: `{}s`.
    pub(super) form: Option<String>,
    pub(super) times: Option<f64>,
    pub(super) plus: Option<f64>,
    #[serde(default)]
    pub(super) when: Conditions,
    /// The configuration cannot determine the value, for this reason.
    pub(super) unknown: Option<String>,
    /// The value is inferred, for this reason.
    pub(super) because: Option<String>,
    /// True if an unknown value is ignored, for strings that seldom contain the fact.
    #[serde(default)]
    pub(super) if_known: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DurationFormat {
    Seconds,
    Minutes,
    Hours,
    Days,
}

impl DurationFormat {
    pub(super) fn seconds(self) -> f64 {
        match self {
            DurationFormat::Seconds => 1.0,
            DurationFormat::Minutes => 60.0,
            DurationFormat::Hours => 3_600.0,
            DurationFormat::Days => 86_400.0,
        }
    }
}

/// All conditions must be true. A path must have one of the strings. Special strings are `absent`, `present`, `empty`,
/// `!text` (any other value, or none) and `>1`; `~` starts a regular expression.
#[derive(Debug, Default)]
pub(super) struct Conditions(pub(super) Vec<(RowPath, Vec<String>)>);

/// A provider: the places of its region and its default labels.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProviderRow {
    /// True if the provider rents out machines itself.
    #[serde(default = "yes")]
    pub(super) rents: bool,
    /// The places where resources and provider configuration set the region.
    #[serde(default)]
    pub(super) region: Spec,
    /// The pattern whose first group is the region of a zone.
    pub(super) zone: Option<RowPattern>,
    /// Labels that the provider adds to everything.
    #[serde(default)]
    pub(super) labels: Many<LabelsAt>,
    /// Whether a machine whose system is shut down is not billed. Not set if this is unknown.
    pub(super) shutdown_ends_cost: Option<bool>,
    /// Whether an interruption on spot deletes a machine and its disks, unless its policy keeps them.
    #[serde(default)]
    pub(super) interruption_deletes: bool,
}

fn yes() -> bool {
    true
}

/// A scalar in the table.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum RowConstant {
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

impl RowConstant {
    pub(super) fn value(&self) -> FactValue {
        match self {
            RowConstant::Flag(flag) => FactValue::Flag(*flag),
            RowConstant::Integer(n) => FactValue::Integer(*n),
            RowConstant::Number(n) => FactValue::Number(*n),
            RowConstant::Text(text) => FactValue::text(text.as_str()),
        }
    }
}

/// A value, or a list of values.
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
    pub(super) types: RowSection,
    pub(super) modules: RowSection,
}

/// Definitions by sorted name, parsed when first requested, because a repository uses few of the types.
#[derive(Debug)]
pub(super) struct RowSection {
    pub(super) texts: &'static [(&'static str, &'static str)],
    pub(super) rows: Vec<OnceLock<Vec<TypeRow>>>,
}

/// A pattern of a resource definition.
#[derive(Debug)]
pub(super) struct RowPattern(AdaptiveRegex);

impl RowPattern {
    pub(super) fn new(text: impl Into<String>) -> Self {
        RowPattern(AdaptiveRegex::new(text))
    }
}

impl Deref for RowPattern {
    type Target = AdaptiveRegex;

    fn deref(&self) -> &AdaptiveRegex {
        &self.0
    }
}
