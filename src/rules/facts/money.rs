//! What things cost, now and otherwise.

use std::sync::LazyLock;

use super::change::{self, CHANGED};
use super::table::{Records, rows};
use super::{End, FactContext, kinds, unknown_price, unknown_sum};
use crate::catalog::{Money, MoneyRange};
use crate::fit::Alternative;
use crate::inventory::{Key, Orphaned};
use crate::languages::cel::{CelValue, Type};
use crate::pricing::{BillItem, HOURS_PER_MONTH, Period, Scenario, Status, measured_month};
use crate::source::{Date, civil_from_days, days_in_month};

pub(super) static MONEY: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "money",
        kinds::MONEY,
        Some("expected"),
        rows! {
            floor: Type::Double, "Dollars, at least, at the prices of the catalog; in `saves`, where prices are old, less in its turn." => |asking, id| {
                amount(asking, id, asking.end.get() == End::Floor, |it| it.floor)
            };
            expected: Type::Double, "Dollars, as the text sets it; in `saves`, each end in turn." => |asking, id| match asking.end.get() {
                End::Floor => amount(asking, id, true, |it| it.floor),
                End::Expected => amount(asking, id, false, |it| it.expected),
                End::Ceiling => amount(asking, id, true, |it| it.ceiling),
            };
            ceiling: Type::Double, "Dollars, at most, at the prices of the catalog; in `saves`, where prices are old, more in its turn." => |asking, id| {
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
            on_demand: MONEY.holds(), "On demand." => |asking, id| money(asking, id, Sum::OnDemand);
            spot: MONEY.holds(), "On spot." => |asking, id| money(asking, id, Sum::Spot);
            reserved_1y: MONEY.holds(), "Reserved for a year." => |asking, id| money(asking, id, Sum::Reserved1y);
            reserved_3y: MONEY.holds(), "Reserved for three years." => |asking, id| money(asking, id, Sum::Reserved3y);
        },
    )
});

static COST_SCENARIOS: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "cost_scenarios",
        kinds::COST_SCENARIOS,
        None,
        rows! {
            on_demand: MONEY.holds(), "On demand." => |asking, id| money(asking, id, Sum::CostOnDemand);
            spot: MONEY.holds(), "On spot." => |asking, id| money(asking, id, Sum::CostSpot);
            reserved_1y: MONEY.holds(), "Reserved for a year." => |asking, id| money(asking, id, Sum::CostReserved1y);
            reserved_3y: MONEY.holds(), "Reserved for three years." => |asking, id| money(asking, id, Sum::CostReserved3y);
        },
    )
});

