//! The most that a month can cost: the limits that the files set, at the highest price that applies.
//!
//! A limit must hold on its own. A schedule or an expected number of hours is not a limit, because nothing enforces it.
//! Spot machines count at the on-demand price, because a provider never charges more for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::hours::{limit_of_run, starts_a_month};
use super::purchase::{PurchaseVariant, buy};
use super::sustained::shares;
use super::variants::Pricing;
use super::{Bill, BillItem, CostScenario, HOURS_PER_MONTH};
use crate::catalog::Money;
use crate::inventory::{
    BillingRole, Fact, FactOrigin, Inventory, Key, Limited, LinkKind, PoolLimit, Purchase, Range, Resource, ResourceId,
    ScheduledSize,
};
use crate::resolve::share_of_limit;

/// The most that the counted resources can cost in a month.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorstMonth {
    /// The most that everything with a limit can cost. It is the whole amount only if `unlimited` is empty.
    pub limited: Money,
    /// The parts of `limited`, the most expensive first.
    pub parts: Vec<WorstPart>,
    /// Everything without a limit.
    pub unlimited: Vec<Unlimited>,
    /// Whether some pods run on machines that the files do not define.
    pub assumes_machines: bool,
    /// Whether a resource has the price of a region that is assumed.
    pub assumes_region: bool,
}

/// A part of the amount: a resource, or the resources that share a quota.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstPart {
    pub resources: Vec<ResourceId>,
    pub most: Money,
    pub by: LimitedBy,
}

/// The setting that limits a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedBy {
    /// The resource's own number, or that of its autoscaler.
    Itself,
    /// The number of the pods, on machines that these files do not define.
    Pods,
    /// The pools of these files on which the pods run: the pools are other parts.
    Pools,
    /// A quota of a namespace or a queue, for all of these pods together.
    Quota(LinkKind),
}

/// Something without a limit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unlimited {
    /// The address of the resource, or the path of the file.
    pub of: Arc<str>,
    pub resource: Option<ResourceId>,
    pub why: NoLimit,
}

impl Unlimited {
    fn new(id: ResourceId, resource: &Resource, why: NoLimit) -> Unlimited {
        Unlimited { of: resource.address.as_str().into(), resource: Some(id), why }
    }
}

/// Why nothing limits a cost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoLimit {
    /// The number of machines or pods.
    Count(Arc<str>),
    /// The number of runs at the same time.
    Runs,
    /// The price of a machine.
    Price(Arc<str>),
    /// The accelerator: the code does not name it.
    Machine,
    /// A file or a block that was not evaluated.
    Unread(Arc<str>),
}

impl NoLimit {
    pub fn cause(&self) -> &str {
        match self {
            NoLimit::Count(why) | NoLimit::Price(why) | NoLimit::Unread(why) => why,
            NoLimit::Machine => "the code names no accelerator",
            NoLimit::Runs => "nothing limits how many runs there are at the same time",
        }
    }

    /// Returns the reason with this name in a saved report.
    pub fn from_name(name: &str, why: &str) -> NoLimit {
        match name {
            "count" => NoLimit::Count(why.into()),
            "runs" => NoLimit::Runs,
            "machine" => NoLimit::Machine,
            "price" => NoLimit::Price(why.into()),
            _ => NoLimit::Unread(why.into()),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            NoLimit::Count(_) => "count",
            NoLimit::Runs => "runs",
            NoLimit::Price(_) => "price",
            NoLimit::Machine => "machine",
            NoLimit::Unread(_) => "unread",
        }
    }
}

impl WorstMonth {
    /// Returns the most that a month can cost, or `None` if something has no limit.
    pub fn most(&self) -> Option<Money> {
        self.unlimited.is_empty().then_some(self.limited)
    }

