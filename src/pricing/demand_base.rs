//! Calculates the part of a resource that always runs and is eligible for commitment, for the purchase plan and rules.

use crate::inventory::{BillingRole, Fact, FactOrigin, Key, LinkKind, Purchase, Purpose, Range, Resource};

use super::{BillItem, HOURS_PER_MONTH, Period};
use crate::resolve::plain;

/// A number of machines that surely run in this share of the hours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rung {
    pub machines: f64,
    pub share: f64,
}

/// The highest number of machines above the minimum that have an entry of their own.
const MOST_RUNGS: f64 = 1000.0;

/// Why a resource is not eligible for commitment.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NoBase {
    /// A known value shows that the resource is not eligible.
    Because(String),
    /// A value that decides the eligibility is unknown.
    Unknown(String),
}

impl NoBase {
    fn because(why: impl Into<String>) -> NoBase {
        NoBase::Because(why.into())
    }
}

/// Returns the number of machines that always run in production and are billed by the hour, or 0 if they end, have a
/// schedule or a lease, or are not production. Returns an error if a decisive value is unknown.
pub fn base(resource: &Resource, item: &BillItem) -> Result<f64, String> {
    match steady(resource, item).and_then(|()| rungs(resource, item)) {
        Ok(rungs) => Ok(uncovered(rungs, covered(resource)?)
            .iter()
            .filter(|rung| rung.share >= 1.0)
            .map(|rung| rung.machines)
            .sum()),
        Err(NoBase::Because(_)) => Ok(0.0),
        Err(NoBase::Unknown(why)) => Err(why),
    }
}

/// Checks that the minimum of the resource surely runs all the time, and that it is worth a commitment.
pub(super) fn steady(resource: &Resource, item: &BillItem) -> Result<(), NoBase> {
    if resource.role != BillingRole::Rented {
        return Err(NoBase::because("it uses a machine that has its own entry"));
    }
    match (never_ends(resource), serves_production(resource)) {
        // If the resource is not production, the other questions are irrelevant.
        (Err(NoBase::Unknown(_)), Err(no @ NoBase::Because(_))) | (Err(no), _) => return Err(no),
        (Ok(()), production) => production?,
    }
    if item.per != Period::Month || item.hours < HOURS_PER_MONTH {
        let why = item.hours_because.clone().unwrap_or_else(|| format!("{} hours a month", plain(item.hours)));
        return Err(NoBase::Because(format!("it does not run all the time: {why}")));
    }
    match resource.purpose().filter(|it| comes_and_goes(*it)) {
        Some(purpose) => {
            Err(NoBase::Because(format!("its purpose is {}, which does not run all the time", purpose.name())))
        }
        None => Ok(()),
    }
}

fn serves_production(resource: &Resource) -> Result<(), NoBase> {
    match resource.fact(Key::Production) {
        Fact::Known(known) if known.value.as_flag() == Some(true) => Ok(()),
        Fact::Known(_) => Err(NoBase::because("it is not production")),
        Fact::Unknown(unknown) => {
            Err(NoBase::Unknown(format!("it is unknown whether it is production: {}", unknown.why)))
        }
        Fact::Absent => Err(NoBase::because("it is not marked as production")),
    }
}

fn comes_and_goes(purpose: Purpose) -> bool {
    matches!(purpose, Purpose::Training | Purpose::Batch | Purpose::Test | Purpose::Ci | Purpose::Interactive)
}

/// Checks that nothing stops the resource and that no lease ends it.
pub(super) fn never_ends(resource: &Resource) -> Result<(), NoBase> {
    match resource.fact(Key::EndsByItself) {
        Fact::Known(known) if known.value.as_flag() == Some(true) => {
            return Err(NoBase::because("it ends by itself"));
        }
        Fact::Unknown(unknown) => {
            return Err(NoBase::Unknown(format!("it is unknown whether it ends by itself: {}", unknown.why)));
        }
        _ => {}
    }
    let ends = [
        (Key::Schedule, "a schedule or a lease stops it"),
        (Key::Cron, "a schedule starts and ends it"),
        (Key::IdleMinutes, "it stops when it is idle"),
        (Key::TimeLimit, "it has a time limit"),
        (Key::Ttl, "it is deleted after some time"),
    ];
    for (key, what) in ends {
        match resource.fact(key) {
            Fact::Absent => {}
            Fact::Known(known) if matches!(key, Key::Schedule) => {
                return Err(NoBase::Because(format!("{what}: {}", known.value)));
            }
            Fact::Known(_) => return Err(NoBase::because(what)),
            Fact::Unknown(unknown) => {
                return Err(NoBase::Unknown(format!("it is unknown when it is stopped: {}", unknown.why)));
            }
        }
    }
    if !resource.shifts.is_empty() {
        return Err(NoBase::because("a schedule changes the number of replicas"));
    }
    if resource.links.iter().any(|link| link.kind == LinkKind::Stop) {
        return Err(NoBase::because("another resource stops it"));
    }
    Ok(())
}

