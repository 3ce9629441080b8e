//! Writes the cost over the commits as JSON: `schema/history.json` and `schema/blame.json` describe it.

use serde::Serialize;

use super::moment::moment;
use crate::catalog::MoneyRange;
use crate::report::formats::json::{VERSION, WireAmountSum, WireBounds, WireNumber, print};
use crate::report::views::history::{
    Blame, BlamedCommit, BranchCommit, Commit, CostStep, Holding, PointState, Snapshot, SnapshotUnjudged, StepChange,
};
use crate::report::{CostHistory, PriceSources};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    #[serde(flatten)]
    basis: Basis<'a>,
    points: Vec<WirePoint<'a>>,
    steps: Vec<WireStep<'a>>,
    /// The resources of the newest point.
    resources: Vec<WireHolding<'a>>,
}

#[derive(Serialize)]
struct Basis<'a> {
    since: Option<String>,
    every: &'static str,
    /// The commits in the requested period, evaluated or not.
    commits: usize,
    from_the_first: bool,
    settings: &'a str,
    today: String,
    catalog: WireCatalog<'a>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct WireCatalog<'a> {
    version: &'a str,
    as_of: &'a str,
}

impl<'a> Basis<'a> {
    fn new(history: &'a CostHistory) -> Basis<'a> {
        let PriceSources { version, as_of } = &history.catalog;
        Basis {
            since: history.since.map(|it| it.to_string()),
            every: history.every.name(),
            commits: history.commits,
            from_the_first: history.from_the_first,
            settings: &history.settings_of,
            today: history.today.to_string(),
            catalog: WireCatalog { version, as_of },
            notes: &history.notes,
        }
    }
}

#[derive(Serialize)]
struct WireCommit<'a> {
    commit: &'a str,
    time: String,
    author: &'a str,
    subject: &'a str,
    tags: &'a [String],
    pull_request: Option<WireRequest<'a>>,
}

#[derive(Serialize)]
struct WireRequest<'a> {
    name: &'a str,
    title: Option<&'a str>,
}

/// The commit of a merged branch.
#[derive(Serialize)]
struct WireBranchCommit<'a> {
    commit: &'a str,
    author: &'a str,
    subject: &'a str,
}

fn branch_commit(it: &BranchCommit) -> WireBranchCommit<'_> {
    WireBranchCommit { commit: &it.id, author: &it.author, subject: &it.subject }
}

impl<'a> WireCommit<'a> {
    fn new(it: &'a Commit) -> WireCommit<'a> {
        WireCommit {
            commit: &it.id,
            time: moment(it.time),
            author: &it.author,
            subject: &it.subject,
            tags: &it.tags,
            pull_request: it.request.as_ref().map(|it| WireRequest { name: &it.name, title: it.title.as_deref() }),
        }
    }
}

#[derive(Serialize)]
struct WirePoint<'a> {
    #[serde(flatten)]
    commit: WireCommit<'a>,
    passed_over: usize,
    /// The reason why the cost at this point is unknown.
    gap: Option<&'a str>,
    bill: Option<WireBill<'a>>,
}

#[derive(Serialize)]
struct WireBill<'a> {
    rented: WireAmountSum,
    requested: WireAmountSum,
    combined: WireAmountSum,
    attached: WireAmountSum,
    endings: Vec<WireEnding<'a>>,
    accelerators: WireAccelerators,
    unpriced: usize,
    /// True if the totals are minimums.
    at_least: bool,
    findings: WireFindings<'a>,
    not_judged: WireUnjudged<'a>,
}

#[derive(Serialize)]
struct WireEnding<'a> {
    role: &'static str,
    per: &'a str,
    resources: usize,
    usd: WireBounds,
}

#[derive(Serialize)]
struct WireAccelerators {
    rented: WireNumber,
    requested: WireNumber,
}

#[derive(Serialize)]
struct WireFindings<'a> {
    count: usize,
    saves_usd_per_month: WireBounds,
    rules: Vec<WireRule<'a>>,
}

#[derive(Serialize)]
struct WireRule<'a> {
    rule: &'a str,
    findings: usize,
    saves_usd_per_month: WireBounds,
}

