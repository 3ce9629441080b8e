//! The rows of `kinds.toml`: where each kind keeps its pods, its machines, their number and the facts about them.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::inventory::LinkKind;
use crate::languages::yaml::Node;

#[cfg(test)]
use super::devices::DEVICES;
use super::path::ManifestPath;
#[cfg(test)]
use crate::source::AdaptiveRegex;

/// Fact names and where each is found.
pub(in crate::kubernetes) type FactSources = BTreeMap<String, Sources>;

/// One kind of one or several API groups.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct KindRow {
    pub kind: String,
    /// API groups without version; the empty string is the core group.
    pub groups: Vec<String>,
    /// Nothing runs because this object exists: it is a template for others.
    #[serde(default)]
    pub template: bool,
    /// It only describes other kinds: whatever it speaks of, nobody asks for it.
    #[serde(default)]
    pub schema: bool,
    /// The table of languages finds its files: no search for words has to.
    #[serde(default)]
    pub claimed: bool,
    /// Documents that say no kind are of this one if something stands at all these paths.
    #[serde(default)]
    pub has: Vec<Paths>,
    /// The name of such a document.
    pub name: Option<ManifestPath>,
    /// True there: the object waits or stands still.
    pub suspended: Option<ManifestPath>,
    /// Anything there: the object stands still.
    pub stopped: Option<ManifestPath>,
    /// What stands beside its paths, under other keys of the document, is read by its shape.
    #[serde(default)]
    pub others: bool,
    /// The template whose pods or machines are its own, when it has none.
    pub borrows: Option<Borrows>,
    /// It decides the number of another object.
    pub scales: Option<Scales>,
    /// Settings of a program that stand in no container.
    #[serde(default)]
    pub settings: Vec<ProgramSettings>,
    /// It holds for other objects.
    pub relates: Option<Relates>,
    /// What containers of its namespace get that ask for nothing themselves, by keys of resources.
    #[serde(default)]
    pub grants: Vec<ManifestPath>,
    /// What it changes about what it deploys, and nobody here follows.
    #[serde(default)]
    pub unfollowed: Vec<ManifestPath>,
    /// Values of a chart, or text that holds them, which say what the chart asks for.
    #[serde(default)]
    pub values: Vec<Layers>,
    /// What its controller makes of it, as meters name it: `Deployment/{name}-predictor*`.
    #[serde(default)]
    pub owns: Vec<String>,
    /// It makes other objects of a template.
    pub generates: Option<Generates>,
    /// It fills variables into other files.
    pub substitutes: Option<Substitutes>,
    #[serde(default)]
    pub facts: FactSources,
    #[serde(default)]
    pub pods: Vec<Pods>,
    #[serde(default)]
    pub holds: Vec<Holds>,
    #[serde(default)]
    pub machines: Vec<Machines>,
}

/// Values that an object gives to a chart, the later layers over the earlier ones. Paths lead on from `each`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Layers {
    /// One chart each; the whole object where it is missing.
    pub each: Option<ManifestPath>,
    /// Patterns of the files of the directory that are deployed, and of those that are not.
    pub include: Option<ManifestPath>,
    pub exclude: Option<ManifestPath>,
    /// A path to a flag: the files of all directories below are deployed, too.
    pub recurse: Option<ManifestPath>,
    /// A list of files of values.
    pub files: Option<ManifestPath>,
    /// A list of configuration maps that hold values: `kind`, `name`, `valuesKey`, `targetPath`.
    pub from: Option<ManifestPath>,
    /// A list of mappings, and of files of values among them.
    pub layers: Option<ManifestPath>,
    /// A mapping, or a text that holds one: the first of these that is there.
    #[serde(default)]
    pub values: Paths,
    /// Single values: a list of `name` and `value`, or a mapping, by the words of `helm --set`.
    pub set: Option<ManifestPath>,
    /// The directory of the chart, where it is one of this tree.
    pub chart: Option<ManifestPath>,
    /// Paths start at the file that names them: that of the chart, and those of values.
    #[serde(default)]
    pub beside: bool,
    /// Paths of files of values start at the root of the tree, and the files take the place of the chart's own values.
    #[serde(default)]
    pub files_replace: bool,
    /// A path to a flag that switches a release off by `false`.
    pub enabled: Option<ManifestPath>,
    /// It says how somebody tries a chart out: nothing where something else releases the chart.
    #[serde(default)]
    pub tries: bool,
    /// What the release is called, where not as the object.
    #[serde(default)]
    pub name: Paths,
    /// What stands with a dash before the name of the object in the name of the release, where nothing else names it.
    pub name_prefix: Option<ManifestPath>,
    /// Its namespace, there or in the object: the first of these that is there.
    #[serde(default)]
    pub namespace: Paths,
    /// Factors of the number of such releases, in the object.
    #[serde(default)]
    pub count: Vec<Factor>,
}

