//! Writes a purchase plan in words: the answer, and its calculation.

use crate::catalog::{Currency, Money};
use crate::pricing::{Bound, HOURS_PER_MONTH, PurchaseGroup, PurchaseLine, PurchasePlan, Shrunk, Term};
use crate::report::formats::json::WireNumber;
use crate::report::views::money::mark;

/// The plan, and the currency of its amounts.
pub struct PlannedPurchases<'a> {
    pub plan: &'a PurchasePlan,
    pub currency: Currency,
}

/// The sums over all commitments of a plan or a part of it.
#[derive(Default)]
pub(super) struct PlanSummary {
    pub(super) accelerators: f64,
    pub(super) saves: Money,
    pub(super) quarter: Money,
    pub(super) half: Money,
    committed: Money,
    on_demand: Money,
    terms: Vec<Term>,
    break_evens: Vec<f64>,
    is_estimated: bool,
}

impl PlanSummary {
    pub(super) fn of<'l>(lines: impl Iterator<Item = &'l PurchaseLine>) -> PlanSummary {
        let mut sum = PlanSummary::default();
        for line in lines {
            let Some(bound) = &line.bound else { continue };
            sum.accelerators += bound.machines * line.accelerators;
            sum.saves += bound.saves;
            sum.quarter += bound.quarter.net();
            sum.half += bound.half.net();
            sum.committed += bound.per_hour.times(bound.machines);
            sum.on_demand += bound.on_demand.times(bound.machines);
            sum.terms.push(bound.term);
            sum.break_evens.push(bound.break_even);
            sum.is_estimated |= line.estimate.is_some();
        }
        sum.terms.sort_unstable();
        sum.terms.dedup();
        sum.break_evens.sort_by(f64::total_cmp);
        sum
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the break-even of all machines together.
    pub(super) fn break_even(&self) -> f64 {
        self.committed.usd() / self.on_demand.usd()
    }

    pub(super) fn terms(&self) -> String {
        let words: Vec<&str> = self.terms.iter().map(|term| in_words(*term)).collect();
        words.join(" and ")
    }

    fn break_evens(&self) -> String {
        match (self.break_evens.first(), self.break_evens.last()) {
            (Some(least), Some(most)) if percent(*least) != percent(*most) => {
                format!("{}% to {}%", percent(*least), percent(*most))
            }
            _ => format!("{}%", percent(self.break_even())),
        }
    }
}

pub(super) fn percent(share: f64) -> f64 {
    (share * 100.0).round()
}

pub(super) fn in_words(term: Term) -> &'static str {
    match term {
        Term::Block => "in blocks of days",
        Term::OneYear => "for a year",
        Term::ThreeYears => "for three years",
    }
}

/// Returns the answer in one line.
pub(super) fn answer(planned: &PlannedPurchases<'_>) -> String {
    let plan = planned.plan;
    let bound: Vec<&PurchaseGroup> =
        plan.groups.iter().filter(|it| it.lines.iter().any(|it| it.bound.is_some())).collect();
    match bound.as_slice() {
        [] => format!("no commitment: {}", why_nothing(plan)),
        [group] => answer_of(group, &planned.currency),
        groups => {
            let sum = PlanSummary::of(groups.iter().flat_map(|group| &group.lines));
            let steady: f64 = groups.iter().map(|group| steady(group)).sum();
            let what = format!("{} of {} accelerators in {} groups", sum.accelerators, steady, groups.len());
            sentence(&what, &sum, "50% of each", &planned.currency)
        }
    }
}

pub(super) fn answer_of(group: &PurchaseGroup, currency: &Currency) -> String {
    let sum = PlanSummary::of(group.lines.iter());
    let PurchaseGroup { provider, region, accelerator, .. } = group;
    let what = format!("{} of {} {accelerator} in {provider} {region}", sum.accelerators, steady(group));
    sentence(&what, &sum, "50%", currency)
}

