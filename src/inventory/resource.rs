//! Defines a resource that provisions or requests accelerators, made of facts and links.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::source::Span;

use super::fact::{Fact, KnownFact, UnknownFact};
use super::key::{FactValue, Key};
use super::raw::Raw;
use super::run::{CountedAs, DeploymentRun, RunId};
use super::schedule_entry::ScheduleEntry;
use super::started_script::StartedScript;
use super::supporting_component::SupportingComponent;
use super::terms::{Purchase, Purpose, Task};
use super::unjudged::Unjudged;
use super::unsupported::UnsupportedResource;
use crate::languages::table::Language;

/// Everything that the front ends found in one tree.
#[derive(Debug, Clone, Default)]
pub struct Inventory {
    pub resources: Vec<Resource>,
    /// Deployments that create the resources, complete after all front ends have run.
    pub runs: Vec<DeploymentRun>,
    pub diagnostics: Vec<Diagnostic>,
    pub skipped: Vec<SkippedFile>,
    /// Relevant files, blocks and resources that were not evaluated.
    pub unjudged: Vec<Unjudged>,
    /// Resources and objects of unsupported types that may have accelerators.
    pub unlisted: Vec<UnsupportedResource>,
    /// Files in unsupported languages, with or without accelerators.
    pub foreign: Vec<UnsupportedFile>,
    /// Supporting components in the files, each with its first place.
    pub signs: BTreeMap<SupportingComponent, Span>,
    /// Billed machines that no file defines, for providers whose machines should all be defined.
    pub orphaned: Option<Orphaned>,
    /// Manifests of the requested kinds, with or without accelerators.
    pub objects: Vec<Raw>,
    /// All Terraform blocks, if they were requested.
    pub blocks: Vec<Raw>,
}

/// Manifests and blocks that rules use in addition to facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedRaw {
    pub blocks: bool,
    pub objects: WantedObjects,
    /// Whether the pods of these objects are used too.
    pub pods: bool,
}

/// Manifests that rules use as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WantedObjects {
    #[default]
    None,
    /// Only manifests of resources with accelerators.
    OfResources,
    /// Also manifests of these kinds, with or without accelerators.
    Kinds(BTreeSet<String>),
    All,
}

/// Machines on the last month's bill that no file defines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Orphaned {
    pub usd: f64,
    pub things: usize,
    pub month: Arc<str>,
    /// The most expensive of these machines.
    pub named: Arc<str>,
    /// The reason why the billed cost of other machines is unknown.
    pub open: Option<Arc<str>>,
}

/// A file in an unsupported language.
#[derive(Debug, Clone)]
pub struct UnsupportedFile {
    pub path: String,
    pub language: &'static Language,
    /// Whether the file is among examples or tests.
    pub is_example: bool,
}

impl UnsupportedFile {
    pub fn new(path: impl Into<String>, language: &'static Language) -> UnsupportedFile {
        UnsupportedFile { path: path.into(), language, is_example: false }
    }
}

/// A file or folder that gpulint skipped, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedFile {
    pub path: String,
    pub reason: String,
    pub kind: SkipKind,
    /// Whether the file is among examples or tests.
    pub is_example: bool,
    /// The missing folder that gpulint would need to read all of the file.
    pub absent: Option<String>,
}

impl SkippedFile {
    pub fn new(kind: SkipKind, path: impl Into<String>, reason: impl Into<String>) -> SkippedFile {
        SkippedFile { path: path.into(), reason: reason.into(), kind, is_example: false, absent: None }
    }

    /// Returns true if gpulint knows its content from other files.
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
    /// The address of the block. Empty if whole files are alternatives.
    pub address: Arc<str>,
    /// Position among the blocks, from 1.
    pub number: usize,
}

/// The place from which a resource is deployed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Home {
    /// The path of the file that contains the resource.
    pub path: Arc<str>,
    /// The folder of its Terraform root, or else of its file.
    pub folder: Arc<str>,
    /// The names of the chart, kustomizations and objects that deploy the resource, for messages about two resources
    /// that share one.
    pub parts: Vec<Arc<str>>,
    /// Providers that the closest Terraform folder around it configures.
    pub clouds: Arc<[String]>,
}

/// Names of a block or an object, for lookups and references.
#[derive(Debug, Clone, Default)]
pub struct Declaration {
    /// The address in its deployment. The address of a resource adds its part or its version.
    pub address: Arc<str>,
    /// Address without the instance key.
    pub block: Arc<str>,
    pub name: Arc<str>,
    /// The namespace in the manifest.
    pub namespace: Fact<FactValue>,
    /// The group of pods, as the address names it.
    pub part: Arc<str>,
    /// References by which other blocks name it: `aws_instance.a`, or `module.b` for the content of that module.
    pub references: Vec<Arc<str>>,
}