pub(super) static BILL: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "bill",
        kinds::BILL,
        None,
        rows! {
            cost: MONEY.holds(), "All of them, for as long as `bill.per` says." => |asking, id| money(asking, id, Sum::Cost);
            per: Type::Text, "What `bill.cost` and `saves` are for: month; run, of what runs and ends; hour, where nobody knows how long it runs." => |asking, id| CelValue::text(asking.item(id).map_or(Period::Month, |it| it.per).name());
            most: Type::Double, "The most that it costs in a month: one run of what ends, or all hours where nobody knows how long it runs." => |asking, id| most(asking.item(id));
            cost_if: COST_SCENARIOS.holds(), "As `bill.cost`, bought in another way." => |_, id| COST_SCENARIOS.value(id);
            monthly: MONEY.holds(), "All of them for a month; not known of what runs and ends." => |asking, id| money(asking, id, Sum::Monthly);
            in_sum: MONEY.holds(), "Its part of a month of everything, in which each dollar counts once: of a pod what no machine of the tree pays. Not known of what no sum counts." => |asking, id| money(asking, id, Sum::Share);
            hourly: MONEY.holds(), "One of them for an hour, as it is bought, after what the vendor takes off by itself for a long month." => |asking, id| money(asking, id, Sum::Hourly);
            list_hourly: MONEY.holds(), "The same for a few hours, of which nothing is taken off." => |asking, id| money(asking, id, Sum::ListHourly);
            measured: MONEY.holds(), "What a month of the accelerator hours costs that were measured; not known without a measurement." => |asking, id| money(asking, id, Sum::Measured);
            this_month: MONEY.holds(), "What was paid of the month of today, as much a day for the days until yesterday that are not billed yet, and what is expected from today on; all of the month where nothing was billed of it." => |asking, id| money(asking, id, Sum::ThisMonth);
            monthly_if: SCENARIOS.holds(), "A month, bought in another way." => |_, id| SCENARIOS.value(id);
            break_even: Type::Double, "The share of all hours for which it must run so that a commitment for a year is worth it." => |asking, id| break_even(asking.item(id));
            status: Type::Text, "priced, estimated, unpriced or unasked." => |asking, id| CelValue::text(status(asking.item(id)));
            reason: Type::Text, "Why it has no price, where it has none." => |asking, id| match asking.item(id).map(|item| &item.status) {
                Some(Status::Unpriced(why)) => CelValue::text(why.as_str()),
                _ => CelValue::Absent,
            };
            disks: MONEY.holds(), "Disks of all of them for a month, billed beside them." => |asking, id| money(asking, id, Sum::Disks);
            stranded: Type::Double, "Accelerators that nobody can use beside one pod, for want of CPUs or memory." => |asking, id| match asking.item(id) {
                Some(item) => CelValue::Double(item.stranded),
                None => CelValue::Absent,
            };
            will_not_start: Type::Text, "Why nothing runs: spot costs more than the text pays." => |asking, id| match asking.item(id).and_then(|item| item.will_not_start.as_deref()) {
                Some(why) => CelValue::text(why),
                None => CelValue::Absent,
            };
            stale: Type::Flag, "The price is older than prices of its kind may be." => |asking, id| match asking.item(id) {
                Some(item) => CelValue::Flag(item.stale.is_some()),
                None => CelValue::Absent,
            };
            hours_per_month: Type::Double, "Hours of a month that are billed; not known of what runs and ends." => |asking, id| match asking.item(id) {
                Some(item) if item.per == Period::Month => CelValue::Double(item.hours),
                Some(_) => unknown_price("nothing says how often it runs, or how long"),
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
            rented: MONEY.holds(), "All machines for a month, as far as that is known." => |asking, id| money(asking, id, Sum::Rented);
            requested: MONEY.holds(), "All that pods ask for, for a month; a part of the machines." => |asking, id| money(asking, id, Sum::Requested);
            combined: MONEY.holds(), "Both together for a month, with each dollar counted once: pods that run on machines of the tree are a part of these." => |asking, id| money(asking, id, Sum::Combined);
            disks: MONEY.holds(), "Disks of all machines for a month, billed beside them." => |asking, id| money(asking, id, Sum::AllDisks);
            stale: Type::Integer, "Resources whose price is older than prices of its kind may be." => |asking, _| CelValue::Integer(asking.world.bill.stale as i64);
            orphaned: Type::Double, "Dollars of the last month of the bill for machines that stand nowhere here, of providers that `paid.complete` names." => |asking, _| orphaned(asking, |it| CelValue::Double(it.usd));
            orphans: Type::Integer, "How many of them there are." => |asking, _| orphaned(asking, |it| CelValue::Integer(it.things as i64));
            orphans_named: Type::Text, "The dearest of them." => |asking, _| orphaned(asking, |it| CelValue::text(&*it.named));
            orphans_month: Type::Text, "That month." => |asking, _| orphaned(asking, |it| CelValue::text(&*it.month));
            unpriced: Type::Integer, "Resources without a price." => |asking, _| CelValue::Integer(asking.world.bill.unpriced() as i64);
        },
    )
});

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
            rented: MONEY.holds(), "What machines cost more, for a month; less than 0 where they cost less." => |asking, id| money(asking, id, Sum::RentedMore);
            requested: MONEY.holds(), "What pods ask for more, for a month." => |asking, id| money(asking, id, Sum::RequestedMore);
            combined: MONEY.holds(), "What both cost more together, for a month, with each dollar counted once." => |asking, id| money(asking, id, Sum::CombinedMore);
            became_known: MONEY.holds(), "What is known now of both together and was not before the change, for a month: whether it is more, nothing says." => |asking, id| money(asking, id, Sum::BecameKnown);
            rented_before: MONEY.holds(), "All machines before the change, for a month." => |asking, id| money(asking, id, Sum::RentedBefore);
            accelerators: Type::Double, "Accelerators that are more than before, each counted once: of machines, and of pods that run on none of the tree." => |asking, _| change::all_accelerators(asking);
            resources: Type::list(CHANGED.holds()), "What came, went, moved or became something else." => |asking, _| change::resources(asking);
            requested_before: MONEY.holds(), "All that pods asked for before the change, for a month." => |asking, id| money(asking, id, Sum::RequestedBefore);
        },
    )
});

