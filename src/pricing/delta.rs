//! The cost difference of a change: which resources were added, removed or changed their cost.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::catalog::{Money, MoneyRange};
use crate::inventory::{BillingRole, CountedAs, Fact, FactValue, Inventory, Key, Range, Resource, ResourceId};
use crate::source::SourceFiles;

use super::combined::combined;
use super::{Bill, BillItem, CostChange, CostSum, Period};

/// One state of a repository.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub sources: &'a SourceFiles,
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
}

/// The difference between two states. Each resource of either state is in exactly one change.
#[derive(Debug, Clone, Default)]
pub struct Delta {
    pub changes: Vec<ResourceCostChange>,
    pub rented: CostChange,
    pub requested: CostChange,
    /// The combined total, in which each dollar counts once.
    pub combined: CostChange,
    /// The disks of provisioned machines.
    pub attached: CostChange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceCostChange {
    pub before: Option<ResourceId>,
    pub after: Option<ResourceId>,
    pub kind: ChangeKind,
    /// The cost difference, as far as prices are known.
    pub increase: Money,
    /// The changed facts.
    pub details: Vec<FactChange>,
    /// The states in which the cost is known.
    pub known: KnownSides,
}

/// The states in which the cost of a changed resource is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnownSides {
    /// The cost is known in both states, or the resource was added or removed. Only then the change adds or saves cost.
    #[default]
    Both,
    /// The cost is known only in the later state. The resource was not added.
    BecameKnown,
    /// The cost is known only in the earlier state. The resource was not removed.
    NoLongerKnown,
    /// The cost is known in neither state.
    Neither,
}

impl KnownSides {
    pub const ALL: [KnownSides; 4] =
        [KnownSides::Both, KnownSides::BecameKnown, KnownSides::NoLongerKnown, KnownSides::Neither];

    /// Returns the name of the states in which the cost is known.
    pub fn name(self) -> &'static str {
        match self {
            KnownSides::Both => "both",
            KnownSides::BecameKnown => "after",
            KnownSides::NoLongerKnown => "before",
            KnownSides::Neither => "neither",
        }
    }
}

impl ResourceCostChange {
    pub fn is_lost(&self) -> bool {
        self.known == KnownSides::NoLongerKnown
    }

    /// Returns the kind of change as a word for reports.
    pub fn word(&self) -> &'static str {
        match self.known {
            KnownSides::BecameKnown => "became known",
            KnownSides::NoLongerKnown => "no longer known",
            KnownSides::Both | KnownSides::Neither => self.kind.name(),
        }
    }
}

/// A fact of a resource before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactChange {
    pub what: String,
    pub before: String,
    pub after: String,
}

impl FactChange {
    pub(crate) const MACHINE: &'static str = "machine";
    pub(crate) const ACCELERATORS: &'static str = "accelerators";
    pub(crate) const COUNT: &'static str = "count";
    const REGION: &'static str = "region";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    Added,
    Removed,
    /// The cost, machine, count or purchase changed.
    Changed,
    /// The resource has another address or file, and nothing else changed.
    Moved,
    Same,
}

impl ChangeKind {
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Changed => "changed",
            ChangeKind::Moved => "moved",
            ChangeKind::Same => "same",
        }
    }
}

/// Pairs the resources of both states, and returns the change of each.
pub fn delta(before: Side, after: Side) -> Delta {
    let mut pairing = Pairing::new(before, after);
    let by_place = |side: &Side, it: &Resource| Some((side.path(it), it.address.clone(), String::new()));
    let is_no_base = |it: &Resource| it.counted != CountedAs::Base;
    pairing.pair(|side, it| by_place(side, it).filter(|_| is_no_base(it)), Ambiguous::InOrder);
    // The only environment takes the place of a deployment without environments, which becomes a base.
    let declared = |side: &Side, it: &Resource| Some((side.path(it), it.declared.address.to_string(), it.kind.clone()));
    pairing.pair(|side, it| declared(side, it).filter(|_| is_no_base(it)), Ambiguous::Skip);
    pairing.pair(by_place, Ambiguous::InOrder);
    pairing.pair(|_, it| Some((it.address.clone(), it.kind.clone(), String::new())), Ambiguous::Skip);
    pairing.pair(|_, it| Some((last_name(&it.address), it.kind.clone(), signature(it))), Ambiguous::Skip);
    // Equal resources of one file that have other names: renamed, or in `for_each` instead of `count`.
    pairing.pair(|side, it| Some((side.path(it), it.kind.clone(), signature(it))), Ambiguous::IfAsMany);
    let mut changes = pairing.changes();
    changes.sort_by_key(|change| (change.after, change.before));
    let mut delta = Delta { changes, ..Delta::default() };
    delta.sum_up(&before, &after);
    delta
}

