use crate::catalog::{Catalog, Machine, Money, MoneyRange};
use crate::inventory::{Fact, Inventory, Key, Purchase, Range, Resource, Role, Value};

use super::complete::plain;
use super::share::pod_units;
use super::unit::{Unit, committed, dollars, unit};
use super::{Bill, HOURS_PER_MONTH, Item, Scenario, Settings, Status, Step};

/// What everything costs. The inventory must be complete.
pub fn bill(inventory: &Inventory, catalog: &Catalog, settings: &Settings) -> Bill {
    let mut bill = Bill::default();
    for resource in &inventory.resources {
        let item = Pricing { catalog, settings, resource }.item();
        match (&item.monthly, resource.role) {
            (Some(monthly), Role::Rented) => bill.rented += *monthly,
            (Some(monthly), Role::Requested) => bill.requested += *monthly,
            (None, _) => bill.unpriced += 1,
        }
        if let Some(date) = &item.as_of
            && bill.oldest_row.as_ref().is_none_or(|oldest| date < oldest)
        {
            bill.oldest_row = Some(date.clone());
        }
        bill.items.push(item);
    }
    bill
}

/// Everything that prices one resource.
pub(super) struct Pricing<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) settings: &'a Settings,
    pub(super) resource: &'a Resource,
}

/// What one machine or pod may be, each way with its prices.
pub(super) struct Variant<'c> {
    pub(super) machine: Machine<'c>,
    pub(super) region: String,
    pub(super) unit: Unit,
    /// The part of the machine that is paid for; 1 for a whole one.
    pub(super) share: f64,
}

impl<'a> Pricing<'a> {
    fn item(&self) -> Item {
        if let Some(why) = self.resource.text(Key::Impossible) {
            return unpriced(why.to_owned());
        }
        let variants = match self.resource.role {
            Role::Rented => self.machine_units(),
            Role::Requested => pod_units(self),
        };
        let variants = match variants {
            Ok(variants) => variants,
            Err(why) => return unpriced(why),
        };
        match self.bought(&variants) {
            Ok((per_hour, bought)) => self.total(&variants, per_hour, bought),
            Err(why) => unpriced(why),
        }
    }

    /// The price of an hour as it is bought; with the steps that lead from list prices there.
    fn bought(&self, variants: &[Variant<'_>]) -> Result<(MoneyRange, Bought), String> {
        let mut ways = Vec::new();
        let mut last = String::new();
        for variant in variants {
            match self.purchased(variant) {
                Ok(way) => ways.push(way),
                Err(why) => last = why,
            }
        }
        let Some((expected, bought)) = ways.first().cloned() else { return Err(last) };
        let floor = ways.iter().map(|(price, _)| price.floor).min().unwrap_or(expected.floor);
        let ceiling = ways.iter().map(|(price, _)| price.ceiling).max().unwrap_or(expected.ceiling);
        Ok((MoneyRange { floor, expected: expected.expected, ceiling }, bought))
    }

    fn purchased(&self, variant: &Variant<'_>) -> Result<(MoneyRange, Bought), String> {
        let unit = &variant.unit;
        let price = |scenario: Scenario| {
            unit.price(scenario).ok_or_else(|| {
                let why = if unit.notes.is_empty() { String::new() } else { format!(" ({})", unit.notes) };
                format!("no {} price of {} is known{why}", spoken(scenario), variant.machine.name)
            })
        };
        let exactly = |scenario: Scenario, text: &str| {
            let money = price(scenario)?;
            Ok((MoneyRange::exactly(money), Bought::said(text, money)))
        };
        let fact = self.resource.fact(Key::Purchase);
        let Some(purchase) = self.resource.purchase() else {
            return match fact {
                Fact::Absent => exactly(Scenario::OnDemand, "on demand: no purchase is named"),
                _ => either(price(Scenario::Spot), price(Scenario::OnDemand)?, true, "how it is bought is not known"),
            };
        };
        match purchase {
            Purchase::OnDemand => exactly(Scenario::OnDemand, "on demand"),
            Purchase::Spot => exactly(Scenario::Spot, "spot"),
            Purchase::Reserved => exactly(Scenario::Reserved1y, "reserved for a year")
                .or_else(|_| exactly(Scenario::Reserved3y, "reserved for three years")),
            Purchase::SpotOrOnDemand => {
                either(price(Scenario::Spot), price(Scenario::OnDemand)?, false, "spot, or on demand without it")
            }
            Purchase::Mixed => self.mixed(price(Scenario::OnDemand)?, price(Scenario::Spot)?),
            Purchase::CapacityBlock | Purchase::FlexStart => self.block(variant, purchase),
            Purchase::OnPrem => match unit.as_of {
                // Only an own price has no date.
                None => exactly(Scenario::OnDemand, "owned hardware, own price"),
                Some(_) => Err("owned hardware: the catalog has no price for it".into()),
            },
        }
    }

    fn block(&self, variant: &Variant<'_>, purchase: Purchase) -> Result<(MoneyRange, Bought), String> {
        if let Some((price, step, is_estimate)) = committed(self.catalog, &variant.machine, &variant.region, purchase) {
            let price = price.times(variant.share);
            let estimated = is_estimate.then(|| format!("{} at the price nearest to it", purchase.name()));
            let bought = Bought { steps: vec![Step { result: Some(price), ..step }], estimated };
            return Ok((MoneyRange::exactly(price), bought));
        }
        let on_demand = variant.unit.price(Scenario::OnDemand);
        let (Some(ceiling), Some(floor)) = (on_demand, variant.unit.price(Scenario::Spot)) else {
            return Err(format!("no {} price of {} is known", purchase.name(), variant.machine.name));
        };
        let text = format!("{} has no listed price: between spot and on demand", purchase.name());
        let bought = Bought { steps: vec![Step { text: text.clone(), result: Some(ceiling) }], estimated: Some(text) };
        Ok((MoneyRange { floor: floor.min(ceiling), expected: ceiling, ceiling }, bought))
    }

    /// So many on demand, and above that a share of spot.
    fn mixed(&self, on_demand: Money, spot: Money) -> Result<(MoneyRange, Bought), String> {
        let share = self.resource.number(Key::SpotShare);
        let base = self.resource.number(Key::OnDemandBase).unwrap_or(0.0);
        let Some(share) = share else {
            return either(Ok(spot), on_demand, true, "the share of spot is not known");
        };
        let share = share.clamp(0.0, 1.0);
        let above = spot.times(share) + on_demand.times(1.0 - share);
        let average = |count: f64| {
            if !count.is_finite() || count <= 0.0 {
                return above;
            }
            let always = base.min(count);
            (on_demand.times(always) + above.times(count - always)).times(1.0 / count)
        };
        let count = self.count().unwrap_or(Range::exactly(1.0));
        let range = MoneyRange {
            floor: average(count.floor),
            expected: average(count.expected),
            ceiling: average(count.ceiling),
        };
        let text = format!(
            "{} machines on demand at {}, above that {}% spot at {}",
            plain(base),
            dollars(on_demand),
            plain(share * 100.0),
            dollars(spot)
        );
        Ok((range, Bought::said(&text, range.expected)))
    }

    fn machine_units(&self) -> Result<Vec<Variant<'a>>, String> {
        let provider = self.resource.text(Key::Provider).ok_or("the provider is not known")?;
        let (regions, region_step) = self.regions(provider);
        let machines = self.machines(provider)?;
        let mut variants = Vec::new();
        let mut last = String::new();
        for machine in machines {
            for region in &regions {
                match unit(self.catalog, self.settings, &machine, region) {
                    Ok(mut unit) => {
                        unit.steps.extend(region_step.clone());
                        variants.push(Variant { machine: machine.clone(), region: region.clone(), unit, share: 1.0 });
                    }
                    Err(why) => last = why,
                }
            }
        }
        if variants.is_empty() { Err(last) } else { Ok(variants) }
    }

