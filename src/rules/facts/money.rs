//! Provides the cost of resources: as they are bought now, and with other purchase options.

use std::sync::LazyLock;

use super::change::{self, CHANGED};
use super::replacement::{Replacement, WholeNode};
use super::resource;
use super::table::{Records, rows};
use super::{End, FactContext, kinds, unknown_price, unknown_sum};
use crate::catalog::{Money, MoneyRange};
use crate::fit::FitAlternative;
use crate::inventory::{Key, Orphaned, Resource};
use crate::languages::cel::{CelType, CelValue};
use crate::pricing::{BillItem, CostScenario, HOURS_PER_MONTH, NoLimit, Period, Status, Unlimited, measured_month};
use crate::source::{Date, civil_from_days, days_in_month};

pub(super) static MONEY: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "money",
        kinds::MONEY,
        Some("expected"),
        rows! {
            floor: CelType::Double, "Minimum in dollars at catalog prices. In `saves`, if prices are outdated: reduced for their age." => |asking, id| {
                amount(asking, id, asking.end.get() == End::Floor, |it| it.floor)
            };
            expected: CelType::Double, "Expected amount in dollars. In `saves`: the minimum, the expected amount and the maximum in turn." => |asking, id| match asking.end.get() {
                End::Floor => amount(asking, id, true, |it| it.floor),
                End::Expected => amount(asking, id, false, |it| it.expected),
                End::Ceiling => amount(asking, id, true, |it| it.ceiling),
            };
            ceiling: CelType::Double, "Maximum in dollars at catalog prices. In `saves`, if prices are outdated: increased for their age." => |asking, id| {
                amount(asking, id, asking.end.get() == End::Ceiling, |it| it.ceiling)
            };
        },
    )
});

static SCENARIOS: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "scenarios",
        kinds::SCENARIOS,
        None,
        rows! {
            on_demand: MONEY.holds(), "Cost on demand." => |asking, id| money(asking, id, MoneySum::OnDemand);
            spot: MONEY.holds(), "Cost on spot." => |asking, id| money(asking, id, MoneySum::Spot);
            reserved_1y: MONEY.holds(), "Cost with a one-year commitment." => |asking, id| money(asking, id, MoneySum::Reserved1y);
            reserved_3y: MONEY.holds(), "Cost with a three-year commitment." => |asking, id| money(asking, id, MoneySum::Reserved3y);
        },
    )
});

static COST_SCENARIOS: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "cost_scenarios",
        kinds::COST_SCENARIOS,
        None,
        rows! {
            on_demand: MONEY.holds(), "Cost on demand." => |asking, id| money(asking, id, MoneySum::CostOnDemand);
            spot: MONEY.holds(), "Cost on spot." => |asking, id| money(asking, id, MoneySum::CostSpot);
            reserved_1y: MONEY.holds(), "Cost with a one-year commitment." => |asking, id| money(asking, id, MoneySum::CostReserved1y);
            reserved_3y: MONEY.holds(), "Cost with a three-year commitment." => |asking, id| money(asking, id, MoneySum::CostReserved3y);
        },
    )
});

