//! The cost of disks, volumes and file systems, which is billed separately from machines.

use std::sync::Arc;

use crate::catalog::{Catalog, Meter, Money, MoneyRange, covers};
use crate::inventory::{Fact, FactValue, Key, MachineDisk, Range, Resource, Volume};

use super::hours::{Runtime, count_in_words};
use super::unit::dollars;
use super::{HOURS_PER_MONTH, Period, StepSource, SumStep};
use crate::resolve::plain;

/// The cost of disks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attached {
    /// The monthly cost of the disks of all machines, and of the volumes that they share.
    pub monthly: MoneyRange,
    /// The part of `monthly` for the disks of machines.
    pub of_machines: MoneyRange,
    /// The part of this cost that depends on the size. The rest is billed for speed.
    pub by_size: MoneyRange,
    pub steps: Vec<SumStep>,
    /// Why the cost is incomplete: disks whose size or price is unknown.
    pub not_known: Vec<String>,
    /// Why the cost is an estimate, if it is one.
    pub estimated: Option<String>,
    /// The shared volumes whose cost is in `monthly`.
    pub named: Vec<Arc<str>>,
    /// The volumes next to the machines. Their cost is not in `monthly`, because their user is unknown.
    pub nearby: Vec<NearbyVolume>,
}

/// A volume whose user is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct NearbyVolume {
    pub name: Arc<str>,
    pub gib: Option<f64>,
    /// The monthly price, if the catalog has it.
    pub monthly: Option<Money>,
    /// Whether it is a disk that nothing attaches.
    pub is_unused: bool,
}

impl Attached {
    /// Returns the known cost. `None` if the sizes or prices of all disks are unknown.
    pub fn known(&self) -> Option<MoneyRange> {
        self.known_of(self.monthly)
    }

    /// Returns the known cost of the disks of machines.
    pub fn known_of_machines(&self) -> Option<MoneyRange> {
        self.known_of(self.of_machines)
    }

    /// Returns the monthly cost of the disks that nothing attaches. `None` if a price is unknown or there are none.
    pub fn unused(&self) -> Option<Money> {
        let unused = self.nearby.iter().filter(|volume| volume.is_unused).map(|volume| volume.monthly);
        unused.reduce(|one, other| Some(one? + other?))?
    }

    fn known_of(&self, cost: MoneyRange) -> Option<MoneyRange> {
        let is_nothing = cost == MoneyRange::ZERO && (self.steps.is_empty() || !self.not_known.is_empty());
        (!is_nothing).then_some(cost)
    }

    fn leave_out(&mut self, why: String) {
        if self.not_known.len() < MOST_CAUSES && !self.not_known.contains(&why) {
            self.not_known.push(why);
        }
    }
}

/// Machines whose price contains their local disks (Google's page of accelerator-optimized machines, 2026-05).
const WITH_LOCAL_DISKS: [&str; 3] = ["a2-ultragpu-*", "a3-*", "a4*"];

/// Disks whose speed is billed separately, at a price that the catalog does not have.
const WITH_SPEED_APART: [&str; 2] = ["pd-extreme", "hyperdisk-ml"];

/// The maximum number of reasons to store, because the files may define any number of disks without a price.
const MOST_CAUSES: usize = 16;

/// Returns the cost of the disks of the machines, and of the volumes that they share.
pub(super) fn attached(
    catalog: &Catalog,
    resource: &Resource,
    count: Option<Range>,
    runtime: &Runtime,
) -> Option<Attached> {
    if resource.disks.is_empty() && resource.volumes.is_empty() && resource.nearby_volumes.is_empty() {
        return None;
    }
    let mut attached = Attached::default();
    if !resource.disks.is_empty() {
        add_disks(catalog, resource, count, runtime, &mut attached);
    }
    attached.of_machines = attached.monthly;
    for volume in &resource.volumes {
        add_volume(catalog, resource, volume, &mut attached);
    }
    attached.nearby = resource.nearby_volumes.iter().map(|volume| price_nearby(catalog, resource, volume)).collect();
    Some(attached)
}

/// Adds a volume that is billed once, for whole months.
fn add_volume(catalog: &Catalog, resource: &Resource, volume: &Volume, attached: &mut Attached) {
    let first = attached.steps.len();
    match disks_of_machine(catalog, resource, &volume.disk, attached) {
        Ok(price) => {
            attached.monthly += MoneyRange::exactly(price.all());
            attached.named.push(volume.name.clone());
            if let Some(step) = attached.steps.get_mut(first) {
                step.text = format!("{}, billed once: {}", volume.name, step.text);
            }
        }
        Err(why) => {
            let why = format!("{}: {why}", volume.name);
            attached.steps.push(SumStep::from_text(format!("not included: {why}")));
            attached.leave_out(why);
        }
    }
}