    /// The machines that it may be.
    pub(super) fn machines(&self, provider: &str) -> Result<Vec<Machine<'a>>, String> {
        match self.resource.fact(Key::Machine) {
            Fact::Known(machine) => {
                let name = machine.value.as_text().unwrap_or_default();
                Ok(vec![self.named(provider, name)?])
            }
            Fact::Unknown(unknown) => {
                let names: Vec<&str> = unknown.candidates.iter().filter_map(Value::as_text).collect();
                let found = self.catalog.machines_among(provider, &names);
                if found.is_empty() { Err(unknown.why.to_string()) } else { Ok(found) }
            }
            Fact::Absent => {
                let chips = self.resource.number(Key::AcceleratorCount);
                let accelerator = self.resource.text(Key::Accelerator);
                let tpu = accelerator.zip(chips).and_then(|(name, chips)| self.catalog.tpu(name, chips));
                Ok(vec![tpu.ok_or("no machine is named")?])
            }
        }
    }

    fn named(&self, provider: &str, name: &str) -> Result<Machine<'a>, String> {
        if let Some(machine) = self.catalog.machine(provider, name) {
            return Ok(machine);
        }
        let guests = self.resource.text(Key::Accelerator).zip(self.resource.number(Key::AcceleratorCount));
        match guests {
            Some((accelerator, count)) if provider == "gcp" => self.catalog.equipped(name, accelerator, count),
            _ => Err(format!("{name} of {provider} is not in the catalog")),
        }
    }

    /// The regions that price it. A region that cannot be known is taken for the base region, and said.
    pub(super) fn regions(&self, provider: &str) -> (Vec<String>, Option<Step>) {
        match self.resource.fact(Key::Region) {
            Fact::Known(known) => {
                let region = known.value.as_text().unwrap_or_default().to_owned();
                let step = match &known.origin {
                    crate::inventory::Origin::Assumed(from) => {
                        Some(Step { text: format!("the text names no region: {region} is {from}"), result: None })
                    }
                    _ => None,
                };
                (vec![region], step)
            }
            other => {
                let region = self.settings.default_region.as_deref();
                let region = region.and_then(|region| self.catalog.region(provider, region));
                let region = region.unwrap_or_else(|| self.catalog.base_region(provider)).to_owned();
                let why = other.why().unwrap_or("the text names none");
                let text = format!("the region is not known ({why}): {region} is assumed");
                (vec![region], Some(Step { text, result: None }))
            }
        }
    }

    /// How many, where that is known or at least what it can be.
    fn count(&self) -> Option<Range> {
        match &self.resource.count {
            Fact::Known(known) => Some(known.value),
            Fact::Unknown(unknown) => {
                let mut all = unknown.candidates.iter();
                let first = *all.next()?;
                Some(all.fold(first, |range, other| Range {
                    floor: range.floor.min(other.floor),
                    expected: range.expected,
                    ceiling: range.ceiling.max(other.ceiling),
                }))
            }
            Fact::Absent => None,
        }
    }

    fn total(&self, variants: &[Variant<'_>], per_hour: MoneyRange, bought: Bought) -> Item {
        let Some(first) = variants.first() else { return Item::default() };
        let hours = HOURS_PER_MONTH;
        let mut steps = first.unit.steps.clone();
        if variants.len() > 1 {
            let text = format!(
                "one of {} machines or regions: from {} to {}",
                variants.len(),
                dollars(per_hour.floor),
                dollars(per_hour.ceiling)
            );
            steps.push(Step { text, result: None });
        }
        steps.extend(bought.steps);
        let status = match (first.unit.status(), bought.estimated) {
            (Status::Priced, Some(why)) => Status::Estimated(why),
            (status, _) => status,
        };
        let mut item = Item {
            status,
            per_hour: Some(per_hour),
            hours_per_month: hours,
            as_of: first.unit.as_of.clone(),
            ..Item::default()
        };
        match self.count() {
            Some(count) => {
                item.count = Some(count);
                let limited = self.limited(count, &mut steps);
                let monthly = multiply(per_hour, limited, hours);
                steps.push(Step {
                    text: format!("x {} x {} hours", spoken_count(count), plain(hours)),
                    result: Some(monthly.expected),
                });
                item.monthly = Some(monthly);
                for scenario in Scenario::ALL {
                    if let Some(range) = scenario_range(variants, scenario) {
                        item.monthly_if.insert(scenario, multiply(range, limited, hours));
                    }
                }
            }
            None => {
                let why = self.resource.count.why().unwrap_or("the text does not say how many");
                steps.push(Step { text: format!("how many is not known: {why}"), result: None });
            }
        }
        item.steps = steps;
        item
    }

    /// Where nothing limits how many there are, the most that can be said is what is expected.
    fn limited(&self, count: Range, steps: &mut Vec<Step>) -> Range {
        if count.ceiling.is_finite() {
            return count;
        }
        steps.push(Step {
            text: "nothing limits how many there are: the ceiling is what is expected".into(),
            result: None,
        });
        let most = if count.expected.is_finite() { count.expected } else { count.floor };
        Range { floor: count.floor, expected: most, ceiling: most }
    }
}