pub(super) static BILL: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "bill",
        kinds::BILL,
        None,
        rows! {
            cost: MONEY.holds(), "Cost of all machines or pods of the resource, for the period in `bill.per`." => |asking, id| money(asking, id, MoneySum::Cost);
            per: CelType::Text, "Period of `bill.cost` and `saves`: month, run (if it ends by itself) or hour (if its duration is unknown)." => |asking, id| CelValue::text(asking.item(id).map_or(Period::Month, |it| it.per).name());
            most: CelType::Double, "Maximum cost of a month: one run if it ends by itself, or all hours if its duration is unknown. Infinite if nothing limits the number." => most;
            cost_if: COST_SCENARIOS.holds(), "`bill.cost`, bought another way." => |_, id| COST_SCENARIOS.value(id);
            monthly: MONEY.holds(), "Monthly cost of all its machines or pods. Unknown if it ends by itself." => |asking, id| money(asking, id, MoneySum::Monthly);
            in_sum: MONEY.holds(), "Part of the combined monthly total, in which each dollar counts once: for a pod, the cost that no \
             machine of the files covers. Unknown if no total counts the resource." => |asking, id| money(asking, id, MoneySum::Share);
            hourly: MONEY.holds(), "Price of one machine or pod per hour as bought, after the vendor's automatic discount for the hours that it runs." => |asking, id| money(asking, id, MoneySum::Hourly);
            list_hourly: MONEY.holds(), "Price per hour for a few hours, without that discount." => |asking, id| money(asking, id, MoneySum::ListHourly);
            measured: MONEY.holds(), "Cost of the measured accelerator hours in a month. Unknown without a measurement." => |asking, id| money(asking, id, MoneySum::Measured);
            this_month: MONEY.holds(), "Forecast for the current month: billed cost, the same rate for days not billed yet, and expected \
             cost from today on. Without a bill, the expected cost of the whole month." => |asking, id| money(asking, id, MoneySum::ThisMonth);
            monthly_if: SCENARIOS.holds(), "Monthly cost, bought another way." => |_, id| SCENARIOS.value(id);
            break_even: CelType::Double, "Share of all hours for which it must run before a one-year commitment is cheaper." => |asking, id| break_even(asking.item(id));
            status: CelType::Text, "Status of the price: priced, estimated, unpriced or unasked." => |asking, id| CelValue::text(status(asking.item(id)));
            reason: CelType::Text, "Reason why no price is known." => |asking, id| match asking.item(id).map(|item| &item.status) {
                Some(Status::Unpriced(why)) => CelValue::text(why.as_str()),
                _ => CelValue::Absent,
            };
            disks: MONEY.holds(), "Monthly cost of all its disks, billed in addition to the machines." => |asking, id| money(asking, id, MoneySum::Disks);
            unused_disks: MONEY.holds(), "Monthly cost of the disks in `unused_disks`, if all prices are known." => |asking, id| {
                let has_none = asking.of(id, |it| CelValue::Flag(it.fact(Key::UnusedDisks).is_absent()));
                if matches!(has_none, CelValue::Flag(true)) { CelValue::Absent } else { money(asking, id, MoneySum::UnusedDisks) }
            };
            disks_by_size: MONEY.holds(), "Part of `bill.disks` that depends on the size. The rest is billed for IOPS and throughput." => |asking, id| money(asking, id, MoneySum::DisksBySize);
            stranded: CelType::Double, "Accelerators that no other pod can use next to one pod, because CPUs or memory are missing." => |asking, id| match asking.item(id) {
                Some(item) => CelValue::Double(item.stranded),
                None => CelValue::Absent,
            };
            will_not_start: CelType::Text, "Reason why it does not run: the spot price is above the maximum price that is set." => |asking, id| match asking.item(id).and_then(|item| item.will_not_start.as_deref()) {
                Some(why) => CelValue::text(why),
                None => CelValue::Absent,
            };
            stale: CelType::Flag, "True if the price is older than prices of its kind may be." => |asking, id| match asking.item(id) {
                Some(item) => CelValue::Flag(item.stale.is_some()),
                None => CelValue::Absent,
            };
            hours_per_month: CelType::Double, "Billed hours per month. Unknown if it ends by itself." => |asking, id| match asking.item(id) {
                Some(item) if item.per == Period::Month => CelValue::Double(item.hours),
                Some(_) => unknown_price("it is unknown how often or how long it runs"),
                None => CelValue::Absent,
            };
        },
    )
});

