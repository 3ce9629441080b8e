//! The purchase plan: how many machines to commit to, for how long, and which machines to leave on spot and on demand.
//!
//! The break-even is the committed price divided by the on-demand price. A commitment is cheaper if a machine runs for
//! a larger share of the hours. That applies to machines that always run, and to those that usage metrics prove.
//! Machines with unknown values stay on demand, and the plan lists them.

use std::collections::BTreeMap;

use super::HOURS_PER_MONTH;
use super::demand::{CommitmentEligibility, HourlyOffers, Need};
use super::demand_base::Rung;
use crate::catalog::Money;

/// The purchases, and the machines that are not planned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PurchasePlan {
    pub groups: Vec<PurchaseGroup>,
    pub unplanned: Vec<Unplanned>,
    /// The longest commitment to plan, in years. The value 0 allows only capacity blocks.
    pub most_years: u8,
}

/// The accelerators of one kind from one provider in one region.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PurchaseGroup {
    pub provider: String,
    pub region: String,
    pub accelerator: String,
    pub lines: Vec<PurchaseLine>,
    /// The committed accelerators that neither the files nor this plan use.
    pub left_of_commitments: f64,
}

/// The machines of one type in a group, all at the same prices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PurchaseLine {
    pub machine: String,
    /// The accelerators of one machine.
    pub accelerators: f64,
    pub offered: HourlyOffers,
    /// The machines that always run, eligible or not.
    pub always: f64,
    /// The machines that a commitment may cover, with the share of the hours in which they surely run.
    pub rungs: Vec<Rung>,
    /// The machines that an existing commitment covers.
    pub committed: f64,
    /// The part of `committed` that always runs in production, according to the bill.
    pub covered: f64,
    /// The surest machines that fit into capacity that is already paid for and unused.
    pub used_first: f64,
    /// The reserved capacity that remains unused after this plan.
    pub spare_places: f64,
    pub bound: Option<Bound>,
    /// The same commitment for other terms.
    pub otherwise: Vec<Bound>,
    /// The average number of machines over all hours: on spot, suitable for spot, on demand, and booked.
    pub on_spot: f64,
    pub for_spot: f64,
    pub on_demand: f64,
    pub booked: f64,
    /// The maximum number of machines. `None` if the number of some resource has no limit.
    pub most: Option<f64>,
    /// The resources whose hours are unknown, so that no average contains them.
    pub of_unknown_hours: usize,
    /// Why machines stay on demand: each reason, and how many of these machines always run.
    pub reasons: BTreeMap<String, f64>,
    pub stale: Option<String>,
    pub estimate: Option<String>,
}

/// The time for which a commitment is billed, used or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    Block,
    OneYear,
    ThreeYears,
}

impl Term {
    pub const ALL: [Term; 3] = [Term::Block, Term::OneYear, Term::ThreeYears];

    pub fn name(self) -> &'static str {
        match self {
            Term::Block => "block",
            Term::OneYear => "1y",
            Term::ThreeYears => "3y",
        }
    }

    fn years(self) -> u8 {
        match self {
            Term::Block => 0,
            Term::OneYear => 1,
            Term::ThreeYears => 3,
        }
    }

    fn price(self, offered: &HourlyOffers) -> Option<Money> {
        match self {
            Term::Block => offered.block,
            Term::OneYear => offered.one_year,
            Term::ThreeYears => offered.three_years,
        }
    }
}

/// A number of machines that are committed for a term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub term: Term,
    pub machines: f64,
    /// The price of one committed machine.
    pub per_hour: Money,
    pub on_demand: Money,
    /// The committed machines that surely run, on an average of all hours.
    pub running: f64,
    /// The minimum saving per month.
    pub saves: Money,
    /// The share of the hours for which a machine must run before the commitment is cheaper.
    pub break_even: f64,
    pub quarter: Shrunk,
    pub half: Shrunk,
}

/// The same commitment in a month in which a share of the machines is gone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shrunk {
    /// The committed machines that still run, on an average of all hours.
    pub running: f64,
    /// The cost of unused committed machines.
    pub unused: Money,
    /// The saving from committed machines that are used.
    pub saved: Money,
}

impl Shrunk {
    /// Returns what the commitment still saves. It is negative if the commitment costs more than the hours it replaces.
    pub fn net(&self) -> Money {
        self.saved - self.unused
    }
}

/// The machines that cannot be planned.
#[derive(Debug, Clone, PartialEq)]
pub struct Unplanned {
    pub address: String,
    pub from: String,
    pub why: String,
}

