//! Own hardware: its price per hour, and the monthly hours from which it is cheaper than a cloud.

use crate::catalog::{Money, covers};

use super::unit::dollars;
use super::{CostScenario, HOURS_PER_MONTH};
use crate::resolve::plain;

/// Own hardware, and the price of one of its accelerators per hour.
#[derive(Debug, Clone, PartialEq)]
pub struct Owned {
    /// A pattern of canonical accelerator names.
    pub accelerator: String,
    pub per_accelerator_hour: Money,
    /// The calculation of the price per accelerator and hour.
    pub how: String,
    /// The parts of the price, or `None` if the settings contain the hourly price.
    pub purchased: Option<Purchased>,
}

/// The costs of one own machine.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Purchased {
    pub usd: f64,
    pub accelerators: f64,
    pub years: f64,
    pub watts: f64,
    pub usd_per_kwh: f64,
    /// The staff cost per machine.
    pub staff_usd_per_year: f64,
    /// Other monthly costs, such as rack space and support.
    pub usd_per_month: f64,
    /// The share of the hours in which the machine works, from 0 to 1.
    pub utilization: f64,
}

const MONTHS_PER_YEAR: f64 = 12.0;

impl Owned {
    pub fn at_rate(accelerator: impl Into<String>, rate: Money) -> Self {
        let how = format!("{}/h per accelerator, from the settings", dollars(rate));
        Owned { accelerator: accelerator.into(), per_accelerator_hour: rate, how, purchased: None }
    }

    /// Spreads the fixed costs over the hours in which the hardware works, and adds the cost of power. Returns `None`
    /// if a number is not plausible.
    pub fn purchased(accelerator: impl Into<String>, it: Purchased) -> Option<Self> {
        let positive = [it.usd, it.accelerators, it.years, it.utilization].iter().all(|n| n.is_finite() && *n > 0.0);
        let others = [it.watts, it.usd_per_kwh, it.staff_usd_per_year, it.usd_per_month];
        if !positive || it.utilization > 1.0 || !others.iter().all(|n| n.is_finite() && *n >= 0.0) {
            return None;
        }
        let hours = HOURS_PER_MONTH * it.utilization;
        let rate = Money::from_usd((it.fixed_per_month() / hours + it.power_per_hour()) / it.accelerators);
        let how = format!(
            "({} / ({} h x {}% used) + {} kW x ${}/kWh) / {} accelerators",
            it.fixed_terms(),
            plain(HOURS_PER_MONTH),
            plain(it.utilization * 100.0),
            plain(it.watts / 1000.0),
            plain(it.usd_per_kwh),
            plain(it.accelerators)
        );
        Some(Owned { accelerator: accelerator.into(), per_accelerator_hour: rate, how, purchased: Some(it) })
    }

    /// Returns the hardware that the settings declare for an accelerator. The last entry wins.
    pub fn of<'a>(all: &'a [Owned], accelerator: &str) -> Option<&'a Owned> {
        all.iter().rev().find(|it| covers(&it.accelerator, accelerator))
    }
}

impl Purchased {
    /// Returns the monthly cost of one machine that does not depend on its hours.
    pub fn fixed_per_month(&self) -> f64 {
        self.usd / (self.years * MONTHS_PER_YEAR) + self.staff_usd_per_year / MONTHS_PER_YEAR + self.usd_per_month
    }

    /// Returns the calculation of `share_of_rate`, such as `($6500 / 730 h + $2) / ($6500 / 365 h + $2)`.
    pub(super) fn terms_of_share(&self, hours: f64) -> String {
        let used = HOURS_PER_MONTH * self.utilization;
        let (fixed, power) = (plain(self.fixed_per_month()), plain(self.power_per_hour()));
        let rate = |hours: f64| format!("(${fixed} / {} h + ${power})", plain(hours));
        format!("{} / {}", rate(hours.clamp(used, HOURS_PER_MONTH)), rate(used))
    }

    /// Returns the hourly price as a share of the usual rate, for a machine that works this many hours a month. The
    /// fixed costs are paid once, even if the machine works longer than the settings expect.
    pub(super) fn share_of_rate(&self, hours: f64) -> f64 {
        let used = HOURS_PER_MONTH * self.utilization;
        let per_hour = |hours: f64| self.fixed_per_month() / hours + self.power_per_hour();
        let rate = per_hour(used);
        if rate > 0.0 { per_hour(hours.clamp(used, HOURS_PER_MONTH)) / rate } else { 1.0 }
    }

    /// Returns the cost of power for an hour in which the machine works.
    pub fn power_per_hour(&self) -> f64 {
        self.watts / 1000.0 * self.usd_per_kwh
    }

    /// Returns the calculation of the fixed costs, such as `$250000 / 48 months`.
    pub fn fixed_terms(&self) -> String {
        let price = format!("${} / {} months", plain(self.usd), plain(self.years * MONTHS_PER_YEAR));
        let staff = format!("${} of staff / 12", plain(self.staff_usd_per_year));
        let place = format!("${}", plain(self.usd_per_month));
        let others = [(self.staff_usd_per_year, staff), (self.usd_per_month, place)];
        let others = others.into_iter().filter(|(usd, _)| *usd > 0.0).map(|(_, text)| text);
        let terms: Vec<String> = std::iter::once(price).chain(others).collect();
        if terms.len() > 1 { format!("({})", terms.join(" + ")) } else { terms.concat() }
    }
}