/// Returns the minimum, which always runs, and the machines above it that usage metrics prove.
pub(super) fn rungs(resource: &Resource, item: &BillItem) -> Result<Vec<Rung>, NoBase> {
    let count = match &resource.count {
        Fact::Known(known) => item.count.unwrap_or(known.value),
        Fact::Unknown(unknown) => return Err(NoBase::Unknown(unknown.why.to_string())),
        Fact::Absent => return Err(NoBase::Unknown("no number of replicas is set".to_owned())),
    };
    let floor = match resource.purchase() {
        Some(Purchase::Mixed) => count.floor.min(resource.number(Key::OnDemandBase).unwrap_or(0.0)),
        _ => count.floor,
    };
    let measured = resource.number(Key::MeasuredReplicas);
    // If usage metrics show fewer machines than the files set, the metrics are right.
    let floor = measured.map_or(floor, |mean| floor.min((mean + 0.05).floor())).floor().max(0.0);
    let mut rungs = vec![Rung { machines: floor, share: 1.0 }];
    if let Some(mean) = measured.filter(|_| is_sure(resource) && resource.purchase() != Some(Purchase::Mixed)) {
        rungs.extend(above(floor, mean, count));
    }
    rungs.retain(|rung| rung.machines > 0.0);
    Ok(rungs)
}

/// Returns the average number of machines that existing commitments cover, or 0 if no bill contains the resource.
pub(super) fn covered(resource: &Resource) -> Result<f64, String> {
    match resource.fact(Key::PaidCommitted) {
        Fact::Known(known) => Ok(known.value.as_number().unwrap_or(0.0)),
        Fact::Unknown(unknown) => Err(format!("the part that commitments cover is unknown: {}", unknown.why)),
        Fact::Absent => Ok(0.0),
    }
}

/// Returns the machines that commitments do not cover. Commitments cover the surest machines first. If they cover a
/// machine only part of the time, its uncovered hours are unknown, so a separate entry has the rest of its share.
pub(super) fn uncovered(rungs: Vec<Rung>, covered: f64) -> Vec<Rung> {
    let mut covered = covered;
    let mut left = Vec::new();
    for rung in rungs {
        let whole = (covered / rung.share).floor().min(rung.machines);
        covered -= whole * rung.share;
        let mut rest = rung.machines - whole;
        if rest >= 1.0 && covered > 0.0 {
            left.push(Rung { machines: 1.0, share: (rung.share - covered).max(0.0) });
            (rest, covered) = (rest - 1.0, 0.0);
        }
        left.push(Rung { machines: rest, ..rung });
    }
    left.retain(|rung| rung.machines > 0.0);
    left
}

/// Whether the metrics cover the whole time and surely belong to this resource.
fn is_sure(resource: &Resource) -> bool {
    let fact = resource.fact(Key::MeasuredReplicas);
    matches!(fact, Fact::Known(known) if matches!(known.origin, FactOrigin::Written | FactOrigin::Resolved))
}

/// Derives the minimum share of the hours for each machine above `floor` from the mean. If the k-th machine runs in a
/// share of the hours: mean <= share x ceiling + (1 - share) x (k - 1).
fn above(floor: f64, mean: f64, count: Range) -> Vec<Rung> {
    let mut rungs = Vec::new();
    if !count.ceiling.is_finite() {
        return rungs;
    }
    let mut below = floor;
    while below + 1.0 <= count.ceiling && below < mean && below - floor < MOST_RUNGS {
        let share = ((mean - below) / (count.ceiling - below)).clamp(0.0, 1.0);
        rungs.push(Rung { machines: 1.0, share });
        below += 1.0;
    }
    rungs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commitments_cover_is_left_out_from_the_surest_on() {
        let rungs = |all: &[(f64, f64)]| -> Vec<Rung> {
            all.iter().map(|(machines, share)| Rung { machines: *machines, share: *share }).collect()
        };
        let left = |covered: f64| uncovered(rungs(&[(3.0, 1.0), (1.0, 0.5)]), covered);
        assert_eq!(left(0.0), rungs(&[(3.0, 1.0), (1.0, 0.5)]));
        assert_eq!(left(2.0), rungs(&[(1.0, 1.0), (1.0, 0.5)]));
        assert_eq!(left(1.25), rungs(&[(1.0, 0.75), (1.0, 1.0), (1.0, 0.5)]));
        assert_eq!(left(3.25), rungs(&[(1.0, 0.25)]));
        assert!(left(3.5).is_empty() && left(9.0).is_empty());
    }

    #[test]
    fn a_mean_proves_some_hours_of_each_machine_above_the_floor() {
        let count = Range { floor: 2.0, expected: 2.0, ceiling: 4.0 };
        let shares = |mean: f64| above(2.0, mean, count).iter().map(|rung| rung.share).collect::<Vec<_>>();
        // The mean is 3.6 of 4: the third runs in at least (3.6 - 2) / 2 of the hours, and the fourth in (3.6 - 3) / 1.
        assert_eq!(shares(4.0), [1.0, 1.0]);
        assert_eq!(shares(3.5), [0.75, 0.5]);
        assert_eq!(shares(2.5), [0.25]);
        assert!(shares(2.0).is_empty());
        let endless = Range { ceiling: f64::INFINITY, ..count };
        assert!(above(2.0, 100.0, endless).is_empty());
    }
}