#[derive(Serialize)]
struct WireUnjudged<'a> {
    count: usize,
    /// True if the entries are the same as at the previous point. The list is then empty.
    as_before: bool,
    list: Vec<WireUnjudgedEntry<'a>>,
}

#[derive(Serialize)]
struct WireUnjudgedEntry<'a> {
    path: &'a str,
    address: Option<&'a str>,
    reason: &'a str,
}

fn role(is_rented: bool) -> &'static str {
    if is_rented { "rented" } else { "requested" }
}

fn unjudged<'a>(it: &'a Snapshot, before: Option<&Snapshot>) -> WireUnjudged<'a> {
    let as_before = before.is_some_and(|before| before.not_judged == it.not_judged);
    let entry = |it: &'a SnapshotUnjudged| WireUnjudgedEntry {
        path: &it.path,
        address: it.address.as_deref(),
        reason: &it.reason,
    };
    let list = if as_before { Vec::new() } else { it.not_judged.iter().map(entry).collect() };
    WireUnjudged { count: it.not_judged.len(), as_before, list }
}

fn bill<'a>(it: &'a Snapshot, before: Option<&Snapshot>) -> WireBill<'a> {
    let endings = it.endings.iter().map(|it| WireEnding {
        role: role(it.is_rented),
        per: &it.per,
        resources: it.resources,
        usd: (*it.amount).into(),
    });
    let rules = it.findings.iter().map(|it| WireRule {
        rule: &it.rule,
        findings: it.findings,
        saves_usd_per_month: (*it.saves).into(),
    });
    WireBill {
        rented: WireAmountSum::without_parts(&it.rented()),
        requested: WireAmountSum::without_parts(&it.requested()),
        combined: WireAmountSum::without_parts(&it.combined()),
        attached: WireAmountSum::without_parts(&it.attached()),
        endings: endings.collect(),
        accelerators: WireAccelerators {
            rented: WireNumber(it.accelerators_rented),
            requested: WireNumber(it.accelerators_requested),
        },
        unpriced: it.unpriced,
        at_least: !it.combined().is_whole(),
        findings: WireFindings {
            count: it.finding_count(),
            saves_usd_per_month: (*it.saves).into(),
            rules: rules.collect(),
        },
        not_judged: unjudged(it, before),
    }
}

#[derive(Serialize)]
struct WireStep<'a> {
    /// The commit of the step, or the last one of several possible commits.
    commit: &'a str,
    /// The previous known commit.
    after: Option<&'a str>,
    between: usize,
    rented: WireBounds,
    requested: WireBounds,
    /// The change of the cost that both states know. The other changes are separate.
    combined: WireBounds,
    became_known: WireBounds,
    no_longer_known: WireBounds,
    accelerators: WireNumber,
    changes: Vec<WireChange<'a>>,
}

#[derive(Serialize)]
struct WireChange<'a> {
    kind: &'static str,
    delta_usd_per_month: WireNumber,
    before: Option<WireHolding<'a>>,
    after: Option<WireHolding<'a>>,
    merged: Option<WireBranchCommit<'a>>,
}

#[derive(Serialize)]
struct WireHolding<'a> {
    address: &'a str,
    run: Option<&'a str>,
    kind: &'a str,
    path: &'a str,
    role: &'static str,
    counted: bool,
    within: bool,
    machine: Option<&'a str>,
    accelerator: Option<&'a str>,
    accelerators: Option<WireNumber>,
    count: Option<[WireNumber; 3]>,
    usd_per_month: Option<WireBounds>,
    per: &'a str,
    usd: Option<WireBounds>,
    /// The resource's share of the monthly total, in which each dollar counts once.
    usd_in_sum: Option<WireBounds>,
    unpriced: Option<&'a str>,
}

