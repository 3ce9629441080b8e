//! Reads gpulint's JSON reports: two saved reports can be compared, and a saved comparison can become a comment in
//! another job.
//!
//! Reading creates the same values as an analysis, so one renderer is enough. A report does not contain the files of
//! the repository. Texts of blanks replace them, so that lines and columns stay correct.

mod document;
mod needs;
mod places;

pub use needs::saved_needs;

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;

use super::Team;
use super::difference::GateResult;
use super::difference::json::{DifferenceDocument, WireAmount, WireChange, WireTeam};
use super::formats::json::{
    self, Apart, CatalogAge, CheckDocument, UnknownEntry, WireBounds, WireFinding, WirePrice, WireResource, WireRun,
    WireSkipped, WireUnknownMachine, WireUnlimited, WireWorst,
};
use super::views::judged::NotJudged;
use super::{Difference, PriceSources, Report, ReviewCommit, ShownPaths};
use crate::catalog::{Currency, Money, MoneyRange};
use crate::compare::BudgetUsage;
use crate::decide::{Decided, Suppressed, Verdict};
use crate::diagnostic::{Level, SkipKind};
use crate::inventory::{
    BillingRole, CountedAs, DeploymentRun, Fact, FactOrigin, FactValue, Inventory, Key, Range, ReadBy, Resource,
    ResourceId, RunId, RunKind, SkippedFile, Unjudged, UnjudgedStatus,
};
use crate::measured::Measured;
use crate::pricing::{
    Bill, BillItem, ChangeKind, CostSum, Delta, ExcludedTotal, FactChange, KnownSides, NoLimit, Period,
    ResourceCostChange, Status, Unlimited, WorstMonth,
};
use crate::resolve::UnknownMachine;
use crate::rules::{Confidence, Finding, Fix, Risk, RuleTotal, Rules, Safety, Undetermined};
use crate::source::{Date, Edit, SourceFiles, Span};
use places::{Located, SavedLocations};

/// A saved report.
pub enum Saved {
    /// A report of `gpulint check --format json`.
    Check(Box<SavedState>),
    /// A report of `gpulint diff --format json`.
    Difference(Box<SavedComparison>),
}

/// One state of a tree in a saved report.
pub struct SavedState {
    sources: SourceFiles,
    paths: ShownPaths,
    inventory: Inventory,
    bill: Bill,
    findings: Vec<Decided>,
    undetermined: Vec<Undetermined>,
    totals: Vec<(String, RuleTotal)>,
    unknown_machines: Vec<UnknownMachine>,
    /// Empty, because a saved report has usage metrics only in its findings.
    measured: Measured,
    verdict: Verdict,
    catalog: PriceSources,
    currency: Currency,
}

/// Two states of a tree in a saved report.
pub struct SavedComparison {
    before: SavedState,
    after: SavedState,
    delta: Delta,
    /// The number of new findings among the later ones; unchanged findings follow, then accepted ones.
    new: usize,
    grown: usize,
    unchanged: usize,
    teams: Vec<Team>,
    budgets: Vec<BudgetUsage>,
    base: String,
    head: Option<ReviewCommit>,
    notes: Vec<String>,
    removed_limits: Vec<String>,
    not_read: Vec<String>,
    gate: GateResult,
}

/// Reads the output of `--format json`, or returns a description of the error.
pub fn saved(text: &str) -> Result<Saved, String> {
    #[derive(Deserialize)]
    struct Kind {
        version: u32,
        findings: Option<serde::de::IgnoredAny>,
        changes: Option<serde::de::IgnoredAny>,
    }
    let kind: Kind = serde_json::from_str(text).map_err(|error| format!("it is not a report of gpulint: {error}"))?;
    if kind.version != json::VERSION {
        let ours = json::VERSION;
        return Err(format!("its version is {}, and this gpulint reads version {ours}", kind.version));
    }
    let wrong = |error: serde_json::Error| error.to_string();
    if kind.changes.is_some() {
        let document: DifferenceDocument = serde_json::from_str(text).map_err(wrong)?;
        document.check()?;
        Ok(Saved::Difference(Box::new(document.read())))
    } else if kind.findings.is_some() {
        let document: CheckDocument = serde_json::from_str(text).map_err(wrong)?;
        document.check()?;
        Ok(Saved::Check(Box::new(document.read())))
    } else {
        Err("it is neither a report of `gpulint check` nor of `gpulint diff`".to_owned())
    }
}

