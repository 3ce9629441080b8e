//! Describes the definitions of `kinds.toml`: the paths of each kind to its pods, its machines, their number and their
//! facts.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;

use crate::inventory::{Key, LinkKind};
use crate::languages::yaml::Node;
use crate::source::{AdaptiveRegex, value_of};

use super::devices::DEVICES;
use super::path::{FieldPaths, ManifestPath, PathsForm};
use super::writing::{FactWriting, KindConstant};

/// Names of facts, with the sources of each.
pub(in crate::kubernetes) type FactSources = BTreeMap<String, FieldSources>;

/// The words of a command whose options form an object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandWords {
    /// The program and its subcommands.
    pub words: String,
    /// The command is read if one of these options has a known value.
    pub needs: Vec<String>,
    /// The option with the name; empty if the first word without an option is the name.
    #[serde(default)]
    pub name: String,
    /// Whether an option takes all words up to the next option.
    #[serde(default)]
    pub takes_lists: bool,
    /// Options with one letter, and their long names: `n=name`.
    #[serde(default)]
    pub short: Vec<String>,
}

/// The functions of Python programs whose arguments form an object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallWords {
    pub functions: Vec<String>,
    /// The call is read if one of these arguments has a known value.
    pub needs: Vec<String>,
    /// The argument with the name.
    #[serde(default)]
    pub name: String,
}

/// One kind in one or several API groups.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct KindRow {
    pub kind: String,
    /// API groups without version. The empty string is the core group.
    pub groups: Vec<String>,
    /// True if the object is a template for others and runs nothing itself.
    #[serde(default)]
    pub template: bool,
    /// True if the object only describes other kinds. It then requests nothing.
    #[serde(default)]
    #[cfg_attr(not(test), allow(dead_code, reason = "a run reads the property of the known kind"))]
    pub schema: bool,
    /// True if the table of languages selects the files of this kind, so no text search is necessary.
    #[serde(default)]
    pub claimed: bool,
    /// The command that creates its machines, if the object consists of the options of a command.
    pub command: Option<CommandWords>,
    /// The function that creates its machines, if the object consists of the arguments of a call.
    pub call: Option<CallWords>,
    /// A document without a kind has this kind if all of these paths exist.
    #[serde(default)]
    pub has: Vec<FieldPaths>,
    /// The path to the name of such a document.
    pub name: Option<ManifestPath>,
    /// The path to a flag: if it is true, the object is suspended.
    pub suspended: Option<ManifestPath>,
    /// The path to a value: if it exists, the object is stopped.
    pub stopped: Option<ManifestPath>,
    /// True if other keys of the document are searched for pods by their shape.
    #[serde(default)]
    pub others: bool,
    /// The template whose pods or machines the object uses, if it has none itself.
    pub borrows: Option<Borrows>,
    /// The object controls the number of another object.
    pub scales: Option<Scales>,
    /// The settings of a program outside containers.
    #[serde(default)]
    pub settings: Vec<ProgramSettings>,
    /// The object applies to other objects.
    pub relates: Option<Relates>,
    /// Resource keys that containers of its namespace get if they request nothing themselves.
    #[serde(default)]
    pub grants: Vec<ManifestPath>,
    /// Fields that change the deployed objects, and that gpulint does not evaluate.
    #[serde(default)]
    pub unfollowed: Vec<ManifestPath>,
    /// Values of a chart, or strings that contain them. They set what the chart requests.
    #[serde(default)]
    pub values: Vec<Layers>,
    /// True if reports point to the request of accelerators and not to the object.
    #[serde(default)]
    pub at_request: bool,
    /// The objects that its controller creates, as usage metrics name them: `Deployment/{name}-predictor*`.
    #[serde(default)]
    pub owns: Vec<String>,
    /// The object creates other objects from a template.
    pub generates: Option<Generates>,
    /// The object fills variables into other files.
    pub substitutes: Option<Substitutes>,
    #[serde(default)]
    pub facts: FactSources,
    /// The other fields that a fix of a fact, or of the minimum number (`floor`), needs.
    #[serde(default)]
    pub writes: BTreeMap<String, FactWriting>,
    #[serde(default)]
    pub pods: Vec<Pods>,
    #[serde(default)]
    pub holds: Vec<InnerObjects>,
    #[serde(default)]
    pub machines: Vec<Machines>,
}