/// Plans the purchases for all needs together, without commitments that are longer than `most_years`.
pub fn purchase_plan(needs: &[Need], most_years: u8) -> PurchasePlan {
    let mut plan = PurchasePlan { most_years, ..PurchasePlan::default() };
    let mut groups: BTreeMap<[&str; 3], (BTreeMap<LineKey<'_>, PurchaseLine>, f64)> = BTreeMap::new();
    for need in needs {
        if need.demand.standing == CommitmentEligibility::Unknown {
            let why = need.demand.why.clone().unwrap_or_default();
            plan.unplanned.push(Unplanned { address: need.address.clone(), from: need.from.clone(), why });
            continue;
        }
        if need.demand.standing == CommitmentEligibility::Owned {
            continue;
        }
        let (lines, spare) = groups.entry([&need.provider, &need.region, &need.accelerator]).or_default();
        if need.demand.standing == CommitmentEligibility::SpareAccelerators {
            *spare += need.demand.rungs.iter().map(|rung| rung.machines).sum::<f64>();
            continue;
        }
        lines.entry(LineKey::of(need)).or_insert_with(|| PurchaseLine::of(need)).add(need);
    }
    for ([provider, region, accelerator], (lines, spare)) in groups {
        let lines: Vec<PurchaseLine> = lines.into_values().collect();
        let mut group = PurchaseGroup {
            provider: provider.to_owned(),
            region: region.to_owned(),
            accelerator: accelerator.to_owned(),
            lines,
            left_of_commitments: spare,
        };
        group.use_what_is_paid();
        group.lines.iter_mut().for_each(|line| line.commit(most_years));
        plan.groups.push(group);
    }
    // The group with the highest saving comes first.
    plan.groups.sort_by_key(|group| std::cmp::Reverse(group.saves()));
    plan
}

/// The common properties of machines that one commitment covers. Repositories can differ in their prices.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct LineKey<'n> {
    machine: &'n str,
    accelerators: u64,
    prices: [Option<Money>; 3],
}

impl<'n> LineKey<'n> {
    fn of(need: &'n Need) -> LineKey<'n> {
        let offered = &need.demand.offered;
        // Reserved machines have no hourly price. They belong to the machines that have one.
        LineKey {
            machine: &need.machine,
            accelerators: need.accelerators.to_bits(),
            prices: [offered.on_demand, offered.one_year, offered.three_years],
        }
    }
}

impl PurchaseGroup {
    fn saves(&self) -> Money {
        self.lines.iter().filter_map(|line| line.bound).fold(Money::ZERO, |sum, bound| sum + bound.saves)
    }

    /// Assigns paid, unused capacity to the machines of this group, the most expensive ones first.
    fn use_what_is_paid(&mut self) {
        self.lines.iter_mut().for_each(|line| line.rungs.sort_by(|one, other| other.share.total_cmp(&one.share)));
        let dearest = |line: &PurchaseLine| line.offered.on_demand.unwrap_or_default();
        let mut order: Vec<&mut PurchaseLine> = self.lines.iter_mut().collect();
        order.sort_by_key(|line| std::cmp::Reverse(dearest(line)));
        for line in order {
            let all: f64 = line.rungs.iter().map(|rung| rung.machines).sum();
            let used = line.spare_places.min(all);
            line.spare_places -= used;
            line.used_first = used;
            let fit = (self.left_of_commitments / line.accelerators).floor();
            let more = if fit.is_finite() { fit.min(all - used).max(0.0) } else { 0.0 };
            self.left_of_commitments -= more * line.accelerators;
            line.used_first += more;
        }
    }
}

impl PurchaseLine {
    fn of(need: &Need) -> PurchaseLine {
        PurchaseLine {
            machine: need.machine.clone(),
            accelerators: need.accelerators,
            offered: need.demand.offered,
            most: Some(0.0),
            ..PurchaseLine::default()
        }
    }

