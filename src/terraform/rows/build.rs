//! Creates one resource from a block, or from each part of it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::inventory::{
    BillingRole, Fact, FactOrigin, FactOverrides, FactValue, Key, KnownFact, Link, LinkKind, MeterName, Purchase,
    Purpose, PurposeEvidence, Range, ReadBy, Resource, RunId, Says, infer_purpose, production, purpose_of_task,
};
use crate::languages::hcl::value::HclData;
use crate::source::Span;

use super::super::block::{EvaluatedAttribute, EvaluatedAttributes, EvaluatedBlock};
use super::count::{CapacityUnits, count, is_left_to_others, is_number_left, times};
use super::declaration::block_declaration;
use super::disks::{disks, total_gib};
use super::fact::WantedType;
use super::labels::{LabelsOfBlocks, labels, open_defaults, selector};
use super::language::{ProviderRow, RowConstant, RowRole, RowTable, Spec, TypeRow};
use super::links::{BlockIndex, Linked, follow_all};
use super::node::ValueNode;
use super::place::region;
use super::scope::{RowScope, Truth};
use super::shifts::shifts;
use super::volumes::{used_volumes, volumes};
use crate::inventory::row_path::RowPath;

/// A resource with its block.
pub(super) struct BuiltResource {
    pub(super) resource: Resource,
    /// The address of the block. The resource may be a part of it.
    pub(super) block: String,
    /// Addresses of reservations that cover its cost.
    pub(super) covered_by: Vec<String>,
    /// The zone or region as it is written in the configuration.
    pub(super) place: Option<String>,
    /// The capacity units that a machine provides, if its numbers count units. `Err` has the place where this is
    /// unknown.
    pub(super) units: Option<Result<CapacityUnits, Span>>,
}

impl BuiltResource {
    /// Returns the resource after what-if overrides.
    pub(super) fn adjusted(self, adjust: &dyn FactOverrides, run: &RunId) -> Vec<BuiltResource> {
        let BuiltResource { resource, block, covered_by, place, units } = self;
        // If the override changes the region, the zone is not valid any more.
        let was = resource.text(Key::Region).map(str::to_owned);
        let all = adjust.adjust(resource, Some(run)).into_iter().map(|resource| {
            let now = resource.text(Key::Region).map(str::to_owned);
            let place = if now == was { place.clone() } else { now };
            BuiltResource { resource, block: block.clone(), covered_by: covered_by.clone(), place, units }
        });
        all.collect()
    }
}

