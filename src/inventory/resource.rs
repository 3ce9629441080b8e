//! One thing that rents or requests accelerators, made of facts and links.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::source::Span;

use super::fact::{Fact, Known, Unknown};
use super::key::{Key, Value};
use super::raw::Raw;
use super::run::{Counted, Run, RunId};
use super::shift::Shift;
use super::sign::Sign;
use super::terms::{Purchase, Purpose, Task};
use super::unjudged::Unjudged;
use super::unlisted::Unlisted;
use crate::languages::table::Language;

/// Everything that the front ends found in one tree.
#[derive(Debug, Clone, Default)]
pub struct Inventory {
    pub resources: Vec<Resource>,
    /// What makes them: settled once all front ends have spoken.
    pub runs: Vec<Run>,
    pub diagnostics: Vec<Diagnostic>,
    pub skipped: Vec<Skipped>,
    /// What matters and was not judged.
    pub unjudged: Vec<Unjudged>,
    /// Resources and objects of types that no row describes, where they may have to do with accelerators.
    pub unlisted: Vec<Unlisted>,
    /// Files in languages that nobody reads, whether or not they have to do with accelerators.
    pub foreign: Vec<Foreign>,
    /// What the tree has beside accelerators, and the first place that says so.
    pub signs: BTreeMap<Sign, Span>,
    /// What was paid for machines that stand nowhere here, where everything should.
    pub orphaned: Option<Orphaned>,
    /// Every manifest of the kinds that were asked for, accelerators or not.
    pub objects: Vec<Raw>,
    /// Every Terraform block, where these were asked for.
    pub blocks: Vec<Raw>,
}

/// What rules look at beside facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedRaw {
    pub blocks: bool,
    pub objects: WantedObjects,
    /// The pods of these objects too.
    pub pods: bool,
}

/// The manifests that rules look at as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WantedObjects {
    #[default]
    None,
    /// Those that are resources with accelerators.
    OfResources,
    /// These kinds too, whatever they ask for.
    Kinds(BTreeSet<String>),
    All,
}

/// Machines of a bill that no text asks for, in its last month.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Orphaned {
    pub usd: f64,
    pub things: usize,
    pub month: Arc<str>,
    /// The dearest of them.
    pub named: Arc<str>,
    /// Why it is not known of others what was paid for them.
    pub open: Option<Arc<str>>,
}

/// A file in a language that nobody reads.
#[derive(Debug, Clone)]
pub struct Foreign {
    pub path: String,
    pub language: &'static Language,
    /// It stands among examples or tests.
    pub is_example: bool,
}

impl Foreign {
    pub fn new(path: impl Into<String>, language: &'static Language) -> Foreign {
        Foreign { path: path.into(), language, is_example: false }
    }
}

/// A file or folder that gpulint skipped, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    pub path: String,
    pub reason: String,
    pub kind: SkipKind,
    /// It stands among examples or tests.
    pub is_example: bool,
    /// The folder without which gpulint could not read all of it, and which is not there.
    pub absent: Option<String>,
}

impl Skipped {
    pub fn new(kind: SkipKind, path: impl Into<String>, reason: impl Into<String>) -> Skipped {
        Skipped { path: path.into(), reason: reason.into(), kind, is_example: false, absent: None }
    }

    /// What it contains is known from other text.
    pub fn is_known_elsewhere(&self) -> bool {
        matches!(self.kind, SkipKind::PlanBeside | SkipKind::Alternatives)
    }
}