impl Delta {
    /// Marks changes whose cost is known only in the later state, and calculates the totals again.
    pub fn gain(&mut self, before: &Side, after: &Side, became_known: impl Fn(&ResourceCostChange) -> bool) {
        self.mark(before, after, KnownSides::BecameKnown, became_known);
    }

    /// Marks changes whose cost is known only in the earlier state, and calculates the totals again.
    pub fn lose(&mut self, before: &Side, after: &Side, is_lost: impl Fn(&ResourceCostChange) -> bool) {
        self.mark(before, after, KnownSides::NoLongerKnown, is_lost);
    }

    fn mark(&mut self, before: &Side, after: &Side, known: KnownSides, is_so: impl Fn(&ResourceCostChange) -> bool) {
        let mut has_changed = false;
        for change in self.changes.iter_mut().filter(|it| it.known == KnownSides::Both) {
            if is_so(change) {
                // A cost that is unknown in one state was neither added nor removed.
                (change.known, change.kind) = (known, ChangeKind::Changed);
                (change.increase, has_changed) = (Money::ZERO, true);
            }
        }
        if has_changed {
            self.sum_up(before, after);
        }
    }

    /// Calculates the totals of both states.
    pub fn sum_up(&mut self, before: &Side, after: &Side) {
        let of = |known: KnownSides, id: fn(&ResourceCostChange) -> Option<ResourceId>| -> HashSet<ResourceId> {
            self.changes.iter().filter(|it| it.known == known).filter_map(id).collect()
        };
        let (lost, gained) =
            (of(KnownSides::NoLongerKnown, |it| it.before), of(KnownSides::BecameKnown, |it| it.after));
        // What is left of an amount that is no longer known, and what was known already of one that became known.
        let (left, known) = (of(KnownSides::NoLongerKnown, |it| it.after), of(KnownSides::BecameKnown, |it| it.before));
        type Counts<'a> = &'a dyn Fn(ResourceId) -> bool;
        let change = |sum: fn(&Bill) -> &CostSum, part: &dyn Fn(&Side, Counts) -> MoneyRange| {
            let (earlier, later) = (sum(before.bill).clone(), sum(after.bill).clone());
            // Usually each state knows all costs, so no part has to be added up again.
            let without = |side: &Side, whole: MoneyRange, gone: &HashSet<ResourceId>, too: &HashSet<ResourceId>| {
                if too.is_empty() { whole } else { part(side, &|id| !gone.contains(&id) && !too.contains(&id)) }
            };
            let none = HashSet::new();
            let of_before = without(before, earlier.minimum(), &none, &lost);
            let of_after = without(after, later.minimum(), &none, &gained);
            let both_before = without(before, of_before, &lost, &known);
            let both_after = without(after, of_after, &gained, &left);
            CostChange {
                difference: both_after - both_before,
                became_known: later.minimum() - of_after - (of_before - both_before),
                no_longer_known: earlier.minimum() - of_before - (of_after - both_after),
                before: earlier,
                after: later,
            }
            .use_expected_without_maximum()
        };
        self.rented = change(|bill| &bill.rented, &|side, counts| side.monthly(BillingRole::Rented, counts));
        self.requested = change(|bill| &bill.requested, &|side, counts| side.monthly(BillingRole::Requested, counts));
        self.combined =
            change(|bill| &bill.combined, &|side, counts| combined(side.inventory, &side.bill.items, counts));
        self.attached = change(|bill| &bill.attached, &|side, counts| side.disks(counts));
    }

    /// Returns the earlier resource of a later one.
    pub fn earlier(&self, after: ResourceId) -> Option<ResourceId> {
        self.changes.iter().find(|change| change.after == Some(after))?.before
    }