pub(super) struct Builder<'a> {
    pub(super) table: &'static RowTable,
    pub(super) index: &'a BlockIndex<'a>,
    default_maps: &'a [Span],
    labels_beside: LabelsOfBlocks<'a>,
    pub(super) front_end: ReadBy,
    pub(super) resources: Vec<BuiltResource>,
    /// The number of resources for each address of the current block.
    pub(super) parts_of_block: HashMap<String, usize>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        table: &'static RowTable,
        index: &'a BlockIndex<'a>,
        blocks: &'a [EvaluatedBlock],
        default_maps: &'a [Span],
        front_end: ReadBy,
    ) -> Self {
        let labels_beside = LabelsOfBlocks::new(table, blocks);
        let parts_of_block = HashMap::new();
        Builder { table, index, default_maps, labels_beside, front_end, resources: Vec::new(), parts_of_block }
    }

    /// Adds the resources that a definition creates from a block. The first part of the first definition has the
    /// address of the block.
    pub(super) fn add(&mut self, block: &'a EvaluatedBlock, kind: &str, row: &'static TypeRow, is_first: bool) {
        if is_first {
            self.parts_of_block.clear();
        }
        let Some(each) = &row.each else {
            let scope = RowScope::of(block);
            self.part(scope, kind, row, None);
            return;
        };
        let mut parts = parts(block, each);
        if parts.is_empty() && block.keyword == "resource" {
            parts.extend(unknown_part(block, each));
        }
        for (at, part) in parts.into_iter().enumerate() {
            let is_block_itself = is_first && at == 0 && block.keyword == "resource";
            let suffix = (!is_block_itself).then_some(part.suffix);
            let mut scope = RowScope { part: part.node, key: part.key, ..RowScope::of(block) };
            scope.defaults = row.defaults.0.iter().flat_map(|path| scope.find(path)).collect();
            self.part(scope, kind, row, suffix.as_deref());
        }
    }

    /// Returns the address of a part, with a number if another definition of the type already has this part.
    fn unique_address(&mut self, address: String) -> String {
        let known = self.parts_of_block.entry(address.clone()).or_default();
        *known += 1;
        if *known == 1 { address } else { format!("{address}#{known}") }
    }

    fn part(&mut self, mut scope: RowScope<'a>, kind: &str, row: &'static TypeRow, suffix: Option<&str>) {
        follow_all(self.index, &mut scope, &row.links);
        let doubt = match scope.holds(&row.when) {
            Truth::No => return,
            Truth::Yes(_) => None,
            Truth::Unknown { why, span } => Some((why, span)),
        };
        let block = scope.block;
        let (span, body) = match (&scope.part, suffix) {
            (_, None) => (block.span, block.body),
            (ValueNode::Block(part), _) => (part.span, part.body),
            (part, _) if block.body.contains(part.span()) => (part.span(), part.span()),
            _ => (block.span, block.body),
        };
        let address = format!("{}{}", block.address, suffix.unwrap_or_default());
        let role = if row.role == RowRole::Requested { BillingRole::Requested } else { BillingRole::Rented };
        let mut resource = Resource::new(self.front_end, role, kind, address, span, body);
        resource.declared = block_declaration(block);
        let provider = self.table.providers.get(&row.provider);
        set_facts(&mut resource, &scope, row, provider);
        if let ValueNode::Block(part) = &scope.part {
            note_stop_argument(&mut resource, &part.attributes);
        }
        if [Key::Machine, Key::Accelerator, Key::AcceleratorCount].iter().all(|key| resource.fact(*key).is_absent()) {
            return;
        }
        resource.address = self.unique_address(resource.address);
        (resource.count, resource.counted_in) = count(&scope, &row.count.0);
        resource.left_alone.count = is_number_left(&scope, &row.count.0);
        let machine = row.keyed.iter().find(|(key, _)| *key == Key::Machine);
        resource.left_alone.machine = machine.is_some_and(|(_, spec)| is_left_to_others(&scope, spec));
        if row.role == RowRole::Template {
            resource.count = Fact::known(Range::exactly(0.0), span, FactOrigin::Default);
        }
        if let Some((why, span)) = doubt {
            resource.count = times(resource.count, Fact::unknown(why, span));
        }
        resource.labels = labels(&scope, row, provider);
        open_defaults(&mut resource.labels, self.default_maps);
        if resource.labels.taggable && !row.cost_by_pods {
            resource.labels.keys_beside = self.labels_beside.beside(block);
        }
        resource.selector = selector(&scope, row);
        resource.links = drawn(&scope, row);
        resource.disks = disks(&scope, &row.disks);
        resource.shifts = shifts(&scope, &row.shifts);
        resource.set(Key::DiskGib, total_gib(&resource.disks));
        resource.set(Key::Volumes, volumes(self.table, self.index, block));
        resource.volumes = used_volumes(self.table, self.index, block);
        resource.metered = metered(&resource, &scope, row);
        super::programs::add_program_facts(&mut resource, &scope, row, provider);
        set_purpose(&mut resource, &scope, row);
        let covered_by = reservations(&scope, row);
        let place = scope.fact(&row.region, WantedType::TEXT).value().map(ToString::to_string);
        let units = row.count.0.iter().find_map(|count| CapacityUnits::of(&scope, &count.units.0));
        if let Some(Ok(units)) = units {
            let machines =
                |base: FactValue| base.as_number().map_or(base, |base| FactValue::Number(units.machines(base)));
            let base = resource.fact(Key::OnDemandBase).clone().map(machines);
            resource.set(Key::OnDemandBase, base);
        }
        self.resources.push(BuiltResource { resource, block: block.address.clone(), covered_by, place, units });
    }
}

fn set_facts(resource: &mut Resource, scope: &RowScope<'_>, row: &TypeRow, provider: Option<&ProviderRow>) {
    let name = Fact::written(FactValue::text(row.provider.as_str()), scope.block.span);
    let rents = |it: &ProviderRow| if it.rents { name } else { Fact::Absent };
    let provider_fact = scope.fact(&row.rented_from, WantedType::TEXT).or(|| provider.map_or(Fact::Absent, rents));
    resource.set(Key::Provider, provider_fact);
    resource.set(Key::Region, region(scope, row, provider));
    for (key, spec) in &row.keyed {
        resource.set(*key, scope.fact(spec, WantedType::of(*key)));
        if *key == Key::Purchase && is_never_spot(spec) {
            resource.set(Key::SpotOffered, Fact::written(FactValue::Flag(false), scope.block.span));
        }
    }
}