fn price_nearby(catalog: &Catalog, resource: &Resource, volume: &Volume) -> NearbyVolume {
    let mut alone = Attached::default();
    let price = disks_of_machine(catalog, resource, &volume.disk, &mut alone);
    let is_whole = alone.not_known.is_empty();
    NearbyVolume {
        name: volume.name.clone(),
        gib: volume.disk.gib.value().and_then(FactValue::as_number).filter(|_| volume.disk.is_sized()),
        monthly: price.ok().map(|price| price.all()).filter(|price| is_whole && !price.is_zero()),
        is_unused: volume.is_unused,
    }
}

/// Adds the disk cost of each machine for whole months, because disks are billed while their machine is stopped.
fn add_disks(catalog: &Catalog, resource: &Resource, count: Option<Range>, runtime: &Runtime, attached: &mut Attached) {
    if runtime.per != Period::Month {
        attached.leave_out(format!("disks of resources that end by themselves ({})", resource.disks.len()));
        attached.steps.extend(attached.not_known.iter().map(|why| SumStep::from_text(format!("not included: {why}"))));
        return;
    }
    let (mut each, mut each_by_size) = (Money::ZERO, Money::ZERO);
    for disk in &resource.disks {
        match disks_of_machine(catalog, resource, disk, attached) {
            Ok(price) => {
                each += price.all();
                each_by_size += price.by_size;
            }
            Err(why) => attached.leave_out(why),
        }
    }
    attached.steps.extend(attached.not_known.iter().map(|why| SumStep::from_text(format!("not included: {why}"))));
    let Some(count) = count.filter(|_| !each.is_zero()) else { return };
    // Removing a machine removes its disk, and stopping a machine does not.
    let together = runtime.together.filter(|_| runtime.takes_away);
    let (count, text) = match together.map(|hours| hours.map(|hours| hours / HOURS_PER_MONTH)) {
        Some(share) => (share, format!("{} per disk x {} months in total", dollars(each), count_in_words(share))),
        None => (count, format!("{} per disk x {}", dollars(each), count_in_words(count))),
    };
    let most = if count.ceiling.is_finite() { count.ceiling } else { count.expected };
    let of_all = |each: Money| MoneyRange {
        floor: each.times(count.floor),
        expected: each.times(count.expected),
        ceiling: each.times(most),
    };
    (attached.monthly, attached.by_size) = (of_all(each), of_all(each_by_size));
    attached.steps.push(SumStep::new(text, attached.monthly.expected).about(StepSource::Count));
}

/// The monthly cost of the disks of one kind.
#[derive(Default)]
struct DiskPrice {
    by_size: Money,
    by_speed: Money,
}

impl DiskPrice {
    fn all(&self) -> Money {
        self.by_size + self.by_speed
    }
}