pub(super) fn all() -> [&'static Records; 6] {
    [&MONEY, &SCENARIOS, &COST_SCENARIOS, &BILL, &TOTAL, &DELTA]
}

/// A sum of money that pages can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sum {
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
    Instead(Alternative),
    Saves,
    Disks,
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

impl Sum {
    /// What machines cost, and not their disks or everything together.
    fn is_of_machines(self) -> bool {
        !self.is_of_all() && !matches!(self, Sum::Saves | Sum::Disks | Sum::AllDisks)
    }

    /// What everything costs together.
    fn is_of_all(self) -> bool {
        use Sum::{
            Combined, CombinedMore, Rented, RentedBefore, RentedMore, Requested, RequestedBefore, RequestedMore,
        };
        matches!(self, Rented | RentedMore | RentedBefore | Requested | RequestedMore | RequestedBefore)
            || matches!(self, Combined | CombinedMore | Sum::BecameKnown)
    }
}

const SUMS: [Sum; 34] = [
    Sum::Cost,
    Sum::CostOnDemand,
    Sum::CostSpot,
    Sum::CostReserved1y,
    Sum::CostReserved3y,
    Sum::Monthly,
    Sum::Share,
    Sum::Hourly,
    Sum::ListHourly,
    Sum::Measured,
    Sum::ThisMonth,
    Sum::OnDemand,
    Sum::Spot,
    Sum::Reserved1y,
    Sum::Reserved3y,
    Sum::Instead(Alternative::Smallest),
    Sum::Instead(Alternative::Quantized),
    Sum::Instead(Alternative::Halved),
    Sum::Instead(Alternative::Limited),
    Sum::Instead(Alternative::Larger),
    Sum::Instead(Alternative::Narrower),
    Sum::Instead(Alternative::PerToken),
    Sum::Saves,
    Sum::Disks,
    Sum::AllDisks,
    Sum::Rented,
    Sum::Requested,
    Sum::Combined,
    Sum::RentedMore,
    Sum::RequestedMore,
    Sum::CombinedMore,
    Sum::RentedBefore,
    Sum::RequestedBefore,
    Sum::BecameKnown,
];

/// A sum as a record: its number is that of the resource and of the sum.
pub(super) fn money(asking: &FactContext<'_>, id: u32, sum: Sum) -> CelValue {
    if matches!(sum, Sum::CostSpot | Sum::Spot) {
        asking.asked_spot.set(true);
    }
    if sum == Sum::Measured {
        asking.asked_measured.set(true);
    }
    if sum.is_of_machines() {
        asking.asked_machines.set(true);
    }
    if sum == Sum::ThisMonth {
        asking.asked_this_month.set(true);
    }
    if range(asking, id, sum, false).is_some() {
        let place = SUMS.iter().position(|it| *it == sum).unwrap_or(0);
        return MONEY.value(id * SUMS.len() as u32 + place as u32);
    }
    let status = asking.item(id).map(|item| &item.status);
    unknown_price(match (sum, status) {
        (Sum::Monthly | Sum::Hourly | Sum::ListHourly, Some(Status::Unpriced(why))) => why,
        (Sum::Share, _) => "no sum counts it",
        (Sum::Measured, _) => "no hours that can be used are measured",
        (Sum::Disks, _) => "no disks are known",
        (Sum::Spot, _) => "no price on spot is known",
        (Sum::Reserved1y | Sum::Reserved3y, _) => "no reserved price is known",
        _ => "no price is known",
    })
}

/// One end of a sum: as the prices of the rows make it, or with what their age does to it.
fn amount(asking: &FactContext<'_>, id: u32, ages: bool, end: fn(&MoneyRange) -> Money) -> CelValue {
    let sums = SUMS.len() as u32;
    let sum = SUMS.get((id % sums) as usize).copied().unwrap_or(Sum::Monthly);
    match range(asking, id / sums, sum, ages) {
        Some(range) => CelValue::Double(end(&range).usd()),
        None => missing(asking, id / sums),
    }
}

/// What ends has no price of a month.
fn missing(asking: &FactContext<'_>, id: u32) -> CelValue {
    let ends = asking.item(id).is_some_and(|item| item.per != Period::Month && item.amount.is_some());
    unknown_price(if ends { "it runs and ends, and nothing says how often" } else { "no price is known" })
}

/// What is committed to for a year over what is paid by the hour.
fn break_even(item: Option<&BillItem>) -> CelValue {
    let price = |way| item.and_then(|item| item.per_hour_if.get(&way)).map(|range| range.expected.usd());
    match (price(Scenario::Reserved1y), price(Scenario::OnDemand)) {
        (Some(year), Some(hour)) if hour > 0.0 => CelValue::Double(year / hour),
        _ => unknown_price("no reserved price is known"),
    }
}