    fn add(&mut self, need: &Need) {
        let demand = &need.demand;
        if demand.standing == CommitmentEligibility::SparePlaces {
            self.spare_places += demand.rungs.iter().map(|rung| rung.machines).sum::<f64>();
            return;
        }
        self.always += demand.always;
        self.most = self.most.zip(demand.most).map(|(one, other)| one + other);
        let average = demand.average.unwrap_or(0.0);
        let covered = demand.covered.min(average);
        self.committed += covered;
        let average = average - covered;
        self.of_unknown_hours += usize::from(demand.average.is_none());
        match demand.standing {
            CommitmentEligibility::Base => {
                self.covered += covered.min(demand.always);
                let sure: f64 = demand.rungs.iter().map(|rung| rung.machines * rung.share).sum();
                self.rungs.extend(&demand.rungs);
                self.on_demand += (average - sure).max(0.0);
            }
            CommitmentEligibility::Committed => self.committed += average,
            CommitmentEligibility::OnSpot => self.on_spot += average,
            CommitmentEligibility::ForSpot => self.for_spot += average,
            CommitmentEligibility::Booked => self.booked += average,
            _ => self.on_demand += average,
        }
        if let Some(why) = demand.why.as_ref().filter(|_| demand.standing == CommitmentEligibility::OnDemand) {
            *self.reasons.entry(why.clone()).or_default() += demand.always;
        }
        if need.demand.standing == CommitmentEligibility::Base {
            self.stale = self.stale.take().or_else(|| need.stale.clone());
            self.estimate = self.estimate.take().or_else(|| need.estimate.clone());
        }
    }

    /// Returns the number of machines that always run and that a commitment may cover.
    pub fn base(&self) -> f64 {
        // The sum of an empty list is negative zero, which reports would show.
        self.rungs.iter().filter(|rung| rung.share >= 1.0).map(|rung| rung.machines).sum::<f64>() + 0.0
    }

    fn commit(&mut self, most_years: u8) {
        let all: Vec<Bound> = Term::ALL.into_iter().filter_map(|term| self.bound_for(term)).collect();
        // Capacity blocks end after months, and the next one may not exist, so a commitment in years comes first.
        let years = all.iter().filter(|bound| bound.term != Term::Block && bound.term.years() <= most_years);
        // If two terms save the same, the shorter one wins.
        let best = years.min_by_key(|bound| (std::cmp::Reverse(bound.saves), bound.term));
        let best = best.or_else(|| all.iter().find(|bound| bound.term == Term::Block)).copied();
        self.otherwise = all.into_iter().filter(|bound| Some(bound.term) != best.map(|it| it.term)).collect();
        self.bound = best;
    }

    /// Returns a commitment to all machines that surely run longer than the break-even, if there are any.
    fn bound_for(&self, term: Term) -> Option<Bound> {
        let (on_demand, per_hour) = (self.offered.on_demand?, term.price(&self.offered)?);
        let break_even = per_hour.usd() / on_demand.usd();
        if !break_even.is_finite() || break_even >= 1.0 {
            return None;
        }
        let worth: f64 = self.rungs.iter().filter(|rung| rung.share > break_even).map(|rung| rung.machines).sum();
        let machines = worth - self.used_first;
        if machines < 1.0 {
            return None;
        }
        let running = self.running(machines, 1.0);
        let of_month = |price: Money, machines: f64| price.times(machines * HOURS_PER_MONTH);
        let shrunk = |left: f64| {
            let running = self.running(machines, left);
            Shrunk {
                running,
                unused: of_month(per_hour, machines - running),
                saved: of_month(on_demand - per_hour, running),
            }
        };
        Some(Bound {
            term,
            machines,
            per_hour,
            on_demand,
            running,
            saves: of_month(on_demand, running) - of_month(per_hour, machines),
            break_even,
            quarter: shrunk(0.75),
            half: shrunk(0.5),
        })
    }

    /// Returns how many committed machines are used, on an average of all hours, if this share of the base is left.
    /// Capacity that was paid for earlier is used first.
    fn running(&self, machines: f64, left: f64) -> f64 {
        let first = self.covered + self.used_first;
        left * (self.sure((first + machines) / left) - self.sure(first / left))
    }

