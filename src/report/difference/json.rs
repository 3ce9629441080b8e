//! Writes a comparison as JSON.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Difference, of_month};
use crate::pricing::{FactChange, ResourceCostChange};
use crate::report::Team;
use crate::report::formats::json;
use crate::report::formats::json::{WireBounds, WireFinding, finding};
use crate::report::views::coverage::{self, Coverage};
use crate::report::views::judged::{self, NotJudged};

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct DifferenceDocument<'a> {
    version: u32,
    pub base: Cow<'a, str>,
    /// The address of the files of the later state.
    pub url: Option<Cow<'a, str>>,
    #[serde(default)]
    pub notes: Cow<'a, [String]>,
    #[serde(default)]
    pub removed_limits: Cow<'a, [String]>,
    /// Changed files that no reader opened. They do not decide the verdict.
    #[serde(default)]
    pub changed_not_read: Cow<'a, [String]>,
    pub cost: WireCost,
    pub changes: Vec<WireChange<'a>>,
    /// The commit of the later state.
    #[serde(default)]
    pub runs: Vec<json::WireRun<'a>>,
    #[serde(default)]
    pub teams: Vec<WireTeam<'a>>,
    #[serde(default)]
    pub budgets: Vec<json::WireBudget<'a>>,
    pub new: Vec<WireFinding<'a>>,
    #[serde(default)]
    pub grown: Vec<WireFinding<'a>>,
    pub unchanged: Vec<WireFinding<'a>>,
    pub fixed: Vec<WireFinding<'a>>,
    #[serde(default)]
    pub accepted: Vec<WireFinding<'a>>,
    #[serde(default)]
    pub undetermined: Vec<json::UnknownEntry<'a>>,
    #[serde(default)]
    pub unpriced: Vec<json::WireUnknownMachine<'a>>,
    #[serde(default)]
    pub unknown_machines: Vec<json::WireUnknownMachine<'a>>,
    #[serde(default)]
    pub assumed: Vec<json::WireUnknownMachine<'a>>,
    #[serde(default)]
    pub skipped: Vec<json::WireSkipped<'a>>,
    pub catalog: Option<json::CatalogAge<'a>>,
    pub blocked: bool,
    pub decided_by: Cow<'a, str>,
    /// `fail`, `not judged` or `pass`.
    #[serde(default)]
    pub verdict: Cow<'static, str>,
    #[serde(default)]
    pub not_judged: Vec<NotJudged<'a>>,
    #[serde(skip_deserializing)]
    coverage: Coverage<'a>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireTeam<'a> {
    pub team: Option<Cow<'a, str>>,
    pub before: json::WireAmountSum,
    pub after: json::WireAmountSum,
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireDetail<'a> {
    pub what: Cow<'a, str>,
    pub before: Cow<'a, str>,
    pub after: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireCost {
    pub rented: json::WireSumChange,
    pub requested: json::WireSumChange,
    pub combined: Option<json::WireSumChange>,
    pub attached: Option<json::WireSumChange>,
    pub unpriced_before: usize,
    pub unpriced_after: usize,
    /// The part of `requested` after the change for pods that name no accelerator.
    pub unnamed_after: Option<json::Unnamed>,
    /// The most that a month can cost, before and after the change.
    pub worst_month_before: Option<json::WireWorst>,
    pub worst_month_after: Option<json::WireWorst>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireChange<'a> {
    pub change: Cow<'static, str>,
    pub address: Cow<'a, str>,
    /// The earlier address, if it differs.
    pub address_before: Option<Cow<'a, str>>,
    pub run: Option<Cow<'a, str>>,
    pub kind: Cow<'a, str>,
    pub role: Cow<'static, str>,
    pub path: String,
    pub line: usize,
    pub usd_per_month_before: Option<WireBounds>,
    pub usd_per_month_after: Option<WireBounds>,
    pub cost_before: Option<WireAmount>,
    pub cost_after: Option<WireAmount>,
    #[serde(default)]
    pub details: Vec<WireDetail<'a>>,
    /// The resource after the change, or before it if it was removed.
    pub resource: Option<json::WireResource<'a>>,
    /// True if the cost was known before and is unknown now. This is not a saving.
    #[serde(default)]
    pub lost: bool,
    /// Which states know the cost: `both`, `after`, `before` or `neither`. Only `both` has a difference.
    pub known: Option<Cow<'static, str>>,
}

/// A cost and its period: month, run or hour.
#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireAmount {
    pub per: Cow<'static, str>,
    pub usd: WireBounds,
    /// True if the price is an estimate.
    #[serde(default)]
    pub estimated: bool,
}