impl SavedState {
    pub fn report<'a>(&'a self, rules: &'a Rules) -> Report<'a> {
        Report {
            sources: &self.sources,
            paths: &self.paths,
            hosted_paths: &self.paths,
            inventory: &self.inventory,
            bill: &self.bill,
            fits: &[],
            findings: &self.findings,
            rules,
            undetermined: &self.undetermined,
            totals: &self.totals,
            unknown_machines: &self.unknown_machines,
            measured: &self.measured,
            verdict: self.verdict,
            catalog: self.catalog.clone(),
            market: None,
            is_empty: false,
            title: None,
            currency: self.currency,
            today: Date::default(),
        }
    }

    /// Returns the inventory, so that the comparison can add what is no longer evaluated.
    pub fn inventory_mut(&mut self) -> &mut Inventory {
        &mut self.inventory
    }

    /// Adds findings about the state as a whole.
    pub fn add(&mut self, findings: Vec<Finding>) {
        let decided = |finding| Decided::new(finding, &self.sources, &self.inventory);
        self.findings.extend(findings.into_iter().map(decided));
    }
}

impl SavedComparison {
    pub fn difference<'a>(&'a self, rules: &'a Rules) -> Difference<'a> {
        let (new, rest) = self.after.findings.split_at(self.new.min(self.after.findings.len()));
        let (grown, rest) = rest.split_at(self.grown.min(rest.len()));
        let (unchanged, accepted) = rest.split_at(self.unchanged.min(rest.len()));
        Difference {
            before: self.before.report(rules),
            after: self.after.report(rules),
            delta: &self.delta,
            new: new.iter().collect(),
            grown: grown.iter().collect(),
            unchanged: unchanged.iter().collect(),
            accepted: accepted.iter().collect(),
            fixed: self.before.findings.iter().collect(),
            teams: self.teams.clone(),
            budgets: self.budgets.clone(),
            base: self.base.clone(),
            head: self.head.clone(),
            notes: self.notes.clone(),
            removed_limits: self.removed_limits.clone(),
            not_read: self.not_read.clone(),
            gate: self.gate.clone(),
        }
    }
}

/// The identity of a resource: its address and its root.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Name {
    address: String,
    root: Option<String>,
}

impl Name {
    fn new(address: &str, root: Option<&str>) -> Name {
        // The current directory has no name in a tree.
        let root = root.map(|root| if root == "." { "" } else { root }.to_owned());
        Name { address: address.to_owned(), root }
    }
}

/// A state that is being assembled.
struct Builder {
    located: Located,
    state: SavedState,
    by_place: HashMap<(String, Name), ResourceId>,
    by_name: HashMap<Name, ResourceId>,
    by_address: HashMap<String, ResourceId>,
    /// The first resource for each file, deployment and address, because several deployments can create objects with
    /// the same name.
    by_run: HashMap<(String, Option<String>, String), ResourceId>,
}

impl Builder {
    fn new(places: SavedLocations, catalog: Option<CatalogAge>) -> Builder {
        let (sources, located) = places.build();
        // The currency in which its messages were written.
        let currency = catalog.as_ref().and_then(|it| it.currency.as_ref());
        let currency = currency.map_or(Currency::USD, |it| Currency::new(&it.code, it.per_usd));
        let mut bill = Bill::default();
        if let Some(it) = &catalog {
            bill.oldest_row = it.oldest_row_used.as_deref().map(Into::into);
            bill.past_shelf_life = it.past_shelf_life.into();
        }
        let catalog = catalog.map(|it| PriceSources { version: it.version.into(), as_of: it.as_of.into() });
        let state = SavedState {
            sources,
            paths: ShownPaths::default(),
            inventory: Inventory::default(),
            measured: Measured::default(),
            bill,
            findings: Vec::new(),
            undetermined: Vec::new(),
            totals: Vec::new(),
            unknown_machines: Vec::new(),
            verdict: Verdict::default(),
            catalog: catalog.unwrap_or_default(),
            currency,
        };
        Builder {
            located,
            state,
            by_place: HashMap::new(),
            by_name: HashMap::new(),
            by_address: HashMap::new(),
            by_run: HashMap::new(),
        }
    }