/// A resource that provisions or requests accelerators.
///
/// A front end reports every resource whose definition names a machine or accelerators. The catalog decides later which
/// of these machines have accelerators, and adds the facts of the machine.
#[derive(Debug, Clone)]
pub struct Resource {
    /// The address in its own tool: `module.a["x"].aws_instance.b[0]`, `Deployment/serving/llama`.
    pub address: String,
    /// The Terraform type or the Kubernetes kind.
    pub kind: String,
    pub front_end: ReadBy,
    /// The directory of its Terraform root, because several roots may contain the same address.
    pub root: Option<Arc<str>>,
    /// The deployment that creates it.
    pub run: Option<RunId>,
    /// Whether totals count its deployment.
    pub counted: CountedAs,
    /// The place from which it is deployed.
    pub home: Home,
    /// The block or object that declares it.
    pub declared: Declaration,
    pub role: BillingRole,
    /// The first line of the block, or the first key of the document.
    pub span: Span,
    /// The whole block or document.
    pub body: Span,
    /// The number of machines or pods, or of the unit in `counted_in`.
    pub count: Fact<Range>,
    /// Whether the resource only patches another object, which has the number. Its count is unknown until gpulint
    /// finds that object.
    pub is_patch: bool,
    pub counted_in: CountedIn,
    /// The CPUs of all machines together, if the files count CPUs and the machine type is one of several.
    pub cpus_together: Option<Range>,
    /// Attributes that Terraform does not change after creation.
    pub left_alone: LeftAlone,
    /// Limits for all machines of a pool together. An autoscaler does not exceed them.
    pub limits: Vec<PoolLimit>,
    /// The place of the version that totals count, if the files contain several versions of one object: a base with
    /// overlays, or alternatives.
    pub version_of: Option<Span>,
    /// The tool that creates this version of the resource, if its root gives another tool different values. Only one
    /// of the tools runs.
    pub only_by: Option<&'static str>,
    /// Declaration that it belongs to, if several blocks declare one address or several files are alternatives. At most
    /// one of them is applied.
    pub repeated: Option<RepeatedBlock>,
    pub labels: CostLabels,
    pub links: Vec<Link>,
    /// The labels and taints of a pool's nodes, or the labels that pods require of a node.
    pub selector: NodeSelector,
    /// Disks of each machine that are billed separately.
    pub disks: Vec<MachineDisk>,
    /// Volumes and file systems that it uses together with others. They stay when its machines stop.
    pub volumes: Vec<Volume>,
    /// Volumes and file systems of its root without a known user.
    pub nearby_volumes: Arc<[Volume]>,
    /// Changes of its number by a schedule.
    pub shifts: Vec<ScheduleEntry>,
    /// Names that usage metrics may have for it.
    pub metered: Vec<MeterName>,
    /// Scripts that the machine starts and that its startup script does not contain.
    pub started: Vec<StartedScript>,
    facts: BTreeMap<Key, Fact<FactValue>>,
}

/// A name that usage metrics may have for a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterName {
    /// The kind of a Kubernetes workload or pool. Not set for machines that metrics identify by name.
    pub kind: Option<Arc<str>>,
    pub namespace: Option<Arc<str>>,
    /// The name; `*` matches anything.
    pub name: String,
    /// Whether this is the resource's own name, and not the name of something that a controller creates from it.
    pub is_own: bool,
}

/// Disks of one kind and size on each machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineDisk {
    /// The size of one disk.
    pub gib: Fact<FactValue>,
    /// The kind of the disk in the cloud's terms: gp3, pd-ssd, Premium_LRS.
    pub kind: Fact<FactValue>,
    /// The number of disks; the default is one.
    pub count: Fact<FactValue>,
    /// Provisioned performance of one disk, if it is billed separately from the size.
    pub speed: DiskSpeed,
}

/// The kind of a network gateway, which is billed by the hour and not by size.
const GATEWAY: &str = "nat-gateway";

/// A volume, file system or gateway that is billed by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// Its address, by which resources that use the same one are recognized.
    pub name: Arc<str>,
    pub disk: MachineDisk,
    /// Whether it is a disk that nothing attaches.
    pub is_unused: bool,
}