impl From<super::Cost> for WireAmount {
    fn from(cost: super::Cost) -> WireAmount {
        WireAmount { per: cost.per.name().into(), usd: cost.range.into(), estimated: cost.is_estimated }
    }
}

pub(in crate::report) fn difference(it: &Difference) -> String {
    json::print(&DifferenceDocument {
        version: json::VERSION,
        base: Cow::Borrowed(&it.base),
        url: it.head.as_ref().map(|it| it.url().into()),
        notes: Cow::Borrowed(&it.notes),
        removed_limits: Cow::Borrowed(&it.removed_limits),
        changed_not_read: Cow::Borrowed(&it.not_read),
        cost: WireCost {
            rented: (&it.delta.rented).into(),
            requested: (&it.delta.requested).into(),
            combined: Some(json::WireSumChange::without_parts(&it.delta.combined)),
            attached: Some((&it.delta.attached).into()),
            unpriced_before: it.before.bill.unpriced(),
            unpriced_after: it.after.bill.unpriced(),
            unnamed_after: Some(json::Unnamed::new(it.after.bill)),
            worst_month_before: it.before.bill.worst.as_ref().map(Into::into),
            worst_month_after: it.after.bill.worst.as_ref().map(Into::into),
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
        catalog: Some(json::catalog(&it.after)),
        blocked: it.gate.blocked,
        decided_by: Cow::Borrowed(&it.gate.setting),
        verdict: it.after.verdict.name().into(),
        not_judged: judged::wire(&it.after),
        coverage: coverage::wire(&it.after),
    })
}

fn paying(team: &Team) -> WireTeam<'_> {
    WireTeam { team: team.name.as_deref().map(Into::into), before: (&team.before).into(), after: (&team.after).into() }
}

fn changed<'a>(it: &'a Difference, change: &'a ResourceCostChange) -> Option<WireChange<'a>> {
    let (before, after) = it.costs(change);
    let earlier = it.before.resource(change.before);
    let (report, id) = match change.after {
        Some(id) => (&it.after, id),
        None => (&it.before, change.before?),
    };
    let resource = report.resource(Some(id))?;
    let place = report.paths.locate(report.sources, resource.span);
    Some(WireChange {
        change: change.kind.name().into(),
        address: Cow::Borrowed(&resource.address),
        address_before: earlier.map(|it| it.address.as_str()).filter(|it| *it != resource.address).map(Into::into),
        run: resource.run.as_ref().map(|run| run.as_str().into()),
        kind: Cow::Borrowed(&resource.kind),
        role: resource.role.name().into(),
        path: place.path,
        line: place.line,
        usd_per_month_before: of_month(before).map(Into::into),
        usd_per_month_after: of_month(after).map(Into::into),
        cost_before: before.map(Into::into),
        cost_after: after.map(Into::into),
        details: change.details.iter().map(differs).collect(),
        resource: json::resource(report, id),
        lost: change.is_lost(),
        known: Some(change.known.name().into()),
    })
}

fn differs(detail: &FactChange) -> WireDetail<'_> {
    WireDetail {
        what: Cow::Borrowed(&detail.what),
        before: Cow::Borrowed(&detail.before),
        after: Cow::Borrowed(&detail.after),
    }
}
