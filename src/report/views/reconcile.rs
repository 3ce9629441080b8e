//! Compares expected with measured and billed cost: the difference as hours times rate, with its causes, and the
//! charges that match no resource.

use std::collections::BTreeMap;

use super::teams::team;
use crate::catalog::Money;
use crate::inventory::{Key, Resource, ResourceId};
use crate::measured::paid::{BillMonth, BilledAmount, Charge, NoPartner, PaidEntry, PaidSums};
use crate::pricing::{BillItem, HOURS_PER_MONTH, Period, measured_month};
use crate::report::Report;

/// A factor that differs from one by less than this needs no explanation.
const NEAR: f64 = 0.02;

/// One month of a bill, compared with the configuration.
pub(in crate::report) struct ReconciledMonth<'a> {
    pub(in crate::report) month: BillMonth,
    pub(in crate::report) is_open: bool,
    /// The resources of the month, the most expensive first.
    pub(in crate::report) lines: Vec<Reconciled<'a>>,
    /// Rows of the bill that match no resource, the most expensive first.
    pub(in crate::report) left: Vec<(&'a PaidEntry, &'a NoPartner)>,
    /// The sums by currency.
    pub(in crate::report) sums: BTreeMap<&'a str, ReconciledSums>,
}

/// The parts of a billed amount. The last three add up to the first one exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::report) struct ReconciledSums {
    pub(in crate::report) billed: BilledAmount,
    /// The billed usage of resources in this tree.
    pub(in crate::report) matched: BilledAmount,
    /// Credits, refunds, purchases and unused commitments of resources in this tree.
    pub(in crate::report) beside: BilledAmount,
    /// Charges that match no resource in this tree, or several.
    pub(in crate::report) unmatched: BilledAmount,
}

/// One resource in one month.
pub(in crate::report) struct Reconciled<'a> {
    pub(in crate::report) resource: &'a Resource,
    pub(in crate::report) team: Option<&'a str>,
    /// The expected cost for the hours of this month, or for those that the bill covers; `None` for jobs that end.
    pub(in crate::report) expected: Option<Money>,
    pub(in crate::report) expected_hours: Option<f64>,
    pub(in crate::report) measured: Option<Money>,
    /// The billed cost, or why it is unknown.
    pub(in crate::report) paid: Result<Option<PaidSums>, String>,
    /// Billed hours / expected hours. Times `rate_factor`, it is billed cost / expected cost.
    pub(in crate::report) hours_factor: Option<f64>,
    /// Billed price per hour / expected price per hour.
    pub(in crate::report) rate_factor: Option<f64>,
    pub(in crate::report) causes: Vec<String>,
}

impl Reconciled<'_> {
    pub(in crate::report) fn sums(&self) -> Option<&PaidSums> {
        self.paid.as_ref().ok()?.as_ref()
    }
}

/// The requested months.
pub enum AskedMonths {
    /// Requests only the last month that has ended.
    Last,
    All,
    These(Vec<BillMonth>),
}

pub(in crate::report) fn reconcile<'a>(report: &'a Report<'a>, asked: &AskedMonths) -> Vec<ReconciledMonth<'a>> {
    let paid = &report.measured.paid;
    let months = match asked {
        AskedMonths::These(months) => months.clone(),
        AskedMonths::Last => paid.closed_months().into_iter().take(1).collect(),
        AskedMonths::All => {
            let mut months: Vec<BillMonth> = paid.rows.iter().map(|it| it.row.month).collect();
            months.sort_by(|a, b| b.cmp(a));
            months.dedup();
            months
        }
    };
    months.into_iter().map(|month| of_month(report, month)).collect()
}