impl WantedRaw {
    pub fn add(&mut self, other: &WantedRaw) {
        use WantedObjects::{Kinds, None};
        self.blocks |= other.blocks;
        self.pods |= other.pods;
        let objects = std::mem::take(&mut self.objects);
        self.objects = match (objects, &other.objects) {
            (Kinds(mut kinds), Kinds(more)) => {
                kinds.extend(more.iter().cloned());
                Kinds(kinds)
            }
            (None, other) => other.clone(),
            (own @ Kinds(_), WantedObjects::OfResources | None) => own,
            (WantedObjects::All, _) | (_, WantedObjects::All) => WantedObjects::All,
            (_, other @ Kinds(_)) => other.clone(),
            (own, _) => own,
        };
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceId(pub usize);

/// One of several blocks that declare the same address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedBlock {
    /// Empty for files that are alternatives as a whole.
    pub address: Arc<str>,
    /// The first has the number 1.
    pub number: usize,
}

/// Where a resource is deployed from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Home {
    /// The file that it stands in, as a path of the tree.
    pub path: Arc<str>,
    /// The folder of its Terraform root, or else of its file.
    pub folder: Arc<str>,
    /// What applies it, as a sentence about two that share it.
    pub parts: Vec<Arc<str>>,
    /// The providers that Terraform in the innermost folder around it configures, where one does.
    pub clouds: Arc<[String]>,
}

/// What a block or an object is called, for those who look for it or for what names it.
#[derive(Debug, Clone, Default)]
pub struct Declaration {
    /// In its run: the address of a resource that is a part of it, or one of several versions, says more.
    pub address: Arc<str>,
    /// The address without the key of one of several instances.
    pub block: Arc<str>,
    pub name: Arc<str>,
    /// The namespace that its text says.
    pub namespace: Fact<Value>,
    /// Which of several groups of pods, as the address says it.
    pub part: Arc<str>,
    /// How other blocks name it: `aws_instance.a`, `module.b` for what is in there.
    pub references: Vec<Arc<str>>,
}

/// One thing that rents accelerators or asks for them.
///
/// A front end reports every resource whose row names a machine or accelerators; the catalog decides later which of
/// these machines carry accelerators at all, and completes the facts that follow from a machine.
#[derive(Debug, Clone)]
pub struct Resource {
    /// As its own tool writes it: `module.a["x"].aws_instance.b[0]`, `Deployment/serving/llama`.
    pub address: String,
    /// The Terraform type or the Kubernetes kind.
    pub kind: String,
    pub front_end: FrontEnd,
    /// The directory of the Terraform root that makes it: the same address may stand in several.
    pub root: Option<Arc<str>>,
    /// What makes it.
    pub run: Option<RunId>,
    /// Whether sums count what its run makes.
    pub counted: Counted,
    /// Where it is deployed from.
    pub home: Home,
    /// The block or object that it is made of.
    pub declared: Declaration,
    pub role: Role,
    /// The header: the first line of the block, or the first key of the document.
    pub span: Span,
    /// The whole block or document.
    pub body: Span,
    /// Machines or pods; in another unit where the text counts otherwise.
    pub count: Fact<Range>,
    /// It only changes another object, which has the number. Its own count is unknown until that object is found.
    pub is_patch: bool,
    pub counted_in: CountedIn,
    /// What Terraform does not change of it once it is there.
    pub left_alone: LeftAlone,
    /// What all machines of a pool may have together: an autoscaler adds none that would go beyond.
    pub limits: Vec<Limit>,
    /// The tree holds several versions of one object (a base and its overlays, alternatives side by side): the one that
    /// stands there is the one that sums count.
    pub version_of: Option<Span>,
    /// The tool that alone makes it as it is, where its root says something else to another one: only one of them is run.
    pub only_by: Option<&'static str>,
    /// Which declaration it belongs to, where several blocks declare one address, or several files are alternatives: no more
    /// than one of them is applied.
    pub repeated: Option<RepeatedBlock>,
    pub labels: Labels,
    pub links: Vec<Link>,
    /// Pools: the labels and taints that its nodes get. Pods: the labels that they ask for of a node.
    pub selector: Selector,
    /// What each machine brings with it that is billed apart.
    pub disks: Vec<Disk>,
    /// What a schedule makes of its number.
    pub shifts: Vec<Shift>,
    /// What meters may call it.
    pub metered: Vec<MeterName>,
    facts: BTreeMap<Key, Fact<Value>>,
}

/// What a meter may call something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterName {
    /// The kind of a workload or a pool of Kubernetes; none of machines that are measured by their name alone.
    pub kind: Option<Arc<str>>,
    pub namespace: Option<Arc<str>>,
    /// `*` stands for anything.
    pub name: String,
    /// It is the name of the thing itself, and not of what a controller makes of it.
    pub is_own: bool,
}