    fn resource(&mut self, name: Name, kind: &str, role: &str, span: Span, item: BillItem) -> Option<ResourceId> {
        let role = if role == BillingRole::Requested.name() { BillingRole::Requested } else { BillingRole::Rented };
        let id = ResourceId(self.state.inventory.resources.len());
        self.by_place.entry((self.state.sources.path(span.file), name.clone())).or_insert(id);
        self.by_name.entry(name.clone()).or_insert(id);
        self.by_address.entry(name.address.clone()).or_insert(id);
        let mut resource = Resource::new(ReadBy::Terraform, role, kind, name.address, span, span);
        resource.root = name.root.map(Into::into);
        self.state.inventory.resources.push(resource);
        self.state.bill.items.push(item);
        Some(id)
    }

    /// Returns the resource of a finding; only its address may be known.
    fn about(&mut self, path: &str, name: Option<Name>, kind: Option<&str>, span: Span) -> Option<ResourceId> {
        let name = name?;
        if let Some(id) = self.by_place.get(&(path.to_owned(), name.clone())) {
            return Some(*id);
        }
        match self.by_name.get(&name).copied().or_else(|| self.of_any_root(&name)) {
            Some(id) => Some(id),
            None => self.resource(name, kind.unwrap_or_default(), "", span, BillItem::default()),
        }
    }

    /// Returns the resource of a finding in the finding's deployment.
    fn of_run(&self, run: Option<&str>, path: &str, address: Option<&str>) -> Option<ResourceId> {
        let at = |path: Option<&str>| self.by_run.get(&(run?.to_owned(), path.map(Into::into), address?.to_owned()));
        at(Some(path)).or_else(|| at(None)).copied()
    }

    fn belongs(&mut self, resource: Option<ResourceId>, run: Option<&str>) {
        let resource = resource.and_then(|id| self.state.inventory.resources.get_mut(id.0));
        if let (Some(resource), Some(run)) = (resource.filter(|it| it.run.is_none()), run) {
            resource.run = Some(RunId::named(run));
        }
    }

    /// Returns the resource with this address, if one of the two names has no root.
    fn of_any_root(&mut self, name: &Name) -> Option<ResourceId> {
        let id = *self.by_address.get(&name.address)?;
        let resource = self.state.inventory.resources.get_mut(id.0)?;
        match (&resource.root, &name.root) {
            (Some(_), Some(_)) => return None,
            (None, Some(root)) => resource.root = Some(root.as_str().into()),
            (_, None) => {}
        }
        Some(id)
    }