pub(super) static TOTAL: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "total",
        kinds::TOTAL,
        None,
        rows! {
            rented: MONEY.holds(), "Monthly cost of all provisioned machines, as far as prices are known." => |asking, id| money(asking, id, MoneySum::Rented);
            requested: MONEY.holds(), "Monthly cost of all accelerators that pods request. Part of the machines' cost." => |asking, id| money(asking, id, MoneySum::Requested);
            combined: MONEY.holds(), "Combined monthly total, in which each dollar counts once: pods on machines of the files add nothing." => |asking, id| money(asking, id, MoneySum::Combined);
            disks: MONEY.holds(), "Monthly cost of the disks of all machines, billed in addition to the machines." => |asking, id| money(asking, id, MoneySum::AllDisks);
            worst: CelType::Double, "Most that a month can cost, in dollars. Infinite if something has no limit." => |asking, _| worst(asking);
            worst_limited: CelType::Double, "Most that everything with a limit can cost in a month, in dollars." => |asking, _| {
                asking.world.bill.worst.as_ref().map_or(CelValue::Absent, |it| CelValue::Double(it.limited.usd()))
            };
            stale: CelType::Integer, "Number of resources whose price is older than prices of its kind may be." => |asking, _| CelValue::Integer(asking.world.bill.stale as i64);
            orphaned: CelType::Double, "Dollars that the last monthly bill has for machines that no file here defines. Only for providers in \
             `paid.complete`." => |asking, _| orphaned(asking, |it| CelValue::Double(it.usd));
            orphans: CelType::Integer, "Number of such machines." => |asking, _| orphaned(asking, |it| CelValue::Integer(it.things as i64));
            orphans_named: CelType::Text, "The most expensive one of them." => |asking, _| orphaned(asking, |it| CelValue::text(&*it.named));
            orphans_month: CelType::Text, "Month of that bill." => |asking, _| orphaned(asking, |it| CelValue::text(&*it.month));
            unpriced: CelType::Integer, "Number of resources without a known price." => |asking, _| CelValue::Integer(asking.world.bill.unpriced() as i64);
        },
    )
});

/// Returns the most that a month can cost.
fn worst(asking: &FactContext<'_>) -> CelValue {
    let Some(worst) = &asking.world.bill.worst else { return CelValue::Absent };
    let is_unlimited = |it: &Unlimited| {
        let resource = it.resource.and_then(|id| asking.world.inventory.resources.get(id.0));
        it.why == NoLimit::Runs || resource.is_some_and(Resource::is_unlimited)
    };
    match (worst.most(), worst.unlimited.first()) {
        (Some(most), _) => CelValue::Double(most.usd()),
        (None, _) if worst.unlimited.iter().any(is_unlimited) => CelValue::Double(f64::INFINITY),
        (None, Some(open)) => unknown_sum(&open.why.cause().into()),
        (None, None) => CelValue::Absent,
    }
}

fn orphaned(asking: &FactContext<'_>, read: impl Fn(&Orphaned) -> CelValue) -> CelValue {
    match asking.world.inventory.orphaned.as_ref() {
        None => CelValue::Absent,
        Some(Orphaned { things: 0, open: Some(why), .. }) => unknown_sum(why),
        Some(orphaned) => read(orphaned),
    }
}

pub(super) static DELTA: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "delta",
        kinds::DELTA,
        None,
        rows! {
            rented: MONEY.holds(), "Monthly cost of machines that the change adds. Negative if the change reduces the cost." => |asking, id| money(asking, id, MoneySum::RentedMore);
            requested: MONEY.holds(), "Monthly cost of requested accelerators that the change adds." => |asking, id| money(asking, id, MoneySum::RequestedMore);
            combined: MONEY.holds(), "Combined monthly cost that the change adds, in which each dollar counts once." => |asking, id| money(asking, id, MoneySum::CombinedMore);
            became_known: MONEY.holds(), "Combined monthly cost that is known now and was unknown before. It may or may not be new cost." => |asking, id| money(asking, id, MoneySum::BecameKnown);
            rented_before: MONEY.holds(), "Monthly cost of all machines before the change." => |asking, id| money(asking, id, MoneySum::RentedBefore);
            accelerators: CelType::Double, "Accelerators that the change adds, each counted once: of machines, and of pods on no machine of the files." => |asking, _| change::all_accelerators(asking);
            most: CelType::Double, "Maximum monthly cost that the change adds. Infinite if it adds a resource without a maximum number, or removes a maximum." => |asking, _| change::most_more(asking);
            resources: CelType::list(CHANGED.holds()), "List of the added, removed, moved and changed resources." => |asking, _| change::resources(asking);
            requested_before: MONEY.holds(), "Monthly cost of all requested accelerators before the change." => |asking, id| money(asking, id, MoneySum::RequestedBefore);
        },
    )
});

pub(super) fn all() -> [&'static Records; 6] {
    [&MONEY, &SCENARIOS, &COST_SCENARIOS, &BILL, &TOTAL, &DELTA]
}