impl Layers {
    /// Each place in an object that gives values.
    pub(in crate::kubernetes) fn places<'t>(&self, root: &'t Node) -> Vec<&'t Node> {
        match &self.each {
            Some(path) => path.all(root).into_iter().map(|at| at.node).collect(),
            None => vec![root],
        }
    }
}

/// Objects of one kind, made of a template for each member of lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Generates {
    pub version: String,
    pub kind: String,
    pub template: ManifestPath,
    /// What says how many there are; where one of them is no list, nobody can know.
    pub each: ManifestPath,
    /// In each of them: a list of members,
    pub list: ManifestPath,
    /// a list of patterns of directories of this tree, each of which is one,
    pub directories: ManifestPath,
    /// a list of patterns of files of this tree, each of which holds some,
    pub files: ManifestPath,
    /// two more such things, of which each member of the one goes with each of the other,
    pub product: ManifestPath,
    /// or several, of which members are one that agree in these keys.
    pub merge: ManifestPath,
    pub merge_keys: ManifestPath,
    /// What is added to each member of directories and files.
    pub values: ManifestPath,
    /// Keys beside these that say nothing about which members there are.
    pub aside: Vec<String>,
    /// Whether the template is one of Go's, which names parts of a path in another way.
    pub go: ManifestPath,
    /// Where this is there, the template is not all that objects are made of.
    pub unless: ManifestPath,
}

/// Variables that are filled into the files of a directory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Substitutes {
    /// The directory.
    pub path: ManifestPath,
    /// A mapping of variables.
    pub values: ManifestPath,
    /// A list of configuration maps, and others, that hold variables: `kind` and `name`.
    pub from: ManifestPath,
    /// A list of components that are added, by their paths from the directory.
    pub components: Option<ManifestPath>,
    /// The namespace in which all objects are.
    pub namespace: Option<ManifestPath>,
}

/// Settings of a program: a mapping, or a text that holds one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct ProgramSettings {
    pub at: ManifestPath,
    /// By its name in the table of programs; settings that several programs share are read where it is missing.
    pub program: Option<String>,
}

