//! Own hardware: its price per hour, and the monthly hours from which it is cheaper than a cloud.

use crate::catalog::{Money, covers};

use super::unit::dollars;
use super::{CostScenario, HOURS_PER_MONTH};
use crate::resolve::plain;

/// Hardware that is owned: what an hour of one accelerator costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Owned {
    /// A pattern of canonical names.
    pub accelerator: String,
    pub per_accelerator_hour: Money,
    /// The sum behind it.
    pub how: String,
    /// The parts of the price, or `None` if the settings contain the hourly price.
    pub purchased: Option<Purchased>,
}

/// The costs of a machine.
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
    /// The share of the hours in which it works, 0 to 1.
    pub utilization: f64,
}

const MONTHS_PER_YEAR: f64 = 12.0;

impl Owned {
    pub fn at_rate(accelerator: impl Into<String>, rate: Money) -> Self {
        let how = format!("{}/h per accelerator, from the settings", dollars(rate));
        Owned { accelerator: accelerator.into(), per_accelerator_hour: rate, how, purchased: None }
    }

    /// Spreads what is paid each month over the hours in which the hardware works, and adds its power. `None` where a
    /// number makes no sense.
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

    /// The hardware that settings declare for an accelerator: what stands later comes first.
    pub fn of<'a>(all: &'a [Owned], accelerator: &str) -> Option<&'a Owned> {
        all.iter().rev().find(|it| covers(&it.accelerator, accelerator))
    }
}

impl Purchased {
    /// What one machine costs a month whether or not it works.
    pub fn fixed_per_month(&self) -> f64 {
        self.usd / (self.years * MONTHS_PER_YEAR) + self.staff_usd_per_year / MONTHS_PER_YEAR + self.usd_per_month
    }

    /// `($6500 / 730 h + $2) / ($6500 / 365 h + $2)`: how `share_of_rate` comes to its part.
    pub(super) fn terms_of_share(&self, hours: f64) -> String {
        let used = HOURS_PER_MONTH * self.utilization;
        let (fixed, power) = (plain(self.fixed_per_month()), plain(self.power_per_hour()));
        let rate = |hours: f64| format!("(${fixed} / {} h + ${power})", plain(hours));
        format!("{} / {}", rate(hours.clamp(used, HOURS_PER_MONTH)), rate(used))
    }

    /// The part of the hourly rate that an hour costs of a machine which works so many hours of a month: what is paid each month
    /// is paid once, also where it works longer than the settings say.
    pub(super) fn share_of_rate(&self, hours: f64) -> f64 {
        let used = HOURS_PER_MONTH * self.utilization;
        let per_hour = |hours: f64| self.fixed_per_month() / hours + self.power_per_hour();
        let rate = per_hour(used);
        if rate > 0.0 { per_hour(hours.clamp(used, HOURS_PER_MONTH)) / rate } else { 1.0 }
    }

    /// What one machine costs beside that in an hour in which it works.
    pub fn power_per_hour(&self) -> f64 {
        self.watts / 1000.0 * self.usd_per_kwh
    }

    /// `$250000 / 48 months`, with what else is paid each month.
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

/// Owned hardware beside a way to rent as many of the same accelerators.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    pub scenario: CostScenario,
    /// Who rents them out, as people read it.
    pub of: String,
    /// An hour of as many accelerators as the own machine has.
    pub rent_per_hour: Money,
    pub crossing: BreakEvenHours,
}

/// From or up to how many hours a month one machine of one's own costs less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BreakEvenHours {
    /// Above so many, where what is rented is paid by the hour.
    Above(f64),
    /// Below so many, where what is rented is paid for all hours, and only power comes and goes.
    Below(f64),
    Always,
    Never,
}

impl BreakEvenHours {
    /// One word for machines.
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

/// Where one machine of one's own begins to cost less than renting its accelerators for so much an hour. On demand the hours
/// that are used are paid; what was committed to is paid for all hours of a month, whatever is used of them.
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
    /// 240,000 / 48 + 12,000 / 12 + 500 = 6,500 a month; 10 kW at 0.2 = 2 an hour.
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
        // (6,500 / 365 + 2) / 8 = 2.476027
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
        // 6,500 / (54 - 2) = 125
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
        // 8 x 730 = 5,840 is less than what the own machine costs while it stands still.
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