/// An amount of money that rules can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MoneySum {
    Cost,
    CostOnDemand,
    CostSpot,
    CostReserved1y,
    CostReserved3y,
    Monthly,
    Share,
    Hourly,
    ListHourly,
    Measured,
    ThisMonth,
    OnDemand,
    Spot,
    Reserved1y,
    Reserved3y,
    Instead(FitAlternative),
    Saves,
    Disks,
    UnusedDisks,
    DisksBySize,
    AllDisks,
    Rented,
    Requested,
    Combined,
    RentedMore,
    RequestedMore,
    CombinedMore,
    RentedBefore,
    RequestedBefore,
    BecameKnown,
}

impl MoneySum {
    /// Returns true if it is the cost of machines, not of their disks or of everything together.
    fn is_of_machines(self) -> bool {
        !self.is_of_all()
            && !matches!(
                self,
                MoneySum::Saves | MoneySum::Disks | MoneySum::DisksBySize | MoneySum::UnusedDisks | MoneySum::AllDisks
            )
    }

    /// Returns true if it is the cost of everything together.
    fn is_of_all(self) -> bool {
        use MoneySum::{
            Combined, CombinedMore, Rented, RentedBefore, RentedMore, Requested, RequestedBefore, RequestedMore,
        };
        matches!(self, Rented | RentedMore | RentedBefore | Requested | RequestedMore | RequestedBefore)
            || matches!(self, Combined | CombinedMore | MoneySum::BecameKnown)
    }
}

const SUMS: [MoneySum; 37] = [
    MoneySum::Cost,
    MoneySum::CostOnDemand,
    MoneySum::CostSpot,
    MoneySum::CostReserved1y,
    MoneySum::CostReserved3y,
    MoneySum::Monthly,
    MoneySum::Share,
    MoneySum::Hourly,
    MoneySum::ListHourly,
    MoneySum::Measured,
    MoneySum::ThisMonth,
    MoneySum::OnDemand,
    MoneySum::Spot,
    MoneySum::Reserved1y,
    MoneySum::Reserved3y,
    MoneySum::Instead(FitAlternative::Smallest),
    MoneySum::Instead(FitAlternative::Quantized),
    MoneySum::Instead(FitAlternative::Halved),
    MoneySum::Instead(FitAlternative::Limited),
    MoneySum::Instead(FitAlternative::Larger),
    MoneySum::Instead(FitAlternative::Narrower),
    MoneySum::Instead(FitAlternative::PerToken),
    MoneySum::Instead(FitAlternative::Holding),
    MoneySum::Saves,
    MoneySum::Disks,
    MoneySum::UnusedDisks,
    MoneySum::DisksBySize,
    MoneySum::AllDisks,
    MoneySum::Rented,
    MoneySum::Requested,
    MoneySum::Combined,
    MoneySum::RentedMore,
    MoneySum::RequestedMore,
    MoneySum::CombinedMore,
    MoneySum::RentedBefore,
    MoneySum::RequestedBefore,
    MoneySum::BecameKnown,
];

/// Returns an amount as a record. Its number encodes the resource and the kind of amount.
pub(super) fn money(asking: &FactContext<'_>, id: u32, sum: MoneySum) -> CelValue {
    if matches!(sum, MoneySum::CostSpot | MoneySum::Spot) {
        asking.asked_spot.set(true);
    }
    if sum == MoneySum::Measured {
        asking.asked_measured.set(true);
    }
    if sum.is_of_machines() {
        asking.asked_machines.set(true);
    }
    if sum == MoneySum::ThisMonth {
        asking.asked_this_month.set(true);
    }
    if range(asking, id, sum, false).is_some() {
        let place = SUMS.iter().position(|it| *it == sum).unwrap_or(0);
        return MONEY.value(id * SUMS.len() as u32 + place as u32);
    }
    let status = asking.item(id).map(|item| &item.status);
    unknown_price(match (sum, status) {
        (MoneySum::Monthly | MoneySum::Hourly | MoneySum::ListHourly, Some(Status::Unpriced(why))) => why,
        (MoneySum::Share, _) => "no total counts this resource",
        (MoneySum::Measured, _) => "no usable measurement of its hours",
        (MoneySum::Disks | MoneySum::DisksBySize | MoneySum::UnusedDisks, _) => "its disks are unknown",
        (MoneySum::Spot, _) => "no spot price is known",
        (MoneySum::Reserved1y | MoneySum::Reserved3y, _) => "no reserved price is known",
        _ => "no price is known",
    })
}