/// Pods that an object creates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Pods {
    /// Pod templates: `metadata` and `spec`.
    pub template: Option<ManifestPath>,
    /// Pod specifications without that frame.
    pub spec: Option<ManifestPath>,
    /// Containers within the pod specification, beside or instead of `containers`.
    #[serde(default)]
    pub containers: Vec<ManifestPath>,
    /// Mappings of limits and requests that stand in no container.
    #[serde(default)]
    pub resources: Vec<ManifestPath>,
    /// The same of limits alone: resource keys and amounts.
    #[serde(default)]
    pub limits: Vec<ManifestPath>,
    /// Mappings of node labels, beside `nodeSelector`.
    #[serde(default)]
    pub selectors: Vec<ManifestPath>,
    /// A resource key and an amount that stand apart.
    pub amount: Option<Amount>,
    /// Names of single devices, one each.
    #[serde(default)]
    pub devices: Vec<ManifestPath>,
    /// Lists of claims of devices, beside `resourceClaims`.
    #[serde(default)]
    pub claims: Vec<ManifestPath>,
    /// Text that changes the pod: a specification of it that is laid over its own.
    pub patch: Option<ManifestPath>,
    /// Short names of resource keys.
    #[serde(default)]
    pub keys: BTreeMap<String, String>,
    /// Its controller adds what containers do not say, so that one without an image is no overlay.
    #[serde(default)]
    pub completed: bool,
    /// False there: these pods do not run.
    pub enabled: Option<ManifestPath>,
    /// What these pods are called when an object has several kinds of them.
    pub role: Option<String>,
    /// The same, as the object names them.
    pub name: Option<ManifestPath>,
    /// Factors of the number of pods.
    #[serde(default)]
    pub count: Vec<Factor>,
    /// Factors of the number of pods that together run one copy.
    #[serde(default)]
    pub group: Vec<Factor>,
    /// Factors of the number of such groups.
    #[serde(default)]
    pub groups: Vec<Factor>,
    #[serde(default)]
    pub facts: FactSources,
}

/// Other objects inside an object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Holds {
    /// Whole objects, or with `kind` objects that do not say what they are.
    pub at: Option<ManifestPath>,
    /// The `spec` of objects of the kind `kind`.
    pub spec: Option<ManifestPath>,
    /// `group/Kind` of a row.
    pub kind: Option<String>,
    /// They stand for themselves, with their own addresses, as in a `List`.
    #[serde(default)]
    pub apart: bool,
    pub name: Option<ManifestPath>,
    pub enabled: Option<ManifestPath>,
    #[serde(default)]
    pub count: Vec<Factor>,
}

/// The group of rows for values of charts.
pub(in crate::kubernetes) const VALUES: &str = "values";

impl KindRow {
    /// Other objects and files are told by it, whatever it says itself.
    pub(in crate::kubernetes) fn is_joined(&self) -> bool {
        let tells = self.scales.is_some() || !self.grants.is_empty() || !self.unfollowed.is_empty();
        let tells = tells || self.relates.as_ref().is_some_and(|relates| !relates.beside);
        tells || self.generates.is_some() || self.substitutes.is_some() || self.takes_values()
    }

    /// It takes values of a chart from elsewhere.
    pub(in crate::kubernetes) fn takes_values(&self) -> bool {
        self.values.iter().any(|it| it.chart.is_some() || it.files.is_some() || it.from.is_some())
    }

    /// A key under which its pods stand.
    pub(in crate::kubernetes) fn speaks_of(&self, key: &str) -> bool {
        let paths = self.pods.iter().filter_map(|pods| pods.template.as_ref().or(pods.spec.as_ref()));
        paths.into_iter().any(|path| path.first_key() == Some(key))
    }

    /// Its documents are values of a chart.
    pub(in crate::kubernetes) fn is_of_values(&self) -> bool {
        self.groups.iter().any(|group| group == VALUES)
    }

    /// Where objects lie that stand for themselves.
    pub(in crate::kubernetes) fn carried(&self) -> impl Iterator<Item = &ManifestPath> {
        self.holds.iter().filter(|holds| holds.apart).filter_map(|holds| holds.at.as_ref())
    }
}

/// A resource key and an amount, by paths in the pod specification.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Amount {
    pub key: Option<ManifestPath>,
    /// The key where none is written; that of NVIDIA's devices if this is not said either.
    pub is: Option<String>,
    pub count: ManifestPath,
    /// The amount is the first group of this expression; a text that it does not match asks for nothing.
    #[serde(rename = "match")]
    pub pattern: Option<String>,
    /// What it is where it is not written.
    pub default: Option<DefaultAmount>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct DefaultAmount {
    /// Only beside something that is.
    pub beside: ManifestPath,
    pub is: f64,
}

/// A template elsewhere in the tree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Borrows {
    /// `group/Kind` of rows.
    pub kinds: Vec<String>,
    pub name: ManifestPath,
    #[serde(default)]
    pub count: Vec<Factor>,
}