    /// Adds pods whose pools have no machine. Something that these files do not contain adds the machines, or the pods
    /// never start: both ways, the number of the pool limits nothing.
    fn add_pods_of_empty_pools(&mut self, inventory: &Inventory) {
        let rents = |it: &&WorstPart| it.by == LimitedBy::Itself && !it.most.is_zero();
        let filled: BTreeSet<&str> = self
            .parts
            .iter()
            .filter(rents)
            .flat_map(|it| &it.resources)
            .filter_map(|id| Some(inventory.resources.get(id.0)?.address.as_str()))
            .collect();
        let open: BTreeSet<&str> = self.unlimited.iter().map(|it| &*it.of).collect();
        let is_waiting = |pod: &&Resource| {
            let most = pod.count.value().map_or(0.0, |it| it.ceiling);
            most > 0.0 && pod.pools().all(|pool| !filled.contains(pool) && !open.contains(pool))
        };
        let inside = self.parts.iter().filter(|it| it.by == LimitedBy::Pools).flat_map(|it| &it.resources);
        let waiting: Vec<Unlimited> = inside
            .filter_map(|id| Some((*id, inventory.resources.get(id.0).filter(is_waiting)?)))
            .map(|(id, pod)| {
                let why = NoLimit::Count("its node pool has no machine, so other files must add some".into());
                Unlimited::new(id, pod, why)
            })
            .collect();
        self.unlimited.extend(waiting);
    }

    pub(super) fn of(inventory: &Inventory, bill: &Bill) -> WorstMonth {
        let mut worst = WorstMonth::default();
        let rented: BTreeSet<&str> = counted(inventory)
            .filter(|(_, it)| it.role == BillingRole::Rented)
            .map(|(_, it)| it.address.as_str())
            .collect();
        let mut shared: BTreeMap<(LinkKind, &str), Vec<ResourceId>> = BTreeMap::new();
        for (id, resource) in counted(inventory) {
            let is_inside = resource.pools().next().is_some() && resource.pools().all(|it| rented.contains(it));
            match resource.role {
                BillingRole::Rented => worst.add(id, resource, bill, LimitedBy::Itself),
                BillingRole::Requested if is_inside => {
                    worst.parts.push(WorstPart { resources: vec![id], most: Money::ZERO, by: LimitedBy::Pools });
                }
                BillingRole::Requested => match quota_of(resource) {
                    Some(quota) => shared.entry(quota).or_default().push(id),
                    None => worst.add(id, resource, bill, LimitedBy::Pods),
                },
            }
        }
        for ((kind, _), members) in shared {
            worst.add_shared(kind, members, inventory, bill);
        }
        worst.add_pods_of_empty_pools(inventory);
        worst.assumes_region =
            counted(inventory).any(|(_, it)| matches!(it.fact(Key::Region).origin(), Some(FactOrigin::Assumed(_))));
        let unread = bill.combined.open().filter(|it| it.resource.is_none());
        worst.unlimited.extend(unread.map(|it| Unlimited {
            of: it.of.clone(),
            resource: None,
            why: NoLimit::Unread(it.why.clone()),
        }));
        worst.unlimited.sort_by(|one, other| (&one.why, &one.of).cmp(&(&other.why, &other.of)));
        let on_others = |it: &WorstPart| matches!(it.by, LimitedBy::Pods | LimitedBy::Quota(_)) && !it.most.is_zero();
        worst.assumes_machines = worst.parts.iter().any(on_others);
        worst.parts.sort_by_key(|it| (std::cmp::Reverse(it.most), it.resources.clone()));
        worst
    }

    fn add(&mut self, id: ResourceId, resource: &Resource, bill: &Bill, by: LimitedBy) {
        match bill.items.get(id.0).and_then(|item| item.worst.clone()) {
            Some(Ok(most)) => {
                self.limited += most;
                self.parts.push(WorstPart { resources: vec![id], most, by });
            }
            Some(Err(why)) => self.unlimited.push(Unlimited::new(id, resource, why)),
            None => {}
        }
    }