/// What a way of buying adds to the steps.
#[derive(Debug, Clone, Default)]
struct Bought {
    steps: Vec<Step>,
    estimated: Option<String>,
}

impl Bought {
    fn said(text: &str, result: Money) -> Self {
        Bought { steps: vec![Step { text: text.to_owned(), result: Some(result) }], estimated: None }
    }
}

/// From spot to on demand; `dear` expects the dearer of the two.
fn either(
    spot: Result<Money, String>,
    on_demand: Money,
    dear: bool,
    text: &str,
) -> Result<(MoneyRange, Bought), String> {
    let floor = spot.unwrap_or(on_demand).min(on_demand);
    let expected = if dear { on_demand } else { floor };
    Ok((MoneyRange { floor, expected, ceiling: on_demand }, Bought::said(text, expected)))
}

fn scenario_range(variants: &[Variant<'_>], scenario: Scenario) -> Option<MoneyRange> {
    let first = variants.first()?.unit.price(scenario)?;
    let all = || variants.iter().filter_map(|variant| variant.unit.price(scenario));
    Some(MoneyRange { floor: all().min()?, expected: first, ceiling: all().max()? })
}

fn multiply(per_hour: MoneyRange, count: Range, hours: f64) -> MoneyRange {
    MoneyRange {
        floor: per_hour.floor.times(count.floor * hours),
        expected: per_hour.expected.times(count.expected * hours),
        ceiling: per_hour.ceiling.times(count.ceiling * hours),
    }
}

fn unpriced(why: String) -> Item {
    let steps = vec![Step { text: format!("unpriced: {why}"), result: None }];
    Item { status: Status::Unpriced(why), steps, hours_per_month: HOURS_PER_MONTH, ..Item::default() }
}

fn spoken(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::OnDemand => "on-demand",
        Scenario::Spot => "spot",
        Scenario::Reserved1y => "one-year",
        Scenario::Reserved3y => "three-year",
    }
}

fn spoken_count(count: Range) -> String {
    if count.floor == count.ceiling {
        return plain(count.expected);
    }
    let ceiling = if count.ceiling.is_finite() { plain(count.ceiling) } else { "any number".into() };
    format!("{} (from {} to {ceiling})", plain(count.expected), plain(count.floor))
}