fn holding(it: &Holding) -> WireHolding<'_> {
    let bounds = |range: MoneyRange| WireBounds::from(range);
    WireHolding {
        address: &it.address,
        run: it.run.as_deref(),
        kind: &it.kind,
        path: &it.path,
        role: role(it.is_rented),
        counted: it.is_added,
        within: it.is_within,
        machine: it.machine.as_deref(),
        accelerator: it.accelerator.as_deref(),
        accelerators: it.accelerators.map(WireNumber),
        count: it.count.map(|it| it.map(WireNumber)),
        usd_per_month: it.monthly.map(|it| bounds(*it)),
        per: &it.per,
        usd: it.amount.map(|it| bounds(*it)),
        usd_in_sum: it.share.map(|it| bounds(*it)),
        unpriced: it.unpriced.as_deref(),
    }
}

fn step<'a>(history: &'a CostHistory, it: &'a CostStep) -> Option<WireStep<'a>> {
    let change = |it: &'a StepChange| WireChange {
        kind: it.kind.word(),
        delta_usd_per_month: it.delta().unwrap_or_default().into(),
        before: it.before.as_ref().map(holding),
        after: it.after.as_ref().map(holding),
        merged: it.by.as_ref().map(branch_commit),
    };
    let id = |place: usize| history.points.get(place).map(|it| it.commit.id.as_str());
    Some(WireStep {
        commit: id(it.to)?,
        after: it.from.and_then(id),
        between: it.between,
        rented: it.rented.difference.into(),
        requested: it.requested.difference.into(),
        combined: it.combined.difference.into(),
        became_known: it.combined.became_known.into(),
        no_longer_known: it.combined.no_longer_known.into(),
        accelerators: WireNumber(it.accelerators),
        changes: it.changes.iter().map(change).collect(),
    })
}

fn points(history: &CostHistory) -> Vec<WirePoint<'_>> {
    let mut before: Option<&Snapshot> = None;
    let mut points = Vec::new();
    for it in &history.points {
        let (gap, bill) = match &it.state {
            PointState::Known(snapshot) => (None, Some(bill(snapshot, before.replace(snapshot)))),
            PointState::Gap(why) => (Some(why.as_str()), None),
        };
        points.push(WirePoint { commit: WireCommit::new(&it.commit), passed_over: it.passed_over, gap, bill });
    }
    points
}

pub(super) fn history(history: &CostHistory) -> String {
    print(&Document {
        version: VERSION,
        basis: Basis::new(history),
        points: points(history),
        steps: history.steps.iter().filter_map(|it| step(history, it)).collect(),
        resources: history.newest().into_iter().flat_map(|(_, it)| it.resources.iter().map(holding)).collect(),
    })
}

#[derive(Serialize)]
struct BlameDocument<'a> {
    version: u32,
    #[serde(flatten)]
    basis: Basis<'a>,
    newest: Option<WireCommit<'a>>,
    resources: Vec<WireBlame<'a>>,
}

#[derive(Serialize)]
struct WireBlame<'a> {
    #[serde(flatten)]
    holding: WireHolding<'a>,
    since: Option<WireBlamed<'a>>,
    added: Option<WireBlamed<'a>>,
}

#[derive(Serialize)]
struct WireBlamed<'a> {
    #[serde(flatten)]
    commit: WireCommit<'a>,
    merged: Option<WireBranchCommit<'a>>,
    between: usize,
    delta_usd_per_month: Option<WireNumber>,
}

fn blamed<'a>(it: Option<BlamedCommit<'a>>) -> Option<WireBlamed<'a>> {
    let BlamedCommit { commit, by, between, delta } = it?;
    Some(WireBlamed {
        commit: WireCommit::new(commit),
        merged: by.map(branch_commit),
        between,
        delta_usd_per_month: delta.map(Into::into),
    })
}

fn resource<'a>(it: &Blame<'a>) -> WireBlame<'a> {
    WireBlame { holding: holding(it.holding), since: blamed(it.since), added: blamed(it.added) }
}

pub(super) fn blame(history: &CostHistory, told: &[Blame<'_>]) -> String {
    let resources: Vec<WireBlame<'_>> = told.iter().map(resource).collect();
    print(&BlameDocument {
        version: VERSION,
        basis: Basis::new(history),
        newest: history.newest().map(|(point, _)| WireCommit::new(&point.commit)),
        resources,
    })
}
