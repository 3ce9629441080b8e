//! What one planned run would cost, bought in every way that is listed.

use crate::catalog::{Catalog, Machine, Money, Quote, Search, grouped};

use super::Scenario;
use crate::complete::plain;

/// So many accelerators for so many hours.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedHours {
    /// A name of one accelerator, or of all with the same chip.
    pub accelerator: String,
    pub accelerators: f64,
    pub hours: f64,
    /// All where this is empty.
    pub providers: Vec<String>,
    pub region: Option<String>,
}

/// One way to buy it.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    pub provider: String,
    pub machine: String,
    pub region: String,
    pub accelerator: String,
    /// How many machines; together they may have more accelerators than the run needs.
    pub machines: f64,
    pub purchase: &'static str,
    /// All machines together.
    pub per_hour: Money,
    pub total: Money,
    /// What the run or its owner must bring for it.
    pub needs: String,
    pub as_of: String,
    pub is_estimate: bool,
}

impl PlannedHours {
    /// `8xA100-80GB`
    pub fn parse(text: &str, hours: f64) -> Result<PlannedHours, String> {
        let expected = || format!("`{text}` is no number of accelerators such as 8xA100-80GB");
        let (count, accelerator) = text.split_once(['x', 'X', '×']).ok_or_else(expected)?;
        let accelerators: f64 = count.trim().parse().map_err(|_| expected())?;
        let sensible = accelerators > 0.0 && accelerators <= 1e6 && !accelerator.trim().is_empty();
        if !sensible {
            return Err(expected());
        }
        if !(hours > 0.0 && hours <= 1e6) {
            return Err(format!("a run of {} hours is none", plain(hours)));
        }
        let accelerator = accelerator.trim().to_owned();
        Ok(PlannedHours { accelerator, accelerators, hours, providers: Vec::new(), region: None })
    }
}

/// The cheapest machine of each provider for each way of buying, cheapest run first.
pub fn ways(catalog: &Catalog, run: &PlannedHours) -> Vec<Way> {
    let search = Search {
        accelerator: Some(&run.accelerator),
        providers: &run.providers,
        region: run.region.as_deref(),
        ..Search::default()
    };
    let mut ways: Vec<Way> = Vec::new();
    for offer in catalog.search(&search) {
        let machines = (run.accelerators / offer.machine.count).ceil();
        for way in ways_on_machine(catalog, run, &offer.machine, offer.region, &offer.quote, machines) {
            let same = |other: &&mut Way| {
                (&other.provider, other.purchase, &other.accelerator) == (&way.provider, way.purchase, &way.accelerator)
            };
            match ways.iter_mut().find(same) {
                Some(other) if (way.total, way.machines) < (other.total, other.machines) => *other = way,
                Some(_) => {}
                None => ways.push(way),
            }
        }
    }
    ways.sort_by(|one, other| {
        let key = |way: &Way| (way.total, way.provider.clone(), way.machine.clone());
        key(one).cmp(&key(other)).then(one.purchase.cmp(other.purchase))
    });
    ways
}