fn sentence(what: &str, sum: &PlanSummary, half: &str, currency: &Currency) -> String {
    let mark = mark(sum.is_estimated);
    let saves = currency.amount(sum.saves);
    let lost = match sum.half < Money::ZERO {
        true => format!("loses {}/month", currency.amount(-sum.half)),
        false => format!("still saves {}/month", currency.amount(sum.half)),
    };
    let (terms, break_even) = (sum.terms(), sum.break_evens());
    format!(
        "commit to {what} {terms}: saves {mark}{saves}/month, break-even at {break_even}, {lost} if {half} is removed"
    )
}

/// Returns the number of accelerators that run always or most of the time, eligible or not.
fn steady(group: &PurchaseGroup) -> f64 {
    let measured =
        |line: &PurchaseLine| line.rungs.iter().filter(|it| it.share < 1.0).map(|it| it.machines).sum::<f64>();
    always(group) + group.lines.iter().map(|line| measured(line) * line.accelerators).sum::<f64>()
}

/// Accelerators that always run, eligible or not.
pub(super) fn always(group: &PurchaseGroup) -> f64 {
    group.lines.iter().map(|line| line.always * line.accelerators).sum()
}

fn why_nothing(plan: &PurchasePlan) -> String {
    let lines = || plan.groups.iter().flat_map(|group| &group.lines);
    let with_base = lines().filter(|line| line.base() > 0.0).count();
    let is_covered = |line: &PurchaseLine| line.base() > 0.0 && line.used_first >= line.base();
    match () {
        () if with_base == 0 && !plan.unplanned.is_empty() && lines().next().is_none() => {
            "values that the plan needs are unknown".to_owned()
        }
        () if with_base == 0 => "no known machine runs all the time in production and is billed by the hour".to_owned(),
        () if lines().filter(|line| line.base() > 0.0).all(is_covered) => {
            "commitments that are already paid cover all eligible machines".to_owned()
        }
        () if lines().any(|line| !line.otherwise.is_empty()) => {
            format!("no commitment of at most {} years is cheaper", plan.most_years)
        }
        () => "no cheaper commitment is known for the machines that always run".to_owned(),
    }
}

/// Returns the calculation of a commitment, so that readers can check it.
pub(super) fn steps(line: &PurchaseLine, bound: &Bound, currency: &Currency) -> Vec<String> {
    let (hour, on_demand) = (currency.per_hour(bound.per_hour), currency.per_hour(bound.on_demand));
    let exact = |money: Money| currency.exact_to_the_cent(money);
    let hours = HOURS_PER_MONTH;
    let machines = WireNumber(bound.machines);
    let running = running(bound.running);
    let saves = exact(bound.saves);
    let mut steps = vec![
        format!("break-even: {hour} / {on_demand} = {:.4}", bound.break_even),
        match bound.running < bound.machines {
            true => format!(
                "per month: {running} running machines x {on_demand} x {hours} hours - {machines} committed machines x {hour} x {hours} hours = {saves} saved"
            ),
            false => format!("per month: {machines} machines x ({on_demand} - {hour}) x {hours} hours = {saves} saved"),
        },
    ];
    if line.used_first > 0.0 {
        steps.push(format!("first: {} machines that are paid but unused", WireNumber(line.used_first)));
    }
    for (what, shrunk) in [("25%", &bound.quarter), ("50%", &bound.half)] {
        steps.push(step_of(what, shrunk, bound, currency));
    }
    steps
}

fn step_of(what: &str, shrunk: &Shrunk, bound: &Bound, currency: &Currency) -> String {
    let hour = currency.per_hour(bound.per_hour);
    let less = currency.per_hour(bound.on_demand - bound.per_hour);
    let exact = |money: Money| currency.exact_to_the_cent(money);
    format!(
        "if {what} is removed: {} x {less} x {HOURS_PER_MONTH} saved - {} unused x {hour} x {HOURS_PER_MONTH} = {} - {} = {}",
        running(shrunk.running),
        running(bound.machines - shrunk.running),
        exact(shrunk.saved),
        exact(shrunk.unused),
        exact(shrunk.net())
    )
}

/// Returns the mean number of machines over all hours.
pub(super) fn running(machines: f64) -> WireNumber {
    WireNumber((machines * 1e4).round() / 1e4)
}