    /// Returns the later resource with the highest cost increase.
    pub fn dearest(&self) -> Option<ResourceId> {
        let there = self.changes.iter().filter(|change| change.after.is_some());
        there.max_by_key(|change| (change.increase, std::cmp::Reverse(change.after)))?.after
    }

    /// Returns the resources that were added, removed, moved or changed their cost.
    pub fn visible(&self) -> impl Iterator<Item = &ResourceCostChange> {
        self.changes.iter().filter(|change| change.kind != ChangeKind::Same)
    }
}

impl<'a> Side<'a> {
    /// Returns the counted resources among these, with their bill items.
    fn counted(&self, counts: &dyn Fn(ResourceId) -> bool) -> impl Iterator<Item = (&'a Resource, &'a BillItem)> {
        let all = self.inventory.resources.iter().zip(&self.bill.items).enumerate();
        all.filter(move |(place, (it, _))| it.is_added() && counts(ResourceId(*place))).map(|(_, it)| it)
    }

    fn monthly(&self, role: BillingRole, counts: &dyn Fn(ResourceId) -> bool) -> MoneyRange {
        let of_role = self.counted(counts).filter(|(it, _)| it.role == role);
        of_role.filter_map(|(_, item)| item.monthly).fold(MoneyRange::ZERO, |sum, it| sum + it)
    }

    fn disks(&self, counts: &dyn Fn(ResourceId) -> bool) -> MoneyRange {
        let attached = self.counted(counts).filter_map(|(_, item)| item.attached.as_ref());
        attached.fold(MoneyRange::ZERO, |sum, it| sum + it.monthly)
    }

    /// Returns the file of a resource.
    pub fn path_of(&self, id: ResourceId) -> String {
        self.sources.path_of(self.resource(id).span)
    }

    fn path(&self, it: &Resource) -> String {
        self.sources.path(it.span.file)
    }

    pub fn resource(&self, id: ResourceId) -> &'a Resource {
        &self.inventory.resources[id.0]
    }

    pub fn item(&self, id: ResourceId) -> Option<&'a BillItem> {
        self.bill.items.get(id.0)
    }
}

/// The parts of a key for pairing.
type Identity = (String, String, String);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ambiguous {
    /// Pairs several resources with the same identity in their order.
    InOrder,
    /// Pairs no resource if several have the same identity.
    Skip,
    /// Pairs several resources in their order if both states have the same number of them.
    IfAsMany,
}

struct Pairing<'a> {
    before: Side<'a>,
    after: Side<'a>,
    open_before: BTreeSet<usize>,
    open_after: BTreeSet<usize>,
    pairs: Vec<(usize, usize)>,
}

impl<'a> Pairing<'a> {
    fn new(before: Side<'a>, after: Side<'a>) -> Self {
        Pairing {
            before,
            after,
            open_before: (0..before.inventory.resources.len()).collect(),
            open_after: (0..after.inventory.resources.len()).collect(),
            pairs: Vec::new(),
        }
    }

    fn pair(&mut self, identity: impl Fn(&Side, &Resource) -> Option<Identity>, ambiguous: Ambiguous) {
        let group = |side: &Side, open: &BTreeSet<usize>| {
            let mut groups: BTreeMap<(BillingRole, Identity), Vec<usize>> = BTreeMap::new();
            for &at in open {
                let resource = &side.inventory.resources[at];
                if let Some(identity) = identity(side, resource) {
                    groups.entry((resource.role, identity)).or_default().push(at);
                }
            }
            groups
        };
        let mut befores = group(&self.before, &self.open_before);
        for (identity, afters) in group(&self.after, &self.open_after) {
            let Some(befores) = befores.remove(&identity) else { continue };
            let is_clear = match ambiguous {
                Ambiguous::InOrder => true,
                Ambiguous::Skip => befores.len() == 1 && afters.len() == 1,
                Ambiguous::IfAsMany => befores.len() == afters.len(),
            };
            if !is_clear {
                continue;
            }
            for (before, after) in befores.into_iter().zip(afters) {
                self.open_before.remove(&before);
                self.open_after.remove(&after);
                self.pairs.push((before, after));
            }
        }
    }