/// An object elsewhere in the tree whose number this one decides.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Scales {
    /// A mapping with `kind` and `name`.
    pub target: ManifestPath,
    /// The kind where the mapping does not say it.
    pub kind: Option<String>,
    pub min: Option<ManifestPath>,
    pub max: Option<ManifestPath>,
    /// The number at which it holds its target, if it does.
    pub held: Option<ManifestPath>,
    /// Where no minimum is written.
    pub floor: f64,
    /// Where no maximum is written.
    pub ceiling: Option<f64>,
    /// It starts pods of a workload that says itself that there are none.
    #[serde(default)]
    pub wakes: bool,
    /// What it looks at, by name.
    #[serde(default)]
    pub metrics: Vec<ManifestPath>,
    /// What it looks at where nothing is written.
    pub default_metric: Option<String>,
    /// Seconds that it waits before it takes pods away.
    pub cooldown: Option<ManifestPath>,
    /// Triggers that want so many pods between a start and an end, as KEDA writes them.
    pub windows: Option<Windows>,
}

/// Triggers by the clock among the triggers of an autoscaler.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Windows {
    pub each: ManifestPath,
    /// The type of those that are meant.
    pub kind: String,
}

/// Objects that an object holds for: those in a namespace of its name, if nothing else is said.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Relates {
    #[serde(deserialize_with = "link_kind")]
    pub link: LinkKind,
    /// A mapping of the labels that their pods have.
    pub selects: Option<ManifestPath>,
    /// The fact of theirs that is its name.
    pub named_by: Option<String>,
    /// A mapping of resource keys: it holds for its own namespace, if accelerators are among them.
    pub limits: Option<ManifestPath>,
    /// There are so many of them that only those are looked at which stand in files that ask for accelerators.
    #[serde(default)]
    pub beside: bool,
}

fn link_kind<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<LinkKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = LinkKind::ALL.iter().copied().find(|kind| kind.name() == name);
    found.ok_or_else(|| serde::de::Error::custom(format!("there is no link `{name}`")))
}

/// Machines that an object rents.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Machines {
    /// One group of machines each; the whole object where it is missing.
    pub each: Option<ManifestPath>,
    pub name: Option<ManifestPath>,
    #[serde(default)]
    pub count: Vec<Factor>,
    /// Lists of `{key, operator, values}` about node labels.
    #[serde(default)]
    pub requirements: Vec<ManifestPath>,
    /// Mappings of node labels.
    #[serde(default)]
    pub labels: Vec<ManifestPath>,
    #[serde(default)]
    pub taints: Vec<ManifestPath>,
    /// Labels that its nodes get with a value from the object.
    #[serde(default)]
    pub gives: BTreeMap<String, ManifestPath>,
    /// A mapping of resource keys to how much all machines together may have.
    pub limits: Option<ManifestPath>,
    /// What starts on machines that are rented for it.
    pub runs: Option<Runs>,
    #[serde(default)]
    pub facts: FactSources,
}

/// Programs outside of pods.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Runs {
    /// Text for a shell, or a list of lines of it.
    pub script: ManifestPath,
    pub image: Option<ManifestPath>,
    /// A mapping of variables.
    pub env: Option<ManifestPath>,
}

