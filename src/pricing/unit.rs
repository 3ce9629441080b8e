//! What one machine costs an hour: the row, the estimates where there is none, and the discount.

use crate::catalog::{Basis, Catalog, Machine, Money, Quote, covers};

use super::complete::plain;
use super::{OWN_PROVIDER, Scenario, Settings, Status, Step};

/// Prices of one machine in one region, with the steps that led to them.
#[derive(Debug, Clone, Default)]
pub(super) struct Unit {
    prices: [Option<Money>; Scenario::ALL.len()],
    /// Why it is an estimate, if it is one.
    pub(super) estimated: Option<String>,
    pub(super) steps: Vec<Step>,
    /// Of the row, `2026-07-20`.
    pub(super) as_of: Option<String>,
    pub(super) spot_as_of: String,
    /// What the row says beside its prices.
    pub(super) notes: String,
    /// A price of the user's own, which nothing lowers.
    pub(super) is_own: bool,
}

impl Unit {
    pub(super) fn price(&self, scenario: Scenario) -> Option<Money> {
        self.prices[scenario as usize]
    }

    pub(super) fn status(&self) -> Status {
        match &self.estimated {
            Some(why) => Status::Estimated(why.clone()),
            None => Status::Priced,
        }
    }

    fn set(&mut self, scenario: Scenario, price: Option<Money>) {
        self.prices[scenario as usize] = price;
    }

    fn estimate(&mut self, why: String) {
        self.estimated.get_or_insert(why);
    }

    fn step(&mut self, text: String, result: Option<Money>) {
        self.steps.push(Step { text, result });
    }

    pub(super) fn times(mut self, share: f64, text: String) -> Unit {
        for price in self.prices.iter_mut().flatten() {
            *price = price.times(share);
        }
        let result = self.prices.iter().flatten().next().copied();
        self.step(text, result);
        self
    }
}

/// The prices of a machine in a region; none where nothing says what it costs.
pub(super) fn unit(catalog: &Catalog, settings: &Settings, machine: &Machine<'_>, region: &str) -> Unit {
    let mut unit = match catalog.quote(machine, region) {
        Some(quote) => from_quote(&quote, machine, region),
        None => Unit::default(),
    };
    if owned(&mut unit, settings, machine) {
        return unit;
    }
    if unit.price(Scenario::OnDemand).is_none() {
        from_accelerator(&mut unit, catalog, machine, region);
    }
    if let Some(date) = catalog.retired(machine) {
        let when = if date.is_empty() { String::new() } else { format!(" since {date}") };
        unit.estimate(format!("{} is retired{when}: its last price", machine.name));
    }
    estimate_spot(&mut unit, catalog, machine, region);
    if !unit.is_own {
        discount(&mut unit, settings, machine);
        contract(&mut unit, settings, machine, region);
    }
    unit
}

/// Hardware of the user's own costs the same however it is bought.
fn owned(unit: &mut Unit, settings: &Settings, machine: &Machine<'_>) -> bool {
    if machine.provider != OWN_PROVIDER || unit.is_own {
        return unit.is_own;
    }
    let rates = settings.owned.iter().rev();
    let Some(rate) = rates.into_iter().find(|it| covers(&it.accelerator, &machine.accelerator)) else { return false };
    let price = rate.per_accelerator_hour.times(machine.count);
    unit.set(Scenario::OnDemand, Some(price));
    unit.step(format!("{} {}: {}", plain(machine.count), machine.accelerator, rate.how), Some(price));
    unit.is_own = true;
    true
}

fn from_quote(quote: &Quote<'_>, machine: &Machine<'_>, region: &str) -> Unit {
    let as_of = Some(quote.as_of.to_owned()).filter(|date| !date.is_empty());
    let (notes, spot_as_of) = (quote.notes.to_owned(), quote.spot_as_of.to_owned());
    let mut unit = Unit { as_of, spot_as_of, notes, ..Unit::default() };
    unit.set(Scenario::OnDemand, quote.on_demand);
    unit.set(Scenario::Spot, quote.spot);
    unit.set(Scenario::Reserved1y, quote.reserved_1y);
    unit.set(Scenario::Reserved3y, quote.reserved_3y);
    let name = &machine.name;
    let row = format!("{}, {}", quote.source, quote.as_of);
    let whole: Option<Money> = quote.on_demand.or(quote.spot);
    let what = if quote.on_demand.is_some() { "on demand" } else { "spot" };
    let from = |region: &str| if region == "*" { "everywhere".to_owned() } else { format!("in {region}") };
    for part in &quote.parts {
        unit.step(format!("{} {} at {}", plain(part.quantity), part.what, dollars(part.unit_price)), None);
    }
    match &quote.basis {
        Basis::Own { line } => {
            unit.is_own = true;
            unit.step(format!("{name} in {region}: own price, line {line}"), whole);
        }
        Basis::Refreshed { region: of } => {
            unit.step(format!("{name} {} {what}: refreshed row, {row}", from(of)), whole);
        }
        Basis::Listed { region: of } => unit.step(format!("{name} {} {what}: {row}", from(of)), whole),
        Basis::Regional { from: base, factor } => {
            let times = plain(*factor as f64 / 1e6);
            unit.estimate(format!("price of {base} x {times}, the regional index of {region}"));
            unit.step(format!("{name} in {base} {what}: {row}; x {times}, the regional index of {region}"), whole);
        }
        Basis::Elsewhere { from: base } => {
            unit.estimate(format!("price of {base}: nothing is known of {region}"));
            unit.step(format!("{name} in {base} {what}: {row}; nothing is known of {region}"), whole);
        }
        Basis::Unknown => {}
    }
    unit
}