    fn changes(&self) -> Vec<ResourceCostChange> {
        let id = |at: &usize| Some(ResourceId(*at));
        let gone = self.open_before.iter().map(|at| (id(at), None, ChangeKind::Removed));
        let come = self.open_after.iter().map(|at| (None, id(at), ChangeKind::Added));
        let pairs = self.pairs.iter().map(|(before, after)| (id(before), id(after), self.became(*before, *after)));
        let monthly = |side: &Side, id: Option<ResourceId>| {
            id.and_then(|id| side.item(id)?.monthly).map_or(Money::ZERO, |range| range.expected)
        };
        let change = |(before, after, kind)| {
            let increase = monthly(&self.after, after) - monthly(&self.before, before);
            let details = match (before, after) {
                (Some(before), Some(after)) => details(
                    (self.before.resource(before), self.before.item(before)),
                    (self.after.resource(after), self.after.item(after)),
                ),
                _ => Vec::new(),
            };
            let is_base =
                |side: &Side, id: Option<ResourceId>| id.is_none_or(|id| side.resource(id).counted == CountedAs::Base);
            // The resources that use this base are counted instead, and their changes are reported.
            let kind = match is_base(&self.before, before) && is_base(&self.after, after) {
                true => ChangeKind::Same,
                false => kind,
            };
            let is_priced = |side: &Side, id: Option<ResourceId>| {
                id.is_none_or(|id| side.item(id).is_some_and(|it| it.amount.is_some()))
            };
            // An unnamed accelerator is priced from the cheapest one on. Naming it is therefore not an increase, and
            // removing the name is not a saving.
            let is_named =
                |side: &Side, id: Option<ResourceId>| id.is_none_or(|id| side.item(id).is_none_or(|it| !it.is_unnamed));
            let works_alike = || {
                let works = |side: &Side, id: Option<ResourceId>| {
                    id.and_then(|id| side.item(id)).map(|it| (it.per, it.hours, it.starts, it.count))
                };
                works(&self.before, before) == works(&self.after, after)
            };
            let known = match (is_priced(&self.before, before), is_priced(&self.after, after)) {
                (true, true) => match (is_named(&self.before, before), is_named(&self.after, after)) {
                    (true, false) if increase < Money::ZERO && before.is_some() => KnownSides::NoLongerKnown,
                    (false, true) if increase > Money::ZERO && after.is_some() => KnownSides::BecameKnown,
                    // Two estimates for the same resource can differ because of other files.
                    (false, false) if increase != Money::ZERO && only_elsewhere(&details) && works_alike() => {
                        match increase > Money::ZERO {
                            true => KnownSides::BecameKnown,
                            false => KnownSides::NoLongerKnown,
                        }
                    }
                    _ => KnownSides::Both,
                },
                (false, true) if after.is_none() => KnownSides::Neither,
                (false, true) => KnownSides::BecameKnown,
                (true, false) if before.is_none() => KnownSides::Neither,
                (true, false) => KnownSides::NoLongerKnown,
                (false, false) => KnownSides::Neither,
            };
            let increase = if known == KnownSides::Both { increase } else { Money::ZERO };
            ResourceCostChange { before, after, kind, increase, details, known }
        };
        gone.chain(come).chain(pairs).map(change).collect()
    }

    fn became(&self, before: usize, after: usize) -> ChangeKind {
        let (old, new) = (&self.before.inventory.resources[before], &self.after.inventory.resources[after]);
        let monthly = |side: &Side, at: usize| {
            let item = side.bill.items.get(at)?;
            Some((item.per, item.amount, item.attached.as_ref().map(|it| it.monthly)))
        };
        let costs_the_same = monthly(&self.before, before) == monthly(&self.after, after);
        let work = |side: &Side, it: &Resource, at: usize| work(it, side.bill.items.get(at));
        let works_the_same = work(&self.before, old, before) == work(&self.after, new, after);
        if !costs_the_same || !works_the_same || signature(old) != signature(new) || disks(old) != disks(new) {
            ChangeKind::Changed
        } else if old.address != new.address || self.before.path(old) != self.after.path(new) {
            ChangeKind::Moved
        } else {
            ChangeKind::Same
        }
    }
}