/// The most that may be said of a month.
fn most(item: Option<&BillItem>) -> CelValue {
    let Some((item, amount)) = item.map(BillItem::listed).and_then(|item| Some((item, item.amount?))) else {
        return unknown_price("no price is known");
    };
    let hours = if item.per == Period::Hour { HOURS_PER_MONTH } else { 1.0 };
    CelValue::Double(amount.ceiling.times(hours).usd())
}

fn range(asking: &FactContext<'_>, id: u32, sum: Sum, ages: bool) -> Option<MoneyRange> {
    let item = asking.item(id).map(|it| if ages { it } else { it.listed() });
    let otherwise = |scenario| item.and_then(|it| it.amount_if.get(&scenario).copied());
    let if_bought = |scenario| otherwise(scenario).filter(|_| item.is_some_and(|it| it.per == Period::Month));
    match sum {
        Sum::Cost => item?.amount,
        Sum::CostOnDemand => otherwise(Scenario::OnDemand),
        Sum::CostSpot => otherwise(Scenario::Spot),
        Sum::CostReserved1y => otherwise(Scenario::Reserved1y),
        Sum::CostReserved3y => otherwise(Scenario::Reserved3y),
        Sum::Monthly => item?.monthly,
        // Sums are made of today's prices: what is expected is the same.
        Sum::Share => asking.item(id)?.share,
        Sum::Hourly => item?.hourly(),
        Sum::ListHourly => item?.per_hour,
        Sum::Measured => measured(asking, id),
        Sum::ThisMonth => this_month(asking, id),
        Sum::OnDemand => if_bought(Scenario::OnDemand),
        Sum::Spot => if_bought(Scenario::Spot),
        Sum::Reserved1y => if_bought(Scenario::Reserved1y),
        Sum::Reserved3y => if_bought(Scenario::Reserved3y),
        Sum::Instead(which) => instead(asking, id, which),
        Sum::Saves => asking.saves,
        Sum::Disks => item?.attached.as_ref()?.known(),
        Sum::AllDisks => Some(asking.world.bill.attached.minimum()),
        Sum::Rented => Some(asking.world.bill.rented.minimum()),
        Sum::Requested => Some(asking.world.bill.requested.minimum()),
        Sum::Combined => Some(asking.world.bill.combined.minimum()),
        Sum::CombinedMore => Some(asking.world.delta?.combined.difference),
        Sum::BecameKnown => Some(asking.world.delta?.combined.became_known),
        Sum::RentedMore => Some(asking.world.delta?.rented.difference),
        Sum::RequestedMore => Some(asking.world.delta?.requested.difference),
        Sum::RentedBefore => Some(asking.world.delta?.rented.before.minimum()),
        Sum::RequestedBefore => Some(asking.world.delta?.requested.before.minimum()),
    }
}

/// Hours of the month of today.
pub(in crate::rules) fn hours_of(today: Date) -> f64 {
    let (year, month, _) = civil_from_days(today.unix_days());
    days_in_month(year, month) as f64 * 24.0
}

/// What was billed of this month, as much a day until yesterday, and what the text expects of its other days.
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
        // How far the bill goes is not known: until yesterday at most. The text lets expect a whole month at least.
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

/// Another machine for as many hours, as often.
fn instead(asking: &FactContext<'_>, id: u32, which: Alternative) -> Option<MoneyRange> {
    let resource = asking.world.inventory.resources.get(id as usize)?;
    let item = asking.item(id)?;
    let choice = asking.world.fit.get(id as usize)?.value()?.placed.value()?.instead.get(&which)?;
    let count = item.count_of(resource)?;
    let hours = if item.hours > 0.0 { item.hours } else { HOURS_PER_MONTH };
    let monthly = |count: f64| choice.per_hour.times(hours * if count.is_finite() { count } else { 0.0 });
    Some(MoneyRange { floor: monthly(count.floor), expected: monthly(count.expected), ceiling: monthly(count.ceiling) })
}

fn status(item: Option<&BillItem>) -> &'static str {
    match item.map(|item| &item.status) {
        Some(Status::Priced) => "priced",
        Some(Status::Estimated(_)) => "estimated",
        Some(Status::Unpriced(_)) => "unpriced",
        Some(Status::Unasked) | None => "unasked",
    }
}