/// Values that an object passes to a chart; later layers override earlier ones. Paths are relative to `each`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Layers {
    /// The places that pass values to one chart each; the whole object if this is missing.
    pub each: Option<ManifestPath>,
    /// Patterns of the files of the directory that are deployed, and of those that are excluded.
    pub include: Option<ManifestPath>,
    pub exclude: Option<ManifestPath>,
    /// The path to a flag: if it is set, the files of all subdirectories are deployed, too.
    pub recurse: Option<ManifestPath>,
    /// A list of values files.
    pub files: Option<ManifestPath>,
    /// A list of ConfigMaps that contain values: `kind`, `name`, `valuesKey`, `targetPath`.
    pub from: Option<ManifestPath>,
    /// A list that contains mappings and values files.
    pub layers: Option<ManifestPath>,
    /// A mapping, or a string that contains one. The first path that exists is used.
    #[serde(default)]
    pub values: FieldPaths,
    /// Single values: a list of `name` and `value`, or a mapping, in the syntax of `helm --set`.
    pub set: Option<ManifestPath>,
    /// The directory of the chart, if the chart is in this tree.
    pub chart: Option<ManifestPath>,
    /// True if the paths of the chart and of values files are relative to the file that names them.
    #[serde(default)]
    pub beside: bool,
    /// True if the paths of values files are relative to the root of the tree, and these files replace the chart's
    /// own values.
    #[serde(default)]
    pub files_replace: bool,
    /// The path to a flag that disables a release with `false`.
    pub enabled: Option<ManifestPath>,
    /// True if the object shows how to try a chart. It is ignored if another object releases the chart.
    #[serde(default)]
    pub tries: bool,
    /// The name of the release, if it differs from the name of the object.
    #[serde(default)]
    pub name: FieldPaths,
    /// A prefix, with a dash, for the name of the object in the release name, if nothing else names the release.
    pub name_prefix: Option<ManifestPath>,
    /// The namespace of the release. The first path that exists is used.
    #[serde(default)]
    pub namespace: FieldPaths,
    /// Factors of the number of such releases.
    #[serde(default)]
    pub count: Vec<Factor>,
}

impl Layers {
    /// Returns each place in an object that passes values.
    pub(in crate::kubernetes) fn places<'t>(&self, root: &'t Node) -> Vec<&'t Node> {
        match &self.each {
            Some(path) => path.all(root).into_iter().map(|at| at.node).collect(),
            None => vec![root],
        }
    }
}

/// Objects of one kind, generated from a template for each member of lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Generates {
    pub version: String,
    pub kind: String,
    pub template: ManifestPath,
    /// The generators. If one of them is not a list, the number of objects is unknown.
    pub each: ManifestPath,
    /// The path in each generator to a list of members.
    pub list: ManifestPath,
    /// The path to a list of patterns. Each matching directory of this tree is a member.
    pub directories: ManifestPath,
    /// The path to a list of patterns. Each matching file of this tree contains members.
    pub files: ManifestPath,
    /// The path to two inner generators, whose members are combined in all pairs.
    pub product: ManifestPath,
    /// The path to several inner generators, whose members are merged if they agree in the given keys.
    pub merge: ManifestPath,
    pub merge_keys: ManifestPath,
    /// Values that are added to each member from directories and files.
    pub values: ManifestPath,
    /// Other keys of a generator, which do not affect its members.
    pub aside: Vec<String>,
    /// Whether the template is a Go template, which refers to parts of a path in another way.
    pub go: ManifestPath,
    /// If something exists at this path, the objects have parts that are not in the template.
    pub unless: ManifestPath,
}

/// Variables that are filled into the files of a directory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Substitutes {
    /// The path to the directory.
    pub path: ManifestPath,
    /// A mapping of variables.
    pub values: ManifestPath,
    /// A list of ConfigMaps and other objects that contain variables: `kind` and `name`.
    pub from: ManifestPath,
    /// A list of components that are added, by paths relative to the directory.
    pub components: Option<ManifestPath>,
    /// The namespace of all objects.
    pub namespace: Option<ManifestPath>,
}

/// The settings of a program: a mapping, or a string that contains one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct ProgramSettings {
    pub at: ManifestPath,
    /// The program's name in the table of programs. If it is missing, the settings that several programs share are
    /// read.
    pub program: Option<String>,
}