/// A number that multiplies.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "FactorForm")]
pub(in crate::kubernetes) struct Factor {
    pub at: Option<ManifestPath>,
    pub min: Option<ManifestPath>,
    pub max: Option<ManifestPath>,
    /// Where the smallest number may stand if `min` says nothing, and the largest if `max` does not.
    pub or_min: Vec<ManifestPath>,
    pub or_max: Vec<ManifestPath>,
    /// The maximum that its controller assumes.
    pub max_default: Option<f64>,
    /// Where nothing is written; 1 if this is not said either.
    pub default: Option<f64>,
    /// Never more than the number here.
    pub most: Option<ManifestPath>,
    /// `min` and `max` are bounds of the number, and a range only where this is true.
    pub scaled_if: Option<ManifestPath>,
    /// One less where there is something at this path.
    pub less_if: Option<ManifestPath>,
    /// One more where there is something at this path.
    pub more_if: Option<ManifestPath>,
    /// Without a written maximum there is no ceiling.
    pub open: bool,
    /// The number cannot be known from this object, and why.
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

/// Where a fact comes from: the first of these that says something.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "SourcesForm")]
pub(in crate::kubernetes) struct Sources(pub Vec<Source>);

/// One way in which an object says a fact.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct Source {
    /// The first of these paths at which something is written.
    #[serde(default)]
    pub at: Paths,
    /// The versions of the API that have the field at the first path: all others have the one at the last.
    #[serde(default)]
    pub versions: Vec<String>,
    /// The kind itself says so.
    pub is: Option<Constant>,
    /// The value where anything stands at a path, whatever it is.
    pub present: Option<Constant>,
    /// It is concluded, and from this.
    pub because: Option<String>,
    /// What written values mean; `*` is any other, and without it another is unknown.
    #[serde(default)]
    pub map: BTreeMap<String, String>,
    /// The written number times this, plus that.
    pub times: Option<f64>,
    #[serde(default)]
    pub plus: f64,
    /// What a number is written in.
    pub unit: Option<AmountUnit>,
    /// The value is the first group of this expression.
    #[serde(rename = "match")]
    pub pattern: Option<String>,
    /// A region, or a zone of one.
    #[serde(default)]
    pub zone: bool,
    /// Of a mapping, its keys.
    #[serde(default)]
    pub keys: bool,
    /// Of a mapping, its values.
    #[serde(default)]
    pub member: bool,
    /// What it is where nothing is written.
    pub default: Option<Constant>,
    /// Nobody can know it from the text, and why.
    pub unknown: Option<String>,
    /// The key under which a default would be written, which is then shown.
    pub below: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::kubernetes) enum AmountUnit {
    /// `30s`, `10m`, `1h30m`; a bare number is seconds.
    Seconds,
    /// `64Gi`
    Gib,
    /// `500m`
    Plain,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(in crate::kubernetes) enum Constant {
    Flag(bool),
    Number(f64),
    Text(String),
}

/// One path or several.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "PathsForm")]
pub(in crate::kubernetes) struct Paths(pub Vec<ManifestPath>);

impl Paths {
    fn is_in(&self, root: &Node) -> bool {
        self.0.iter().any(|path| path.first(root).is_some())
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PathsForm {
    One(ManifestPath),
    More(Vec<ManifestPath>),
}

impl From<PathsForm> for Paths {
    fn from(form: PathsForm) -> Self {
        match form {
            PathsForm::One(path) => Paths(vec![path]),
            PathsForm::More(paths) => Paths(paths),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SourcesForm {
    Paths(PathsForm),
    One(Box<Source>),
    More(Vec<Source>),
}

impl From<SourcesForm> for Sources {
    fn from(form: SourcesForm) -> Self {
        match form {
            SourcesForm::Paths(paths) => Sources(vec![Source { at: paths.into(), ..Source::default() }]),
            SourcesForm::One(source) => Sources(vec![*source]),
            SourcesForm::More(sources) => Sources(sources),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Vec<KindRow>,
}

/// All rows, found by group and kind.
pub(in crate::kubernetes) struct Kinds {
    rows: Vec<KindRow>,
    by_name: HashMap<String, usize>,
}

impl Kinds {
    fn parse(text: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut by_name = HashMap::new();
        for (place, row) in file.kind.iter().enumerate() {
            for group in &row.groups {
                if by_name.insert(format!("{group}/{}", row.kind), place).is_some() {
                    return Err(format!("{group}/{} has two definitions", row.kind));
                }
            }
        }
        Ok(Kinds { rows: file.kind, by_name })
    }

    /// The mistakes that a type cannot exclude.
    #[cfg(test)]
    fn verify(&self) -> Result<(), String> {
        use crate::inventory::Key;

        for row in &self.rows {
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
                self.by_name.get(kind).ok_or_else(|| format!("{}: there is no definition of {kind}", row.kind))?;
            }
        }
        Ok(())
    }

    pub(in crate::kubernetes) fn find(&self, group: &str, kind: &str) -> Option<&KindRow> {
        self.named(&format!("{group}/{kind}"))
    }

    /// `group/Kind`.
    pub(in crate::kubernetes) fn named(&self, name: &str) -> Option<&KindRow> {
        self.by_name.get(name).and_then(|&place| self.rows.get(place))
    }

    /// The row that a document without a kind has the shape of.
    pub(in crate::kubernetes) fn shaped(&self, root: &Node) -> Option<&KindRow> {
        self.rows.iter().find(|row| !row.has.is_empty() && row.has.iter().all(|it| it.is_in(root)))
    }

    pub(in crate::kubernetes) fn rows(&self) -> &[KindRow] {
        &self.rows
    }
}

/// The table is part of the program; a test proves that it parses.
pub(in crate::kubernetes) static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    Kinds::parse(include_str!(concat!(env!("OUT_DIR"), "/kinds.json")))
        .unwrap_or_else(|why| unreachable!("the embedded kinds: {why}"))
});

#[cfg(test)]
mod tests {
    use super::*;

    /// What the census of public manifests found accelerators in, with the path of its pods where it has some.
    #[test]
    fn every_kind_of_the_census_has_a_row() {
        const KINDS_OF_THE_CENSUS: &str = "apps/Deployment /Pod batch/Job batch/CronJob apps/ReplicaSet apps/DaemonSet             apps/StatefulSet /PodTemplate kubeflow.org/MPIJob kubeflow.org/PyTorchJob kubeflow.org/TFJob             kubeflow.org/Experiment kubeflow.org/Notebook kubeflow.org/Profile jobset.x-k8s.io/JobSet ray.io/RayService             ray.io/RayCluster ray.io/RayJob leaderworkerset.x-k8s.io/LeaderWorkerSet orchestration.aibrix.ai/StormService             orchestration.aibrix.ai/RayClusterFleet serving.kubeflow.org/InferenceService trainer.kubeflow.org/TrainJob             trainer.kubeflow.org/ClusterTrainingRuntime serving.knative.dev/Service batch.volcano.sh/Job             serving.kserve.io/ServingRuntime serving.kserve.io/InferenceService serving.kserve.io/LLMInferenceService             elastic.iml.github.io/ElasticJob sagemaker.amazonaws.com/HyperPodPyTorchJob template.openshift.io/Template             inference.llmaz.io/Service inference.llmaz.io/Playground llmaz.io/OpenModel ome.io/ClusterServingRuntime             ome.io/InferenceService resource.k8s.io/ResourceClaimTemplate resource.k8s.io/ResourceClaim             kueue.x-k8s.io/ResourceFlavor kaito.sh/Workspace kaito.sh/InferenceSet kaito.sh/RAGEngine             kaito.sh/MultiRoleInference eksctl.io/ClusterConfig apps.nvidia.com/NIMService apps.nvidia.com/NIMPipeline             apps.nvidia.com/NIMCache cloud.google.com/ComputeClass karpenter.sh/NodePool karpenter.sh/Provisioner             machine.openshift.io/MachineSet /ResourceQuota scheduling.volcano.sh/Queue argoproj.io/Workflow             argoproj.io/WorkflowTemplate argoproj.io/CronWorkflow sparkoperator.k8s.io/SparkApplication             helm.toolkit.fluxcd.io/HelmRelease argoproj.io/Application sagemaker.services.k8s.aws/NotebookInstance";
        let missing: Vec<&str> =
            KINDS_OF_THE_CENSUS.split_whitespace().filter(|name| KINDS.named(name).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_table_of_kinds_is_sound() {
        Kinds::parse(include_str!(concat!(env!("OUT_DIR"), "/kinds.json"))).unwrap().verify().unwrap();
    }
}
