//! Writes a comparison as JSON.

use serde::Serialize;

use super::{Difference, ReviewCommit, of_month};
use crate::pricing::{FactChange, ResourceCostChange};
use crate::report::Team;
use crate::report::formats::json;
use crate::report::formats::json::{WireBounds, WireFinding, finding};
use crate::report::views::coverage::{self, Coverage};
use crate::report::views::judged::{self, NotJudged};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    base: &'a str,
    /// The address of the files of the later state.
    url: Option<&'a str>,
    notes: &'a [String],
    cost: Cost,
    changes: Vec<Changed<'a>>,
    /// The commit of the later state.
    runs: Vec<json::WireRun<'a>>,
    teams: Vec<Paying<'a>>,
    budgets: Vec<json::WireBudget<'a>>,
    new: Vec<WireFinding<'a>>,
    grown: Vec<WireFinding<'a>>,
    unchanged: Vec<WireFinding<'a>>,
    fixed: Vec<WireFinding<'a>>,
    accepted: Vec<WireFinding<'a>>,
    undetermined: Vec<json::UnknownEntry<'a>>,
    unpriced: Vec<json::WireUnknownMachine<'a>>,
    unknown_machines: Vec<json::WireUnknownMachine<'a>>,
    assumed: Vec<json::WireUnknownMachine<'a>>,
    skipped: Vec<json::WireSkipped<'a>>,
    catalog: json::CatalogAge<'a>,
    blocked: bool,
    decided_by: &'a str,
    /// `fail`, `not judged` or `pass`.
    verdict: &'static str,
    not_judged: Vec<NotJudged<'a>>,
    coverage: Coverage<'a>,
}

#[derive(Serialize)]
struct Paying<'a> {
    team: Option<&'a str>,
    before: json::WireAmountSum,
    after: json::WireAmountSum,
}

#[derive(Serialize)]
struct Differs<'a> {
    what: &'a str,
    before: &'a str,
    after: &'a str,
}

#[derive(Serialize)]
struct Cost {
    rented: json::WireSumChange,
    requested: json::WireSumChange,
    combined: json::WireSumChange,
    attached: json::WireSumChange,
    unpriced_before: usize,
    unpriced_after: usize,
    /// The part of `requested` after the change for pods that name no accelerator.
    unnamed_after: json::Unnamed,
}

#[derive(Serialize)]
struct Changed<'a> {
    change: &'static str,
    address: &'a str,
    /// The earlier address, if it differs.
    address_before: Option<&'a str>,
    run: Option<&'a str>,
    kind: &'a str,
    role: &'static str,
    path: String,
    line: usize,
    usd_per_month_before: Option<WireBounds>,
    usd_per_month_after: Option<WireBounds>,
    cost_before: Option<Amount>,
    cost_after: Option<Amount>,
    details: Vec<Differs<'a>>,
    /// The resource after the change, or before it if it was removed.
    resource: Option<json::WireResource<'a>>,
    /// True if the cost was known before and is unknown now. This is not a saving.
    lost: bool,
    /// Which states know the cost: `both`, `after`, `before` or `neither`. Only `both` has a difference.
    known: &'static str,
}

/// A cost and its period: month, run or hour.
#[derive(Serialize)]
struct Amount {
    per: &'static str,
    usd: WireBounds,
    /// True if the price is an estimate.
    estimated: bool,
}

impl From<super::Cost> for Amount {
    fn from(cost: super::Cost) -> Amount {
        Amount { per: cost.per.name(), usd: cost.range.into(), estimated: cost.is_estimated }
    }
}

pub(in crate::report) fn difference(it: &Difference) -> String {
    json::print(&Document {
        version: json::VERSION,
        base: &it.base,
        url: it.head.as_ref().map(ReviewCommit::url),
        notes: &it.notes,
        cost: Cost {
            rented: (&it.delta.rented).into(),
            requested: (&it.delta.requested).into(),
            combined: json::WireSumChange::without_parts(&it.delta.combined),
            attached: (&it.delta.attached).into(),
            unpriced_before: it.before.bill.unpriced(),
            unpriced_after: it.after.bill.unpriced(),
            unnamed_after: json::Unnamed::new(it.after.bill),
        },
        changes: it.delta.visible().filter_map(|change| changed(it, change)).collect(),
        runs: json::runs(&it.after),
        teams: it.teams.iter().map(paying).collect(),
        budgets: it.budgets.iter().map(json::WireBudget::new).collect(),
        new: it.new.iter().map(|decided| finding(&it.after, decided)).collect(),
        grown: it.grown.iter().map(|decided| finding(&it.after, decided)).collect(),
        unchanged: it.unchanged.iter().map(|decided| finding(&it.after, decided)).collect(),
        fixed: it.fixed.iter().map(|decided| finding(&it.before, decided)).collect(),
        accepted: it.accepted.iter().map(|decided| finding(&it.after, decided)).collect(),
        undetermined: it.after.undetermined.iter().map(|unknown| json::undetermined(&it.after, unknown)).collect(),
        unpriced: json::unpriced(&it.after),
        unknown_machines: json::unknown_machines(&it.after),
        assumed: json::assumed(&it.after),
        skipped: json::skipped(&it.after),
        catalog: json::catalog(&it.after),
        blocked: it.gate.blocked,
        decided_by: &it.gate.setting,
        verdict: it.after.verdict.name(),
        not_judged: judged::wire(&it.after),
        coverage: coverage::wire(&it.after),
    })
}

fn paying(team: &Team) -> Paying<'_> {
    Paying { team: team.name.as_deref(), before: (&team.before).into(), after: (&team.after).into() }
}

fn changed<'a>(it: &'a Difference, change: &'a ResourceCostChange) -> Option<Changed<'a>> {
    let (before, after) = it.costs(change);
    let earlier = it.before.resource(change.before);
    let (report, id) = match change.after {
        Some(id) => (&it.after, id),
        None => (&it.before, change.before?),
    };
    let resource = report.resource(Some(id))?;
    let place = report.paths.locate(report.sources, resource.span);
    Some(Changed {
        change: change.kind.name(),
        address: &resource.address,
        address_before: earlier.map(|it| it.address.as_str()).filter(|address| *address != resource.address),
        run: resource.run.as_ref().map(crate::inventory::RunId::as_str),
        kind: &resource.kind,
        role: resource.role.name(),
        path: place.path,
        line: place.line,
        usd_per_month_before: of_month(before).map(Into::into),
        usd_per_month_after: of_month(after).map(Into::into),
        cost_before: before.map(Into::into),
        cost_after: after.map(Into::into),
        details: change.details.iter().map(differs).collect(),
        resource: json::resource(report, id),
        lost: change.is_lost(),
        known: change.known.name(),
    })
}

fn differs(detail: &FactChange) -> Differs<'_> {
    Differs { what: &detail.what, before: &detail.before, after: &detail.after }
}
