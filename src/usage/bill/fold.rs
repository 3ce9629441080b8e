//! Adds up the rows of a bill per resource and month, in limited memory, and classifies each amount.

use std::collections::{BTreeMap, HashMap};

use super::machine::BilledMachine;
use super::moment::Minutes;
use super::name::BillName;
use crate::measured::paid::{BillMonth, BilledAmount, Charge, PaidRow};

/// The most groups of a resource and a month. A larger result would be too long for people to read.
pub(super) const MOST_GROUPS: usize = 50_000;
/// The most currencies in one bill.
const MOST_CURRENCIES: usize = 32;

/// A provider still bills a month in the first days after its end.
const DAYS_UNTIL_CLOSED: i64 = 5;

/// The class of a row of the bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum BillRowClass {
    Written(Charge),
    /// The charge is for something else: machines without accelerators, disks, networks or other services.
    Other(Charge),
}

/// The sum and the number of rows, for each currency and class.
pub(super) type SumsByClass = BTreeMap<([u8; 3], BillRowClass), (BilledAmount, u64)>;

/// The way of buying for an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PurchaseKind {
    OnDemand,
    Spot,
    Committed,
    /// The bill does not contain the way of buying.
    Open,
}

/// The values that one row adds.
pub(super) struct BillLine<'r> {
    pub(super) machine: &'r BilledMachine,
    pub(super) name: BillName,
    pub(super) month: BillMonth,
    pub(super) currency: [u8; 3],
    pub(super) charge: Charge,
    pub(super) paid: BilledAmount,
    pub(super) list: Option<BilledAmount>,
    pub(super) hours: LineHours,
    pub(super) bought: PurchaseKind,
    pub(super) is_correction: bool,
}

/// Hours of machines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LineHours {
    Known(BilledAmount),
    /// The unit of the row is not a time.
    None,
    /// The row should contain hours, but does not.
    Open,
}

/// The key of a group.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Group {
    machine: usize,
    name: (crate::measured::paid::KeyKind, Box<str>),
    month: BillMonth,
    currency: [u8; 3],
    charge: Charge,
}

#[derive(Debug, Clone, Copy, Default)]
struct GroupSums {
    paid: BilledAmount,
    list: BilledAmount,
    is_list_open: bool,
    hours: Option<BilledAmount>,
    are_hours_open: bool,
    /// The hours on demand, on spot and under a commitment.
    by_way: [BilledAmount; 3],
    on_demand_paid: BilledAmount,
    on_demand_list: BilledAmount,
    corrected: BilledAmount,
}

/// The sums of one file, or of all files.
#[derive(Default)]
pub(super) struct BillSums {
    groups: HashMap<Group, GroupSums>,
    /// The machines without duplicates. Groups refer to a machine by its index.
    machines: Vec<BilledMachine>,
    places: HashMap<String, usize>,
    pub(super) went: SumsByClass,
    /// The end of the last period for which each provider billed usage.
    until: BTreeMap<String, Minutes>,
    /// The number of rows whose names were omitted.
    pub(super) hidden: u64,
}

impl BillSums {
    pub(super) fn add(&mut self, line: BillLine<'_>) -> Result<(), String> {
        self.went(line.currency, BillRowClass::Written(line.charge), line.paid)?;
        self.hidden += u64::from(line.name.is_hidden);
        let machine = self.place(line.machine);
        let (month, currency, charge) = (line.month, line.currency, line.charge);
        let group = Group { machine, name: (line.name.kind, line.name.key.as_str().into()), month, currency, charge };
        if self.groups.len() >= MOST_GROUPS && !self.groups.contains_key(&group) {
            return Err(too_many());
        }
        self.groups.entry(group).or_default().add(&line);
        Ok(())
    }

    pub(super) fn went(&mut self, currency: [u8; 3], went: BillRowClass, paid: BilledAmount) -> Result<(), String> {
        let is_new = !self.went.contains_key(&(currency, went));
        if is_new && self.went.len() >= MOST_CURRENCIES * Charge::ALL.len() * 2 {
            return Err(format!("the bill has more than {MOST_CURRENCIES} currencies"));
        }
        let sum = self.went.entry((currency, went)).or_default();
        sum.0 += paid;
        sum.1 += 1;
        Ok(())
    }

    /// Records that a provider billed usage until this time.
    pub(super) fn saw(&mut self, provider: &str, end: Minutes) {
        const MOST_PROVIDERS: usize = 64;
        if let Some(until) = self.until.get_mut(provider) {
            *until = (*until).max(end);
        } else if self.until.len() < MOST_PROVIDERS {
            self.until.insert(provider.to_owned(), end);
        }
    }