/// Pods that an object creates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Pods {
    /// Pod templates: `metadata` and `spec`.
    pub template: Option<ManifestPath>,
    /// Pod specifications without `metadata`.
    pub spec: Option<ManifestPath>,
    /// Containers in the pod specification, in addition to `containers` or instead of it.
    #[serde(default)]
    pub containers: Vec<ManifestPath>,
    /// Mappings of limits and requests outside containers.
    #[serde(default)]
    pub resources: Vec<ManifestPath>,
    /// Mappings of limits only: resource keys and amounts.
    #[serde(default)]
    pub limits: Vec<ManifestPath>,
    /// Mappings of node labels, in addition to `nodeSelector`.
    #[serde(default)]
    pub selectors: Vec<ManifestPath>,
    /// A mapping with fields of the pod specification that apply to all pods of the object, such as `tolerations`.
    pub around: Option<ManifestPath>,
    /// A list of the terms of a required node affinity.
    pub terms: Option<ManifestPath>,
    /// The object that a chart makes for these pods, as other objects name it: `Deployment/{release}-{name}`.
    pub makes: Option<String>,
    /// A resource key and an amount in separate fields.
    pub amount: Option<KeyedAmount>,
    /// Fields that each name a single device.
    #[serde(default)]
    pub devices: Vec<ManifestPath>,
    /// Lists of device claims, in addition to `resourceClaims`.
    #[serde(default)]
    pub claims: Vec<ManifestPath>,
    /// A string that contains a patch of the pod specification.
    pub patch: Option<ManifestPath>,
    /// Short names of resource keys.
    #[serde(default)]
    pub keys: BTreeMap<String, String>,
    /// True if the controller adds missing container fields, so a container without an image is not a patch.
    #[serde(default)]
    pub completed: bool,
    /// The path to a flag: if it is false, these pods do not run.
    pub enabled: Option<ManifestPath>,
    /// A value that means that these pods request nothing.
    pub unless: Option<Exclusion>,
    /// The name of these pods, if an object has several kinds of pods.
    pub role: Option<String>,
    /// The path to that name in the object.
    pub name: Option<ManifestPath>,
    /// Factors of the number of pods.
    #[serde(default)]
    pub count: Vec<Factor>,
    /// Factors of the number of pods that together run one replica.
    #[serde(default)]
    pub group: Vec<Factor>,
    /// Factors of the number of such groups.
    #[serde(default)]
    pub groups: Vec<Factor>,
    #[serde(default)]
    pub facts: FactSources,
}

/// Values of a field that exclude what a definition describes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Exclusion {
    pub at: ManifestPath,
    pub is: Vec<String>,
}

impl Exclusion {
    /// Returns whether an object has one of the values.
    pub(in crate::kubernetes) fn applies_to(&self, root: &Node) -> bool {
        let value = self.at.first(root).and_then(Node::text);
        value.is_some_and(|value| self.is.iter().any(|it| **it == **value))
    }
}

/// Objects inside another object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct InnerObjects {
    /// Whole objects. With `kind`, the objects do not declare their kind themselves.
    pub at: Option<ManifestPath>,
    /// The path to the `spec` of objects of kind `kind`.
    pub spec: Option<ManifestPath>,
    /// The `group/Kind` of a resource definition.
    pub kind: Option<String>,
    /// True if the objects are independent and have their own addresses, as in a `List`.
    #[serde(default)]
    pub apart: bool,
    pub name: Option<ManifestPath>,
    pub enabled: Option<ManifestPath>,
    #[serde(default)]
    pub count: Vec<Factor>,
}

/// The group of the definitions for chart values.
pub(in crate::kubernetes) const VALUES: &str = "values";

impl KindRow {
    /// Returns whether the object adds facts to other objects or files.
    #[cfg(test)]
    fn is_joined(&self) -> bool {
        let tells = self.scales.is_some() || !self.grants.is_empty() || !self.unfollowed.is_empty();
        let tells = tells || self.relates.as_ref().is_some_and(|relates| !relates.beside);
        tells || self.generates.is_some() || self.substitutes.is_some() || self.takes_values()
    }

    /// Returns whether the kind provisions machines, runs the pods of others, or has short names for accelerators.
    #[cfg(test)]
    fn asks_in_other_words(&self) -> bool {
        let apart =
            |it: &Pods| it.amount.is_some() || !it.keys.is_empty() || !it.devices.is_empty() || !it.claims.is_empty();
        !self.machines.is_empty() || self.borrows.is_some() || self.pods.iter().any(apart)
    }

    /// Returns whether its objects contain pods, machines or other objects.
    #[cfg(test)]
    fn describes_something(&self) -> bool {
        !(self.pods.is_empty() && self.machines.is_empty() && self.holds.is_empty() && self.values.is_empty())
    }

    /// Returns whether the object passes values to a chart from another place.
    pub(in crate::kubernetes) fn takes_values(&self) -> bool {
        self.values.iter().any(|it| it.chart.is_some() || it.files.is_some() || it.from.is_some())
    }

