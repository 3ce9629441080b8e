//! Applies the way of buying to the prices of a machine.

use crate::catalog::{Catalog, CatalogMachine, Money, MoneyRange};
use crate::inventory::{Fact, Key, Purchase, Range, Resource};

use super::unit::{PricedUnit, dollars, scenario_in_words};
use super::{CostScenario, StepSource, SumStep, multiply};
use crate::resolve::plain;

/// The price per hour for a way of buying.
#[derive(Debug, Clone)]
pub(super) struct PurchasePrice {
    pub(super) per_hour: MoneyRange,
    pub(super) steps: Vec<SumStep>,
    /// The prices from which this price is calculated.
    pub(super) ways: Vec<CostScenario>,
    /// Why the price is an estimate, if it is one.
    pub(super) estimated: Option<String>,
}

impl PurchasePrice {
    fn with_step(per_hour: MoneyRange, ways: &[CostScenario], text: impl Into<String>) -> Self {
        let step = SumStep::new(text, per_hour.expected).about(StepSource::Fact(Key::Purchase));
        PurchasePrice { per_hour, steps: vec![step], ways: ways.to_vec(), estimated: None }
    }
}

/// A possible machine for a resource, with its prices.
#[derive(Debug, Clone)]
pub(super) struct PurchaseVariant<'c> {
    pub(super) machine: CatalogMachine<'c>,
    pub(super) region: String,
    pub(super) unit: PricedUnit,
    /// The part of the machine that is paid for. A whole machine is 1.
    pub(super) share: f64,
    /// The accelerators that cannot be used, because the pod leaves too few CPUs or too little memory.
    pub(super) stranded: f64,
}

impl PurchaseVariant<'_> {
    /// Returns the hourly price with the range that it may be today, or why it is unknown.
    fn range(&self, scenario: CostScenario) -> Result<MoneyRange, String> {
        self.unit.range(scenario).ok_or_else(|| {
            if let Some(unverified) = &self.unit.unverified {
                return unverified.clone();
            }
            let why = if self.unit.notes.is_empty() { String::new() } else { format!(" ({})", self.unit.notes) };
            format!("no {} price of {} is known{why}", scenario_in_words(scenario), self.machine.name)
        })
    }

    fn exactly(&self, scenario: CostScenario, text: &str) -> Result<PurchasePrice, String> {
        Ok(PurchasePrice::with_step(self.range(scenario)?, &[scenario], text))
    }
}

/// Prices a variant as the resource buys it. Mixed purchase depends on `count`, the number of replicas.
pub(super) fn buy(
    catalog: &Catalog,
    resource: &Resource,
    variant: &PurchaseVariant<'_>,
    count: Option<Range>,
) -> Result<PurchasePrice, String> {
    let Some(purchase) = resource.purchase() else {
        return match resource.fact(Key::Purchase) {
            Fact::Absent => variant.exactly(CostScenario::OnDemand, "on demand, because no other purchase is set"),
            fact => {
                let text = format!(
                    "the way of buying is unknown: {}",
                    fact.why().unwrap_or("there is no way of buying with that name")
                );
                spot_to_on_demand(variant, true, text)
            }
        };
    };
    match purchase {
        Purchase::OnDemand => variant.exactly(CostScenario::OnDemand, "on demand"),
        Purchase::Spot => spot(variant),
        Purchase::Reserved => committed(resource, variant),
        Purchase::CapacityReservation => held(resource, variant),
        Purchase::SpotOrOnDemand => {
            spot_to_on_demand(variant, false, "spot, or on demand if no spot capacity is available".into())
        }
        Purchase::Mixed => mixed(resource, variant, count),
        Purchase::CapacityBlock | Purchase::Calendar | Purchase::FlexStart => block(catalog, variant, purchase),
        Purchase::DedicatedHost => Err("it runs on a dedicated host, which has no list price".into()),
        Purchase::OnPrem if variant.unit.is_own => {
            variant.exactly(CostScenario::OnDemand, "own hardware, custom price")
        }
        Purchase::OnPrem => Err("own hardware without a price: set `[[hardware]]` in gpulint.toml".into()),
    }
}

fn spot(variant: &PurchaseVariant<'_>) -> Result<PurchasePrice, String> {
    let bought = variant.exactly(CostScenario::Spot, "spot")?;
    let per_hour = variant.unit.spot().unwrap_or(bought.per_hour);
    let unit = &variant.unit;
    Ok(PurchasePrice { per_hour, estimated: unit.may_not_run.clone().or(unit.spot_in_doubt.clone()), ..bought })
}

/// Reserved capacity costs the full price, used or not. Some providers bill a lower share for unused capacity.
fn held(resource: &Resource, variant: &PurchaseVariant<'_>) -> Result<PurchasePrice, String> {
    let share = resource.number(Key::UnusedShare).filter(|_| !resource.fact(Key::Reservation).is_absent());
    let Some(share) = share else {
        return variant.exactly(CostScenario::OnDemand, "reserved capacity costs the on-demand price even if unused");
    };
    let per_hour = multiply(variant.range(CostScenario::OnDemand)?, Range::exactly(share));
    let text = format!("unused reserved capacity costs {}% of the on-demand price", plain(share * 100.0));
    Ok(PurchasePrice::with_step(per_hour, &[CostScenario::OnDemand], text))
}