/// Returns text such as `2026-10: USD 1,234.5 billed = 1,200 for resources here + 34.5 without a resource here`.
pub(in crate::report) fn summed(it: &ReconciledMonth<'_>) -> Vec<String> {
    let open = if it.is_open { " (not ended or not billed in full)" } else { "" };
    let line = |(currency, sums): (&&str, &ReconciledSums)| {
        let beside = match sums.beside.is_zero() {
            true => String::new(),
            false => format!(" + {} for credits, refunds, purchases and unused commitments", sums.beside),
        };
        format!(
            "{}{open}: {currency} {} billed = {} for resources here{beside} + {} without a resource here",
            it.month, sums.billed, sums.matched, sums.unmatched
        )
    };
    it.sums.iter().map(line).collect()
}

fn of_month<'a>(report: &'a Report<'a>, month: BillMonth) -> ReconciledMonth<'a> {
    let paid = &report.measured.paid;
    let mut lines: Vec<Reconciled<'a>> = report
        .inventory
        .resources
        .iter()
        .zip(&report.bill.items)
        .enumerate()
        .filter(|(_, (resource, _))| resource.is_added())
        .filter_map(|(at, (resource, item))| line(report, ResourceId(at), resource, item, month))
        .collect();
    lines.sort_by_key(|it| {
        let most = it.sums().map(|it| it.paid).max(it.expected).unwrap_or_default();
        (std::cmp::Reverse(most), &it.resource.address)
    });
    let is_of = |it: &&PaidEntry| it.row.month == month;
    let unmatched = paid.unmatched.iter().filter_map(|(at, why)| Some((paid.rows.get(*at)?, why)));
    let mut left: Vec<(&PaidEntry, &NoPartner)> = { unmatched }.filter(|(it, _)| is_of(it)).collect();
    left.sort_by(|(a, _), (b, _)| b.row.paid.cmp(&a.row.paid).then_with(|| a.row.line.cmp(&b.row.line)));
    let mut sums: BTreeMap<&str, ReconciledSums> = BTreeMap::new();
    for it in paid.rows.iter().filter(is_of) {
        sums.entry(&it.row.currency).or_default().billed += it.row.paid;
    }
    for it in paid.matched.values().flatten().filter_map(|at| paid.rows.get(*at)).filter(is_of) {
        let sums = sums.entry(&it.row.currency).or_default();
        let sum = if it.row.charge == Charge::Usage { &mut sums.matched } else { &mut sums.beside };
        *sum += it.row.paid;
    }
    for (it, _) in &left {
        sums.entry(&it.row.currency).or_default().unmatched += it.row.paid;
    }
    let is_open = paid.rows.iter().filter(is_of).any(|it| it.row.open);
    ReconciledMonth { month, is_open, lines, left, sums }
}

fn line<'a>(
    report: &'a Report<'a>,
    id: ResourceId,
    resource: &'a Resource,
    item: &BillItem,
    month: BillMonth,
) -> Option<Reconciled<'a>> {
    let paid = report.measured.paid.sums(id, month);
    let is_paid = !matches!(paid, Ok(None));
    // The cost of these machines contains their pods, unless the cloud billed the pods separately.
    if item.is_within && !is_paid {
        return None;
    }
    // In a month that has not ended, only the days that the bill covers count.
    let days = match &paid {
        Ok(Some(sums)) if sums.is_open => resource
            .text(Key::Provider)
            .and_then(|it| report.measured.paid.billed_days(it, month))
            .filter(|days| *days > 0.0),
        _ => Some(month.days()),
    };
    let part = days.unwrap_or(month.days()) * 24.0 / HOURS_PER_MONTH;
    let monthly = item.monthly.filter(|_| item.per == Period::Month);
    let expected = monthly.map(|it| it.expected.times(part));
    let count = item.count_of(resource);
    let expected_hours = monthly.and(count).map(|count| item.hours * count.expected * part).filter(|it| it.is_finite());
    if expected.is_none() && !is_paid {
        return None;
    }
    let mut line = Reconciled {
        resource,
        team: team(resource),
        expected,
        expected_hours,
        measured: measured_month(resource, item).map(|it| it.times(part)),
        paid,
        hours_factor: None,
        rate_factor: None,
        causes: Vec::new(),
    };
    let ran = line.sums().and_then(|it| it.hours).map(BilledAmount::as_f64).filter(|it| *it > 0.0);
    if let (Some(sums), Some(ran)) = (line.sums().copied(), ran) {
        line.hours_factor = expected_hours.filter(|it| *it > 0.0 && days.is_some()).map(|hours| ran / hours);
        let each = match (expected, expected_hours) {
            (Some(expected), Some(hours)) if hours > 0.0 => Some(expected.usd() / hours),
            _ => item.hourly().map(|it| it.expected.usd()),
        };
        line.rate_factor = each.filter(|it| *it > 0.0).map(|each| sums.paid.usd() / ran / each);
        line.causes = match days {
            Some(days) => hours_causes(&line, item, ran, days * 24.0),
            None => vec!["open: the bill does not show how many days of the month it covers".to_owned()],
        };
        line.causes.extend(rate_causes(report, &line, id, item, &sums, month));
    }
    Some(line)
}