/// Marks an argument whose name suggests a timeout, because it may stop the resource. Its effect is unknown if no
/// definition covers it.
pub(super) fn note_stop_argument(resource: &mut Resource, arguments: &EvaluatedAttributes) {
    const STOPS: [Key; 4] = [Key::IdleMinutes, Key::Schedule, Key::TimeLimit, Key::Ttl];
    if STOPS.iter().any(|key| !resource.fact(*key).is_absent()) {
        return;
    }
    let says = |(name, argument): &(&String, &EvaluatedAttribute)| {
        let value = &argument.value;
        let is_none = matches!(value.data, HclData::Null | HclData::Bool(false)) || value.as_f64() == Some(0.0);
        stops(name) && !is_none
    };
    if let Some((name, argument)) = arguments.iter().find(says) {
        let why = format!("`{name}` may stop it; the effect is unknown");
        resource.set(Key::IdleMinutes, Fact::unknown(why, argument.span));
    }
}

/// Returns whether an argument name suggests a stop: `shutdown_timeout`, `auto_stop_minutes`, `terminate_after_idle`.
/// Timeouts of the shutdown itself do not count.
fn stops(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> = lower.split('_').collect();
    let any = |known: &[&str]| words.iter().any(|word| known.contains(word));
    any(&["shutdown", "autoshutdown", "stop", "autostop", "suspend", "terminate", "termination", "hibernate"])
        && any(&["timeout", "after", "idle", "inactivity", "minutes", "hours", "ttl", "schedule", "auto", "time"])
        && !any(&["graceful", "grace", "behavior", "protection", "notice"])
}

/// Returns whether the product is sold only on demand or reserved, because its definition has no other value.
fn is_never_spot(purchase: &Spec) -> bool {
    let steady = [Purchase::OnDemand, Purchase::Reserved, Purchase::CapacityReservation, Purchase::DedicatedHost];
    let is_steady = |it: &Option<RowConstant>| matches!(it, Some(RowConstant::Text(text)) if steady.iter().any(|purchase| purchase.name() == text));
    let says_on_demand =
        purchase.0.iter().any(|it| matches!(&it.is, Some(RowConstant::Text(text)) if text == steady[0].name()));
    says_on_demand && purchase.0.iter().all(|it| is_steady(&it.is) || is_steady(&it.present))
}

/// Returns the links that reports show: to a template, a policy, an autoscaler.
fn drawn(scope: &RowScope<'_>, row: &TypeRow) -> Vec<Link> {
    let mut links = Vec::new();
    for (name, word) in &row.links {
        let Some(Linked::Blocks(blocks)) = scope.links.get(name.as_str()) else { continue };
        let kind = word.kind.map_or(LinkKind::Settings, |kind| kind.kind());
        links.extend(blocks.iter().map(|(block, span)| Link::named(kind, block.address.clone(), *span)));
    }
    links
}

fn reservations(scope: &RowScope<'_>, row: &TypeRow) -> Vec<String> {
    let covering = row.links.iter().filter(|(_, word)| word.covers);
    let blocks = covering.filter_map(|(name, _)| match scope.links.get(name.as_str()) {
        Some(Linked::Blocks(blocks)) => Some(blocks),
        _ => None,
    });
    blocks.flatten().map(|(block, _)| block.address.clone()).collect()
}

/// Returns the names that usage metrics may have for it: its name in the cloud, or a Kubernetes name with its
/// namespace.
fn metered(resource: &Resource, scope: &RowScope<'_>, row: &TypeRow) -> Vec<MeterName> {
    let tag = resource.labels.entries.iter().find(|(key, _)| key.eq_ignore_ascii_case("name"));
    let tag = tag.and_then(|(_, value)| value.value()).map(ToString::to_string);
    let named = row.names.0.iter().flat_map(|path| scope.find(path)).filter_map(|node| node.text());
    let key = scope.key.as_ref().map(ToString::to_string);
    let mut names: Vec<String> = named.chain(tag).chain(key).filter(|name| !name.trim().is_empty()).collect();
    names.sort();
    names.dedup();
    let of = |name| MeterName { kind: None, namespace: None, name, is_own: true };
    names.into_iter().map(of).collect()
}