/// From machines of the same provider with the same accelerator: the price of one accelerator, times how many it has.
fn from_accelerator(unit: &mut Unit, catalog: &Catalog, machine: &Machine<'_>, region: &str) {
    if machine.count <= 0.0 {
        return;
    }
    let Some((other, price)) = nearest(catalog, machine, region) else { return };
    let each = price.times(1.0 / other.count);
    let whole = price.times(machine.count / other.count);
    unit.estimate(format!("same accelerator in {}", other.name));
    unit.step(
        format!(
            "{} in {region}: no price of its own; {} costs {} for {} {}, {} each, x {}",
            machine.name,
            other.name,
            dollars(price),
            plain(other.count),
            other.accelerator,
            dollars(each),
            plain(machine.count)
        ),
        Some(whole),
    );
    unit.set(Scenario::OnDemand, Some(whole));
}

/// The machine with the same accelerator whose number of them is nearest, and the cheaper of two.
fn nearest<'c>(catalog: &'c Catalog, machine: &Machine<'_>, region: &str) -> Option<(Machine<'c>, Money)> {
    let others = catalog.machines_with(&machine.provider, &machine.accelerator);
    let priced = others.into_iter().filter(|other| other.name != machine.name && other.count > 0.0);
    let priced = priced.filter_map(|other| {
        let price = catalog.quote(&other, region)?.on_demand?;
        Some((other, price))
    });
    priced.min_by(|(one, one_price), (two, two_price)| {
        let distance = |other: &Machine<'_>| (other.count / machine.count).ln().abs();
        distance(one).total_cmp(&distance(two)).then_with(|| one_price.cmp(two_price))
    })
}

/// Without a spot price of its own, the median share of on demand that spot costs on machines with the same accelerator.
fn estimate_spot(unit: &mut Unit, catalog: &Catalog, machine: &Machine<'_>, region: &str) {
    let (Some(on_demand), None) = (unit.price(Scenario::OnDemand), unit.price(Scenario::Spot)) else { return };
    let others = catalog.machines_with(&machine.provider, &machine.accelerator);
    let mut shares: Vec<i64> = others
        .iter()
        .filter_map(|other| {
            let quote = catalog.quote(other, region)?;
            let (spot, whole) = (quote.spot?.micros(), quote.on_demand?.micros());
            (whole > 0).then(|| (i128::from(spot) * 1_000_000 / i128::from(whole)) as i64)
        })
        .collect();
    shares.sort_unstable();
    if let Some(share) = shares.get(shares.len() / 2) {
        let spot = on_demand.scaled(*share);
        let percent = plain((*share as f64 / 1e4).round());
        unit.step(
            format!("spot is not listed: {percent}% of on demand, as on machines with the same accelerator"),
            Some(spot),
        );
        unit.set(Scenario::Spot, Some(spot));
    }
}

fn discount(unit: &mut Unit, settings: &Settings, machine: &Machine<'_>) {
    let Some(share) = settings.discounts.get(&*machine.provider) else { return };
    let keep = ((1.0 - share.clamp(0.0, 1.0)) * 1e6).round() as i64;
    for price in unit.prices.iter_mut().flatten() {
        *price = price.scaled(keep);
    }
    let result = unit.price(Scenario::OnDemand).or(unit.price(Scenario::Spot));
    unit.step(format!("{}% discount of {}", plain(share * 100.0), machine.provider), result);
}

/// A contract makes on demand cheaper; a later one comes before an earlier one.
fn contract(unit: &mut Unit, settings: &Settings, machine: &Machine<'_>, region: &str) {
    let Some(contract) = settings.contracts.iter().rev().find(|it| it.covers(machine, region)) else { return };
    if let Some((price, how)) = contract.price(machine, unit.price(Scenario::OnDemand)) {
        unit.step(format!("{} on demand: {how}", machine.name), Some(price));
        unit.set(Scenario::OnDemand, Some(price));
    }
}

/// Dollars as people write them: two decimals, more where the price has more.
pub(super) fn dollars(money: Money) -> String {
    let micros = money.micros().unsigned_abs();
    let sign = if money.micros() < 0 { "-" } else { "" };
    let mut decimals = format!("{:06}", micros % 1_000_000);
    while decimals.len() > 2 && decimals.ends_with('0') {
        decimals.pop();
    }
    format!("{sign}${}.{decimals}", micros / 1_000_000)
}