    fn finding(&mut self, it: WireFinding) {
        let Some(span) = self.located.span(&it.path, it.line, it.column) else { return };
        let resource = self.of_run(it.run.as_deref(), &it.path, it.address.as_deref());
        let name = named_by(&it.address, &it.root).filter(|_| it.total.is_none());
        let resource = resource.or_else(|| self.about(&it.path, name, it.kind.as_deref(), span));
        self.belongs(resource, it.run.as_deref());
        let related = it.related.into_iter();
        let related = related.filter_map(|it| Some((self.located.span(&it.path, it.line, 1)?, it.message.into())));
        let edit = it.fix.and_then(|fix| {
            let span = self.located.lines(&fix.path, fix.first_line, fix.last_line)?;
            Some(Edit { span, replacement: fix.replacement })
        });
        let suppressed = it.suppressed.and_then(|by| {
            let span = self.located.span(&by.path, by.line, 1)?;
            Some(Suppressed {
                reason: by.reason.map(Into::into),
                until: by.until.and_then(|date| date.parse().ok()),
                span,
            })
        });
        let safety = it.fix_safety.and_then(|name| named(&Safety::ALL, Safety::name, &name));
        let item = resource.and_then(|id| self.state.bill.items.get(id.0));
        let counted = it.counted.as_deref().and_then(|name| named(&CountedAs::ALL, CountedAs::name, name));
        let saves: Option<MoneyRange> = it.saves_usd.or(it.saves_usd_per_month).map(Into::into);
        let finding = Finding {
            is_estimated: saves.is_some() && item.is_some_and(BillItem::is_estimated),
            rule: it.rule.into(),
            group: it.group.into(),
            layer: it.layer.into(),
            level: Level::from_name(&it.level).unwrap_or(Level::Error),
            confidence: named(&Confidence::ALL, Confidence::name, &it.confidence).unwrap_or(Confidence::High),
            risk: named(&Risk::ALL, Risk::name, &it.risk).unwrap_or(Risk::High),
            resource,
            piece: None,
            total: it.total.map(Into::into),
            span,
            message: it.message.into(),
            help: it.help.map(Into::into),
            saves,
            per: it.saves_per.as_deref().and_then(Period::from_name).unwrap_or_default(),
            also: Vec::new(),
            related: related.collect(),
            edits: edit.into_iter().collect(),
            fix: safety.map(|safety| Fix {
                safety,
                wishes: Vec::new(),
                otherwise: Vec::new(),
                follows: Vec::new(),
                declined: it.fix_declined.map(Into::into),
                unjudged: it.fix_unjudged.map(Into::into),
            }),
            evidence: Vec::new(),
        };
        let baselined = it.baseline.and_then(|it| it.since.parse().ok());
        let decided = Decided::new(finding, &self.state.sources, &self.state.inventory);
        let counted = counted.unwrap_or(decided.counted);
        self.state.findings.push(Decided { suppressed, baselined, counted, ..decided });
    }

    /// Adds the machines and regions that were unknown or assumed.
    fn left_open(
        &mut self,
        machines: Vec<WireUnknownMachine>,
        assumed: Vec<WireUnknownMachine>,
        skipped: Vec<WireSkipped>,
    ) {
        for it in machines {
            if let Some(span) = self.located.span(&it.path, it.line, 1) {
                let machine =
                    UnknownMachine { address: it.address.into(), run: String::new(), span, why: it.cause.into() };
                self.state.unknown_machines.push(machine);
            }
        }
        for it in assumed {
            let Some(span) = self.located.span(&it.path, it.line, 1) else { continue };
            let id = self.about(&it.path, Some(Name::new(&it.address, None)), None, span);
            if let Some(resource) = id.and_then(|id| self.state.inventory.resources.get_mut(id.0)) {
                let region = resource.text(Key::Region).unwrap_or_default().to_owned();
                resource
                    .set(Key::Region, Fact::known(FactValue::text(region), span, FactOrigin::Assumed(it.cause.into())));
            }
        }
        let skipped = skipped.into_iter().map(|it| SkippedFile::new(skip_kind(&it.kind), it.path, it.reason));
        self.state.inventory.skipped.extend(skipped);
    }

    fn unjudged(&mut self, all: Vec<NotJudged>, verdict: &str) {
        for it in all {
            let span = it.line.and_then(|line| self.located.span(&it.path, line, 1));
            let standing =
                named(&UnjudgedStatus::ALL, UnjudgedStatus::name, &it.standing).unwrap_or(UnjudgedStatus::Open);
            let unjudged = Unjudged::new(skip_kind(&it.kind), it.path, it.reason);
            self.state.inventory.unjudged.push(Unjudged {
                span,
                address: it.address.map(Into::into),
                cure: it.cure.map(Into::into),
                standing,
                ..unjudged
            });
        }
        let derived = || Verdict::new(false, &self.state.inventory.unjudged);
        self.state.verdict = named(&Verdict::ALL, Verdict::name, verdict).unwrap_or_else(derived);
    }