    fn place(&mut self, machine: &BilledMachine) -> usize {
        let BilledMachine { provider, machine: name, accelerator, gpus, region, .. } = machine;
        let key = format!("{provider}\n{name}\n{accelerator}\n{gpus:?}\n{region}");
        let next = self.machines.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.machines.push(machine.clone());
        }
        place
    }

    /// Adds the sums of another file.
    pub(super) fn merge(&mut self, other: BillSums) -> Result<(), String> {
        let places: Vec<usize> = other.machines.iter().map(|it| self.place(it)).collect();
        for (group, sums) in other.groups {
            let Some(machine) = places.get(group.machine) else { continue };
            let group = Group { machine: *machine, ..group };
            if self.groups.len() >= MOST_GROUPS && !self.groups.contains_key(&group) {
                return Err(too_many());
            }
            self.groups.entry(group).or_default().merge(sums);
        }
        for (key, (amount, rows)) in other.went {
            let sum = self.went.entry(key).or_default();
            sum.0 += amount;
            sum.1 += rows;
        }
        for (provider, end) in other.until {
            self.saw(&provider, end);
        }
        self.hidden += other.hidden;
        Ok(())
    }

    /// Returns the rows of all groups. A month is open if it ended less than five days before `today`, or if the
    /// provider has not billed usage up to its end.
    pub(super) fn rows(&self, source: &str, today: i64) -> Vec<PaidRow> {
        let row = |(group, sums): (&Group, &GroupSums)| {
            let machine = self.machines.get(group.machine)?;
            let end = Minutes::end_of(group.month);
            let until = self.until.get(&machine.provider).copied().unwrap_or_default();
            let is_open = until < end || Minutes::of_day(today - DAYS_UNTIL_CLOSED) < end;
            // A charge for a period in the future does not show how far the bill extends.
            let is_told = is_open && until <= Minutes::of_day(today + 1);
            let billed_days = is_told.then(|| until.min(end).days_of(group.month));
            Some(PaidRow { open: is_open, billed_days, ..sums.row(group, machine, source) })
        };
        self.groups.iter().filter_map(row).collect()
    }
}

fn too_many() -> String {
    format!(
        "the bill has more than {MOST_GROUPS} groups of name, machine and month: import fewer months at a time, or tag pools and \
         workloads, so that single machines need no names"
    )
}

impl GroupSums {
    fn add(&mut self, line: &BillLine<'_>) {
        self.paid += line.paid;
        match line.list {
            Some(list) => self.list += list,
            None => self.is_list_open = true,
        }
        if line.is_correction {
            self.corrected += line.paid;
        }
        let hours = match line.hours {
            LineHours::Known(hours) => hours,
            LineHours::None => return,
            LineHours::Open => {
                self.are_hours_open = true;
                return;
            }
        };
        *self.hours.get_or_insert(BilledAmount::ZERO) += hours;
        let way = match line.bought {
            PurchaseKind::OnDemand => 0,
            PurchaseKind::Spot => 1,
            PurchaseKind::Committed => 2,
            PurchaseKind::Open => return,
        };
        if let Some(sum) = self.by_way.get_mut(way) {
            *sum += hours;
        }
        if line.bought == PurchaseKind::OnDemand
            && let Some(list) = line.list
        {
            self.on_demand_paid += line.paid;
            self.on_demand_list += list;
        }
    }

    fn merge(&mut self, other: GroupSums) {
        self.paid += other.paid;
        self.list += other.list;
        self.is_list_open |= other.is_list_open;
        self.are_hours_open |= other.are_hours_open;
        if let Some(hours) = other.hours {
            *self.hours.get_or_insert(BilledAmount::ZERO) += hours;
        }
        self.by_way.iter_mut().zip(other.by_way).for_each(|(sum, more)| *sum += more);
        self.on_demand_paid += other.on_demand_paid;
        self.on_demand_list += other.on_demand_list;
        self.corrected += other.corrected;
    }

    fn row(&self, group: &Group, machine: &BilledMachine, source: &str) -> PaidRow {
        let hours = self.hours.filter(|_| !self.are_hours_open);
        let some = |amount: BilledAmount| Some(amount).filter(|it| hours.is_some() && !it.is_zero());
        let [on_demand, spot, committed] = self.by_way;
        PaidRow {
            provider: machine.provider.clone(),
            key_kind: group.name.0,
            key: group.name.1.to_string(),
            region: machine.region.clone(),
            machine: machine.machine.clone(),
            accelerator: machine.accelerator.clone(),
            gpus: machine.gpus,
            month: group.month,
            currency: String::from_utf8_lossy(&group.currency).into_owned(),
            charge: group.charge,
            paid: self.paid,
            list: Some(self.list).filter(|_| !self.is_list_open),
            hours,
            on_demand: some(on_demand),
            spot: some(spot),
            committed: some(committed),
            on_demand_paid: some(self.on_demand_paid),
            on_demand_list: some(self.on_demand_list),
            corrected: Some(self.corrected).filter(|it| !it.is_zero()),
            source: source.to_owned(),
            ..PaidRow::default()
        }
    }
}