/// Returns why the billed hours differ from the expected hours.
fn hours_causes(line: &Reconciled<'_>, item: &BillItem, ran: f64, hours: f64) -> Vec<String> {
    let (Some(factor), Some(count)) = (line.hours_factor, item.count_of(line.resource)) else {
        return Vec::new();
    };
    let mut causes = Vec::new();
    let average = ran / hours;
    let per_one = item.hours / HOURS_PER_MONTH;
    let has_schedule = per_one < 1.0 - NEAR;
    if has_schedule {
        causes.push(format!("scheduled: each one runs {:.0} of {HOURS_PER_MONTH} hours", item.hours));
    }
    let most = count.ceiling * per_one;
    let is_off = (factor - 1.0).abs() > NEAR;
    if average > most * (1.0 + NEAR) {
        causes.push(format!("more than configured: {} ran on average, maximum {}", tenths(average), tenths(most)));
    } else if count.floor != count.ceiling && is_off {
        let most = if count.ceiling.is_finite() { tenths(count.ceiling) } else { "unlimited".to_owned() };
        causes.push(format!(
            "scaled: {} ran on average, minimum {}, maximum {most}",
            tenths(average),
            tenths(count.floor)
        ));
    } else if factor < 1.0 - NEAR && !has_schedule {
        causes.push(format!(
            "stopped: {} of {} ran on average, and no schedule here explains this",
            tenths(average),
            tenths(count.expected)
        ));
    } else if is_off {
        causes.push(format!(
            "not as scheduled: {} ran on average, expected {}",
            tenths(average),
            tenths(count.expected * per_one)
        ));
    }
    causes
}

/// Returns why the billed price per hour differs from the expected price.
fn rate_causes(
    report: &Report<'_>,
    line: &Reconciled<'_>,
    id: ResourceId,
    item: &BillItem,
    sums: &PaidSums,
    month: BillMonth,
) -> Vec<String> {
    let mut causes = Vec::new();
    let market = report.market;
    let other = market.and_then(|it| report.measured.paid.other_machine(id, line.resource, month, it));
    if let Some(other) = other {
        causes.push(format!("another machine type: {other} was billed"));
    }
    let bought = line.resource.text(Key::Purchase).unwrap_or("on-demand");
    let share = |of: BilledAmount| sums.share(of).filter(|it| *it > 0.005);
    let said = |share: f64| format!("{:.0}% of the hours", share * 100.0);
    match (share(sums.spot), bought == "spot") {
        (Some(spot), false) => causes.push(format!("spot: {}, although the configuration buys on demand", said(spot))),
        (Some(spot), true) if spot < 0.995 => causes.push(format!("spot: only {}", said(spot))),
        (None, true) => causes.push("spot: none of the hours, although the configuration requests spot".to_owned()),
        _ => {}
    }
    causes.extend(share(sums.committed).map(|it| format!("commitment: {}", said(it))));
    let below = |paid: Money, list: Money| (list > Money::ZERO).then(|| 1.0 - paid.usd() / list.usd());
    if let Some(below) = below(sums.on_demand_paid, sums.on_demand_list).filter(|it| it.abs() > 0.001) {
        causes.push(format!("discount: {:.1}% below the on-demand list price", below * 100.0));
    }
    let hours = sums.hours.map(BilledAmount::as_f64).filter(|it| *it > 0.0);
    let listed = sums.list.zip(hours).map(|(list, hours)| list.usd() / hours);
    let ours = item.per_hour.map(|it| it.expected.usd()).filter(|_| bought == "on-demand");
    if let (Some(listed), Some(ours)) = (listed, ours)
        && (listed / ours - 1.0).abs() > NEAR
    {
        causes.push(format!("list price: ${listed:.2}/h on the bill, ${ours:.2}/h in gpulint"));
    }
    if !sums.corrected.is_zero() {
        causes.push(format!("corrected: {} corrects earlier charges", report.currency.amount(sums.corrected)));
    }
    causes
}