/// Disks of one kind and size that come with each machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Disk {
    /// Size of one.
    pub gib: Fact<Value>,
    /// As the cloud writes it: gp3, pd-ssd, Premium_LRS.
    pub kind: Fact<Value>,
    /// How many of them; one where nothing is said.
    pub count: Fact<Value>,
    /// What one is told to do in a second, where that is bought apart from its size.
    pub speed: DiskSpeed,
}

/// Operations and MiB a second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiskSpeed {
    pub iops: Fact<Value>,
    pub throughput: Fact<Value>,
}

impl Disk {
    pub fn facts(&self) -> [&Fact<Value>; 5] {
        [&self.gib, &self.kind, &self.count, &self.speed.iops, &self.speed.throughput]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrontEnd {
    Terraform,
    Plan,
    Kubernetes,
    Chart,
    /// A template of a cloud.
    Template,
}

impl FrontEnd {
    pub fn name(self) -> &'static str {
        match self {
            FrontEnd::Terraform => "terraform",
            FrontEnd::Plan => "plan",
            FrontEnd::Kubernetes => "kubernetes",
            FrontEnd::Chart => "chart",
            FrontEnd::Template => "template",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A machine that is paid for.
    Rented,
    /// A share of a machine that somebody else pays for.
    Requested,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::Rented => "rented",
            Role::Requested => "requested",
        }
    }
}

/// The most of something that all machines of a pool may have together.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    pub of: Limited,
    pub most: Fact<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    Accelerators,
    Cpus,
    MemoryGib,
}

/// What `ignore_changes` names: another text of it changes nothing of what runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftAlone {
    pub count: bool,
    pub machine: bool,
}

/// What a count counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CountedIn {
    #[default]
    Machines,
    /// Virtual CPUs: AWS Batch sizes a compute environment so.
    Cpus,
    /// Single accelerators: the limits of GKE's node auto-provisioning.
    Accelerators,
}

/// Who writes so many machines means that nothing limits them: no account has a tenth of it.
const NO_LIMIT: f64 = 1_000_000.0;

/// How many there are: always, as the text sets it, and at most. The ceiling is infinite where nothing limits it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub floor: f64,
    pub expected: f64,
    pub ceiling: f64,
}

impl Range {
    pub fn exactly(n: f64) -> Self {
        Range { floor: n, expected: n, ceiling: n }
    }

    /// From `floor` to `ceiling`; what is expected is the stated number, or the floor where none is stated.
    pub fn between(floor: f64, stated: Option<f64>, ceiling: f64) -> Self {
        let ceiling = if ceiling >= NO_LIMIT { f64::INFINITY } else { ceiling.max(floor) };
        Range { floor, expected: stated.unwrap_or(floor).clamp(floor, ceiling), ceiling }
    }

    #[must_use]
    pub fn times(self, other: Range) -> Range {
        // None of something without a limit is none.
        let ceiling = self.ceiling * other.ceiling;
        Range {
            floor: self.floor * other.floor,
            expected: self.expected * other.expected,
            ceiling: if ceiling.is_nan() { 0.0 } else { ceiling },
        }
    }

    /// Each end changed in the same way.
    #[must_use]
    pub fn plus(self, other: Range) -> Range {
        Range {
            floor: self.floor + other.floor,
            expected: self.expected + other.expected,
            ceiling: self.ceiling + other.ceiling,
        }
    }

    pub fn map(self, change: impl Fn(f64) -> f64) -> Range {
        Range { floor: change(self.floor), expected: change(self.expected), ceiling: change(self.ceiling) }
    }
}

/// The keys by which cost is attributed: Terraform tags and labels, Kubernetes labels and annotations.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    pub entries: BTreeMap<String, Fact<Arc<str>>>,
    /// There may be more keys that cannot be seen: `tags = var.tags`.
    pub open: Option<Unknown<()>>,
    /// The attribute or block that holds them.
    pub span: Option<Span>,
    /// The type takes labels that reach the bill.
    pub taggable: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    pub kind: LinkKind,
    /// The address at the other end.
    pub to: String,
    /// The text that proves the link.
    pub span: Span,
    /// Why the two belong together.
    pub why: Arc<str>,
}