    /// Adds pods that share a quota: they cost at most the sum of their own limits, and at most the quota.
    fn add_shared(&mut self, kind: LinkKind, members: Vec<ResourceId>, inventory: &Inventory, bill: &Bill) {
        let own = |id: &ResourceId| bill.items.get(id.0).and_then(|item| item.worst.clone());
        let sum = members.iter().map(|id| own(id)?.ok()).sum::<Option<Money>>();
        let Some(most) = within_quota(kind, &members, inventory, bill) else {
            for id in members {
                if let Some(resource) = inventory.resources.get(id.0) {
                    self.add(id, resource, bill, LimitedBy::Pods);
                }
            }
            return;
        };
        let (most, by) = match sum {
            Some(sum) if sum <= most => (sum, LimitedBy::Pods),
            _ => (most, LimitedBy::Quota(kind)),
        };
        self.limited += most;
        self.parts.push(WorstPart { resources: members, most, by });
    }
}

fn counted(inventory: &Inventory) -> impl Iterator<Item = (ResourceId, &Resource)> {
    inventory.resources.iter().enumerate().filter(|(_, it)| it.is_added()).map(|(at, it)| (ResourceId(at), it))
}

/// Returns the quota of a pod that limits its accelerators: that of its queue, or else that of its namespace.
fn quota_of(resource: &Resource) -> Option<(LinkKind, &str)> {
    [LinkKind::Queue, LinkKind::Quota].into_iter().find_map(|kind| {
        resource.number(kind.limit()?)?;
        let link = resource.links.iter().find(|it| it.kind == kind)?;
        Some((kind, link.to.as_str()))
    })
}

/// Returns the most that the pods of a quota cost in a month together: the most expensive mixture that it allows.
fn within_quota(kind: LinkKind, members: &[ResourceId], inventory: &Inventory, bill: &Bill) -> Option<Money> {
    let key = kind.limit()?;
    let mut quota: Option<f64> = None;
    let mut sizes = Sizes::default();
    for id in members {
        let (resource, item) = (inventory.resources.get(id.0)?, bill.items.get(id.0)?);
        let number = resource.number(key)?;
        quota = Some(quota.map_or(number, |known| known.max(number)));
        let devices = resource.number(Key::AcceleratorCount).filter(|it| *it > 0.0)?;
        sizes.add(devices, item.worst_per_hour?);
    }
    Some(sizes.most_within(quota?).times(HOURS_PER_MONTH))
}