/// Returns the last name of an address. A resource keeps it when it moves into a module or a namespace.
fn last_name(address: &str) -> String {
    let separators = |c: char| c == '.' || c == '/';
    // The part after the blank distinguishes deployments of one directory.
    let address = address.split_once(" (").map_or(address, |(address, _)| address);
    address.rsplit_once(separators).map_or(address, |(_, name)| name).to_owned()
}

/// The values on which the cost of a resource depends, without its name.
fn signature(it: &Resource) -> String {
    const KEYS: [Key; 6] =
        [Key::Provider, Key::Region, Key::Machine, Key::Accelerator, Key::AcceleratorCount, Key::Purchase];
    let mut text = String::new();
    for key in KEYS {
        match it.fact(key) {
            Fact::Known(known) => text.push_str(&known.value.to_string()),
            Fact::Unknown(unknown) => text.push_str(&unknown.why),
            Fact::Absent => {}
        }
        text.push('\n');
    }
    match &it.count {
        Fact::Known(known) => text.push_str(&format!("{:?}", known.value)),
        Fact::Unknown(unknown) => text.push_str(&unknown.why),
        Fact::Absent => {}
    }
    text
}

/// Returns the starts and completions if the length of a run is unknown, because the amount then does not show them.
fn work(it: &Resource, item: Option<&BillItem>) -> [String; 2] {
    let said = |key: Key| match it.fact(key) {
        Fact::Known(known) => known.value.to_string(),
        Fact::Unknown(unknown) if unknown.candidates.is_empty() => "?".to_owned(),
        Fact::Unknown(unknown) => unknown.candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and "),
        Fact::Absent => String::new(),
    };
    match item.is_some_and(|item| item.per == Period::Hour || item.amount.is_none()) {
        true => [said(Key::Cron), said(Key::Completions)],
        false => Default::default(),
    }
}

/// Returns the changed facts that affect the price.
fn details(
    (before, old): (&Resource, Option<&BillItem>),
    (after, new): (&Resource, Option<&BillItem>),
) -> Vec<FactChange> {
    let [starts_before, completions_before] = work(before, old);
    let [starts_after, completions_after] = work(after, new);
    let shown = |it: &Resource, key: Key| match it.fact(key) {
        Fact::Known(known) => known.value.to_string(),
        Fact::Unknown(_) => "?".to_owned(),
        Fact::Absent => String::new(),
    };
    let accelerators = |it: &Resource| match shown(it, Key::AcceleratorCount).as_str() {
        "" => shown(it, Key::Accelerator),
        count => format!("{count}× {}", shown(it, Key::Accelerator)),
    };
    let count = |it: &Resource| match &it.count {
        Fact::Known(known) => count_range(known.value),
        Fact::Unknown(_) => "?".to_owned(),
        Fact::Absent => String::new(),
    };
    let rows = [
        (FactChange::MACHINE, shown(before, Key::Machine), shown(after, Key::Machine)),
        (FactChange::ACCELERATORS, accelerators(before), accelerators(after)),
        (FactChange::COUNT, count(before), count(after)),
        ("starts", starts_before, starts_after),
        ("completions", completions_before, completions_after),
        ("bought", shown(before, Key::Purchase), shown(after, Key::Purchase)),
        (FactChange::REGION, shown(before, Key::Region), shown(after, Key::Region)),
        ("disks", disks(before), disks(after)),
    ];
    let differs = rows.into_iter().filter(|(_, before, after)| before != after);
    differs.map(|(what, before, after)| FactChange { what: what.to_owned(), before, after }).collect()
}

/// Whether nothing changed except the region, which may be assumed.
fn only_elsewhere(details: &[FactChange]) -> bool {
    details.iter().all(|it| it.what == FactChange::REGION)
}