fn ways_on_machine(
    catalog: &Catalog,
    run: &PlannedHours,
    machine: &Machine<'_>,
    region: &str,
    quote: &Quote<'_>,
    machines: f64,
) -> Vec<Way> {
    let way = |purchase: &'static str, each: Money, hours: f64, needs: String, as_of: &str| {
        let per_hour = each.times(machines);
        Way {
            provider: machine.provider.to_string(),
            machine: machine.name.to_string(),
            region: region.to_owned(),
            accelerator: machine.accelerator.to_string(),
            machines,
            purchase,
            per_hour,
            total: per_hour.times(hours),
            needs: if machines > 1.0 && !needs.is_empty() {
                format!("{needs}; {} machines that work as one", plain(machines))
            } else if machines > 1.0 {
                format!("{} machines that work as one", plain(machines))
            } else {
                needs
            },
            as_of: as_of.to_owned(),
            is_estimate: quote.basis.is_estimate(),
        }
    };
    let mut found = Vec::new();
    for scenario in Scenario::ALL {
        let (purchase, price, as_of, needs) = match scenario {
            Scenario::OnDemand => ("on demand", quote.on_demand, quote.as_of, String::new()),
            Scenario::Spot => ("spot", quote.spot, quote.spot_as_of, interrupted(quote)),
            Scenario::Reserved1y => {
                ("1 year", quote.reserved_1y, quote.as_of, committed(quote.reserved_1y, machines, 1.0))
            }
            Scenario::Reserved3y => {
                ("3 years", quote.reserved_3y, quote.as_of, committed(quote.reserved_3y, machines, 3.0))
            }
        };
        found.extend(price.map(|price| way(purchase, price, run.hours, needs, as_of)));
    }
    for (product, purchase, most_days) in
        [("ec2-capacity-block", "capacity block", 182.0), ("dws-calendar", "calendar", 90.0)]
    {
        let days = (run.hours / 24.0).ceil();
        let Some(listed) = catalog.commitment(&machine.provider, &machine.name, region, product) else { continue };
        if days <= most_days && listed.region == region {
            let unit = if days == 1.0 { "day" } else { "days" };
            let needs = format!("booked and paid ahead for {} {unit}", plain(days));
            found.push(way(purchase, listed.per_hour, days * 24.0, needs, listed.as_of));
        }
    }
    found
}

fn interrupted(quote: &Quote<'_>) -> String {
    let often = match quote.interruption {
        "" => String::new(),
        band => format!(": {band} of machines a month"),
    };
    format!("checkpoints, as it may be interrupted{often}")
}

/// A commitment is paid to its end, whatever the run takes of it.
fn committed(price: Option<Money>, machines: f64, years: f64) -> String {
    let whole = price.unwrap_or_default().times(machines * years * 8760.0);
    format!("other work for the rest of a commitment of ${}", grouped(whole.micros().unsigned_abs() / 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways_of(text: &str, hours: f64, providers: &[&str]) -> Vec<(String, &'static str, f64)> {
        let providers = providers.iter().map(|name| (*name).to_owned()).collect();
        let run = PlannedHours { providers, ..PlannedHours::parse(text, hours).unwrap() };
        let all = ways(&Catalog::examples(), &run).into_iter();
        all.map(|way| (way.machine, way.purchase, way.total.usd())).collect()
    }

    #[test]
    fn ways_are_sorted_by_what_the_run_costs() {
        let found = ways_of("8xH100", 30.0, &["aws", "coreweave"]);
        let expected = [
            ("p5.48xlarge", "spot", 32.0 * 30.0),
            ("p5.48xlarge", "3 years", 40.0 * 30.0),
            ("gd-8xh100ib-i128", "on demand", 48.0 * 30.0),
            ("p5.48xlarge", "1 year", 48.0 * 30.0),
            ("p5.48xlarge", "on demand", 80.0 * 30.0),
            // Two whole days.
            ("p5.48xlarge", "capacity block", 60.0 * 48.0),
        ];
        let mut found: Vec<_> = found.iter().map(|(name, way, usd)| (name.as_str(), *way, *usd)).collect();
        found.sort_by(|one, other| one.2.total_cmp(&other.2).then(one.0.cmp(other.0)));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_machine_that_wastes_least_is_taken() {
        // Four are half of a p4d; a g5.48xlarge has eight.
        let found = ways_of("4xA10G", 1.0, &["aws"]);
        assert!(found.contains(&("g5.xlarge".to_owned(), "on demand", 4.0)), "{found:?}");
    }

    #[test]
    fn nonsense_is_no_run() {
        for (text, hours) in
            [("A100", 1.0), ("0xA100", 1.0), ("8x", 1.0), ("-1xA100", 1.0), ("8xA100", 0.0), ("8xA100", f64::NAN)]
        {
            assert!(PlannedHours::parse(text, hours).is_err(), "{text} {hours}");
        }
        assert!(ways_of("8xNothing", 1.0, &[]).is_empty());
    }
}