/// Infers the purpose from names and labels if the type does not determine it.
fn set_purpose(resource: &mut Resource, scope: &RowScope<'_>, row: &TypeRow) {
    let texts = Texts::of(resource, scope, row);
    let evidence: Vec<PurposeEvidence<'_>> = texts.evidence();
    let mut by_task = purpose_of_task(resource.fact(Key::Task));
    if let Fact::Known(known) = &mut by_task {
        known.origin =
            known.origin.clone().weakest(FactOrigin::Inferred("concluded from the program that it runs".into()));
    }
    let purpose = infer_purpose(resource.fact(Key::Purpose).clone(), by_task, &evidence, || Fact::Absent);
    if purpose.is_absent() {
        let of_network = by_network(resource).or(|| scope.fact(&row.likely_purpose, WantedType::TEXT));
        resource.set(Key::PurposeOfNetwork, of_network.clone().map(|_| FactValue::Flag(true)));
        resource.set(Key::Purpose, of_network);
    } else {
        resource.set(Key::Purpose, purpose);
    }
    if resource.fact(Key::Production).is_absent() {
        resource.set(Key::Production, production(&evidence));
    }
}

/// Infers the purpose from a fast network between machines, which is for training on several machines.
fn by_network(resource: &Resource) -> Fact<FactValue> {
    let Fact::Known(network) = resource.fact(Key::Interconnect) else { return Fact::Absent };
    let why = format!("its machines have {}, a network for training on several machines", network.value);
    Fact::Known(KnownFact {
        value: Purpose::Training.into(),
        origin: FactOrigin::Inferred(why.into()),
        ..network.clone()
    })
}

/// Strings that describe a resource: labels, names, and the names of modules around it.
struct Texts {
    labels: Vec<(String, Arc<str>, Span)>,
    names: Vec<(String, Span)>,
    around: Vec<(String, Span)>,
}

impl Texts {
    fn of(resource: &Resource, scope: &RowScope<'_>, row: &TypeRow) -> Texts {
        let block = scope.block;
        let known = |(key, fact): (&String, &Fact<Arc<str>>)| match fact {
            Fact::Known(known) => Some((key.clone(), known.value.clone(), known.span)),
            _ => None,
        };
        let own = resource.labels.entries.iter().chain(&resource.selector.labels).filter_map(known);
        let mut names: Vec<(String, Span)> = row
            .names
            .0
            .iter()
            .flat_map(|path| scope.find(path))
            .filter_map(|node| Some((node.text()?, node.span())))
            .collect();
        names.extend(scope.key.as_ref().map(|key| (key.to_string(), resource.span)));
        names.extend(block.labels.last().map(|name| (name.clone(), block.span)));
        let around = super::links::module_of(block).replace("module.", " ");
        Texts { labels: own.collect(), names, around: vec![(around, block.span)] }
    }

    fn evidence(&self) -> Vec<PurposeEvidence<'_>> {
        let labels = self
            .labels
            .iter()
            .map(|(key, value, span)| PurposeEvidence { says: Says::Label { key, value }, span: *span });
        let names = self.names.iter().map(|(name, span)| PurposeEvidence { says: Says::Name(name), span: *span });
        let around = self.around.iter().map(|(name, span)| PurposeEvidence { says: Says::Around(name), span: *span });
        labels.chain(names).chain(around).collect()
    }
}

/// A part of a block, with the suffix of its address.
pub(super) struct BlockPart<'a> {
    pub(super) node: ValueNode<'a>,
    pub(super) key: Option<Arc<str>>,
    pub(super) suffix: String,
}

/// Returns a placeholder for the parts of an unknown collection. Any of them may be a machine.
fn unknown_part<'a>(block: &'a EvaluatedBlock, each: &RowPath) -> Option<BlockPart<'a>> {
    let node = RowScope::of(block).find(&each.whole()).into_iter().find(|node| match node {
        ValueNode::Value(held) => matches!(held.value.data, HclData::Unknown(_)),
        _ => false,
    })?;
    Some(BlockPart { node, key: None, suffix: format!(".{}", each.name()) })
}

/// Returns the parts at a path, addressed by position or key. An unknown collection has no parts with names.
pub(super) fn parts<'a>(block: &'a EvaluatedBlock, each: &RowPath) -> Vec<BlockPart<'a>> {
    let scope = RowScope::of(block);
    let name = each.name();
    let mut parts = Vec::new();
    for (at, (key, node)) in scope.find_keyed(each).into_iter().enumerate() {
        if let ValueNode::Value(held) = &node
            && let HclData::Unknown(cause) = &held.value.data
            && cause.candidates.is_empty()
        {
            continue;
        }
        let suffix = match &key {
            Some(key) => format!(".{name}[{:?}]", &**key),
            None => format!(".{name}[{at}]"),
        };
        parts.push(BlockPart { node, key, suffix });
    }
    parts
}