    fn undetermined(&mut self, it: UnknownEntry) {
        let Some(span) = self.located.span(&it.path, it.line, 1) else { return };
        let resource = self.of_run(it.run.as_deref(), &it.path, it.address.as_deref());
        let resource = resource.or_else(|| self.about(&it.path, named_by(&it.address, &it.root), None, span));
        self.belongs(resource, it.run.as_deref());
        self.state.undetermined.push(Undetermined {
            rule: it.rule.into(),
            resource,
            piece: None,
            span,
            cause: it.cause.into(),
        });
    }
}

fn named_by(address: &Option<Cow<str>>, root: &Option<String>) -> Option<Name> {
    Some(Name::new(address.as_deref()?, root.as_deref()))
}

fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str, wanted: &str) -> Option<T> {
    all.iter().copied().find(|it| name(*it) == wanted)
}

/// Returns the kind of an entry. Older reports have no kind, and reports of newer versions may have unknown kinds.
fn skip_kind(name: &str) -> SkipKind {
    named(SkipKind::ALL, SkipKind::name, name).unwrap_or(SkipKind::Other)
}

fn mark_finding(places: &mut SavedLocations, it: &WireFinding) {
    places.mark(&it.path, it.line, it.column);
    for related in &it.related {
        places.mark(&related.path, related.line, 1);
    }
    if let Some(by) = &it.suppressed {
        places.mark(&by.path, by.line, 1);
    }
    if let Some(fix) = &it.fix {
        places.mark(&fix.path, fix.first_line, 1);
        places.mark(&fix.path, fix.last_line, 1);
    }
}

impl CheckDocument<'_> {
    fn read(self) -> SavedState {
        let mut places = SavedLocations::default();
        self.findings.iter().for_each(|it| mark_finding(&mut places, it));
        self.resources.iter().for_each(|it| places.mark(&it.path, it.line, 1));
        self.undetermined.iter().for_each(|it| places.mark(&it.path, it.line, 1));
        self.unknown_machines.iter().chain(&self.assumed).for_each(|it| places.mark(&it.path, it.line, 1));
        self.not_judged.iter().for_each(|it| places.mark(&it.path, it.line.unwrap_or(1), 1));
        let mut builder = Builder::new(places, Some(self.catalog));
        for it in self.resources {
            builder.counted(it);
        }
        builder.state.inventory.runs = self.runs.into_iter().filter_map(run).collect();
        self.findings.into_iter().for_each(|it| builder.finding(it));
        self.undetermined.into_iter().for_each(|it| builder.undetermined(it));
        builder.left_open(self.unknown_machines, self.assumed, self.skipped);
        builder.unjudged(self.not_judged, &self.verdict);
        let mut state = builder.state;
        state.totals = self.totals.into_iter().map(|it| (it.rule.to_string(), it.into())).collect();
        let unpriced = self.bill.unpriced;
        state.bill.rented = self.bill.rented.sum(unpriced);
        state.bill.requested = self.bill.requested.sum_of_pods();
        state.bill.combined = self.bill.combined.map_or_else(|| state.bill.rented.clone(), |it| it.sum(0));
        state.bill.attached = self.bill.attached.map(|it| it.sum(0)).unwrap_or_default();
        gather(&mut state.bill);
        state.bill.set_unread(&state.inventory);
        state.bill.unnamed = self.bill.unnamed.map(Into::into).unwrap_or_default();
        state.bill.stale = self.bill.stale;
        state.bill.apart = self.bill.apart.into_iter().filter_map(apart).collect();
        state.bill.worst = self.bill.worst_month.map(|it| worst(it, &state.inventory));
        state
    }
}

fn worst(it: WireWorst, inventory: &Inventory) -> WorstMonth {
    let unlimited = |it: WireUnlimited| Unlimited {
        resource: inventory.resources.iter().position(|resource| resource.address == it.of).map(ResourceId),
        why: NoLimit::from_name(&it.cause, &it.why),
        of: it.of.into(),
    };
    WorstMonth {
        limited: Money::from_usd(it.limited_usd.0),
        parts: Vec::new(),
        assumes_machines: it.assumes_machines,
        assumes_region: it.assumes_region,
        unlimited: it.unlimited.into_iter().map(unlimited).collect(),
    }
}

