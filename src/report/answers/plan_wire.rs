//! Writes a purchase plan for programs: JSON and CSV, always in dollars.

use serde::Serialize;

use super::plan_words::{PlanSummary, PlannedPurchases, always, answer, steps};
use crate::catalog::Currency;
use crate::pricing::{Bound, PurchaseGroup, PurchaseLine, PurchasePlan, Shrunk, Unplanned};
use crate::report::formats::json;
use crate::report::formats::json::{WireNumber, WireOffer};
use crate::report::views::table::{Cell, ConstColumns, columns, csv};

#[derive(Serialize)]
pub(super) struct PlanDocument<'a> {
    version: u32,
    answer: String,
    /// The longest requested commitment.
    most_years: u8,
    usd_per_month: Monthly,
    groups: Vec<WireGroup<'a>>,
    not_planned: Vec<NotPlanned<'a>>,
}

#[derive(Serialize)]
struct Monthly {
    saves: WireNumber,
    if_a_quarter_goes: WireNumber,
    if_half_goes: WireNumber,
}

#[derive(Serialize)]
struct WireGroup<'a> {
    provider: &'a str,
    region: &'a str,
    accelerator: &'a str,
    accelerators_always: WireNumber,
    accelerators_committed: WireNumber,
    left_of_commitments: WireNumber,
    machines: Vec<WireLine<'a>>,
}

#[derive(Serialize)]
struct WireLine<'a> {
    machine: &'a str,
    accelerators: WireNumber,
    always: WireNumber,
    base: WireNumber,
    committed_already: WireNumber,
    used_first: WireNumber,
    spare_places: WireNumber,
    on_spot: WireNumber,
    for_spot: WireNumber,
    on_demand: WireNumber,
    booked: WireNumber,
    most: Option<WireNumber>,
    of_unknown_hours: usize,
    usd_per_hour: WireOffer,
    commit: Option<Commit>,
    otherwise: Vec<Commit>,
    reasons: Vec<Reason<'a>>,
    stale: Option<&'a str>,
    estimate: Option<&'a str>,
}

#[derive(Serialize)]
struct Reason<'a> {
    why: &'a str,
    always: WireNumber,
}

#[derive(Serialize)]
struct Commit {
    term: &'static str,
    machines: WireNumber,
    usd_per_hour: WireNumber,
    on_demand_usd_per_hour: WireNumber,
    surely_running: WireNumber,
    saves_usd_per_month: WireNumber,
    break_even: WireNumber,
    if_a_quarter_goes: Gone,
    if_half_goes: Gone,
    how: Vec<String>,
}

#[derive(Serialize)]
struct Gone {
    running: WireNumber,
    unused_usd_per_month: WireNumber,
    saved_usd_per_month: WireNumber,
    net_usd_per_month: WireNumber,
}

#[derive(Serialize)]
struct NotPlanned<'a> {
    address: &'a str,
    from: Option<&'a str>,
    why: &'a str,
}

pub(super) fn document<'a>(planned: &PlannedPurchases<'a>) -> PlanDocument<'a> {
    let plan = planned.plan;
    let sum = PlanSummary::of(plan.groups.iter().flat_map(|group| &group.lines));
    PlanDocument {
        version: json::VERSION,
        answer: answer(planned),
        most_years: plan.most_years,
        usd_per_month: Monthly {
            saves: sum.saves.into(),
            if_a_quarter_goes: sum.quarter.into(),
            if_half_goes: sum.half.into(),
        },
        groups: plan.groups.iter().map(group).collect(),
        not_planned: plan.unplanned.iter().map(not_planned).collect(),
    }
}

fn group(it: &PurchaseGroup) -> WireGroup<'_> {
    WireGroup {
        provider: &it.provider,
        region: &it.region,
        accelerator: &it.accelerator,
        accelerators_always: WireNumber(always(it)),
        accelerators_committed: WireNumber(PlanSummary::of(it.lines.iter()).accelerators),
        left_of_commitments: WireNumber(it.left_of_commitments),
        machines: it.lines.iter().map(line).collect(),
    }
}