/// Formats the disks of each machine by kind, such as `500 GiB gp3, ? GiB`.
fn disks(it: &Resource) -> String {
    let mut kinds: BTreeMap<String, Option<f64>> = BTreeMap::new();
    for disk in &it.disks {
        let kind = match &disk.kind {
            Fact::Known(known) => format!(" {}", known.value),
            Fact::Unknown(_) => " ?".to_owned(),
            Fact::Absent => String::new(),
        };
        let many = if disk.count.is_absent() { Some(1.0) } else { disk.count.value().and_then(FactValue::as_number) };
        let gib = disk.gib.value().and_then(FactValue::as_number).zip(many).map(|(gib, many)| gib * many);
        let sum = kinds.entry(kind).or_insert(Some(0.0));
        *sum = sum.zip(gib).map(|(sum, gib)| sum + gib);
    }
    let shown = kinds.iter().map(|(kind, gib)| match gib {
        Some(gib) => format!("{} GiB{kind}", (gib * 100.0).round() / 100.0),
        None => format!("? GiB{kind}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Formats a count, such as `2`, `0–8`, or `0–2–8` if the files set a number between the ends.
pub fn count_range(range: Range) -> String {
    let number =
        |n: f64| if n.is_finite() { format!("{}", (n * 100.0).round() / 100.0) } else { "no limit".to_owned() };
    let mut ends = vec![number(range.floor), number(range.expected), number(range.ceiling)];
    ends.dedup();
    ends.join("–")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::ReadBy;
    use crate::source::{MemoryTree, Span};

    struct State {
        sources: SourceFiles,
        inventory: Inventory,
        bill: Bill,
    }

    /// Creates resources from (path, address, machine, count, dollars).
    fn state(all: &[(&str, &str, &str, f64, f64)]) -> State {
        let tree = all.iter().fold(MemoryTree::new(), |tree, it| tree.with(it.0, "text"));
        let sources = SourceFiles::new(tree);
        let mut inventory = Inventory::default();
        let mut bill = Bill::default();
        for (path, address, machine, count, dollars) in all {
            let span = Span::new(sources.open(path).unwrap(), 0, 4);
            let mut it = Resource::new(ReadBy::Terraform, BillingRole::Rented, "aws_instance", *address, span, span);
            it.set(Key::Machine, Fact::written(FactValue::text(*machine), span));
            it.count = Fact::written(Range::exactly(*count), span);
            inventory.resources.push(it);
            let monthly = MoneyRange::exactly(Money::from_usd(*dollars));
            bill.rented += monthly;
            bill.items.push(BillItem { monthly: Some(monthly), ..BillItem::default() });
        }
        State { sources, inventory, bill }
    }

    fn side(state: &State) -> Side<'_> {
        Side { sources: &state.sources, inventory: &state.inventory, bill: &state.bill }
    }

    fn kinds(before: &State, after: &State) -> Vec<&'static str> {
        delta(side(before), side(after)).visible().map(|change| change.kind.name()).collect()
    }

    #[test]
    fn nothing_changes_when_nothing_changed() {
        let a = state(&[("m.tf", "aws_instance.a", "g5.xlarge", 1.0, 734.0)]);
        assert_eq!(kinds(&a, &a), Vec::<&str>::new());
    }

    #[test]
    fn a_move_and_a_rename_are_not_new() {
        let before = state(&[("m.tf", "aws_instance.a", "g5.xlarge", 1.0, 734.0)]);
        let module = state(&[("gpu/m.tf", "module.gpu.aws_instance.a", "g5.xlarge", 1.0, 734.0)]);
        let renamed = state(&[("m.tf", "aws_instance.b", "g5.xlarge", 1.0, 734.0)]);
        let file = state(&[("n.tf", "aws_instance.a", "g5.xlarge", 2.0, 1468.0)]);
        assert_eq!(kinds(&before, &module), ["moved"]);
        assert_eq!(kinds(&before, &renamed), ["moved"]);
        assert_eq!(kinds(&before, &file), ["changed"]);
    }

    #[test]
    fn what_two_could_be_is_neither() {
        let before = state(&[("m.tf", "x.a", "g5.xlarge", 1.0, 7.0), ("m.tf", "x.b", "g5.xlarge", 1.0, 7.0)]);
        let one = state(&[("m.tf", "x.c", "g5.xlarge", 1.0, 7.0)]);
        assert_eq!(kinds(&before, &one), ["removed", "removed", "added"]);
        let as_many = state(&[("m.tf", "x.c", "g5.xlarge", 1.0, 7.0), ("m.tf", "x.d", "g5.xlarge", 1.0, 7.0)]);
        assert_eq!(kinds(&before, &as_many), ["moved", "moved"]);
    }
}