fn apart(it: Apart) -> Option<(CountedAs, ExcludedTotal)> {
    let counted = named(&CountedAs::ALL, CountedAs::name, &it.counted)?;
    let (rented, requested) = (it.rented.sum(it.unpriced), it.requested.sum_of_pods());
    Some((counted, ExcludedTotal { resources: it.resources, rented, requested }))
}

/// Adds the open parts of each sum to the combined sum.
fn gather(bill: &mut Bill) {
    let parts: Vec<_> = bill.rented.open().chain(bill.requested.open()).cloned().collect();
    bill.combined = CostSum::new(bill.combined.minimum(), parts).unlimited(bill.combined.is_unlimited());
}

/// Returns a deployment in a saved report; none if its kind is unknown.
fn run(it: WireRun) -> Option<DeploymentRun> {
    let kind = named(&RunKind::ALL, RunKind::name, &it.kind)?;
    let folder = if it.folder == "." { "" } else { &it.folder };
    let mut run = DeploymentRun::new(kind, folder, it.variant.as_deref()).reading(it.inputs);
    run.id = RunId::named(&it.id);
    run.counted = named(&CountedAs::ALL, CountedAs::name, &it.counted).unwrap_or_default();
    run.given_name = Some(it.name.as_str().into()).filter(|_| run.name() != it.name);
    Some(run)
}

impl Builder {
    /// Adds a resource with its cost, and with the facts that a comparison needs.
    fn counted(&mut self, it: WireResource) {
        let Some(span) = self.located.span(&it.path, it.line, 1) else { return };
        let name = Name::new(&it.address, it.root.as_deref());
        let Some(id) = self.resource(name, &it.kind, &it.role, span, item(&it.price)) else { return };
        if let Some(run) = &it.run {
            let keys = [Some(it.path.clone()), None].map(|path| (run.to_string(), path, it.address.to_string()));
            for key in keys {
                self.by_run.entry(key).or_insert(id);
            }
        }
        let Some(resource) = self.state.inventory.resources.get_mut(id.0) else { return };
        describe(resource, it, span);
    }
}

/// Returns the price in a saved report.
fn item(it: &WirePrice) -> BillItem {
    let reason = || it.reason.clone().unwrap_or_default();
    let status = match &*it.status {
        "priced" => Status::Priced,
        "estimated" => Status::Estimated(reason()),
        _ => Status::Unpriced(reason()),
    };
    BillItem {
        status,
        per_hour: it.usd_per_hour.map(|usd| MoneyRange::exactly(usd.into())),
        monthly: it.usd_per_month.map(Into::into),
        share: it.usd_in_sum.map(Into::into),
        per: it.per.as_deref().and_then(Period::from_name).unwrap_or_default(),
        amount: it.usd.or(it.usd_per_month).map(Into::into),
        hours: it.hours.map_or(0.0, |it| it.0),
        as_of: it.as_of.clone(),
        stale: it.stale.clone(),
        starts: it.starts_per_month.map(|it| it.0),
        is_unnamed: it.accelerator_unnamed,
        ..BillItem::default()
    }
}

/// Sets the facts of a resource from a saved report.
fn describe(resource: &mut Resource, it: WireResource, span: Span) {
    let facts = [
        (Key::Provider, it.provider),
        (Key::Region, it.region),
        (Key::Machine, it.machine),
        (Key::Accelerator, it.accelerator),
        (Key::Purchase, it.purchase),
    ];
    for (key, value) in facts {
        if let Some(value) = value {
            resource.set(key, Fact::written(FactValue::text(value), span));
        }
    }
    if let Some(count) = it.accelerator_count {
        resource.set(Key::AcceleratorCount, Fact::written(FactValue::Number(count.0), span));
    }
    if let Some(team) = it.team {
        resource.labels.entries.insert("team".to_owned(), Fact::written((&*team).into(), span));
    }
    resource.run = it.run.as_deref().map(RunId::named);
    resource.counted =
        named(&CountedAs::ALL, CountedAs::name, it.counted.as_deref().unwrap_or_default()).unwrap_or_default();
    resource.count = match (it.count.floor, it.count.unknown) {
        (Some(floor), _) => {
            let ceiling = it.count.ceiling.map_or(f64::INFINITY, |it| it.0);
            Fact::written(Range::between(floor.0, it.count.expected.map(|it| it.0), ceiling), span)
        }
        (None, why) => Fact::unknown(why.unwrap_or_default(), span),
    };
}

