//! The cost of a planned number of hours, for each way of buying and on own hardware.

use crate::catalog::{Catalog, CatalogMachine, Money, Offer, PriceClass, Search, grouped, is_stale};

use super::owned::{Against, Purchased, crossing};
use super::{CostScenario, OWN_PROVIDER, Owned, PricingSettings, Restarts};
use crate::resolve::plain;

/// The planned machines or accelerators, and the hours.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedHours {
    pub what: HoursPlan,
    pub hours: f64,
    /// The providers to consider. An empty list means all providers.
    pub providers: Vec<String>,
    /// The region of the named machine, or of all machines if none is named.
    pub region: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum HoursPlan {
    /// The name of one accelerator, or of all accelerators with the same chip.
    Accelerators { name: String, count: f64 },
    /// The named machine in all ways of buying, and machines of other providers with as many of the same accelerators.
    Machines { name: String, count: f64 },
}

/// One way of buying the planned hours.
#[derive(Debug, Clone, PartialEq)]
pub struct PurchaseOption {
    pub provider: String,
    pub machine: String,
    pub region: String,
    pub accelerator: String,
    /// The accelerators of all machines together, which can be more than the plan needs.
    pub accelerators: f64,
    pub machines: f64,
    pub purchase: &'static str,
    /// The way of buying as a scenario. `None` for booked capacity and own hardware.
    pub scenario: Option<CostScenario>,
    /// The price of all machines together.
    pub per_hour: Money,
    pub total: Money,
    pub restarts: Restarts,
    /// The requirements of this way of buying.
    pub needs: String,
    pub as_of: String,
    pub is_estimate: bool,
    /// Whether the price is outdated.
    pub is_stale: bool,
    pub own: Option<OwnMachine>,
}

/// One own machine with its costs from the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnMachine {
    /// The calculation of the price per accelerator and hour.
    pub how: String,
    pub per_accelerator_hour: Money,
    /// The costs of the machine. `None` if the settings contain only an hourly price.
    pub purchased: Option<Purchased>,
    /// The comparison of the own machine with cloud prices.
    pub against: Vec<Against>,
}

impl PlannedHours {
    /// Parses a request such as `8xA100-80GB`.
    pub fn parse(text: &str, hours: f64) -> Result<PlannedHours, String> {
        let expected = || format!("`{text}` is not a number of accelerators such as 8xA100-80GB");
        let (count, accelerator) = text.split_once(['x', 'X', '×']).ok_or_else(expected)?;
        let count: f64 = count.trim().parse().map_err(|_| expected())?;
        let name = accelerator.trim().to_owned();
        if !is_number_of_things(count) || name.is_empty() {
            return Err(expected());
        }
        PlannedHours::new(HoursPlan::Accelerators { name, count }, hours)
    }

    pub fn new(what: HoursPlan, hours: f64) -> Result<PlannedHours, String> {
        let (HoursPlan::Accelerators { count, .. } | HoursPlan::Machines { count, .. }) = &what;
        if !is_number_of_things(*count) {
            return Err(format!("{} is not a valid number of them", plain(*count)));
        }
        if !(hours > 0.0 && hours <= 1e6) {
            return Err(format!("{} is not a valid number of hours", plain(hours)));
        }
        Ok(PlannedHours { what, hours, providers: Vec::new(), region: None })
    }
}

fn is_number_of_things(count: f64) -> bool {
    count > 0.0 && count <= 1e6
}

/// Returns the ways to buy the hours, the cheapest first. For a named machine: all of its ways, and the cheapest of
/// each other provider. Otherwise: the cheapest machine of each provider for each way. Own hardware is one more way.
pub fn ways(catalog: &Catalog, settings: &PricingSettings, run: &PlannedHours) -> Vec<PurchaseOption> {
    let plan = Plan { catalog, settings, run };
    let mut ways = match &run.what {
        HoursPlan::Accelerators { name, count } => plan.with_accelerators(name, *count),
        HoursPlan::Machines { name, count } => plan.on_machines(name, *count),
    };
    let own = plan.on_own_hardware(&ways);
    ways.extend(own);
    ways.sort_by(|one, other| {
        let key = |way: &PurchaseOption| (way.total, way.provider.clone(), way.machine.clone());
        key(one).cmp(&key(other)).then(one.purchase.cmp(other.purchase))
    });
    ways
}