impl Link {
    /// One names the other.
    pub fn named(kind: LinkKind, to: String, span: Span) -> Self {
        Link { kind, to, span, why: "it is named there".into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// A pod runs on this pool.
    Pool,
    /// Its number is decided there.
    Autoscaler,
    /// It is stopped there.
    Stop,
    /// It takes its settings from there: a launch template, a class, a chart.
    Settings,
    /// It keeps some of its pods from being stopped.
    Budget,
    /// It waits there for room.
    Queue,
    /// It limits what its namespace may ask for.
    Quota,
    /// It decides who goes first.
    Priority,
    /// It is in there, and the labels of that hold for it.
    Namespace,
    /// It gets its devices by it.
    Claim,
    /// It gets its requests by it.
    Service,
}

impl LinkKind {
    pub const ALL: [LinkKind; 11] = [
        LinkKind::Pool,
        LinkKind::Autoscaler,
        LinkKind::Stop,
        LinkKind::Settings,
        LinkKind::Budget,
        LinkKind::Queue,
        LinkKind::Quota,
        LinkKind::Priority,
        LinkKind::Namespace,
        LinkKind::Claim,
        LinkKind::Service,
    ];

    pub fn name(self) -> &'static str {
        match self {
            LinkKind::Pool => "pool",
            LinkKind::Autoscaler => "autoscaler",
            LinkKind::Stop => "stop",
            LinkKind::Settings => "settings",
            LinkKind::Budget => "disruption-budget",
            LinkKind::Queue => "queue",
            LinkKind::Quota => "quota",
            LinkKind::Priority => "priority-class",
            LinkKind::Namespace => "namespace",
            LinkKind::Claim => "claim",
            LinkKind::Service => "service",
        }
    }
}

/// Labels and taints by which pods and pools find each other.
#[derive(Debug, Clone, Default)]
pub struct Selector {
    pub labels: BTreeMap<String, Fact<Arc<str>>>,
    pub taints: Vec<Taint>,
    /// Why there may be more labels and taints.
    pub open: Option<Unknown<()>>,
    /// What a pod wants of no node.
    pub refuses: Vec<(Arc<str>, Refused)>,
}

/// The values of a label that a pod does not want to find on its node.
#[derive(Debug, Clone, PartialEq)]
pub enum Refused {
    Any,
    Values(Vec<Arc<str>>),
    AtMost(f64),
    Below(f64),
    AtLeast(f64),
    Above(f64),
}

impl Refused {
    pub fn covers(&self, value: &str) -> bool {
        let number = || value.parse::<f64>().ok();
        match self {
            Refused::Any => true,
            Refused::Values(values) => values.iter().any(|refused| **refused == *value),
            Refused::AtMost(most) => number().is_some_and(|it| it <= *most),
            Refused::Below(least) => number().is_some_and(|it| it < *least),
            Refused::AtLeast(least) => number().is_some_and(|it| it >= *least),
            Refused::Above(most) => number().is_some_and(|it| it > *most),
        }
    }
}

/// A taint of a pool, or a toleration of a pod.
#[derive(Debug, Clone, PartialEq)]
pub struct Taint {
    pub key: Arc<str>,
    pub value: Option<Arc<str>>,
    pub effect: Option<Arc<str>>,
    pub span: Span,
}

impl Inventory {
    /// Adds what another front end found.
    pub fn join(&mut self, other: Inventory) {
        self.resources.extend(other.resources);
        self.runs.extend(other.runs);
        self.diagnostics.extend(other.diagnostics);
        self.skipped.extend(other.skipped);
        self.unjudged.extend(other.unjudged);
        self.unlisted.extend(other.unlisted);
        self.foreign.extend(other.foreign);
        self.signs.extend(other.signs);
        self.objects.extend(other.objects);
        self.blocks.extend(other.blocks);
    }