/// Prices a commitment for the years that the files or a contract set. If the years are unknown, the price is at most
/// the on-demand price.
fn committed(resource: &Resource, variant: &PurchaseVariant<'_>) -> Result<PurchasePrice, String> {
    if variant.unit.is_committed {
        return variant.exactly(CostScenario::OnDemand, "at the commitment price");
    }
    let why = match resource.number(Key::CommitmentYears) {
        Some(1.0) => match variant.exactly(CostScenario::Reserved1y, "reserved for one year, as the files set") {
            Ok(bought) => return Ok(bought),
            Err(why) => why,
        },
        Some(3.0) => match variant.exactly(CostScenario::Reserved3y, "reserved for three years, as the files set") {
            Ok(bought) => return Ok(bought),
            Err(why) => why,
        },
        _ => "a commitment of unknown length".to_owned(),
    };
    let per_hour = MoneyRange { floor: Money::ZERO, ..variant.range(CostScenario::OnDemand)? };
    let text = format!("{why}: at most the on-demand price");
    Ok(PurchasePrice {
        estimated: Some(text.clone()),
        ..PurchasePrice::with_step(per_hour, &[CostScenario::OnDemand], text)
    })
}

/// Returns a range from spot to on demand. If `dear` is true, the more expensive price is the expected one.
fn spot_to_on_demand(variant: &PurchaseVariant<'_>, dear: bool, text: String) -> Result<PurchasePrice, String> {
    let on_demand = match variant.range(CostScenario::OnDemand) {
        Ok(range) => range,
        Err(_) => variant.range(CostScenario::Spot)?,
    };
    let spot = variant.range(CostScenario::Spot).unwrap_or(on_demand);
    let expected = if dear { on_demand.expected } else { spot.expected.min(on_demand.expected) };
    let floor = spot.floor.min(on_demand.floor);
    let ways = [CostScenario::OnDemand, CostScenario::Spot];
    let estimated = variant.unit.spot_in_doubt.clone().filter(|_| !dear);
    Ok(PurchasePrice {
        estimated,
        ..PurchasePrice::with_step(MoneyRange { floor, expected, ceiling: on_demand.ceiling }, &ways, text)
    })
}

/// Prices a mix: some machines on demand, and a share of the others on spot.
fn mixed(resource: &Resource, variant: &PurchaseVariant<'_>, count: Option<Range>) -> Result<PurchasePrice, String> {
    let Some(share) = resource.number(Key::SpotShare) else {
        return spot_to_on_demand(variant, true, "the share of spot is unknown".into());
    };
    let (on_demand, listed) = (variant.range(CostScenario::OnDemand)?, variant.range(CostScenario::Spot)?);
    let dearest = variant.unit.spot().map_or(listed.ceiling, |range| range.ceiling);
    let base = resource.number(Key::OnDemandBase).unwrap_or(0.0).max(0.0);
    let share = share.clamp(0.0, 1.0);
    let average = |count: f64, on_demand: Money, spot: Money| {
        let above = spot.times(share) + on_demand.times(1.0 - share);
        if !count.is_finite() || count <= 0.0 {
            return above;
        }
        let always = base.min(count);
        (on_demand.times(always) + above.times(count - always)).times(1.0 / count)
    };
    let count = count.unwrap_or(Range::exactly(1.0));
    let per_hour = MoneyRange {
        floor: average(count.floor, on_demand.floor, listed.floor),
        expected: average(count.expected, on_demand.expected, listed.expected),
        ceiling: average(count.ceiling, on_demand.ceiling, dearest),
    };
    let text = format!(
        "average of {}: {} on demand at {}, {}% of the rest on spot at {}",
        plain(count.expected),
        plain(base.min(count.expected)),
        dollars(on_demand.expected),
        plain(share * 100.0),
        dollars(listed.expected)
    );
    let estimated = variant.unit.spot_in_doubt.clone().filter(|_| share > 0.0);
    Ok(PurchasePrice {
        estimated,
        ..PurchasePrice::with_step(per_hour, &[CostScenario::OnDemand, CostScenario::Spot], text)
    })
}

/// Prices purchases that the catalog lists separately from the usual ways.
fn block(catalog: &Catalog, variant: &PurchaseVariant<'_>, purchase: Purchase) -> Result<PurchasePrice, String> {
    let machine = &variant.machine;
    let products: &[&str] = match purchase {
        Purchase::CapacityBlock => &["ec2-capacity-block"],
        Purchase::FlexStart => &["dws-flex-start", "dws-calendar"],
        _ => &["dws-calendar"],
    };
    let listed = |product: &&str| catalog.commitment(&machine.provider, &machine.name, &variant.region, product);
    if let Some(found) = products.iter().find_map(listed) {
        let text = format!(
            "{} in {} as {} at {}: {}, {}",
            machine.name,
            found.region,
            found.product,
            dollars(found.per_hour),
            found.source,
            found.as_of
        );
        let per_hour = MoneyRange::exactly(found.per_hour.times(variant.share));
        let mut bought = PurchasePrice::with_step(per_hour, &[], text);
        if purchase == Purchase::FlexStart && found.product != "dws-flex-start" {
            bought.estimated = Some("flex-start, estimated at the price of a calendar reservation".into());
        } else if found.region != variant.region {
            bought.estimated = Some(format!("{} at the price of {}", purchase.name(), found.region));
        }
        return Ok(bought);
    }
    let why = format!("{} has no list price: between spot and on demand", purchase.name());
    let bought = spot_to_on_demand(variant, true, why.clone())
        .map_err(|_| format!("no {} price of {} is known", purchase.name(), machine.name))
        .map_err(|why| variant.unit.unverified.clone().unwrap_or(why))?;
    Ok(PurchasePrice { estimated: Some(why), ..bought })
}