/// Returns one end of an amount, at catalog prices or adjusted for the age of the prices.
fn amount(asking: &FactContext<'_>, id: u32, ages: bool, end: fn(&MoneyRange) -> Money) -> CelValue {
    let sums = SUMS.len() as u32;
    let sum = SUMS.get((id % sums) as usize).copied().unwrap_or(MoneySum::Monthly);
    match range(asking, id / sums, sum, ages) {
        Some(range) => CelValue::Double(end(&range).usd()),
        None => missing(asking, id / sums),
    }
}

/// Returns the value for a missing monthly price. Work that ends has none.
fn missing(asking: &FactContext<'_>, id: u32) -> CelValue {
    let ends = asking.item(id).is_some_and(|item| item.per != Period::Month && item.amount.is_some());
    unknown_price(if ends { "it ends by itself, and how often it runs is unknown" } else { "no price is known" })
}

/// Returns the cost of a one-year commitment divided by the hourly price.
fn break_even(item: Option<&BillItem>) -> CelValue {
    let price = |way| item.and_then(|item| item.per_hour_if.get(&way)).map(|range| range.expected.usd());
    match (price(CostScenario::Reserved1y), price(CostScenario::OnDemand)) {
        (Some(year), Some(hour)) if hour > 0.0 => CelValue::Double(year / hour),
        _ => unknown_price("no reserved price is known"),
    }
}

/// Returns the maximum monthly cost. Without a limit on the number, it exceeds every amount.
fn most(asking: &FactContext<'_>, id: u32) -> CelValue {
    let item = asking.item(id).map(BillItem::listed);
    let Some((item, amount)) = item.and_then(|item| Some((item, item.amount?))) else {
        return unknown_price("no price is known");
    };
    if asking.world.inventory.resources.get(id as usize).is_some_and(Resource::is_unlimited) {
        return CelValue::Double(f64::INFINITY);
    }
    let hours = if item.per == Period::Hour { HOURS_PER_MONTH } else { 1.0 };
    let most = amount.ceiling.times(hours).usd();
    // A schedule that is not the same every week has no hours, and its machines run for a part of the month.
    let hourly = item.hourly().filter(|_| most == 0.0).map(|it| it.ceiling.usd());
    match hourly.zip(resource::peak(asking, id).as_number()) {
        Some((hourly, peak)) if peak > 0.0 => CelValue::Double(hourly * peak * HOURS_PER_MONTH),
        _ => CelValue::Double(most),
    }
}