/// The comparison of own hardware with a way to rent as many of the same accelerators.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    pub scenario: CostScenario,
    /// The provider and the machine, for reports.
    pub of: String,
    /// The hourly price of as many accelerators as the own machine has.
    pub rent_per_hour: Money,
    pub crossing: BreakEvenHours,
}

/// The hours per month at which one own machine is cheaper than renting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BreakEvenHours {
    /// The own machine is cheaper above this number of hours, because the rented machine is billed by the hour.
    Above(f64),
    /// The own machine is cheaper below this number of hours, because the rented machine is billed for all hours.
    Below(f64),
    Always,
    Never,
}

impl BreakEvenHours {
    /// Returns the name for programs.
    pub fn name(self) -> &'static str {
        match self {
            BreakEvenHours::Above(_) => "above",
            BreakEvenHours::Below(_) => "below",
            BreakEvenHours::Always => "always",
            BreakEvenHours::Never => "never",
        }
    }

    pub fn hours(self) -> Option<f64> {
        match self {
            BreakEvenHours::Above(hours) | BreakEvenHours::Below(hours) => Some(hours),
            BreakEvenHours::Always | BreakEvenHours::Never => None,
        }
    }
}

/// Returns the hours at which one own machine is cheaper than renting its accelerators at this price per hour. On
/// demand bills the hours that are used, and a commitment bills all hours of a month.
pub fn crossing(own: &Purchased, scenario: CostScenario, rent_per_hour: Money) -> BreakEvenHours {
    let (fixed, power, rent) = (own.fixed_per_month(), own.power_per_hour(), rent_per_hour.usd());
    match scenario {
        CostScenario::OnDemand | CostScenario::Spot => {
            let hours = fixed / (rent - power);
            if rent > power && hours <= HOURS_PER_MONTH { BreakEvenHours::Above(hours) } else { BreakEvenHours::Never }
        }
        CostScenario::Reserved1y | CostScenario::Reserved3y => {
            let left = rent * HOURS_PER_MONTH - fixed;
            if left <= 0.0 {
                BreakEvenHours::Never
            } else if power * HOURS_PER_MONTH <= left {
                BreakEvenHours::Always
            } else {
                BreakEvenHours::Below(left / power)
            }
        }
    }
}

#[cfg(test)]
impl Purchased {
    /// The fixed costs are 240,000 / 48 + 12,000 / 12 + 500 = 6,500 a month; 10 kW at 0.2 cost 2 an hour.
    pub(crate) fn example() -> Purchased {
        Purchased {
            usd: 240_000.0,
            accelerators: 8.0,
            years: 4.0,
            watts: 10_000.0,
            usd_per_kwh: 0.2,
            staff_usd_per_year: 12_000.0,
            usd_per_month: 500.0,
            utilization: 0.5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_what_is_fixed_over_the_hours_that_are_used_and_power() {
        let own = Owned::purchased("H100*", Purchased::example()).unwrap();
        // The price is (6,500 / 365 + 2) / 8 = 2.476027.
        assert_eq!((own.per_accelerator_hour.usd() * 1e6).round(), 2_476_027.0);
        let said = "(($240000 / 48 months + $12000 of staff / 12 + $500) / (730 h x 50% used) + 10 kW x $0.2/kWh) / 8 \
                    accelerators";
        assert_eq!(own.how, said);
        for wrong in [
            Purchased { staff_usd_per_year: f64::NAN, ..Purchased::example() },
            Purchased { usd_per_month: -1.0, ..Purchased::example() },
            Purchased { utilization: 1.5, ..Purchased::example() },
        ] {
            assert!(Owned::purchased("*", wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn rent_by_the_hour_is_dearer_above_so_many_hours() {
        // The machine is cheaper from 6,500 / (54 - 2) = 125 hours on.
        assert_eq!(
            crossing(&Purchased::example(), CostScenario::OnDemand, Money::from_usd(54.0)),
            BreakEvenHours::Above(125.0)
        );
        // 6,500 / (10 - 2) = 812.5, which no month has.
        assert_eq!(
            crossing(&Purchased::example(), CostScenario::OnDemand, Money::from_usd(10.0)),
            BreakEvenHours::Never
        );
        assert_eq!(
            crossing(&Purchased::example(), CostScenario::OnDemand, Money::from_usd(1.5)),
            BreakEvenHours::Never
        );
    }

    #[test]
    fn a_commitment_is_paid_for_all_hours() {
        // Renting costs 8 x 730 = 5,840, less than the own machine costs without running.
        assert_eq!(
            crossing(&Purchased::example(), CostScenario::Reserved3y, Money::from_usd(8.0)),
            BreakEvenHours::Never
        );
        // 10 x 730 - 6,500 = 800, the power of 400 hours.
        assert_eq!(
            crossing(&Purchased::example(), CostScenario::Reserved1y, Money::from_usd(10.0)),
            BreakEvenHours::Below(400.0)
        );
        assert_eq!(
            crossing(&Purchased::example(), CostScenario::Reserved1y, Money::from_usd(20.0)),
            BreakEvenHours::Always
        );
    }
}