    /// Returns how many of the surest machines run, on an average of all hours.
    fn sure(&self, machines: f64) -> f64 {
        let mut sum = self.covered.min(machines);
        let mut rest = machines - sum;
        for rung in &self.rungs {
            let taken = rung.machines.min(rest);
            sum += taken * rung.share;
            rest -= taken;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::SteadyDemand;

    fn need(standing: CommitmentEligibility, rungs: &[(f64, f64)]) -> Need {
        let rungs: Vec<Rung> =
            rungs.iter().map(|(machines, share)| Rung { machines: *machines, share: *share }).collect();
        let machines: f64 = rungs.iter().map(|rung| rung.machines).sum();
        let usd = |usd: f64| Some(Money::from_usd(usd));
        let offered =
            HourlyOffers { on_demand: usd(10.0), one_year: usd(6.0), three_years: usd(4.0), ..HourlyOffers::default() };
        Need {
            address: "a".into(),
            from: String::new(),
            provider: "aws".into(),
            region: "us-east-1".into(),
            machine: "p5.48xlarge".into(),
            accelerator: "H100-80GB".into(),
            accelerators: 8.0,
            demand: SteadyDemand {
                standing,
                why: None,
                always: machines,
                average: Some(machines),
                covered: 0.0,
                most: Some(machines),
                rungs,
                offered,
            },
            stale: None,
            estimate: None,
        }
    }

    fn bound(needs: &[Need], years: u8) -> Bound {
        purchase_plan(needs, years).groups.first().unwrap().lines.first().unwrap().bound.unwrap()
    }

    #[test]
    fn all_that_always_runs_is_committed_to_and_its_loss_is_told() {
        let year = bound(&[need(CommitmentEligibility::Base, &[(4.0, 1.0)])], 1);
        assert_eq!((year.term, year.machines, year.break_even), (Term::OneYear, 4.0, 0.6));
        // The saving is 4 x (10 - 6) x 730.
        assert_eq!(year.saves.usd(), 11_680.0);
        // With three machines left, 3 x 4 are saved and 1 x 6 is wasted. With two, 2 x 4 are saved and 2 x 6 are
        // wasted.
        assert_eq!(year.quarter.net().usd(), (12.0 - 6.0) * 730.0);
        assert_eq!(year.half.net().usd(), (8.0 - 12.0) * 730.0);
        let years = bound(&[need(CommitmentEligibility::Base, &[(4.0, 1.0)])], 3);
        assert_eq!((years.term, years.saves.usd()), (Term::ThreeYears, 4.0 * 6.0 * 730.0));
        let mut listed = need(CommitmentEligibility::Base, &[(4.0, 1.0)]);
        assert!(purchase_plan(std::slice::from_ref(&listed), 0).groups[0].lines[0].bound.is_none());
        // The capacity block is cheaper than a year, but it ends after months.
        listed.demand.offered.block = Some(Money::from_usd(5.0));
        assert_eq!(bound(std::slice::from_ref(&listed), 1).term, Term::OneYear);
        assert_eq!(bound(&[listed], 0).term, Term::Block);
    }

    #[test]
    fn what_runs_for_less_than_the_break_even_is_left_to_the_hour() {
        let found = bound(&[need(CommitmentEligibility::Base, &[(2.0, 1.0), (1.0, 0.75), (1.0, 0.5)])], 1);
        assert_eq!((found.machines, found.running), (3.0, 2.75));
        assert_eq!(found.saves.usd(), (27.5 - 18.0) * 730.0);
    }

    #[test]
    fn what_is_paid_already_is_used_first() {
        let base = need(CommitmentEligibility::Base, &[(4.0, 1.0)]);
        let found = bound(&[base.clone(), need(CommitmentEligibility::SparePlaces, &[(1.0, 1.0)])], 1);
        assert_eq!(found.machines, 3.0);
        // Two of four machines are left, and the earlier reservation covers one of them.
        assert_eq!((found.half.running, found.half.net().usd()), (1.0, (4.0 - 12.0) * 730.0));
        let accelerators =
            Need { machine: String::new(), ..need(CommitmentEligibility::SpareAccelerators, &[(17.0, 1.0)]) };
        let plan = purchase_plan(&[base, accelerators], 1);
        assert_eq!(plan.groups[0].left_of_commitments, 1.0);
        assert_eq!(plan.groups[0].lines[0].bound.unwrap().machines, 2.0);
    }

    #[test]
    fn what_the_bill_says_is_covered_stays_in_use_first() {
        let mut base = need(CommitmentEligibility::Base, &[(2.0, 1.0)]);
        (base.demand.always, base.demand.average, base.demand.covered) = (3.0, Some(3.0), 1.0);
        let plan = purchase_plan(&[base], 1);
        let line = &plan.groups[0].lines[0];
        assert_eq!((line.always, line.base(), line.committed, line.on_demand), (3.0, 2.0, 1.0, 0.0));
        let found = line.bound.unwrap();
        assert_eq!((found.machines, found.running, found.saves.usd()), (2.0, 2.0, 2.0 * 4.0 * 730.0));
        // One and a half of three are left, and the earlier commitment covers one of them.
        assert_eq!((found.half.running, found.half.net().usd()), (0.5, (2.0 - 9.0) * 730.0));
    }

    #[test]
    fn what_is_not_known_is_told_and_not_planned() {
        let mut unknown = need(CommitmentEligibility::Unknown, &[]);
        unknown.demand.why = Some("how many there are: a variable".into());
        let plan = purchase_plan(&[unknown], 1);
        assert!(plan.groups.is_empty());
        assert_eq!(plan.unplanned[0].why, "how many there are: a variable");
    }
}