fn tenths(number: f64) -> String {
    format!("{}", (number * 10.0).round() / 10.0)
}

/// A discount for all machines of a provider, derived from a bill.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::report) struct ProposedDiscount<'a> {
    pub(in crate::report) provider: &'a str,
    pub(in crate::report) hours: BilledAmount,
    pub(in crate::report) paid: Money,
    pub(in crate::report) list: Money,
    pub(in crate::report) months: usize,
    /// The smallest discount of a machine, and below it the largest one. If they differ, one discount for all machines
    /// is wrong.
    pub(in crate::report) least: f64,
    pub(in crate::report) most: f64,
}

impl ProposedDiscount<'_> {
    pub(in crate::report) fn share(&self) -> f64 {
        1.0 - self.paid.usd() / self.list.usd()
    }
}

/// The billed cost, the cost at list prices, the hours, and the months.
type OnDemandSums = (Money, Money, BilledAmount, Vec<BillMonth>);

/// Returns discounts by provider, from on-demand hours of months that have ended. Spot and commitments have other
/// prices.
pub(in crate::report) fn discounts<'a>(report: &'a Report<'a>) -> Vec<ProposedDiscount<'a>> {
    let paid = &report.measured.paid;
    let mut all: BTreeMap<&str, BTreeMap<&str, OnDemandSums>> = BTreeMap::new();
    for row in paid.rows.iter().map(|it| &it.row).filter(|it| !it.open && it.charge == Charge::Usage) {
        let (Some(list), Some(hours)) = (row.on_demand_list, row.on_demand) else { continue };
        let dollars = |amount| paid.options.dollars(row, amount).ok();
        let Some((of_paid, of_list)) = dollars(row.on_demand_paid.unwrap_or_default()).zip(dollars(list)) else {
            continue;
        };
        let sums = all.entry(&row.provider).or_default().entry(&row.machine).or_default();
        sums.0 += of_paid;
        sums.1 += of_list;
        sums.2 += hours;
        sums.3.push(row.month);
    }
    let proposed = all.into_iter().filter_map(|(provider, machines)| {
        let shares = machines.values().filter(|it| it.1 > Money::ZERO).map(|it| 1.0 - it.0.usd() / it.1.usd());
        let mut months: Vec<BillMonth> = machines.values().flat_map(|it| it.3.iter().copied()).collect();
        months.sort();
        months.dedup();
        let proposed = ProposedDiscount {
            provider,
            hours: machines.values().map(|it| it.2).sum(),
            paid: machines.values().map(|it| it.0).sum(),
            list: machines.values().map(|it| it.1).sum(),
            months: months.len(),
            least: { shares.clone() }.fold(f64::INFINITY, f64::min),
            most: shares.fold(f64::NEG_INFINITY, f64::max),
        };
        (proposed.list > Money::ZERO).then_some(proposed)
    });
    proposed.collect()
}