impl Pricing<'_, '_> {
    /// Adds the most that the resource can cost: of one machine or pod per hour, and in a month.
    pub(super) fn add_worst(&self, item: &mut BillItem, variants: &[&PurchaseVariant<'_>], count: Option<Range>) {
        let prices = variants.iter().map(|variant| self.dearest(variant)).collect::<Result<Vec<Money>, NoLimit>>();
        if let Ok(prices) = &prices {
            item.worst_per_hour = prices.iter().max().copied();
            let each = variants.iter().zip(prices).filter(|(it, _)| it.machine.count > 0.0);
            item.worst_per_accelerator = each.map(|(it, price)| price.times(1.0 / it.machine.count)).max();
        }
        item.worst = Some(self.worst(variants, prices, count, item.is_unnamed));
    }

    /// Returns the most that the resource can cost in a month, or why nothing limits it.
    fn worst(
        &self,
        variants: &[&PurchaseVariant<'_>],
        prices: Result<Vec<Money>, NoLimit>,
        count: Option<Range>,
        is_unnamed: bool,
    ) -> Result<Money, NoLimit> {
        if self.resource.is_switched_off() && self.resource.shifts.is_empty() {
            return Ok(Money::ZERO);
        }
        if is_unnamed {
            return Err(NoLimit::Machine);
        }
        let prices = prices?;
        let an_hour = match self.most_together(variants, &prices) {
            Some(most) => most,
            None => prices.iter().max().copied().unwrap_or_default().times(self.most_replicas(count)?),
        };
        let hours = self.most_hours(count)?;
        Ok(an_hour.times(hours).times(self.least_discount(variants, count, hours)))
    }

    /// Returns the share of the price that is left after the automatic discount, for machines whose number never changes.
    fn least_discount(&self, variants: &[&PurchaseVariant<'_>], count: Option<Range>, hours: f64) -> f64 {
        let is_on_demand = matches!(self.resource.purchase(), None | Some(Purchase::OnDemand));
        let is_always =
            (hours - HOURS_PER_MONTH).abs() < 1e-9 && count.is_some_and(|it| it == Range::exactly(it.floor));
        let is_machine = self.resource.role == BillingRole::Rented && self.resource.shifts.is_empty();
        let applies = is_on_demand && is_always && is_machine && variants.iter().all(|it| it.unit.sustains);
        if applies { shares(Range::exactly(HOURS_PER_MONTH)).ceiling } else { 1.0 }
    }

    /// Returns the highest price of a variant: on demand if it can be bought on spot, up to the maximum that the files
    /// set.
    fn dearest(&self, variant: &PurchaseVariant<'_>) -> Result<Money, NoLimit> {
        let bought = buy(self.catalog, self.resource, variant, self.count());
        let bought = bought.map_err(|why| NoLimit::Price(why.into()))?;
        if !bought.ways.contains(&CostScenario::Spot) {
            return Ok(bought.per_hour.ceiling);
        }
        let is_spot_only = matches!(self.resource.purchase(), Some(Purchase::Spot));
        let cap = self.resource.number(Key::MaxPrice).filter(|_| is_spot_only).map(Money::from_usd);
        match (cap, variant.unit.range(CostScenario::OnDemand)) {
            (Some(cap), _) => Ok(cap.times(variant.share)),
            (None, Some(on_demand)) => Ok(on_demand.ceiling.max(bought.per_hour.ceiling)),
            (None, None) => Err(NoLimit::Price("only a spot price is known, and it has no maximum".into())),
        }
    }

    /// Returns the most replicas that run at the same time, also by a schedule.
    fn most_replicas(&self, count: Option<Range>) -> Result<f64, NoLimit> {
        let Some(count) = count else {
            let why = self.resource.count.why().unwrap_or("the number is not set");
            return Err(NoLimit::Count(why.into()));
        };
        let mut most = count.ceiling;
        for shift in &self.resource.shifts {
            let sizes: [&Fact<f64>; 3] = match &shift.change {
                ScheduledSize::Start | ScheduledSize::Stop => continue,
                ScheduledSize::Set { min, desired, max } => [min, desired, max],
                ScheduledSize::AtLeast { count, .. } => [count, &Fact::Absent, &Fact::Absent],
            };
            for size in sizes {
                match size {
                    Fact::Known(known) => most = most.max(known.value),
                    Fact::Unknown(unknown) => return Err(NoLimit::Count(unknown.why.as_ref().into())),
                    Fact::Absent => {}
                }
            }
        }
        match most.is_finite() {
            true => Ok(most),
            false => Err(NoLimit::Count("nothing limits the number".into())),
        }
    }

    /// Returns the most hours of each replica in a month.
    fn most_hours(&self, count: Option<Range>) -> Result<f64, NoLimit> {
        let (resource, limit) = (self.resource, limit_of_run(self.resource, count));
        if resource.flag(Key::Repeats) == Some(true) {
            return Err(NoLimit::Runs);
        }
        if resource.fact(Key::Cron).is_absent() {
            return Ok(HOURS_PER_MONTH);
        }
        let is_one = resource.flag(Key::OneAtATime) == Some(true);
        // A limit of each pod does not limit how often a failed pod is repeated.
        let is_of_each = !resource.fact(Key::PodTimeLimit).is_absent()
            && resource.fact(Key::TimeLimit).span() == resource.fact(Key::PodTimeLimit).span();
        let hours =
            starts_a_month(resource).zip(limit.filter(|_| !is_of_each)).map(|(starts, limit)| starts.ceil() * limit);
        match (is_one, hours) {
            (true, hours) => Ok(hours.unwrap_or(HOURS_PER_MONTH).min(HOURS_PER_MONTH)),
            (false, Some(hours)) => Ok(hours),
            (false, None) => Err(NoLimit::Runs),
        }
    }

    /// Returns the highest hourly cost of machines that limits allow together: limits of a pool, or a number of CPUs.
    /// `prices` has the price of each variant.
    pub(super) fn most_together(&self, variants: &[&PurchaseVariant<'_>], prices: &[Money]) -> Option<Money> {
        let of = |limit: &PoolLimit| most_within(limit.of, *limit.most.value()?, variants, prices);
        if !self.resource.limits.is_empty() {
            return self.resource.limits.iter().filter_map(of).min();
        }
        // AWS Batch starts a last machine before it reaches the number of CPUs.
        let cpus = self.resource.cpus_together.map(|cpus| cpus.ceiling).filter(|it| it.is_finite() && *it > 0.0)?;
        Some(most_within(Limited::Cpus, cpus - 1.0, variants, prices)? + prices.iter().max().copied()?)
    }
}

/// Returns the highest hourly cost of any mixture of machines within a limit. `None` if the limit does not apply to all
/// machines.
fn most_within(of: Limited, most: f64, variants: &[&PurchaseVariant<'_>], prices: &[Money]) -> Option<Money> {
    let mut sizes = Sizes::default();
    for (variant, price) in variants.iter().zip(prices) {
        sizes.add(share_of_limit(of, &variant.machine)?, *price);
    }
    Some(sizes.most_within(most))
}

/// The sizes of machines or pods, each with the highest price of that size.
#[derive(Default)]
struct Sizes(BTreeMap<u64, (f64, Money)>);

/// The most steps of an exact calculation. Beyond it, the most expensive unit fills the limit.
const MOST_STEPS: f64 = 100_000.0;

impl Sizes {
    fn add(&mut self, size: f64, price: Money) {
        let known = self.0.entry(size.to_bits()).or_insert((size, price));
        known.1 = known.1.max(price);
    }

    /// Returns the price of the most expensive mixture whose sizes together are within `most`.
    fn most_within(&self, most: f64) -> Money {
        let sizes: Vec<(f64, Money)> = self.0.values().copied().filter(|(size, _)| *size <= most).collect();
        if let [(size, price)] = sizes.as_slice() {
            return price.times((most / size).floor());
        }
        if sizes.iter().any(|(size, _)| size.fract() != 0.0) || most * sizes.len() as f64 > MOST_STEPS {
            return sizes.iter().map(|(size, price)| price.times(most / size)).max().unwrap_or(Money::ZERO);
        }
        // The most expensive mixture of each size, from the smallest up.
        let mut best = vec![Money::ZERO; most as usize + 1];
        for whole in 1..best.len() {
            let with = |(size, price): &(f64, Money)| Some(*best.get(whole.checked_sub(*size as usize)?)? + *price);
            let most = sizes.iter().filter_map(with).max().unwrap_or(Money::ZERO);
            best[whole] = most.max(best[whole - 1]);
        }
        best.last().copied().unwrap_or(Money::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(sizes: &[(f64, f64)], limit: f64) -> f64 {
        let mut all = Sizes::default();
        sizes.iter().for_each(|(size, usd)| all.add(*size, Money::from_usd(*usd)));
        all.most_within(limit).usd()
    }

    #[test]
    fn a_mixture_can_cost_more_than_one_size() {
        assert_eq!(most(&[(8.0, 98.0)], 10.0), 98.0);
        assert_eq!(most(&[(8.0, 98.0), (1.0, 4.0)], 10.0), 106.0);
        assert_eq!(most(&[(8.0, 98.0), (3.0, 40.0)], 10.0), 120.0);
        assert_eq!(most(&[(8.0, 98.0), (8.0, 20.0)], 7.0), 0.0, "no machine fits");
        assert_eq!(most(&[], 7.0), 0.0);
    }

    #[test]
    fn a_large_limit_is_never_below_the_exact_one() {
        for limit in [50.0, 500.0, 5_000.0] {
            let rate = 98.0 / 8.0 * limit;
            let exact = most(&[(8.0, 98.0), (1.0, 4.0), (3.0, 13.0)], limit);
            assert!(exact <= rate && exact > rate * 0.9, "{exact} of {rate}");
        }
        assert_eq!(most(&[(8.0, 98.0), (1.0, 4.0)], 1e9), 98.0 / 8.0 * 1e9);
        assert_eq!(most(&[(0.5, 1.0), (2.0, 3.0)], 5.0), 10.0);
    }
}
