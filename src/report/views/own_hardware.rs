//! Compares your own hardware with renting, with every term, so that readers can check the calculation.

use std::fmt::Write;

use crate::catalog::{Currency, Money};
use crate::pricing::{Against, BreakEvenHours, CostScenario, HOURS_PER_MONTH, OwnMachine, Purchased};
use crate::report::one_line;
use crate::resolve::plain;

/// Returns the cost per hour, the fixed cost per month, and the break-even with renting.
pub(in crate::report) fn lines(own: &OwnMachine) -> String {
    let Some(machine) = &own.purchased else {
        let unknown = "the fixed costs are not set, so the break-even hours are unknown";
        return format!("  one accelerator hour: {}\n  {unknown}\n", own.how);
    };
    let each = Currency::USD.per_hour(own.per_accelerator_hour);
    let mut text = format!("  one accelerator hour: {} = {each}\n", own.how);
    let _ = writeln!(
        text,
        "  one machine: {} = {}/month, plus {} kW x ${} = {} per hour of work",
        machine.fixed_terms(),
        usd(machine.fixed_per_month()),
        plain(machine.watts / 1000.0),
        plain(machine.usd_per_kwh),
        hourly(machine.power_per_hour()),
    );
    for it in &own.against {
        text.push_str(&beside(machine, it));
    }
    text
}

fn beside(own: &Purchased, it: &Against) -> String {
    let (fixed, power) = (own.fixed_per_month(), own.power_per_hour());
    let rent = it.rent_per_hour.usd();
    let (fixed_text, power_text, rent_text) = (usd(fixed), hourly(power), hourly(rent));
    let rented = format!(
        "  compared with {} {}, {rent_text}/h for {} accelerators",
        one_line(&it.of),
        bought(it.scenario),
        plain(own.accelerators)
    );
    let all_hours = plain(HOURS_PER_MONTH);
    let said = match (it.scenario, it.crossing) {
        (CostScenario::OnDemand | CostScenario::Spot, BreakEvenHours::Above(hours)) => {
            format!("cheaper above {fixed_text} / ({rent_text} - {power_text}) = {hours:.1} hours per month")
        }
        (CostScenario::OnDemand | CostScenario::Spot, _) if rent <= power => {
            format!("never cheaper, because its power alone costs {power_text}/h")
        }
        (CostScenario::OnDemand | CostScenario::Spot, _) => format!(
            "never cheaper: {fixed_text} / ({rent_text} - {power_text}) = {:.1} hours, more than the {all_hours} hours of a month",
            fixed / (rent - power)
        ),
        (CostScenario::Reserved1y | CostScenario::Reserved3y, crossing) => {
            let month = usd(rent * HOURS_PER_MONTH);
            let paid = format!("billed for all {all_hours} hours, {month}/month");
            let full = usd(fixed + power * HOURS_PER_MONTH);
            match crossing {
                BreakEvenHours::Below(hours) => {
                    format!(
                        "{paid}: cheaper below ({month} - {fixed_text}) / {power_text} = {hours:.1} hours per month"
                    )
                }
                BreakEvenHours::Never => {
                    format!("{paid}: never cheaper, because it costs {fixed_text}/month even when idle")
                }
                BreakEvenHours::Above(_) | BreakEvenHours::Always => {
                    format!("{paid}: cheaper at any number of hours, {full}/month at most")
                }
            }
        }
    };
    format!("{rented}: {said}\n")
}

pub(in crate::report) fn bought(scenario: CostScenario) -> &'static str {
    match scenario {
        CostScenario::OnDemand => "on demand",
        CostScenario::Spot => "on spot",
        CostScenario::Reserved1y => "for a year",
        CostScenario::Reserved3y => "for three years",
    }
}

fn hourly(amount: f64) -> String {
    Currency::USD.per_hour(Money::from_usd(amount))
}

/// Formats an amount exact to the cent, so that readers can check the calculation.
fn usd(amount: f64) -> String {
    Currency::USD.exact_to_the_cent(Money::from_usd(amount))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::crossing;

    #[test]
    fn each_line_holds_its_terms() {
        let own = Purchased::example();
        let said = |scenario: CostScenario, usd: f64| {
            let rent_per_hour = Money::from_usd(usd);
            let crossing = crossing(&own, scenario, rent_per_hour);
            beside(&own, &Against { scenario, of: "aws p5".to_owned(), rent_per_hour, crossing })
        };
        let cases = [
            (CostScenario::OnDemand, 54.0, "cheaper above $6,500 / ($54.00 - $2.00) = 125.0 hours per month"),
            (
                CostScenario::OnDemand,
                10.0,
                "never cheaper: $6,500 / ($10.00 - $2.00) = 812.5 hours, more than the 730 hours of a month",
            ),
            (CostScenario::OnDemand, 1.5, "never cheaper, because its power alone costs $2.00/h"),
            (CostScenario::Reserved1y, 10.0, "cheaper below ($7,300 - $6,500) / $2.00 = 400.0 hours per month"),
            (
                CostScenario::Reserved3y,
                8.0,
                "$5,840/month: never cheaper, because it costs $6,500/month even when idle",
            ),
            (CostScenario::Reserved3y, 20.0, "cheaper at any number of hours, $7,960/month at most"),
        ];
        for (scenario, usd, expected) in cases {
            let line = said(scenario, usd);
            assert!(line.trim_end().ends_with(expected), "{line}");
        }
        let lines = lines(&OwnMachine {
            how: "sum".to_owned(),
            per_accelerator_hour: Money::from_usd(2.5),
            purchased: Some(own),
            against: Vec::new(),
        });
        assert!(lines.starts_with("  one accelerator hour: sum = $2.50\n"), "{lines}");
        assert!(lines.contains("($240000 / 48 months + $12000 of staff / 12 + $500) = $6,500/month"), "{lines}");
        assert!(lines.contains("10 kW x $0.2 = $2.00 per hour of work"), "{lines}");
    }
}