    /// Returns whether its pods are below this key.
    pub(in crate::kubernetes) fn speaks_of(&self, key: &str) -> bool {
        let paths = self.pods.iter().filter_map(|pods| pods.template.as_ref().or(pods.spec.as_ref()));
        paths.into_iter().any(|path| path.first_key() == Some(key))
    }

    /// Returns whether its documents are chart values.
    pub(in crate::kubernetes) fn is_of_values(&self) -> bool {
        self.groups.iter().any(|group| group == VALUES)
    }

    /// Returns the paths to objects that are independent.
    pub(in crate::kubernetes) fn carried(&self) -> impl Iterator<Item = &ManifestPath> {
        self.holds.iter().filter(|holds| holds.apart).filter_map(|holds| holds.at.as_ref())
    }
}

/// A resource key and an amount, by paths in the pod specification.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct KeyedAmount {
    pub key: Option<ManifestPath>,
    /// The key, if none is set; the NVIDIA key if this is missing, too.
    pub is: Option<String>,
    pub count: ManifestPath,
    /// The amount is the first group of this expression. A string that does not match requests nothing.
    #[serde(rename = "match")]
    pub pattern: Option<String>,
    /// The amount, if none is set.
    pub default: Option<DefaultAmount>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct DefaultAmount {
    /// The default applies only if something exists at this path.
    pub beside: ManifestPath,
    pub is: f64,
}

/// A template in another place of the tree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Borrows {
    /// True if the template decides before the object's own requests.
    #[serde(default)]
    pub first: bool,
    /// The `group/Kind` of resource definitions.
    pub kinds: Vec<String>,
    pub name: ManifestPath,
    #[serde(default)]
    pub count: Vec<Factor>,
    /// True if the number of the template itself does not count: only `count` does.
    #[serde(default)]
    pub alone: bool,
    /// The path to a value: if it is set and not `never`, the object stops the pods that the template runs itself.
    pub ends: Option<ManifestPath>,
}

/// Another object in the tree, whose number this object controls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Scales {
    /// The path to a mapping with `kind` and `name`.
    pub target: ManifestPath,
    /// The kind, if the mapping does not set it.
    pub kind: Option<String>,
    pub min: Option<ManifestPath>,
    pub max: Option<ManifestPath>,
    /// The path to the number without work, if it differs from the minimum.
    pub idle: Option<ManifestPath>,
    /// The path to the number at which the object fixes its target.
    pub held: Option<ManifestPath>,
    /// The minimum, if none is set.
    pub floor: f64,
    /// The maximum, if none is set.
    pub ceiling: Option<f64>,
    /// True if the autoscaler starts pods of a workload that is set to zero.
    #[serde(default)]
    pub wakes: bool,
    /// The metrics that it uses, by name.
    #[serde(default)]
    pub metrics: Vec<ManifestPath>,
    /// The metric that it uses if none is set.
    pub default_metric: Option<String>,
    /// The path to the seconds that it waits before it removes pods.
    pub cooldown: Option<ManifestPath>,
    /// Triggers that request a number of pods between a start and an end, in the form of KEDA.
    pub windows: Option<Windows>,
}

/// Scheduled triggers of an autoscaler.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Windows {
    pub each: ManifestPath,
    /// The type of the scheduled triggers.
    pub kind: String,
}

/// The objects that this object applies to. By default, these are the objects in the namespace of its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Relates {
    #[serde(deserialize_with = "link_kind")]
    pub link: LinkKind,
    /// The path to a mapping of labels that select pods.
    pub selects: Option<ManifestPath>,
    /// The fact of those objects that contains the name of this object.
    pub named_by: Option<String>,
    /// A mapping of resource keys. If accelerators are among them, the object applies to its own namespace.
    pub limits: Option<ManifestPath>,
    /// True if only objects in files that request accelerators are read, because there are many others.
    #[serde(default)]
    #[cfg_attr(not(test), allow(dead_code, reason = "a run reads the property of the known kind"))]
    pub beside: bool,
}

fn link_kind<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<LinkKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = LinkKind::ALL.iter().copied().find(|kind| kind.name() == name);
    found.ok_or_else(|| serde::de::Error::custom(format!("there is no link `{name}`")))
}