fn range(asking: &FactContext<'_>, id: u32, sum: MoneySum, ages: bool) -> Option<MoneyRange> {
    let item = asking.item(id).map(|it| if ages { it } else { it.listed() });
    let otherwise = |scenario| item.and_then(|it| it.amount_if.get(&scenario).copied());
    let if_bought = |scenario| otherwise(scenario).filter(|_| item.is_some_and(|it| it.per == Period::Month));
    match sum {
        MoneySum::Cost => item?.amount,
        MoneySum::CostOnDemand => otherwise(CostScenario::OnDemand),
        MoneySum::CostSpot => otherwise(CostScenario::Spot),
        MoneySum::CostReserved1y => otherwise(CostScenario::Reserved1y),
        MoneySum::CostReserved3y => otherwise(CostScenario::Reserved3y),
        MoneySum::Monthly => item?.monthly,
        // Only the expected amount of a total is adjusted to today's prices.
        MoneySum::Share => asking.item(id)?.share,
        MoneySum::Hourly => item?.hourly(),
        MoneySum::ListHourly => item?.per_hour,
        MoneySum::Measured => measured(asking, id),
        MoneySum::ThisMonth => this_month(asking, id),
        MoneySum::OnDemand => if_bought(CostScenario::OnDemand),
        MoneySum::Spot => if_bought(CostScenario::Spot),
        MoneySum::Reserved1y => if_bought(CostScenario::Reserved1y),
        MoneySum::Reserved3y => if_bought(CostScenario::Reserved3y),
        MoneySum::Instead(which) => instead(asking, id, which),
        MoneySum::Saves => asking.saves,
        MoneySum::Disks => item?.attached.as_ref()?.known_of_machines(),
        MoneySum::UnusedDisks => item?.attached.as_ref()?.unused().map(MoneyRange::exactly),
        MoneySum::DisksBySize => {
            let attached = item?.attached.as_ref()?;
            attached.known().map(|_| attached.by_size)
        }
        MoneySum::AllDisks => Some(asking.world.bill.attached.minimum()),
        MoneySum::Rented => Some(asking.world.bill.rented.minimum()),
        MoneySum::Requested => Some(asking.world.bill.requested.minimum()),
        MoneySum::Combined => Some(asking.world.bill.combined.minimum()),
        MoneySum::CombinedMore => Some(asking.world.delta?.combined.difference),
        MoneySum::BecameKnown => Some(asking.world.delta?.combined.became_known),
        MoneySum::RentedMore => Some(asking.world.delta?.rented.difference),
        MoneySum::RequestedMore => Some(asking.world.delta?.requested.difference),
        MoneySum::RentedBefore => Some(asking.world.delta?.rented.before.minimum()),
        MoneySum::RequestedBefore => Some(asking.world.delta?.requested.before.minimum()),
    }
}

/// Returns the hours of the current month.
pub(in crate::rules) fn hours_of(today: Date) -> f64 {
    let (year, month, _) = civil_from_days(today.unix_days());
    days_in_month(year, month) as f64 * 24.0
}

/// Returns the billed part of this month, the same rate until yesterday, and the expected cost of the other days.
fn this_month(asking: &FactContext<'_>, id: u32) -> Option<MoneyRange> {
    let (resource, month) = (asking.world.inventory.resources.get(id as usize)?, asking.item(id)?.listed().monthly?);
    let today = asking.world.today?;
    let (year, month_of_year, day) = civil_from_days(today.unix_days());
    let (days, elapsed) = (days_in_month(year, month_of_year) as f64, (day - 1) as f64);
    let expected = |days: f64| month.times(days * 24.0 / HOURS_PER_MONTH);
    let Some(paid) = resource.number(Key::PaidSoFar).map(Money::from_usd) else { return Some(expected(days)) };
    match resource.number(Key::PaidDays).filter(|billed| *billed > 0.0) {
        Some(billed) => {
            let known = elapsed.max(billed);
            Some(MoneyRange::exactly(paid.times(known / billed)) + expected((days - known).max(0.0)))
        }
        // The last day of the bill is unknown; it is yesterday at the latest. The expected cost of a whole month is
        // the minimum.
        None => {
            let (rest, whole) = (expected(days - elapsed), expected(days));
            Some(MoneyRange {
                floor: paid + rest.floor,
                expected: (paid + rest.expected).max(whole.expected),
                ceiling: paid + whole.ceiling,
            })
        }
    }
}

fn measured(asking: &FactContext<'_>, id: u32) -> Option<MoneyRange> {
    let resource = asking.world.inventory.resources.get(id as usize)?;
    Some(MoneyRange::exactly(measured_month(resource, asking.item(id)?)?))
}

/// Returns the cost of the machines of an alternative that do the current work.
fn instead(asking: &FactContext<'_>, id: u32, which: FitAlternative) -> Option<MoneyRange> {
    let choice = asking.world.fit.get(id as usize)?.value()?.placed.value()?.instead.get(&which)?;
    let node = WholeNode::of(asking, id, choice);
    Some(Replacement::of(asking, id, which)?.cost(asking.item(id)?, &node, asking.needed.get()))
}

fn status(item: Option<&BillItem>) -> &'static str {
    match item.map(|item| &item.status) {
        Some(Status::Priced) => "priced",
        Some(Status::Estimated(_)) => "estimated",
        Some(Status::Unpriced(_)) => "unpriced",
        Some(Status::Unasked) | None => "unasked",
    }
}
