//! The cost of a machine's disks, which is billed separately.

use crate::catalog::{Catalog, Meter, Money, MoneyRange, covers};
use crate::inventory::{Fact, FactValue, Key, MachineDisk, Range, Resource};

use super::hours::{Runtime, count_in_words};
use super::unit::dollars;
use super::{HOURS_PER_MONTH, Period, StepSource, SumStep};
use crate::resolve::plain;

/// The cost of disks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attached {
    /// The monthly cost of the disks of all machines.
    pub monthly: MoneyRange,
    /// The part of this cost that depends on the size. The rest is billed for speed, whatever the size.
    pub by_size: MoneyRange,
    pub steps: Vec<SumStep>,
    /// Why the cost is incomplete: disks whose size or price is unknown.
    pub not_known: Vec<String>,
    /// Why the cost is an estimate, if it is one.
    pub estimated: Option<String>,
}

impl Attached {
    /// Returns the known cost. `None` if the sizes or prices of all disks are unknown.
    pub fn known(&self) -> Option<MoneyRange> {
        let is_nothing = self.monthly == MoneyRange::ZERO && !self.not_known.is_empty();
        (!is_nothing).then_some(self.monthly)
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

/// Returns the disk cost of each machine for whole months, because disks are billed while their machine is stopped.
pub(super) fn attached(
    catalog: &Catalog,
    resource: &Resource,
    count: Option<Range>,
    runtime: &Runtime,
) -> Option<Attached> {
    if resource.disks.is_empty() {
        return None;
    }
    let mut attached = Attached::default();
    if runtime.per != Period::Month {
        attached.leave_out(format!("disks of resources that end by themselves ({})", resource.disks.len()));
        attached.steps.extend(attached.not_known.iter().map(|why| SumStep::from_text(format!("not included: {why}"))));
        return Some(attached);
    }
    let (mut each, mut each_by_size) = (Money::ZERO, Money::ZERO);
    for disk in &resource.disks {
        match disks_of_machine(catalog, resource, disk, &mut attached) {
            Ok(price) => {
                each += price.by_size + price.by_speed;
                each_by_size += price.by_size;
            }
            Err(why) => attached.leave_out(why),
        }
    }
    attached.steps.extend(attached.not_known.iter().map(|why| SumStep::from_text(format!("not included: {why}"))));
    let Some(count) = count.filter(|_| !each.is_zero()) else { return Some(attached) };
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
    Some(attached)
}

/// The monthly cost of the disks of one kind.
#[derive(Default)]
struct DiskPrice {
    by_size: Money,
    by_speed: Money,
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
    let mut text = format!("{what} of {}", found.kind);
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