/// Copies the sums of the comparison to the bills of both states.
fn take_sums(delta: &Delta, before: &mut Bill, after: &mut Bill) {
    before.rented.clone_from(&delta.rented.before);
    before.requested.clone_from(&delta.requested.before);
    before.combined.clone_from(&delta.combined.before);
    before.attached.clone_from(&delta.attached.before);
    after.rented.clone_from(&delta.rented.after);
    after.requested.clone_from(&delta.requested.after);
    after.combined.clone_from(&delta.combined.after);
    after.attached.clone_from(&delta.attached.after);
    gather(before);
    gather(after);
}

/// Copies the sums of both bills, with all open parts, to the comparison.
fn give_sums(delta: &mut Delta, before: &Bill, after: &Bill) {
    delta.combined.before.clone_from(&before.combined);
    delta.rented.after.clone_from(&after.rented);
    delta.requested.after.clone_from(&after.requested);
    delta.combined.after.clone_from(&after.combined);
}

impl DifferenceDocument<'_> {
    /// Returns a place before and after the change.
    fn places(&self) -> (SavedLocations, SavedLocations) {
        let (mut before, mut after) = (SavedLocations::default(), SavedLocations::default());
        for it in &self.changes {
            before.mark(&it.path, it.line, 1);
            after.mark(&it.path, it.line, 1);
        }
        let of_after = self.new.iter().chain(&self.grown).chain(&self.unchanged).chain(&self.accepted);
        of_after.for_each(|it| mark_finding(&mut after, it));
        self.fixed.iter().for_each(|it| mark_finding(&mut before, it));
        self.undetermined.iter().for_each(|it| after.mark(&it.path, it.line, 1));
        let machines = self.unpriced.iter().chain(&self.unknown_machines).chain(&self.assumed);
        machines.for_each(|it| after.mark(&it.path, it.line, 1));
        self.not_judged.iter().for_each(|it| after.mark(&it.path, it.line.unwrap_or(1), 1));
        (before, after)
    }

    fn read(self) -> SavedComparison {
        let (before, after) = self.places();
        let (mut before, mut after) = (Builder::new(before, None), Builder::new(after, self.catalog));
        let changes = self.changes.into_iter().filter_map(|it| change(it, &mut before, &mut after)).collect();
        for it in self.unpriced {
            let Some(span) = after.located.span(&it.path, it.line, 1) else { continue };
            let id = after.about(&it.path, Some(Name::new(&it.address, None)), None, span);
            if let Some(item) = id.and_then(|id| after.state.bill.items.get_mut(id.0)) {
                item.status = Status::Unpriced(it.cause.into());
            }
        }
        let (new, grown, unchanged) = (self.new.len(), self.grown.len(), self.unchanged.len());
        let of_after = self.new.into_iter().chain(self.grown).chain(self.unchanged).chain(self.accepted);
        of_after.for_each(|it| after.finding(it));
        after.left_open(self.unknown_machines, self.assumed, self.skipped);
        after.unjudged(self.not_judged, &self.verdict);
        self.fixed.into_iter().for_each(|it| before.finding(it));
        self.undetermined.into_iter().for_each(|it| after.undetermined(it));
        let (mut before, mut after) = (before.state, after.state);
        after.inventory.runs = self.runs.into_iter().filter_map(run).collect();
        let cost = self.cost;
        let unpriced = (cost.unpriced_before, cost.unpriced_after);
        let rented = cost.rented.change(unpriced);
        let mut delta = Delta {
            changes,
            requested: cost.requested.change((0, 0)),
            combined: cost.combined.map_or_else(|| rented.clone(), |it| it.change((0, 0))),
            attached: cost.attached.map(|it| it.change((0, 0))).unwrap_or_default(),
            rented,
        };
        take_sums(&delta, &mut before.bill, &mut after.bill);
        after.bill.set_unread(&after.inventory);
        give_sums(&mut delta, &before.bill, &after.bill);
        before.bill.worst = cost.worst_month_before.map(|it| worst(it, &before.inventory));
        after.bill.worst = cost.worst_month_after.map(|it| worst(it, &after.inventory));
        after.bill.unnamed = cost.unnamed_after.map(Into::into).unwrap_or_default();
        let team =
            |it: WireTeam| Team { name: it.team.map(Into::into), before: it.before.sum(0), after: it.after.sum(0) };
        SavedComparison {
            before,
            after,
            delta,
            new,
            grown,
            unchanged,
            teams: self.teams.into_iter().map(team).collect(),
            budgets: self.budgets.into_iter().map(Into::into).collect(),
            base: self.base.into(),
            head: self.url.as_deref().and_then(ReviewCommit::new),
            notes: self.notes.into(),
            removed_limits: self.removed_limits.into(),
            not_read: self.changed_not_read.into(),
            gate: GateResult { blocked: self.blocked, setting: self.decided_by.into() },
        }
    }
}