    pub fn run(&self, id: &RunId) -> Option<&Run> {
        self.runs.iter().find(|run| run.id == *id)
    }
}

impl Resource {
    /// Whether sums count it: no other text of the same object does, and somebody deploys what makes it.
    pub fn is_added(&self) -> bool {
        self.version_of.is_none() && self.counted == Counted::Deployed
    }

    /// It only changes another object, and gpulint has not found the number of that one.
    pub fn takes_its_count(&self) -> bool {
        self.is_patch && self.count.why().is_some()
    }

    /// Whether it is switched off: its count is 0, and not because it could never start.
    pub fn is_switched_off(&self) -> bool {
        self.count.value().is_some_and(|count| count.ceiling == 0.0) && self.fact(Key::Impossible).value().is_none()
    }

    /// Whether nothing limits how many there are.
    pub fn is_unlimited(&self) -> bool {
        self.count.value().is_some_and(|count| count.ceiling.is_infinite())
    }

    /// Every place that says something about it.
    pub fn places(&self) -> impl Iterator<Item = Span> {
        let facts = self.facts().flat_map(|(_, fact)| [fact.span(), fact.defined()]);
        let labels = self.labels.entries.values().flat_map(|fact| [fact.span(), fact.defined()]);
        let count = [self.count.span(), self.count.defined()];
        let links = self.links.iter().map(|link| link.span);
        let disks = self.disks.iter().flat_map(|disk| disk.facts().map(Fact::span));
        facts.chain(labels).chain(count).chain(disks).flatten().chain(links).chain([self.span])
    }

    pub fn new(
        front_end: FrontEnd,
        role: Role,
        kind: impl Into<String>,
        address: impl Into<String>,
        span: Span,
        body: Span,
    ) -> Self {
        Resource {
            address: address.into(),
            kind: kind.into(),
            front_end,
            root: None,
            run: None,
            counted: Counted::Deployed,
            home: Home::default(),
            declared: Declaration::default(),
            role,
            span,
            body,
            count: Fact::known(Range::exactly(1.0), span, super::Origin::Written),
            counted_in: CountedIn::Machines,
            left_alone: LeftAlone::default(),
            limits: Vec::new(),
            version_of: None,
            is_patch: false,
            only_by: None,
            repeated: None,
            labels: Labels::default(),
            links: Vec::new(),
            selector: Selector::default(),
            disks: Vec::new(),
            shifts: Vec::new(),
            metered: Vec::new(),
            facts: BTreeMap::new(),
        }
    }

    /// Makes machines of a count in CPUs or accelerators, once it is known how many of these a machine has.
    pub fn settle_count(&mut self) {
        let (key, what) = match self.counted_in {
            CountedIn::Machines => return,
            CountedIn::Cpus => (Key::Cpus, "CPUs"),
            CountedIn::Accelerators => (Key::AcceleratorCount, "accelerators"),
        };
        let each = self.number(key).filter(|n| *n > 0.0);
        let count = std::mem::take(&mut self.count);
        self.count = match (count, each) {
            (Fact::Known(mut known), _) if known.value.ceiling == 0.0 => {
                known.value = Range::exactly(0.0);
                Fact::Known(known)
            }
            (count, Some(each)) => count.map(|range| range.map(|n| (n / each).ceil())),
            (Fact::Known(known), None) if let Some(each) = self.one_of_numbers(key) => Fact::Known(Known {
                value: Range {
                    floor: (known.value.floor / each.ceiling).ceil(),
                    expected: (known.value.expected / each.expected).ceil(),
                    ceiling: (known.value.ceiling / each.floor).ceil(),
                },
                ..known
            }),
            (count, None) => match count.span() {
                Some(span) => Fact::unknown(format!("it is counted in {what}, and the machine's are not known"), span),
                None => Fact::Absent,
            },
        };
        self.counted_in = CountedIn::Machines;
    }