struct Plan<'a> {
    catalog: &'a Catalog,
    settings: &'a PricingSettings,
    run: &'a PlannedHours,
}

impl Plan<'_> {
    fn with_accelerators(&self, name: &str, count: f64) -> Vec<PurchaseOption> {
        let search = Search {
            accelerator: Some(name),
            providers: &self.run.providers,
            region: self.run.region.as_deref(),
            ..Search::default()
        };
        let mut ways: Vec<PurchaseOption> = Vec::new();
        for offer in self.catalog.search(&search) {
            for way in self.ways_on(&offer, machines_for(count, &offer.machine)) {
                let is_same = |other: &&mut PurchaseOption| {
                    (&other.provider, other.purchase, &other.accelerator)
                        == (&way.provider, way.purchase, &way.accelerator)
                };
                match ways.iter_mut().find(is_same) {
                    Some(other) if (way.total, way.machines) < (other.total, other.machines) => *other = way,
                    Some(_) => {}
                    None => ways.push(way),
                }
            }
        }
        ways
    }

    fn on_machines(&self, name: &str, count: f64) -> Vec<PurchaseOption> {
        let providers = &self.run.providers;
        let is_asked = |machine: &CatalogMachine<'_>| {
            providers.is_empty() || providers.iter().any(|it| it.eq_ignore_ascii_case(&machine.provider))
        };
        let mut named = self.catalog.machines_named(name);
        named.retain(is_asked);
        let region = self.run.region.as_deref();
        let offers: Vec<Offer<'_>> =
            named.into_iter().filter_map(|machine| self.catalog.in_region(machine, region)).collect();
        let mut ways: Vec<PurchaseOption> = offers.iter().flat_map(|offer| self.ways_on(offer, count)).collect();
        for offer in &offers {
            let others = self.elsewhere(&offer.machine, count);
            let known: Vec<String> = ways.iter().map(|way| way.provider.clone()).collect();
            ways.extend(others.into_iter().filter(|way| !known.contains(&way.provider)));
        }
        ways
    }

    /// Returns the cheapest way of each other provider with as many of the same accelerators. Machines of the same size
    /// come first, because many small ones are not connected alike. On demand comes first, because it is comparable to
    /// a run of some hours, and then other ways without a commitment.
    fn elsewhere(&self, machine: &CatalogMachine<'_>, machines: f64) -> Vec<PurchaseOption> {
        let search =
            Search { accelerator: Some(&machine.accelerator), providers: &self.run.providers, ..Search::default() };
        let is_other =
            |it: &Offer<'_>| it.machine.provider != machine.provider && it.machine.accelerator == machine.accelerator;
        let rank = |way: &PurchaseOption| {
            (
                way.machines > machines,
                way.scenario != Some(CostScenario::OnDemand),
                way.total,
                way.machines.ceil() as u64,
            )
        };
        let mut best: Vec<PurchaseOption> = Vec::new();
        for offer in self.catalog.search(&search).into_iter().filter(is_other) {
            for way in self.ways_on(&offer, machines_for(machines * machine.count, &offer.machine)) {
                if matches!(way.scenario, Some(CostScenario::Reserved1y | CostScenario::Reserved3y)) {
                    continue;
                }
                match best.iter_mut().find(|other| other.provider == way.provider) {
                    Some(other) if rank(&way) < rank(other) => *other = way,
                    Some(_) => {}
                    None => best.push(way),
                }
            }
        }
        best
    }

    fn ways_on(&self, offer: &Offer<'_>, machines: f64) -> Vec<PurchaseOption> {
        let quote = &offer.quote;
        let mut found = Vec::new();
        if !(machines.is_finite() && machines > 0.0) {
            return found;
        }
        // The interruption rate of another region does not apply to this one.
        let band = if quote.basis.is_estimate() { "" } else { quote.interruption };
        for scenario in CostScenario::ALL {
            let (purchase, price, as_of, needs) = match scenario {
                CostScenario::OnDemand => ("on demand", quote.on_demand, quote.as_of, String::new()),
                CostScenario::Spot => ("spot", quote.spot, quote.spot_as_of, interrupted(band)),
                CostScenario::Reserved1y => {
                    ("1 year", quote.reserved_1y, quote.as_of, committed(quote.reserved_1y, machines, 1.0))
                }
                CostScenario::Reserved3y => {
                    ("3 years", quote.reserved_3y, quote.as_of, committed(quote.reserved_3y, machines, 3.0))
                }
            };
            let Some(price) = price else { continue };
            let bought = Bought { purchase, scenario: Some(scenario), price, hours: self.run.hours, needs, as_of };
            let mut way = self.way(offer, machines, bought);
            if scenario == CostScenario::Spot {
                way.restarts = Restarts::expected(band, machines, self.run.hours);
            }
            found.push(way);
        }
        found.extend(self.booked(offer, machines));
        found
    }

    /// Returns capacity blocks of whole days.
    fn booked(&self, offer: &Offer<'_>, machines: f64) -> Vec<PurchaseOption> {
        let machine = &offer.machine;
        let days = (self.run.hours / 24.0).ceil();
        let unit = if days == 1.0 { "day" } else { "days" };
        let products = [("ec2-capacity-block", "capacity block", 182.0), ("dws-calendar", "calendar", 90.0)];
        let mut found = Vec::new();
        for (product, purchase, most_days) in products {
            let listed = self.catalog.commitment(&machine.provider, &machine.name, offer.region, product);
            let Some(listed) = listed.filter(|listed| days <= most_days && listed.region == offer.region) else {
                continue;
            };
            let needs = format!("booked and paid in advance for {} {unit}", plain(days));
            let (price, as_of) = (listed.per_hour, listed.as_of);
            let bought = Bought { purchase, scenario: None, price, hours: days * 24.0, needs, as_of };
            found.push(self.way(offer, machines, bought));
        }
        found
    }

    fn way(&self, offer: &Offer<'_>, machines: f64, bought: Bought<'_>) -> PurchaseOption {
        let machine = &offer.machine;
        let together = format!("{} connected machines", plain(machines));
        let retired = self.catalog.retired(machine).map(|date| {
            let since = if date.is_empty() { String::new() } else { format!(" since {date}") };
            format!("retired{since}: last known price")
        });
        let needs = [Some(bought.needs), (machines > 1.0).then_some(together), retired];
        let needs: Vec<String> = needs.into_iter().flatten().filter(|it| !it.is_empty()).collect();
        let per_hour = bought.price.times(machines);
        let class = match bought.scenario {
            Some(CostScenario::Spot) => PriceClass::Spot,
            _ => self.catalog.class(&machine.provider),
        };
        PurchaseOption {
            provider: machine.provider.to_string(),
            machine: machine.name.to_string(),
            region: offer.region.to_owned(),
            accelerator: machine.accelerator.to_string(),
            accelerators: machines * machine.count,
            machines,
            purchase: bought.purchase,
            scenario: bought.scenario,
            per_hour,
            total: per_hour.times(bought.hours),
            restarts: Restarts::NotSpot,
            needs: needs.join("; "),
            as_of: bought.as_of.to_owned(),
            is_estimate: offer.quote.basis.is_estimate(),
            is_stale: self.settings.today.is_some_and(|today| is_stale(bought.as_of, class, today)),
            own: None,
        }
    }

    /// Returns the own hardware in the settings that has the requested accelerators.
    fn on_own_hardware(&self, rented: &[PurchaseOption]) -> Vec<PurchaseOption> {
        let (accelerators, count) = match &self.run.what {
            HoursPlan::Accelerators { name, count } => (self.catalog.chips(name), Some(*count)),
            HoursPlan::Machines { name, .. } => {
                let named = rented.iter().find(|way| way.machine.eq_ignore_ascii_case(name));
                let named = named.map(|way| (way.accelerator.as_str(), way.accelerators));
                (named.iter().map(|(name, _)| *name).collect(), named.map(|(_, count)| count))
            }
        };
        let Some(count) = count else { return Vec::new() };
        let mut seen: Vec<&Owned> = Vec::new();
        let mut found = Vec::new();
        for accelerator in accelerators {
            let Some(own) = Owned::of(&self.settings.owned, accelerator) else { continue };
            if !seen.contains(&own) {
                seen.push(own);
                found.push(self.own_way(own, accelerator, count, rented));
            }
        }
        found
    }

    fn own_way(&self, own: &Owned, accelerator: &str, count: f64, rented: &[PurchaseOption]) -> PurchaseOption {
        // A rate has no machine size, because it applies to each accelerator.
        let of_one = own.purchased.map_or(count, |it| it.accelerators);
        let machines = (count / of_one).ceil();
        let per_hour = own.per_accelerator_hour.times(machines * of_one);
        let used = own.purchased.map(|it| format!("used {}% of all hours (settings)", plain(it.utilization * 100.0)));
        let together = (machines > 1.0).then(|| format!("{} connected machines", plain(machines)));
        let needs: Vec<String> = [used, together].into_iter().flatten().collect();
        PurchaseOption {
            provider: OWN_PROVIDER.to_owned(),
            machine: format!("{}x{accelerator}", plain(of_one)),
            region: String::new(),
            accelerator: accelerator.to_owned(),
            accelerators: machines * of_one,
            machines,
            purchase: "own",
            scenario: None,
            per_hour,
            total: per_hour.times(self.run.hours),
            restarts: Restarts::NotSpot,
            needs: needs.join("; "),
            as_of: String::new(),
            is_estimate: false,
            is_stale: false,
            own: Some(OwnMachine {
                how: own.how.clone(),
                per_accelerator_hour: own.per_accelerator_hour,
                purchased: own.purchased,
                against: own.purchased.map(|it| self.against(&it, rented)).unwrap_or_default(),
            }),
        }
    }

    /// Returns the on-demand and commitment prices of the named machine, or else of the cheapest one, for comparison.
    fn against(&self, own: &Purchased, rented: &[PurchaseOption]) -> Vec<Against> {
        let is_meant = |way: &&PurchaseOption| match &self.run.what {
            HoursPlan::Machines { name, .. } => way.machine.eq_ignore_ascii_case(name),
            HoursPlan::Accelerators { .. } => true,
        };
        let each = |way: &PurchaseOption| way.per_hour.times(1.0 / way.accelerators);
        let cheapest = |scenario: CostScenario| {
            rented.iter().filter(is_meant).filter(|way| way.scenario == Some(scenario)).min_by_key(|way| each(way))
        };
        let ways = [CostScenario::OnDemand, CostScenario::Reserved1y, CostScenario::Reserved3y];
        let found = ways.into_iter().filter_map(|scenario| cheapest(scenario).map(|way| (scenario, way)));
        let against = found.map(|(scenario, way)| {
            let rent_per_hour = each(way).times(own.accelerators);
            let of = format!("{} {}", way.provider, way.machine);
            Against { scenario, of, rent_per_hour, crossing: crossing(own, scenario, rent_per_hour) }
        });
        against.collect()
    }
}