/// Provisioned operations per second and MiB per second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiskSpeed {
    pub iops: Fact<FactValue>,
    pub throughput: Fact<FactValue>,
}

impl MachineDisk {
    /// Whether its size is a size of storage. A gateway has none.
    pub fn is_sized(&self) -> bool {
        self.kind.value().and_then(FactValue::as_text) != Some(GATEWAY)
    }

    pub fn facts(&self) -> [&Fact<FactValue>; 5] {
        [&self.gib, &self.kind, &self.count, &self.speed.iops, &self.speed.throughput]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReadBy {
    Terraform,
    Plan,
    Kubernetes,
    Chart,
    /// A cloud's template.
    Template,
}

impl ReadBy {
    pub fn name(self) -> &'static str {
        match self {
            ReadBy::Terraform => "terraform",
            ReadBy::Plan => "plan",
            ReadBy::Kubernetes => "kubernetes",
            ReadBy::Chart => "chart",
            ReadBy::Template => "template",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BillingRole {
    /// A provisioned machine.
    Rented,
    /// A share of a machine that another resource pays for.
    Requested,
}

impl BillingRole {
    pub fn name(self) -> &'static str {
        match self {
            BillingRole::Rented => "rented",
            BillingRole::Requested => "requested",
        }
    }
}

/// A limit for all machines of a pool together.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolLimit {
    pub of: Limited,
    pub most: Fact<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    Machines,
    Accelerators,
    Cpus,
    MemoryGib,
}

/// Attributes that `ignore_changes` names. If the file changes them, running resources stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftAlone {
    pub count: bool,
    pub machine: bool,
}

/// The unit of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CountedIn {
    #[default]
    Machines,
    /// Virtual CPUs, the unit of AWS Batch compute environments.
    Cpus,
    /// Single accelerators, the unit of limits in GKE node auto-provisioning.
    Accelerators,
}

/// A maximum of at least this number of machines means that there is no limit. No account has a tenth of it.
const NO_LIMIT: f64 = 1_000_000.0;

/// Minimum, expected and maximum number. The maximum is infinite if nothing limits it.
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

    /// Returns a range from `floor` to `ceiling`. The expected number is the stated one, or the floor if none is
    /// stated.
    pub fn between(floor: f64, stated: Option<f64>, ceiling: f64) -> Self {
        let ceiling = if ceiling >= NO_LIMIT { f64::INFINITY } else { ceiling.max(floor) };
        Range { floor, expected: stated.unwrap_or(floor).clamp(floor, ceiling), ceiling }
    }

    #[must_use]
    pub fn times(self, other: Range) -> Range {
        // Zero times infinity counts as zero.
        let ceiling = self.ceiling * other.ceiling;
        Range {
            floor: self.floor * other.floor,
            expected: self.expected * other.expected,
            ceiling: if ceiling.is_nan() { 0.0 } else { ceiling },
        }
    }

    /// Returns the range after the same change of all three numbers.
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
pub struct CostLabels {
    pub entries: BTreeMap<String, Fact<Arc<str>>>,
    /// The reason why further, unknown keys may exist: `tags = var.tags`.
    pub open: Option<UnknownFact<()>>,
    /// The attribute or block that contains them.
    pub span: Option<Span>,
    /// Whether the type accepts labels that appear on the bill.
    pub taggable: bool,
    /// Keys of the labels of other resources in the same deployment.
    pub keys_beside: Arc<[Arc<str>]>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    pub kind: LinkKind,
    /// The address of the other resource.
    pub to: String,
    /// The place in the files that proves the link.
    pub span: Span,
    /// The reason for the link.
    pub why: Arc<str>,
}