fn change(it: WireChange, before: &mut Builder, after: &mut Builder) -> Option<ResourceCostChange> {
    const KINDS: [ChangeKind; 5] =
        [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed, ChangeKind::Moved, ChangeKind::Same];
    let kind = named(&KINDS, ChangeKind::name, &it.change)?;
    let amount = |monthly: Option<WireBounds>, cost: Option<WireAmount>| {
        let per = cost.as_ref().and_then(|cost| Period::from_name(&cost.per)).unwrap_or_default();
        let is_estimated = cost.as_ref().is_some_and(|cost| cost.estimated);
        let status = if is_estimated { Status::Estimated(String::new()) } else { Status::default() };
        let amount = cost.map(|cost| cost.usd).or(monthly).map(Into::into);
        BillItem { status, monthly: monthly.map(Into::into), per, amount, ..BillItem::default() }
    };
    let expected = |item: &BillItem| item.monthly.map_or(Money::ZERO, |range| range.expected);
    let (mut old, mut new) =
        (amount(it.usd_per_month_before, it.cost_before), amount(it.usd_per_month_after, it.cost_after));
    let lost = if it.lost { KnownSides::NoLongerKnown } else { KnownSides::Both };
    let known = it.known.as_deref().and_then(|known| named(&KnownSides::ALL, KnownSides::name, known)).unwrap_or(lost);
    let is_removed = kind == ChangeKind::Removed;
    if let Some(saved) = &it.resource {
        let is_of_before = is_removed || known == KnownSides::NoLongerKnown && saved.price.usd.is_some();
        *(if is_of_before { &mut old } else { &mut new }) = item(&saved.price);
    }
    let increase = if known == KnownSides::Both { expected(&new) - expected(&old) } else { Money::ZERO };
    let earlier = it.address_before.as_deref().unwrap_or(&it.address);
    let place = |side: &mut Builder, address: &str, item: BillItem, is_there: bool| {
        let span = side.located.span(&it.path, it.line, 1).filter(|_| is_there)?;
        let id = side.resource(Name::new(address, None), &it.kind, &it.role, span, item);
        side.belongs(id, it.run.as_deref());
        id
    };
    let earlier = place(before, earlier, old, kind != ChangeKind::Added);
    let later = place(after, &it.address, new, !is_removed);
    let described = if is_removed { (before, earlier) } else { (after, later) };
    if let (Some(saved), (side, Some(id))) = (it.resource, described)
        && let Some(resource) = side.state.inventory.resources.get_mut(id.0)
    {
        let span = resource.span;
        describe(resource, saved, span);
    }
    let details = it.details.into_iter();
    let details =
        details.map(|it| FactChange { what: it.what.into(), before: it.before.into(), after: it.after.into() });
    Some(ResourceCostChange { before: earlier, after: later, kind, increase, details: details.collect(), known })
}