    /// The least, the first and the largest of the numbers of which a fact is one.
    fn one_of_numbers(&self, key: Key) -> Option<Range> {
        let Fact::Unknown(unknown) = self.fact(key) else { return None };
        let numbers: Option<Vec<f64>> = unknown.candidates.iter().map(Value::as_number).collect();
        let numbers = numbers.filter(|all| all.iter().all(|it| *it > 0.0))?;
        let (floor, ceiling) = (numbers.iter().copied().reduce(f64::min)?, numbers.iter().copied().reduce(f64::max)?);
        Some(Range { floor, expected: *numbers.first()?, ceiling })
    }

    pub fn fact(&self, key: Key) -> &Fact<Value> {
        const ABSENT: &Fact<Value> = &Fact::Absent;
        self.facts.get(&key).unwrap_or(ABSENT)
    }

    /// Sets a fact; a value that does not have the type of the key becomes unknown.
    pub fn set(&mut self, key: Key, fact: Fact<Value>) {
        let fact = match fact {
            Fact::Absent => {
                self.facts.remove(&key);
                return;
            }
            Fact::Known(mut known) => match known.value.clone().conform(key.value_type()) {
                Some(value) => {
                    known.value = value;
                    Fact::Known(known)
                }
                None => Fact::unknown(
                    format!("`{}` is no {} for {}", known.value, key.value_type().name(), key.name()),
                    known.span,
                ),
            },
            Fact::Unknown(mut unknown) => {
                unknown.candidates =
                    unknown.candidates.into_iter().filter_map(|value| value.conform(key.value_type())).collect();
                Fact::Unknown(unknown)
            }
        };
        self.facts.insert(key, fact);
    }

    pub fn facts(&self) -> impl Iterator<Item = (Key, &Fact<Value>)> {
        self.facts.iter().map(|(key, fact)| (*key, fact))
    }

    pub fn text(&self, key: Key) -> Option<&str> {
        self.fact(key).value().and_then(Value::as_text)
    }

    pub fn number(&self, key: Key) -> Option<f64> {
        self.fact(key).value().and_then(Value::as_number)
    }

    pub fn flag(&self, key: Key) -> Option<bool> {
        self.fact(key).value().and_then(Value::as_flag)
    }

    pub fn purchase(&self) -> Option<Purchase> {
        Purchase::said_by(self.fact(Key::Purchase))
    }

    pub fn purpose(&self) -> Option<Purpose> {
        Purpose::said_by(self.fact(Key::Purpose))
    }

    pub fn task(&self) -> Option<Task> {
        Task::said_by(self.fact(Key::Task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::Origin;
    use crate::source::{MemoryTree, Sources};

    fn pool(cpus: Option<f64>, count: Range) -> Resource {
        let sources = Sources::new(MemoryTree::new().with("a.tf", "x"));
        let span = Span::new(sources.open("a.tf").unwrap(), 0, 1);
        let mut pool = Resource::new(FrontEnd::Terraform, Role::Rented, "pool", "pool.a", span, span);
        pool.counted_in = CountedIn::Cpus;
        pool.count = Fact::known(count, span, Origin::Written);
        pool.set(Key::Cpus, cpus.map_or(Fact::Absent, |n| Fact::written(Value::Number(n), span)));
        pool.settle_count();
        pool
    }

    #[test]
    fn a_count_in_cpus_becomes_machines_rounded_up() {
        let pool = pool(Some(16.0), Range { floor: 0.0, expected: 17.0, ceiling: f64::INFINITY });
        assert_eq!(pool.count.value(), Some(&Range { floor: 0.0, expected: 2.0, ceiling: f64::INFINITY }));
        assert_eq!(pool.counted_in, CountedIn::Machines);
    }

    #[test]
    fn a_count_in_cpus_of_an_unknown_machine_is_unknown_unless_it_is_none() {
        assert!(pool(None, Range::exactly(16.0)).count.is_unknown());
        assert_eq!(pool(None, Range::exactly(0.0)).count.value(), Some(&Range::exactly(0.0)));
    }

    #[test]
    fn none_of_something_without_a_limit_is_none() {
        let open = Range { floor: 1.0, expected: 1.0, ceiling: f64::INFINITY };
        assert_eq!(Range::exactly(0.0).times(open), Range::exactly(0.0));
    }
}