fn line(it: &PurchaseLine) -> WireLine<'_> {
    let bound = |bound: &Bound| commit(it, bound);
    WireLine {
        machine: &it.machine,
        accelerators: WireNumber(it.accelerators),
        always: WireNumber(it.always),
        base: WireNumber(it.base()),
        committed_already: to_millionths(it.committed),
        used_first: WireNumber(it.used_first),
        spare_places: WireNumber(it.spare_places),
        on_spot: to_millionths(it.on_spot),
        for_spot: to_millionths(it.for_spot),
        on_demand: to_millionths(it.on_demand),
        booked: to_millionths(it.booked),
        most: it.most.map(WireNumber),
        of_unknown_hours: it.of_unknown_hours,
        usd_per_hour: it.offered.into(),
        commit: it.bound.as_ref().map(bound),
        otherwise: it.otherwise.iter().map(bound).collect(),
        reasons: it.reasons.iter().map(|(why, always)| Reason { why, always: WireNumber(*always) }).collect(),
        stale: it.stale.as_deref(),
        estimate: it.estimate.as_deref(),
    }
}

fn commit(line: &PurchaseLine, it: &Bound) -> Commit {
    Commit {
        term: it.term.name(),
        machines: WireNumber(it.machines),
        usd_per_hour: it.per_hour.into(),
        on_demand_usd_per_hour: it.on_demand.into(),
        surely_running: to_millionths(it.running),
        saves_usd_per_month: it.saves.into(),
        break_even: to_millionths(it.break_even),
        if_a_quarter_goes: gone(&it.quarter),
        if_half_goes: gone(&it.half),
        how: steps(line, it, &Currency::USD),
    }
}

fn gone(it: &Shrunk) -> Gone {
    Gone {
        running: to_millionths(it.running),
        unused_usd_per_month: it.unused.into(),
        saved_usd_per_month: it.saved.into(),
        net_usd_per_month: it.net().into(),
    }
}

fn not_planned(it: &Unplanned) -> NotPlanned<'_> {
    let from = Some(it.from.as_str()).filter(|from| !from.is_empty());
    NotPlanned { address: &it.address, from, why: &it.why }
}

fn to_millionths(number: f64) -> WireNumber {
    WireNumber((number * 1e6).round() / 1e6)
}

/// A machine type with its group.
type PlanRow<'a> = (&'a PurchaseGroup, &'a PurchaseLine);

const COLUMNS: &ConstColumns<dyn Fn(&PlanRow<'_>) -> Cell> = &columns![
    "provider" => |(group, _)| &group.provider,
    "region" => |(group, _)| &group.region,
    "accelerator" => |(group, _)| &group.accelerator,
    "machine" => |(_, line)| &line.machine,
    "accelerators" => |(_, line)| to_millionths(line.accelerators).0,
    "always" => |(_, line)| to_millionths(line.always).0,
    "base" => |(_, line)| to_millionths(line.base()).0,
    "committed_already" => |(_, line)| to_millionths(line.committed).0,
    "used_first" => |(_, line)| to_millionths(line.used_first).0,
    "commit" => |(_, line)| line.bound.as_ref().map_or(0.0, |it| to_millionths(it.machines).0),
    "term" => |(_, line)| line.bound.as_ref().map(|it| it.term.name()),
    "usd_per_hour" => |(_, line)| line.bound.as_ref().map(|it| it.per_hour),
    "on_demand_usd_per_hour" => |(_, line)| line.offered.on_demand,
    "saves_usd_per_month" => |(_, line)| line.bound.as_ref().map(|it| it.saves),
    "break_even" => |(_, line)| line.bound.as_ref().map(|it| to_millionths(it.break_even).0),
    "if_a_quarter_goes_usd_per_month" => |(_, line)| line.bound.as_ref().map(|it| it.quarter.net()),
    "if_half_goes_usd_per_month" => |(_, line)| line.bound.as_ref().map(|it| it.half.net()),
    "on_spot" => |(_, line)| to_millionths(line.on_spot).0,
    "for_spot" => |(_, line)| to_millionths(line.for_spot).0,
    "on_demand" => |(_, line)| to_millionths(line.on_demand).0,
    "most" => |(_, line)| line.most.map(|it| to_millionths(it).0),
    "stale" => |(_, line)| line.stale.is_some(),
    "estimate" => |(_, line)| line.estimate.is_some(),
];

/// Returns one CSV line for each machine type.
pub(super) fn rows(plan: &PurchasePlan) -> String {
    csv(COLUMNS, plan.groups.iter().flat_map(|group| group.lines.iter().map(move |line| (group, line))))
}