impl Link {
    /// Returns a link between two resources if one of them names the other.
    pub fn named(kind: LinkKind, to: String, span: Span) -> Self {
        Link { kind, to, span, why: "it is named there".into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// The pod runs on this pool.
    Pool,
    /// The pod runs on this pool or on another one with such a link.
    PossiblePool,
    /// The autoscaler decides the number.
    Autoscaler,
    /// The other resource stops this one.
    Stop,
    /// The resource takes its settings from the other: a launch template, a class, a chart.
    Settings,
    /// The disruption budget protects some of its pods from eviction.
    Budget,
    /// The resource waits in this queue for capacity.
    Queue,
    /// The quota limits the requests of its namespace.
    Quota,
    /// The priority class decides the order.
    Priority,
    /// The resource is in this namespace and inherits its labels.
    Namespace,
    /// The pod gets its devices through this claim.
    Claim,
    /// The pod gets its requests through this service.
    Service,
}

impl LinkKind {
    pub const ALL: [LinkKind; 12] = [
        LinkKind::Pool,
        LinkKind::PossiblePool,
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

    /// Returns the fact with the accelerators that all workloads with this link to one object share.
    pub fn limit(self) -> Option<Key> {
        match self {
            LinkKind::Queue => Some(Key::QueueAccelerators),
            LinkKind::Quota => Some(Key::QuotaAccelerators),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            LinkKind::Pool => "pool",
            LinkKind::PossiblePool => "possible-pool",
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

/// Labels and taints that match pods and pools.
#[derive(Debug, Clone, Default)]
pub struct NodeSelector {
    pub labels: BTreeMap<String, Fact<Arc<str>>>,
    pub taints: Vec<Taint>,
    /// The reason why further labels and taints may exist.
    pub open: Option<UnknownFact<()>>,
    /// Node labels that a pod excludes.
    pub refuses: Vec<(Arc<str>, Refused)>,
}

/// Values of a label that a pod excludes on its node.
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
    /// Adds the content of another front end's inventory.
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

    /// Returns the resources with this address in reports, or in the files of any deployment. A resource that the totals
    /// leave out is among them only if they count none of the others.
    pub fn with_address(&self, address: &str) -> Vec<ResourceId> {
        let all = self.resources.iter().enumerate();
        let named = all.filter(|(_, it)| it.address == address || *it.declared.address == *address);
        self.prefer_counted(named.map(|(index, _)| ResourceId(index)).collect())
    }

    /// Removes resources that the totals leave out, unless they leave out all.
    pub fn prefer_counted(&self, mut ids: Vec<ResourceId>) -> Vec<ResourceId> {
        let is_added = |id: &ResourceId| self.resources.get(id.0).is_some_and(Resource::is_added);
        if ids.iter().any(is_added) {
            ids.retain(is_added);
        }
        ids
    }

    pub fn run(&self, id: &RunId) -> Option<&DeploymentRun> {
        self.runs.iter().find(|run| run.id == *id)
    }
}

impl Resource {
    /// Returns true if totals count the resource: no other version of it counts instead, and its deployment counts.
    pub fn is_added(&self) -> bool {
        self.version_of.is_none() && self.counted == CountedAs::Deployed
    }

    /// Returns true if the resource only patches another object, whose number gpulint has not found.
    pub fn takes_its_count(&self) -> bool {
        self.is_patch && self.count.why().is_some()
    }

    /// Returns true if the resource is switched off: its count is 0, and it could be started.
    pub fn is_switched_off(&self) -> bool {
        self.count.value().is_some_and(|count| count.ceiling == 0.0) && self.fact(Key::Impossible).value().is_none()
    }

    /// Returns true if nothing limits the number of the resource.
    pub fn is_unlimited(&self) -> bool {
        self.count.value().is_some_and(|count| count.ceiling.is_infinite())
    }

    /// Returns all places that set a value of the resource.
    pub fn places(&self) -> impl Iterator<Item = Span> {
        let facts = self.facts().flat_map(|(_, fact)| [fact.span(), fact.defined()]);
        let labels = self.labels.entries.values().flat_map(|fact| [fact.span(), fact.defined()]);
        let count = [self.count.span(), self.count.defined()];
        let links = self.links.iter().map(|link| link.span);
        let disks = self.disks.iter().flat_map(|disk| disk.facts().map(Fact::span));
        facts.chain(labels).chain(count).chain(disks).flatten().chain(links).chain([self.span])
    }

    pub fn new(
        front_end: ReadBy,
        role: BillingRole,
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
            counted: CountedAs::Deployed,
            home: Home::default(),
            declared: Declaration::default(),
            role,
            span,
            body,
            count: Fact::known(Range::exactly(1.0), span, super::FactOrigin::Written),
            counted_in: CountedIn::Machines,
            cpus_together: None,
            left_alone: LeftAlone::default(),
            limits: Vec::new(),
            version_of: None,
            is_patch: false,
            only_by: None,
            repeated: None,
            labels: CostLabels::default(),
            links: Vec::new(),
            selector: NodeSelector::default(),
            disks: Vec::new(),
            volumes: Vec::new(),
            nearby_volumes: Arc::default(),
            shifts: Vec::new(),
            metered: Vec::new(),
            started: Vec::new(),
            facts: BTreeMap::new(),
        }
    }

    /// Converts a count in CPUs or accelerators to machines, after their number per machine is known.
    pub fn convert_count(&mut self) {
        let (key, what) = match self.counted_in {
            CountedIn::Machines => return,
            CountedIn::Cpus => (Key::Cpus, "CPUs"),
            CountedIn::Accelerators => (Key::AcceleratorCount, "accelerators"),
        };
        let each = self.number(key).filter(|n| *n > 0.0);
        let count = std::mem::take(&mut self.count);
        if self.counted_in == CountedIn::Cpus && each.is_none() {
            self.cpus_together = count.value().copied();
        }
        self.count = match (count, each) {
            (Fact::Known(mut known), _) if known.value.ceiling == 0.0 => {
                known.value = Range::exactly(0.0);
                Fact::Known(known)
            }
            (count, Some(each)) => count.map(|range| range.map(|n| (n / each).ceil())),
            (Fact::Known(known), None) if let Some(each) = self.one_of_numbers(key) => Fact::Known(KnownFact {
                value: Range {
                    floor: (known.value.floor / each.ceiling).ceil(),
                    expected: (known.value.expected / each.expected).ceil(),
                    ceiling: (known.value.ceiling / each.floor).ceil(),
                },
                ..known
            }),
            (count, None) => match count.span() {
                Some(span) => {
                    Fact::unknown(format!("the count is in {what}, and the {what} of one machine are unknown"), span)
                }
                None => Fact::Absent,
            },
        };
        self.counted_in = CountedIn::Machines;
    }

    /// Returns the smallest, the first and the largest candidate of a numeric fact.
    fn one_of_numbers(&self, key: Key) -> Option<Range> {
        let Fact::Unknown(unknown) = self.fact(key) else { return None };
        let numbers: Option<Vec<f64>> = unknown.candidates.iter().map(FactValue::as_number).collect();
        let numbers = numbers.filter(|all| all.iter().all(|it| *it > 0.0))?;
        let (floor, ceiling) = (numbers.iter().copied().reduce(f64::min)?, numbers.iter().copied().reduce(f64::max)?);
        Some(Range { floor, expected: *numbers.first()?, ceiling })
    }

    pub fn fact(&self, key: Key) -> &Fact<FactValue> {
        const ABSENT: &Fact<FactValue> = &Fact::Absent;
        self.facts.get(&key).unwrap_or(ABSENT)
    }

    /// Sets a fact. A value that does not conform to the key's type becomes unknown.
    pub fn set(&mut self, key: Key, fact: Fact<FactValue>) {
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
                    format!("`{}` is not a valid {} for {}", known.value, key.value_type().name(), key.name()),
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

    pub fn facts(&self) -> impl Iterator<Item = (Key, &Fact<FactValue>)> {
        self.facts.iter().map(|(key, fact)| (*key, fact))
    }

    pub fn text(&self, key: Key) -> Option<&str> {
        self.fact(key).value().and_then(FactValue::as_text)
    }

    pub fn number(&self, key: Key) -> Option<f64> {
        self.fact(key).value().and_then(FactValue::as_number)
    }

    pub fn flag(&self, key: Key) -> Option<bool> {
        self.fact(key).value().and_then(FactValue::as_flag)
    }

    /// Returns the pool that a pod runs on, or the pools that it can run on.
    pub fn pools(&self) -> impl Iterator<Item = &str> {
        let links = self.links.iter().filter(|link| matches!(link.kind, LinkKind::Pool | LinkKind::PossiblePool));
        links.map(|link| link.to.as_str())
    }

    pub fn purchase(&self) -> Option<Purchase> {
        Purchase::from_fact(self.fact(Key::Purchase))
    }

    pub fn purpose(&self) -> Option<Purpose> {
        Purpose::from_fact(self.fact(Key::Purpose))
    }

    pub fn task(&self) -> Option<Task> {
        Task::from_fact(self.fact(Key::Task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::FactOrigin;
    use crate::source::{MemoryTree, SourceFiles};

    fn pool(cpus: Option<f64>, count: Range) -> Resource {
        let sources = SourceFiles::new(MemoryTree::new().with("a.tf", "x"));
        let span = Span::new(sources.open("a.tf").unwrap(), 0, 1);
        let mut pool = Resource::new(ReadBy::Terraform, BillingRole::Rented, "pool", "pool.a", span, span);
        pool.counted_in = CountedIn::Cpus;
        pool.count = Fact::known(count, span, FactOrigin::Written);
        pool.set(Key::Cpus, cpus.map_or(Fact::Absent, |n| Fact::written(FactValue::Number(n), span)));
        pool.convert_count();
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