/// One way of buying one machine.
struct Bought<'a> {
    purchase: &'static str,
    scenario: Option<CostScenario>,
    price: Money,
    hours: f64,
    needs: String,
    as_of: &'a str,
}

fn machines_for(accelerators: f64, machine: &CatalogMachine<'_>) -> f64 {
    (accelerators / machine.count).ceil()
}

fn interrupted(band: &str) -> String {
    let often = match band {
        "" => String::new(),
        band => format!(": {band} of machines per month"),
    };
    format!("checkpoints, because it can be interrupted{often}")
}

/// Describes the cost of the whole commitment, even if the plan uses only a part of it.
fn committed(price: Option<Money>, machines: f64, years: f64) -> String {
    let whole = price.unwrap_or_default().times(machines * years * 8760.0);
    format!("other work for the rest of a commitment of ${}", grouped(whole.micros().unsigned_abs() / 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Date;

    fn planned(what: HoursPlan, hours: f64, providers: &[&str]) -> PlannedHours {
        let providers = providers.iter().map(|name| (*name).to_owned()).collect();
        PlannedHours { providers, ..PlannedHours::new(what, hours).unwrap() }
    }

    fn accelerators(name: &str, count: f64) -> HoursPlan {
        HoursPlan::Accelerators { name: name.to_owned(), count }
    }

    fn machines(name: &str, count: f64) -> HoursPlan {
        HoursPlan::Machines { name: name.to_owned(), count }
    }

    fn ways_of(run: &PlannedHours) -> Vec<(String, &'static str, f64)> {
        let all = ways(&Catalog::examples(), &PricingSettings::default(), run).into_iter();
        all.map(|way| (way.machine, way.purchase, way.total.usd())).collect()
    }

    #[test]
    fn ways_are_sorted_by_what_the_run_costs() {
        let run = PlannedHours::parse("8xH100", 30.0).unwrap();
        assert_eq!(run.what, accelerators("H100", 8.0));
        let found = ways_of(&planned(run.what, 30.0, &["aws", "coreweave"]));
        let expected = [
            ("p5.48xlarge", "spot", 32.0 * 30.0),
            ("p5.48xlarge", "3 years", 40.0 * 30.0),
            ("gd-8xh100ib-i128", "on demand", 48.0 * 30.0),
            ("p5.48xlarge", "1 year", 48.0 * 30.0),
            ("p5.48xlarge", "on demand", 80.0 * 30.0),
            // The capacity block is booked for two whole days.
            ("p5.48xlarge", "capacity block", 60.0 * 48.0),
        ];
        let mut found: Vec<_> = found.iter().map(|(name, way, usd)| (name.as_str(), *way, *usd)).collect();
        found.sort_by(|one, other| one.2.total_cmp(&other.2).then(one.0.cmp(other.0)));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_machine_that_wastes_least_is_taken() {
        // Four g5.xlarge have four accelerators, and a g5.48xlarge has eight.
        let found = ways_of(&planned(accelerators("A10G", 4.0), 1.0, &["aws"]));
        assert!(found.contains(&("g5.xlarge".to_owned(), "on demand", 4.0)), "{found:?}");
    }

    #[test]
    fn a_machine_is_told_in_all_ways_and_other_providers_in_one() {
        let run = planned(machines("p5.48xlarge", 2.0), 48.0, &["aws", "gcp", "coreweave"]);
        let all = ways(&Catalog::examples(), &PricingSettings::default(), &run);
        let found: Vec<_> =
            all.iter().map(|way| (&*way.machine, way.purchase, way.machines, way.total.usd())).collect();
        let expected = [
            ("p5.48xlarge", "spot", 2.0, 2.0 * 32.0 * 48.0),
            ("p5.48xlarge", "3 years", 2.0, 2.0 * 40.0 * 48.0),
            ("p5.48xlarge", "1 year", 2.0, 2.0 * 48.0 * 48.0),
            ("gd-8xh100ib-i128", "on demand", 2.0, 2.0 * 48.0 * 48.0),
            ("p5.48xlarge", "capacity block", 2.0, 2.0 * 60.0 * 48.0),
            ("p5.48xlarge", "on demand", 2.0, 2.0 * 80.0 * 48.0),
            ("a3-highgpu-8g", "on demand", 2.0, 2.0 * 88.0 * 48.0),
        ];
        let sorted = |mut rows: Vec<(&str, &'static str, f64, f64)>| {
            rows.sort_by(|one, two| one.3.total_cmp(&two.3).then(one.0.cmp(two.0)));
            rows.into_iter().map(|(name, way, count, usd)| format!("{name} {way} {count} {usd}")).collect::<Vec<_>>()
        };
        assert_eq!(sorted(found), sorted(expected.to_vec()));
        // Spot takes back less than 5% of the machines in a month: 0.05 x 2 x 48 / 730.
        let spot = all.iter().find(|way| way.purchase == "spot").unwrap();
        let Restarts::Between { least, most: Some(most) } = spot.restarts else { panic!("{:?}", spot.restarts) };
        assert_eq!((least, (most * 1e6).round()), (0.0, 6575.0));
        assert!(all.iter().all(|way| way.purchase == "spot" || way.restarts == Restarts::NotSpot));
    }

    #[test]
    fn elsewhere_a_machine_as_large_comes_before_many_small_ones() {
        let run = planned(machines("p5.48xlarge", 1.0), 1.0, &[]);
        let all = ways(&Catalog::examples(), &PricingSettings::default(), &run);
        let others: Vec<_> = all.iter().filter(|way| way.provider != "aws").collect();
        let mut providers: Vec<_> = others.iter().map(|way| &way.provider).collect();
        providers.sort();
        providers.dedup();
        assert!(providers.len() == others.len() && others.len() > 2, "{others:#?}");
        assert!(others.iter().all(|way| way.accelerator == "H100-80GB" && way.accelerators >= 8.0), "{others:#?}");
        // Eight a3-highgpu-1g cost as much as one a3-highgpu-8g.
        let google = others.iter().find(|way| way.provider == "gcp").unwrap();
        assert_eq!((&*google.machine, google.machines, google.purchase), ("a3-highgpu-8g", 1.0, "on demand"));
    }

    #[test]
    fn nobody_invents_how_often_spot_is_taken_away() {
        let run = planned(machines("a3-highgpu-8g", 1.0), 48.0, &["gcp"]);
        let all = ways(&Catalog::examples(), &PricingSettings::default(), &run);
        let spot = all.iter().find(|way| way.purchase == "spot").unwrap();
        assert_eq!(spot.restarts, Restarts::Unknown);
        // The interruption rate of us-east-1 does not apply to another region.
        let there = PlannedHours {
            region: Some("eu-central-1".into()),
            ..planned(machines("p5.48xlarge", 1.0), 1.0, &["aws"])
        };
        let all = ways(&Catalog::examples(), &PricingSettings::default(), &there);
        let spot = all.iter().find(|way| way.purchase == "spot").unwrap();
        assert!(spot.is_estimate && spot.restarts == Restarts::Unknown && !spot.needs.contains('%'), "{spot:?}");
    }

    #[test]
    fn prices_grow_old() {
        let run = planned(machines("p5.48xlarge", 1.0), 1.0, &["aws"]);
        let at = |day: &str| {
            let settings = PricingSettings { today: Some(day.parse::<Date>().unwrap()), ..PricingSettings::default() };
            let all = ways(&Catalog::examples(), &settings, &run);
            let old = all.iter().filter(|way| way.is_stale).map(|way| way.purchase);
            let mut old: Vec<_> = old.collect();
            old.sort_unstable();
            old
        };
        // The prices are of 2026-01-01. Spot prices are valid for 14 days, those of a large cloud for 180 days.
        assert!(at("2026-01-10").is_empty());
        assert_eq!(at("2026-01-20"), ["spot"]);
        assert_eq!(at("2026-07-20"), ["1 year", "3 years", "capacity block", "on demand", "spot"]);
    }

    #[test]
    fn own_hardware_is_one_more_way() {
        let purchased = Purchased::example();
        let owned = vec![Owned::purchased("H100*", purchased).unwrap()];
        let settings = PricingSettings { owned, ..PricingSettings::default() };
        let run = planned(machines("p5.48xlarge", 2.0), 48.0, &["aws"]);
        let all = ways(&Catalog::examples(), &settings, &run);
        let way = all.iter().find(|way| way.purchase == "own").unwrap();
        assert_eq!((way.machines, way.accelerators, &*way.machine), (2.0, 16.0, "8xH100-80GB"));
        // The expected cost is 2 x (6,500 / 365 + 2) x 48. The hourly price is rounded to a millionth.
        assert!((way.total.usd() - 2.0 * (6500.0 / 365.0 + 2.0) * 48.0).abs() < 0.001, "{}", way.total.usd());
        let own = way.own.as_ref().unwrap();
        let said: Vec<_> = own.against.iter().map(|it| (it.scenario, it.rent_per_hour.usd(), it.crossing)).collect();
        let (demand, year, years) = (CostScenario::OnDemand, CostScenario::Reserved1y, CostScenario::Reserved3y);
        let always = super::super::BreakEvenHours::Always;
        assert_eq!(said.first().unwrap().2, super::super::BreakEvenHours::Above(6500.0 / 78.0));
        assert_eq!(said[1..], [(year, 48.0, always), (years, 40.0, always)]);
        assert_eq!(said[0].0, demand);
        // The settings contain no hardware with other accelerators.
        let other = ways(&Catalog::examples(), &settings, &planned(accelerators("A100-80GB", 8.0), 1.0, &["aws"]));
        assert!(!other.is_empty() && other.iter().all(|way| way.own.is_none()));
    }

    #[test]
    fn nonsense_is_no_run() {
        for (text, hours) in
            [("A100", 1.0), ("0xA100", 1.0), ("8x", 1.0), ("-1xA100", 1.0), ("8xA100", 0.0), ("8xA100", f64::NAN)]
        {
            assert!(PlannedHours::parse(text, hours).is_err(), "{text} {hours}");
        }
        assert!(PlannedHours::new(machines("p5.48xlarge", 0.0), 1.0).is_err());
        assert!(ways_of(&planned(accelerators("Nothing", 8.0), 1.0, &[])).is_empty());
        assert!(ways_of(&planned(machines("nothing", 8.0), 1.0, &[])).is_empty());
    }
}