/// Machines that an object provisions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Machines {
    /// The paths to groups of machines; the whole object if this is missing.
    pub each: Option<ManifestPath>,
    pub name: Option<ManifestPath>,
    #[serde(default)]
    pub count: Vec<Factor>,
    /// Lists of `{key, operator, values}` for node labels.
    #[serde(default)]
    pub requirements: Vec<ManifestPath>,
    /// Mappings of node labels.
    #[serde(default)]
    pub labels: Vec<ManifestPath>,
    #[serde(default)]
    pub taints: Vec<ManifestPath>,
    /// Labels that the nodes get, with values from the object.
    #[serde(default)]
    pub gives: BTreeMap<String, ManifestPath>,
    /// A mapping of resource keys to the maximum for all machines together.
    pub limits: Option<ManifestPath>,
    /// The programs that start on the provisioned machines.
    pub runs: Option<OutsidePrograms>,
    #[serde(default)]
    pub facts: FactSources,
}

/// Programs that run outside pods.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct OutsidePrograms {
    /// A shell script, or a list of its lines.
    pub script: ManifestPath,
    pub image: Option<ManifestPath>,
    /// A mapping of variables.
    pub env: Option<ManifestPath>,
}

/// A factor of a number.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "FactorForm")]
pub(in crate::kubernetes) struct Factor {
    pub at: Option<ManifestPath>,
    pub min: Option<ManifestPath>,
    pub max: Option<ManifestPath>,
    /// Other paths to the minimum if `min` is not set, and to the maximum if `max` is not set.
    pub or_min: Vec<ManifestPath>,
    pub or_max: Vec<ManifestPath>,
    /// The maximum that the controller assumes if none is set.
    pub max_default: Option<f64>,
    /// The maximum is a number in addition to the minimum.
    pub max_adds: bool,
    /// The value if nothing is set; 1 if this is missing, too.
    pub default: Option<f64>,
    /// The path to a value that limits the number.
    pub most: Option<ManifestPath>,
    /// `min` and `max` limit the number. They are a range only if this flag is true.
    pub scaled_if: Option<ManifestPath>,
    /// If something exists at this path, the number is one less.
    pub less_if: Option<ManifestPath>,
    /// If something exists at this path, the number is one more.
    pub more_if: Option<ManifestPath>,
    /// True if the number is unlimited when no maximum is set.
    pub open: bool,
    /// The object does not determine the number, for this reason.
    pub unknown: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FactorForm {
    Plain(ManifestPath),
    Full(Box<FullFactor>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullFactor {
    at: Option<ManifestPath>,
    min: Option<ManifestPath>,
    max: Option<ManifestPath>,
    #[serde(default)]
    or_min: Vec<ManifestPath>,
    #[serde(default)]
    or_max: Vec<ManifestPath>,
    max_default: Option<f64>,
    #[serde(default)]
    max_adds: bool,
    default: Option<f64>,
    most: Option<ManifestPath>,
    scaled_if: Option<ManifestPath>,
    less_if: Option<ManifestPath>,
    more_if: Option<ManifestPath>,
    #[serde(default)]
    open: bool,
    unknown: Option<String>,
}

impl From<FactorForm> for Factor {
    fn from(form: FactorForm) -> Self {
        match form {
            FactorForm::Plain(at) => Factor { at: Some(at), ..Factor::default() },
            FactorForm::Full(full) => {
                let FullFactor {
                    at,
                    min,
                    max,
                    or_min,
                    or_max,
                    max_default,
                    max_adds,
                    default,
                    most,
                    scaled_if,
                    less_if,
                    more_if,
                    open,
                    unknown,
                } = *full;
                Factor {
                    at,
                    min,
                    max,
                    or_min,
                    or_max,
                    max_default,
                    max_adds,
                    default,
                    most,
                    scaled_if,
                    less_if,
                    more_if,
                    open,
                    unknown,
                }
            }
        }
    }
}

/// The sources of a fact. The first one with a value is used.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "SourcesForm")]
pub(in crate::kubernetes) struct FieldSources(pub Vec<FieldSource>);

/// One way in which an object sets a fact.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct FieldSource {
    /// The paths of the value. The first one with a value is used.
    #[serde(default)]
    pub at: FieldPaths,
    /// The API versions that use the first path. All other versions use the last path.
    #[serde(default)]
    pub versions: Vec<String>,
    /// The path to a flag without which the controller ignores the value.
    pub only_if: Option<ManifestPath>,
    /// The value that the kind itself implies.
    pub is: Option<KindConstant>,
    /// The value if anything exists at the path.
    pub present: Option<KindConstant>,
    /// The fact is inferred, for this reason.
    pub because: Option<String>,
    /// Translates values; `*` matches any other value. Without `*`, another value is unknown.
    #[serde(default)]
    pub map: BTreeMap<String, String>,
    /// A factor for the number; `plus` is added afterwards.
    pub times: Option<f64>,
    #[serde(default)]
    pub plus: f64,
    /// The unit of the number.
    pub unit: Option<AmountUnit>,
    /// The value is the first group of this expression.
    #[serde(rename = "match")]
    pub pattern: Option<String>,
    /// True if the value is a region, or a zone from which the region follows.
    #[serde(default)]
    pub zone: bool,
    /// True if the values are the keys of a mapping.
    #[serde(default)]
    pub keys: bool,
    /// True if the values are the values of a mapping.
    #[serde(default)]
    pub member: bool,
    /// The value if nothing is set.
    pub default: Option<KindConstant>,
    /// The manifest cannot determine the value, for this reason.
    pub unknown: Option<String>,
    /// The values that are possible then.
    #[serde(default)]
    pub candidates: Vec<String>,
    /// The key below which a default would be set. Reports point to it.
    pub below: Option<String>,
}

impl FieldSource {
    /// Returns the paths that an API version (`group/version`) uses; all of them if the version is unknown.
    pub(in crate::kubernetes) fn of_version(&self, version: Option<&str>) -> Vec<&ManifestPath> {
        let version = version.and_then(|it| it.rsplit('/').next());
        match (version, self.at.0.split_last()) {
            (Some(version), Some((last, others))) if !self.versions.is_empty() && !others.is_empty() => {
                let is_listed = self.versions.iter().any(|known| known == version);
                if is_listed { others.iter().collect() } else { vec![last] }
            }
            _ => self.at.0.iter().collect(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::kubernetes) enum AmountUnit {
    /// A duration such as `30s`, `10m`, `1h30m`. A bare number means seconds.
    Seconds,
    /// A quantity such as `64Gi`.
    Gib,
    /// A quantity such as `500m`.
    Plain,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SourcesForm {
    Paths(PathsForm),
    One(Box<FieldSource>),
    More(Vec<FieldSource>),
}

impl From<SourcesForm> for FieldSources {
    fn from(form: SourcesForm) -> Self {
        match form {
            SourcesForm::Paths(paths) => FieldSources(vec![FieldSource { at: paths.into(), ..FieldSource::default() }]),
            SourcesForm::One(source) => FieldSources(vec![*source]),
            SourcesForm::More(sources) => FieldSources(sources),
        }
    }
}

/// A kind of the table. Its definition is parsed when it is first needed.
pub(in crate::kubernetes) struct KnownKind {
    pub kind: &'static str,
    /// The letters of the properties below.
    properties: &'static str,
    borrowed: &'static str,
    text: &'static str,
    row: OnceLock<KindRow>,
}

impl KnownKind {
    fn of(line: &'static str) -> Option<KnownKind> {
        let mut cells = line.splitn(4, '\t');
        let mut cell = || cells.next();
        let (kind, properties, borrowed, text) = (cell()?, cell()?, cell()?, cell()?);
        Some(KnownKind { kind, properties, borrowed, text, row: OnceLock::new() })
    }

    /// Returns the definition. A test checks that all of them can be parsed.
    pub(in crate::kubernetes) fn row(&self) -> &KindRow {
        let parse = || serde_json::from_str(self.text);
        self.row.get_or_init(|| parse().unwrap_or_else(|why| unreachable!("the definition of {}: {why}", self.kind)))
    }

    fn is(&self, property: char) -> bool {
        self.properties.contains(property)
    }

    /// Returns whether the kind only describes others.
    pub(in crate::kubernetes) fn is_schema(&self) -> bool {
        self.is('s')
    }

    /// Returns whether the table of languages selects its files.
    pub(in crate::kubernetes) fn is_claimed(&self) -> bool {
        self.is('c')
    }

    /// Returns whether its objects add facts to other objects or files.
    pub(in crate::kubernetes) fn is_joined(&self) -> bool {
        self.is('j')
    }

    /// Returns whether it provisions machines, runs the pods of others, or has short names for accelerators.
    pub(in crate::kubernetes) fn asks_in_other_words(&self) -> bool {
        self.is('a')
    }

    /// Returns whether its objects contain pods, machines or other objects.
    pub(in crate::kubernetes) fn describes_something(&self) -> bool {
        self.is('d')
    }

    /// Returns whether documents without a kind have this kind by their shape.
    pub(in crate::kubernetes) fn has_shape(&self) -> bool {
        self.is('h')
    }

    /// Returns the kinds whose templates it uses.
    pub(in crate::kubernetes) fn borrowed(&self) -> impl Iterator<Item = &'static str> {
        self.borrowed.split(' ').filter(|kind| !kind.is_empty())
    }
}

/// All resource definitions, by group and kind.
pub(in crate::kubernetes) struct Kinds {
    known: Vec<KnownKind>,
    /// Sorted lines of `group/Kind` and a position in `known`.
    names: &'static str,
    /// The positions of the kinds that a shape identifies.
    shaped: Vec<usize>,
}

impl Kinds {
    pub(super) fn new(rows: &'static str, names: &'static str) -> Self {
        let known: Vec<KnownKind> = rows.lines().filter_map(KnownKind::of).collect();
        let with_shape = known.iter().enumerate().filter(|(_, known)| known.has_shape());
        let shaped = with_shape.map(|(place, _)| place).collect();
        Kinds { known, names, shaped }
    }

    /// Checks the definitions from a position on for mistakes that the types do not exclude.
    pub(super) fn verify(&self, from: usize) -> Result<(), String> {
        for row in self.known.iter().skip(from).map(KnownKind::row) {
            let facts = row.pods.iter().map(|pods| &pods.facts).chain(row.machines.iter().map(|m| &m.facts));
            for (name, source) in facts.chain([&row.facts]).flatten() {
                Key::named(name).ok_or_else(|| format!("{}: there is no fact `{name}`", row.kind))?;
                for part in source.0.iter().filter_map(|source| source.pattern.as_ref()) {
                    regex::Regex::new(part).map_err(|error| format!("{}: {error}", row.kind))?;
                }
            }
            for amount in row.pods.iter().filter_map(|pods| pods.amount.as_ref()) {
                let sound = amount.pattern.as_ref().is_none_or(|part| AdaptiveRegex::new(part.as_str()).has_group());
                let known = amount.is.as_ref().is_none_or(|key| DEVICES.device(key).is_some());
                (sound && known).then_some(()).ok_or_else(|| format!("{}: an amount is invalid", row.kind))?;
            }
            if let Some(fact) = row.relates.as_ref().and_then(|relates| relates.named_by.as_ref()) {
                Key::named(fact).ok_or_else(|| format!("{}: there is no fact `{fact}`", row.kind))?;
            }
            let held = row.holds.iter().filter_map(|holds| holds.kind.as_ref());
            for kind in held.chain(row.borrows.iter().flat_map(|borrows| &borrows.kinds)) {
                self.named(kind).ok_or_else(|| format!("{}: there is no definition of {kind}", row.kind))?;
            }
        }
        Ok(())
    }

    pub(in crate::kubernetes) fn find(&self, group: &str, kind: &str) -> Option<&KindRow> {
        self.named(&format!("{group}/{kind}"))
    }

    /// Returns the definition of a `group/Kind`.
    pub(in crate::kubernetes) fn named(&self, name: &str) -> Option<&KindRow> {
        let table = if is_called_kind(name) { &*CALLED } else { self };
        let place: usize = value_of(table.names, name)?.parse().ok()?;
        table.known.get(place).map(KnownKind::row)
    }

    /// Returns the definition whose shape a document without a kind has.
    pub(in crate::kubernetes) fn shaped(&self, root: &Node) -> Option<&KindRow> {
        let mut rows = self.shaped.iter().filter_map(|&place| self.known.get(place)).map(KnownKind::row);
        rows.find(|row| row.has.iter().all(|it| it.is_in(root)))
    }

    pub(in crate::kubernetes) fn known(&self) -> &[KnownKind] {
        &self.known
    }

    /// Returns all definitions, which takes longer than the properties of all kinds.
    pub(in crate::kubernetes) fn rows(&self) -> impl Iterator<Item = &KindRow> {
        self.known.iter().map(KnownKind::row)
    }
}

/// Lines of the embedded definitions, and of their names.
pub(super) const EMBEDDED: (&str, &str) =
    (include_str!(concat!(env!("OUT_DIR"), "/kinds.rows")), include_str!(concat!(env!("OUT_DIR"), "/kinds.names")));

/// The lines in use: the embedded ones, or these with the entries of the user.
pub(super) static LINES: OnceLock<(&'static str, &'static str)> = OnceLock::new();

/// The embedded table, with the entries of the user.
pub(in crate::kubernetes) static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    let (rows, names) = *LINES.get_or_init(|| EMBEDDED);
    Kinds::new(rows, names)
});

/// The kinds of commands and calls, whose objects gpulint writes itself. Most runs do not need them.
pub(in crate::kubernetes) static CALLED: LazyLock<Kinds> = LazyLock::new(|| {
    Kinds::new(
        include_str!(concat!(env!("OUT_DIR"), "/called.rows")),
        include_str!(concat!(env!("OUT_DIR"), "/called.names")),
    )
});

/// Returns whether a `group/Kind` is in the table of commands and calls.
fn is_called_kind(name: &str) -> bool {
    name.split_once('/').is_some_and(|(group, _)| is_called(group))
}

/// Returns whether a group has the kinds of commands and calls.
pub(in crate::kubernetes) fn is_called(group: &str) -> bool {
    group.ends_with(".command") || group == "python"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds in which the census of public manifests found accelerators, with the path of their pods.
    #[test]
    fn every_kind_of_the_census_has_a_row() {
        const KINDS_OF_THE_CENSUS: &str = "apps/Deployment /Pod batch/Job batch/CronJob apps/ReplicaSet apps/DaemonSet             apps/StatefulSet /PodTemplate kubeflow.org/MPIJob kubeflow.org/PyTorchJob kubeflow.org/TFJob             kubeflow.org/Experiment kubeflow.org/Notebook kubeflow.org/Profile jobset.x-k8s.io/JobSet ray.io/RayService             ray.io/RayCluster ray.io/RayJob leaderworkerset.x-k8s.io/LeaderWorkerSet orchestration.aibrix.ai/StormService             orchestration.aibrix.ai/RayClusterFleet serving.kubeflow.org/InferenceService trainer.kubeflow.org/TrainJob             trainer.kubeflow.org/ClusterTrainingRuntime serving.knative.dev/Service batch.volcano.sh/Job             serving.kserve.io/ServingRuntime serving.kserve.io/InferenceService serving.kserve.io/LLMInferenceService             elastic.iml.github.io/ElasticJob sagemaker.amazonaws.com/HyperPodPyTorchJob template.openshift.io/Template             inference.llmaz.io/Service inference.llmaz.io/Playground llmaz.io/OpenModel ome.io/ClusterServingRuntime             ome.io/InferenceService resource.k8s.io/ResourceClaimTemplate resource.k8s.io/ResourceClaim             kueue.x-k8s.io/ResourceFlavor kaito.sh/Workspace kaito.sh/InferenceSet kaito.sh/RAGEngine             kaito.sh/MultiRoleInference eksctl.io/ClusterConfig apps.nvidia.com/NIMService apps.nvidia.com/NIMPipeline             apps.nvidia.com/NIMCache cloud.google.com/ComputeClass karpenter.sh/NodePool karpenter.sh/Provisioner             machine.openshift.io/MachineSet /ResourceQuota scheduling.volcano.sh/Queue argoproj.io/Workflow             argoproj.io/WorkflowTemplate argoproj.io/CronWorkflow sparkoperator.k8s.io/SparkApplication             helm.toolkit.fluxcd.io/HelmRelease argoproj.io/Application sagemaker.services.k8s.aws/NotebookInstance";
        let missing: Vec<&str> =
            KINDS_OF_THE_CENSUS.split_whitespace().filter(|name| KINDS.named(name).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_properties_of_kinds_are_those_of_their_definitions() {
        for known in KINDS.known().iter().chain(CALLED.known()) {
            let row = known.row();
            let of_row = [row.schema, row.claimed, row.is_joined(), row.asks_in_other_words()];
            assert_eq!(
                [known.is_schema(), known.is_claimed(), known.is_joined(), known.asks_in_other_words()],
                of_row,
                "{}",
                row.kind
            );
            assert_eq!(known.describes_something(), row.describes_something(), "{}", row.kind);
            assert_eq!((known.has_shape(), known.kind), (!row.has.is_empty(), &*row.kind));
            let borrowed: Vec<&str> = row.borrows.iter().flat_map(|it| &it.kinds).map(String::as_str).collect();
            assert_eq!(known.borrowed().collect::<Vec<_>>(), borrowed, "{}", row.kind);
            assert!(row.groups.iter().all(|group| {
                let table = if is_called_kind(&format!("{group}/{}", row.kind)) { &CALLED } else { &KINDS };
                table.find(group, &row.kind).is_some_and(|found| found.kind == row.kind)
            }));
        }
    }

    #[test]
    fn the_table_of_kinds_is_sound() {
        KINDS.verify(0).unwrap();
        CALLED.verify(0).unwrap();
        let names =
            |table: &Kinds| table.names.lines().map(|line| line.split('\t').next().unwrap()).collect::<Vec<_>>();
        assert!(names(&CALLED).into_iter().all(is_called_kind) && !names(&KINDS).into_iter().any(is_called_kind));
    }
}