/// Returns the monthly cost of the disks of one kind, or why it is unknown.
fn disks_of_machine(
    catalog: &Catalog,
    resource: &Resource,
    disk: &MachineDisk,
    attached: &mut Attached,
) -> Result<DiskPrice, String> {
    let gib = number(&disk.gib, "size")?.unwrap_or(0.0);
    let disks = number(&disk.count, "number")?.unwrap_or(1.0);
    if gib <= 0.0 || disks <= 0.0 {
        return Ok(DiskPrice::default());
    }
    let kind = match &disk.kind {
        Fact::Known(kind) => kind.value.as_text(),
        Fact::Unknown(unknown) => return Err(format!("the kind of a disk is unknown: {}", unknown.why)),
        Fact::Absent => None,
    };
    let machine = resource.text(Key::Machine).unwrap_or_default();
    let many = if disks == 1.0 { String::new() } else { format!("{} x ", plain(disks)) };
    let what = format!("{many}{} GiB", plain(gib));
    if kind == Some("local-ssd") && WITH_LOCAL_DISKS.iter().any(|pattern| covers(pattern, machine)) {
        attached
            .steps
            .push(SumStep::from_text(format!("{what} of local-ssd: included in the price of {machine}")).at(&disk.gib));
        return Ok(DiskPrice::default());
    }
    let provider = resource.text(Key::Provider).unwrap_or_default();
    let region = resource.text(Key::Region).unwrap_or_else(|| catalog.base_region(provider));
    let Some(found) = catalog.disk(provider, kind, region, gib) else {
        let kind = kind.map(|kind| format!(" of {kind}")).unwrap_or_default();
        return Err(format!("a disk of {} GiB{kind} has no price in the catalog", plain(gib)));
    };
    let price = found.per_month.times(disks);
    let mut text = match (found.per_gib, found.size_gib) {
        (None, None) => format!("{many}{} at {} per month", found.kind, dollars(found.per_month)),
        _ => format!("{what} of {}", found.kind),
    };
    if kind.is_none() {
        text.push_str(" (assumed)");
    }
    match (found.per_gib, found.size_gib) {
        (Some(rate), _) => text.push_str(&format!(" at {} per GiB and month", dollars(rate))),
        (None, Some(size)) => {
            text.push_str(&format!(", sold as {} GiB for {} per month", plain(size), dollars(found.per_month)));
        }
        (None, None) => {}
    }
    text.push_str(&format!(" in {}: {}, {}", found.region, found.source, found.as_of));
    if !found.region.eq_ignore_ascii_case(region) {
        let why = format!("disk price of {}, because the catalog has none for {region}", found.region);
        attached.estimated.get_or_insert(why);
        text.push_str(&format!("; the catalog has no price for {region}"));
    }
    attached.steps.push(SumStep::new(text, price).at(&disk.gib));
    if WITH_SPEED_APART.contains(&found.kind) {
        attached.leave_out(format!("the speed of {} disks has a separate price, which is unknown", found.kind));
        return Ok(DiskPrice { by_size: price, ..DiskPrice::default() });
    }
    let each = [(Meter::Iops, "IOPS", &disk.speed.iops), (Meter::MibPerSecond, "MiB/s", &disk.speed.throughput)];
    let speed = each
        .map(|(meter, unit, fact)| of_speed(catalog, (provider, found.kind, region), (meter, unit), fact, attached));
    let by_speed = speed.into_iter().fold(Money::ZERO, |sum, speed| sum + speed.times(disks));
    Ok(DiskPrice { by_size: price, by_speed })
}

/// Returns the monthly cost of a disk's speed, which is billed in addition to its size.
fn of_speed(
    catalog: &Catalog,
    (provider, kind, region): (&str, &str, &str),
    (meter, unit): (Meter, &str),
    fact: &Fact<FactValue>,
    attached: &mut Attached,
) -> Money {
    let speed = catalog.disk_speed(provider, kind, region, meter);
    let amount = match (fact, &speed) {
        (Fact::Known(known), _) => known.value.as_number().unwrap_or(0.0),
        (Fact::Unknown(unknown), Some(_)) => {
            attached.leave_out(format!("the {unit} of a disk is unknown: {}", unknown.why));
            return Money::ZERO;
        }
        (Fact::Absent, Some(speed)) if speed.included == 0.0 => {
            attached.leave_out(format!("the {unit} of {kind} disks has a separate price, and is not set"));
            return Money::ZERO;
        }
        (Fact::Unknown(_) | Fact::Absent, _) => return Money::ZERO,
    };
    let Some(speed) = speed else {
        if amount > 0.0 {
            attached.leave_out(format!("the catalog has no price for {unit} of {kind} disks"));
        }
        return Money::ZERO;
    };
    let price = speed.price(amount);
    if price.is_zero() {
        return price;
    }
    let mut text = format!("{} {unit} of {kind}", plain(amount));
    if speed.included > 0.0 {
        text.push_str(&format!(", {} of them included in its price,", plain(speed.included)));
    }
    text.push_str(&format!(" in {}: {}, {}", speed.region, speed.source, speed.as_of));
    if !speed.region.eq_ignore_ascii_case(region) {
        let why = format!("speed of disk price of {}, because the catalog has none for {region}", speed.region);
        attached.estimated.get_or_insert(why);
        text.push_str(&format!("; the catalog has no price for {region}"));
    }
    attached.steps.push(SumStep::new(text, price).at(fact));
    price
}

fn number(fact: &Fact<FactValue>, what: &str) -> Result<Option<f64>, String> {
    match fact {
        Fact::Known(known) => Ok(known.value.as_number()),
        Fact::Unknown(unknown) => Err(format!("the {what} of a disk is unknown: {}", unknown.why)),
        Fact::Absent => Ok(None),
    }
}
