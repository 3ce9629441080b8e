//! The price of one machine per hour: from the catalog, or an estimate, minus discounts.

use crate::catalog::{
    Basis, Catalog, CatalogMachine, Money, MoneyRange, PriceMove, Quote, QuotePart, RegionIndex, SPOT_IS_GOOD_FOR,
    covers, is_past_spot,
};
use crate::inventory::{Key, Resource};

use super::sustained::sustains;
use super::{ContractTerms, CostScenario, OWN_PROVIDER, PricingSettings, Purchased, Status, StepSource, SumStep};
use crate::resolve::plain;

/// The prices of one machine in one region, with their calculation steps.
#[derive(Debug, Clone, Default)]
pub(super) struct PricedUnit {
    prices: [Option<Money>; CostScenario::ALL.len()],
    /// Why the price is an estimate, if it is one.
    pub(super) estimated: Option<String>,
    /// The calculation steps of each price. A step without a way of buying applies to all prices.
    steps: Vec<(Option<CostScenario>, SumStep)>,
    /// Whether the spot price is a share of the on-demand price.
    is_spot_of_on_demand: bool,
    /// Why the spot price can be different today, up to the on-demand price.
    pub(super) spot_in_doubt: Option<String>,
    /// How far each price may have moved since its date.
    moves: [Option<PriceMove>; CostScenario::ALL.len()],
    /// The range of each price that is estimated by the index of its region, as factors.
    of_index: [Option<(f64, f64)>; CostScenario::ALL.len()],
    /// The maximum spot price that the files set.
    most_for_spot: Option<Money>,
    /// The date of the price, such as `2026-07-20`.
    pub(super) as_of: Option<String>,
    pub(super) spot_as_of: String,
    /// The notes of the price entry in the catalog.
    pub(super) notes: String,
    /// The message about a price without a verified source, which no total may use.
    pub(super) unverified: Option<String>,
    /// Whether it is a custom price, to which no discount applies.
    pub(super) is_own: bool,
    /// The costs of one own machine. The more hours it runs in a month, the cheaper each hour is.
    pub(super) purchased: Option<Purchased>,
    /// Whether the catalog lists a price for exactly this region.
    pub(super) is_listed: bool,
    /// Whether the on-demand list price falls while the machine runs.
    pub(super) sustains: bool,
    /// Whether the on-demand price is the price of the user's commitment.
    pub(super) is_committed: bool,
    /// Why the machine may not run: the spot price may exceed the maximum that the files set.
    pub(super) may_not_run: Option<String>,
    /// Why the machine will not start: the spot price is known to exceed the maximum that the files set.
    pub(super) will_not_start: Option<String>,
    /// Whether the files name no accelerator. The price is then the lowest possible one.
    pub(super) is_unnamed: bool,
}

impl PricedUnit {
    pub(super) fn price(&self, scenario: CostScenario) -> Option<Money> {
        self.prices[scenario as usize]
    }

    /// Returns the price, and the range that it may be: today if it is outdated, or in its region if it is estimated.
    pub(super) fn range(&self, scenario: CostScenario) -> Option<MoneyRange> {
        let price = self.price(scenario)?;
        let (of_age, of_index) = (self.price_move(scenario), self.of_index[scenario as usize]);
        if of_age.is_none() && of_index.is_none() {
            return Some(MoneyRange::exactly(price));
        }
        let (low, high) = of_index.unwrap_or((1.0, 1.0));
        let (low, high) = of_age.map_or((low, high), |it| (it.low * low, it.high * high));
        Some(MoneyRange { floor: price.times(low), expected: price, ceiling: price.times(high) })
    }

    pub(super) fn price_move(&self, scenario: CostScenario) -> Option<PriceMove> {
        self.moves[scenario as usize]
    }

    pub(super) fn has_moved(&self) -> bool {
        self.moves.iter().any(Option::is_some)
    }

    /// Returns the prices of the catalog, whatever their age, and without steps, because reports list those only once.
    pub(super) fn as_listed(&self) -> PricedUnit {
        PricedUnit {
            prices: self.prices,
            moves: Default::default(),
            of_index: Default::default(),
            estimated: self.estimated.clone(),
            steps: Vec::new(),
            spot_in_doubt: self.spot_in_doubt.clone(),
            unverified: self.unverified.clone(),
            notes: self.notes.clone(),
            as_of: self.as_of.clone(),
            spot_as_of: self.spot_as_of.clone(),
            may_not_run: self.may_not_run.clone(),
            will_not_start: self.will_not_start.clone(),
            ..*self
        }
    }

    pub(super) fn status(&self) -> Status {
        match &self.estimated {
            Some(why) => Status::Estimated(why.clone()),
            None => Status::Priced,
        }
    }

    /// Returns the spot price, and the range of what the machine may cost instead.
    pub(super) fn spot(&self) -> Option<MoneyRange> {
        let range = self.range(CostScenario::Spot)?;
        let floor = if self.may_not_run.is_some() { Money::ZERO } else { range.floor };
        let on_demand = self.range(CostScenario::OnDemand).map(|it| it.ceiling);
        let ceiling = match [on_demand, self.most_for_spot].into_iter().flatten().min() {
            Some(most) if self.spot_in_doubt.is_some() => most,
            Some(most) => range.ceiling.min(most),
            None => range.ceiling,
        };
        Some(MoneyRange { floor, ceiling: ceiling.max(range.expected), ..range })
    }

    fn set(&mut self, scenario: CostScenario, price: Option<Money>) {
        self.prices[scenario as usize] = price;
    }

    pub(super) fn estimate(&mut self, why: String) {
        self.estimated.get_or_insert(why);
    }

    /// Adds a step to a price of the machine that the files name.
    fn step(&mut self, scenario: CostScenario, text: String, result: Money) {
        self.push(scenario, SumStep::new(text, result).about(StepSource::Fact(Key::Machine)));
    }

    fn push(&mut self, scenario: CostScenario, step: SumStep) {
        self.steps.push((Some(scenario), step));
    }

    /// Adds a step that applies to every price.
    pub(super) fn add_step(&mut self, step: SumStep) {
        self.steps.push((None, step));
    }

    fn part(&mut self, scenario: CostScenario, part: &QuotePart<'_>) {
        let each = match scenario {
            CostScenario::OnDemand => part.unit_price,
            CostScenario::Spot => match part.spot_unit_price {
                Some(price) => price,
                None => return,
            },
            CostScenario::Reserved1y | CostScenario::Reserved3y => return,
        };
        let from = match &part.basis {
            Basis::Regional { from, factor } => format!(", that of {from} x {}", plain(*factor as f64 / 1e6)),
            Basis::Elsewhere { from } => format!(", that of {from}"),
            _ => String::new(),
        };
        let text = format!("{} {} at {}{from}", plain(part.quantity), part.what, dollars(each));
        self.step(scenario, text, each.times(part.quantity));
    }

    /// Returns the steps to the prices of these ways of buying, in the order in which they were added.
    pub(super) fn steps(&self, ways: &[CostScenario]) -> Vec<SumStep> {
        let needs = |scenario: CostScenario| {
            ways.contains(&scenario)
                || scenario == CostScenario::OnDemand && self.is_spot_of_on_demand && ways.contains(&CostScenario::Spot)
        };
        let steps = self.steps.iter().filter(|(of, _)| of.is_none_or(needs));
        steps.map(|(_, step)| step.clone()).collect()
    }

    /// Returns how far the prices of these ways of buying may have moved since their date.
    pub(super) fn steps_of_age(&self, ways: &[CostScenario]) -> Vec<SumStep> {
        let step = |way: &CostScenario| {
            let (price, moved) = (self.price(*way)?, self.price_move(*way)?);
            let as_of = if *way == CostScenario::Spot { &self.spot_as_of } else { self.as_of.as_ref()? };
            Some(SumStep::from_text(moved_since(price, &moved, as_of)))
        };
        ways.iter().filter_map(step).collect()
    }

    /// Changes every price in the same way.
    fn change(&mut self, text: &str, of: Option<StepSource>, change: impl Fn(Money) -> Money) {
        for scenario in CostScenario::ALL {
            if let Some(price) = self.price(scenario).map(&change) {
                self.set(scenario, Some(price));
                self.push(scenario, SumStep { of, ..SumStep::new(text, price) });
            }
        }
    }

    /// Removes the spot price of a product that has none.
    pub(super) fn never_spot(&mut self) {
        self.set(CostScenario::Spot, None);
    }

    /// Limits the spot price to the maximum that the files set.
    pub(super) fn limit_spot(&mut self, resource: &Resource) {
        let on_demand = self.price(CostScenario::OnDemand);
        let share = resource.number(Key::MaxPriceShare).filter(|share| *share > 0.0);
        let stated = resource.number(Key::MaxPrice).filter(|usd| *usd > 0.0).map(Money::from_usd);
        let Some(most) = stated.or_else(|| Some(on_demand?.times(share?))) else { return };
        self.most_for_spot = Some(most);
        let text = match self.price(CostScenario::Spot) {
            Some(spot) if spot <= most => format!("the files limit the spot price to {}", dollars(most)),
            Some(spot) => {
                let (most, spot) = (dollars(most), dollars(spot));
                self.will_not_start = Some(format!("spot costs {spot}/h, and the files limit the price to {most}/h"));
                let why = format!(
                    "spot costs {spot}/h, and the files limit the price to {most}/h: it runs while spot is cheaper"
                );
                self.may_not_run = Some(why.clone());
                why
            }
            None => {
                let why = format!("the spot price is unknown, and the files limit it to {}", dollars(most));
                self.may_not_run = Some(why.clone());
                why
            }
        };
        let price = self.price(CostScenario::Spot).map_or(most, |spot| spot.min(most));
        self.set(CostScenario::Spot, Some(price));
        let stated = if resource.fact(Key::MaxPrice).is_absent() { Key::MaxPriceShare } else { Key::MaxPrice };
        self.push(CostScenario::Spot, SumStep::new(text, price).about(StepSource::Fact(stated)));
    }

    pub(super) fn times(mut self, share: f64, text: &str) -> PricedUnit {
        self.change(text, Some(StepSource::Fact(Key::AcceleratorCount)), |price| price.times(share));
        self
    }
}

/// Returns the prices of a machine in a region. Every price is missing if nothing is known about the machine.
pub(super) fn unit(
    catalog: &Catalog,
    settings: &PricingSettings,
    machine: &CatalogMachine<'_>,
    region: &str,
) -> PricedUnit {
    let mut unit = match catalog.quote(machine, region) {
        Some(quote) => from_quote(catalog, &quote, machine, region),
        None => PricedUnit::default(),
    };
    doubt_old_spot(&mut unit, settings);
    widen_by_age(&mut unit, catalog, settings, machine);
    if owned(&mut unit, settings, machine) {
        return unit;
    }
    if unit.price(CostScenario::OnDemand).is_none() && unit.unverified.is_none() {
        from_accelerator(&mut unit, catalog, machine, region);
    }
    if let Some(date) = catalog.retired(machine) {
        let when = if date.is_empty() { String::new() } else { format!(" since {date}") };
        unit.estimate(format!("{} is retired{when}: last known price", machine.name));
    }
    unit.sustains = !unit.is_own && sustains(machine);
    estimate_spot(&mut unit, catalog, machine, region);
    if !unit.is_own {
        discount(&mut unit, settings, machine);
        contract(&mut unit, settings, machine, region);
    }
    unit
}

/// Sets the price of own hardware, which has one price for all ways of buying. Returns whether a custom price applies.
fn owned(unit: &mut PricedUnit, settings: &PricingSettings, machine: &CatalogMachine<'_>) -> bool {
    if machine.provider != OWN_PROVIDER || unit.is_own {
        return unit.is_own;
    }
    let rates = settings.owned.iter().rev();
    let Some(rate) = rates.into_iter().find(|it| covers(&it.accelerator, &machine.accelerator)) else { return false };
    let price = rate.per_accelerator_hour.times(machine.count);
    unit.set(CostScenario::OnDemand, Some(price));
    let text = format!("{} {}: {}", plain(machine.count), machine.accelerator, rate.how);
    unit.step(CostScenario::OnDemand, text, price);
    unit.is_own = true;
    unit.purchased = rate.purchased;
    true
}

/// The lowest spot price of a region as a factor of the estimate by its index: of 16 compared prices, four were 2.5 to 3.1
/// times lower than the estimate (2026-11-29).
const LEAST_OF_SPOT: f64 = 0.3;

fn from_quote(catalog: &Catalog, quote: &Quote<'_>, machine: &CatalogMachine<'_>, region: &str) -> PricedUnit {
    let as_of = Some(quote.as_of.to_owned()).filter(|date| !date.is_empty());
    let (notes, spot_as_of) = (quote.notes.to_owned(), quote.spot_as_of.to_owned());
    let is_own = matches!(quote.basis, Basis::Own { .. });
    let unverified = quote.unverified.filter(|_| !is_own).map(|price| {
        let (name, price) = (&machine.name, dollars(price));
        format!("the only price of {name} is unverified: {price}/h ({}), not added", quote.source)
    });
    let is_listed =
        matches!(quote.basis, Basis::Listed { region: of } | Basis::Refreshed { region: of } if of == region);
    let mut unit = PricedUnit { as_of, spot_as_of, notes, unverified, is_own, is_listed, ..PricedUnit::default() };
    let index = match quote.basis {
        Basis::Regional { .. } => catalog.region_index(&machine.provider, region),
        _ => None,
    };
    match quote.basis {
        Basis::Regional { from, factor } => {
            let times = plain(factor as f64 / 1e6);
            unit.estimate(format!("price of {from} x {times}, the price index of {region}"));
            if quote.spot.is_some() {
                unit.spot_in_doubt = Some(format!("no spot price of {region} is known: estimated from {from}"));
            }
            unit.of_index = ranges_of(index);
        }
        Basis::Elsewhere { from } => unit.estimate(format!("price of {from}, because no price of {region} is known")),
        _ => {}
    }
    let base = match quote.basis {
        Basis::Regional { from, .. } => catalog.quote(machine, from),
        _ => None,
    };
    for scenario in CostScenario::ALL {
        let Some(price) = listed(quote, scenario) else { continue };
        unit.set(scenario, Some(price));
        for part in &quote.parts {
            unit.part(scenario, part);
        }
        let base = base.as_ref().and_then(|base| listed(base, scenario));
        unit.step(scenario, origin(quote, machine, region, scenario, base), price);
    }
    if let Some(RegionIndex { source, as_of, .. }) = index {
        unit.add_step(
            SumStep::from_text(format!("the price index of {region}: {source}, {as_of}"))
                .about(StepSource::Fact(Key::Region)),
        );
    }
    unit
}

/// Returns the range of each price that is estimated by this index. Spot prices do not follow it, because it is made of
/// on-demand prices.
fn ranges_of(index: Option<RegionIndex<'_>>) -> [Option<(f64, f64)>; CostScenario::ALL.len()] {
    let range = index.and_then(|it| it.range());
    CostScenario::ALL.map(|scenario| match scenario {
        CostScenario::Spot => Some((LEAST_OF_SPOT, range.map_or(1.0, |(_, high)| high))),
        _ => range,
    })
}

fn listed(quote: &Quote<'_>, scenario: CostScenario) -> Option<Money> {
    match scenario {
        CostScenario::OnDemand => quote.on_demand,
        CostScenario::Spot => quote.spot,
        CostScenario::Reserved1y => quote.reserved_1y,
        CostScenario::Reserved3y => quote.reserved_3y,
    }
}

/// Describes where a price comes from: the catalog entry, its date and source, and the calculation.
fn origin(
    quote: &Quote<'_>,
    machine: &CatalogMachine<'_>,
    region: &str,
    scenario: CostScenario,
    base: Option<Money>,
) -> String {
    let (name, way) = (&machine.name, scenario_in_words(scenario));
    let (date, basis) = match scenario {
        CostScenario::OnDemand => (quote.as_of, ""),
        CostScenario::Spot => (quote.spot_as_of, found_as(quote.spot_basis)),
        CostScenario::Reserved1y | CostScenario::Reserved3y => (quote.as_of, found_as(quote.reserved_basis)),
    };
    let row = [&*quote.source, date, basis].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ");
    let sum = if quote.parts.is_empty() { "" } else { "the sum of these, " };
    let place = |region: &str| if region == "*" { "everywhere".to_owned() } else { format!("in {region}") };
    match &quote.basis {
        Basis::Own { line, per_accelerator, usd_per_unit } => {
            let rate = *usd_per_unit as f64 / 1e6;
            let accelerators = if *per_accelerator { machine.count } else { 1.0 };
            let stated = listed(quote, scenario).unwrap_or_default().usd() / rate / accelerators;
            let mut text = format!("{name} in {region} {way}: custom price, line {line}, {}", plain(stated));
            if *per_accelerator {
                text.push_str(&format!(" for each of {} {}", plain(machine.count), machine.accelerator));
            }
            if rate != 1.0 {
                text.push_str(&format!(", x {} dollars", plain(rate)));
            }
            text
        }
        Basis::Refreshed { region: of } => format!("{name} {} {way}: {sum}refreshed price, {row}", place(of)),
        Basis::Listed { region: of } => format!("{name} {} {way}: {sum}{row}", place(of)),
        // The prices of the parts are already those of this region.
        Basis::Regional { .. } if !quote.parts.is_empty() => format!("{name} in {region} {way}: {sum}{row}"),
        Basis::Regional { from, factor } => {
            let base = base.map(|price| format!(" {}", dollars(price))).unwrap_or_default();
            let times = plain(*factor as f64 / 1e6);
            format!("{name} in {from} {way}{base}: {row}; x {times}, the price index of {region}")
        }
        Basis::Elsewhere { from } => format!("{name} in {from} {way}: {sum}{row}; no price of {region} is known"),
        Basis::Unknown => format!("{name} {way}: {row}"),
    }
}

/// Describes how a price was found, from the name that the tables use for it.
fn found_as(basis: &str) -> &str {
    match basis {
        "lowest-zone" => "the cheapest zone",
        "advisor-saving" => "the saving of the spot advisor, from on demand",
        "composed" => "the sum of its parts",
        "list-no-upfront" => "no upfront payment",
        "whole-term" => "the whole term divided by its hours",
        "family-ratio" => "the price ratio of another size or region of its family",
        "savings-plan" => "a savings plan",
        "cud-scaled" => "the commitment price of another size",
        _ => "",
    }
}

/// Estimates the price from a machine of the same provider: its price per accelerator times the number of accelerators.
fn from_accelerator(unit: &mut PricedUnit, catalog: &Catalog, machine: &CatalogMachine<'_>, region: &str) {
    if machine.count <= 0.0 {
        return;
    }
    let Some((other, price)) = nearest(catalog, machine, region) else { return };
    let each = price.times(1.0 / other.count);
    let whole = price.times(machine.count / other.count);
    unit.estimate(format!("price of {} with the same accelerator", other.name));
    unit.step(
        CostScenario::OnDemand,
        format!(
            "{} in {region} has no price; {} costs {} for {} {}, {} each, x {}",
            machine.name,
            other.name,
            dollars(price),
            plain(other.count),
            other.accelerator,
            dollars(each),
            plain(machine.count)
        ),
        whole,
    );
    unit.set(CostScenario::OnDemand, Some(whole));
}

/// Returns the machine with the same accelerator and the most similar number of them, or the cheaper one of two.
fn nearest<'c>(
    catalog: &'c Catalog,
    machine: &CatalogMachine<'_>,
    region: &str,
) -> Option<(CatalogMachine<'c>, Money)> {
    let others = catalog.machines_with(&machine.provider, &machine.accelerator);
    let priced = others.into_iter().filter(|other| other.name != machine.name && other.count > 0.0);
    let priced = priced.filter_map(|other| {
        let price = catalog.quote(&other, region)?.on_demand?;
        Some((other, price))
    });
    priced.min_by(|(one, one_price), (two, two_price)| {
        let distance = |other: &CatalogMachine<'_>| (other.count / machine.count).ln().abs();
        distance(one).total_cmp(&distance(two)).then_with(|| one_price.cmp(two_price))
    })
}

/// If there is no spot price, uses the median share of the on-demand price of machines with the same accelerator.
fn estimate_spot(unit: &mut PricedUnit, catalog: &Catalog, machine: &CatalogMachine<'_>, region: &str) {
    let (Some(on_demand), None) = (unit.price(CostScenario::OnDemand), unit.price(CostScenario::Spot)) else { return };
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
        let percent = plain(*share as f64 / 1e4);
        let text = format!(
            "no spot price is known: {percent}% of {} on demand, as on machines with the same accelerator",
            dollars(on_demand)
        );
        unit.step(CostScenario::Spot, text, spot);
        unit.set(CostScenario::Spot, Some(spot));
        unit.is_spot_of_on_demand = true;
        unit.moves[CostScenario::Spot as usize] = unit.price_move(CostScenario::OnDemand);
        unit.spot_in_doubt = Some(format!(
            "no spot price of {} is known: estimated from machines with the same accelerator",
            machine.name
        ));
    }
}

/// Marks an old spot price as doubtful, because spot prices move every day.
fn doubt_old_spot(unit: &mut PricedUnit, settings: &PricingSettings) {
    let is_old = settings.today.is_some_and(|today| is_past_spot(&unit.spot_as_of, today));
    if is_old && unit.price(CostScenario::Spot).is_some() {
        let why = format!("the spot price is of {}, more than {SPOT_IS_GOOD_FOR} days old", unit.spot_as_of);
        let text = format!("{why}: today it may be up to the on-demand price");
        unit.push(CostScenario::Spot, SumStep::from_text(text));
        unit.spot_in_doubt = Some(why);
    }
}

/// Widens an outdated price to the range that such prices reached.
fn widen_by_age(unit: &mut PricedUnit, catalog: &Catalog, settings: &PricingSettings, machine: &CatalogMachine<'_>) {
    let Some(today) = settings.today.filter(|_| !unit.is_own) else { return };
    let of_list = unit.as_of.as_deref().and_then(|as_of| catalog.price_move(&machine.provider, false, as_of, today));
    let of_spot = catalog.price_move(&machine.provider, true, &unit.spot_as_of, today);
    for scenario in CostScenario::ALL {
        let moved = if scenario == CostScenario::Spot { of_spot } else { of_list };
        unit.moves[scenario as usize] = moved.filter(|_| unit.price(scenario).is_some());
    }
}

/// Explains the price range of today by the age of the price and the changes of similar prices.
fn moved_since(price: Money, moved: &PriceMove, as_of: &str) -> String {
    let (low, high) = (dollars(price.times(moved.low)), dollars(price.times(moved.high)));
    let (from, to) = (plain((moved.low * 100.0).round()), plain((moved.high * 100.0).round()));
    let within = format!("within {} days", moved.watched_days);
    let further = if moved.age_days > moved.watched_days { ", and longer changes are unknown" } else { "" };
    let became = match low == high {
        true => format!("such prices did not move {within}{further}"),
        false => {
            format!("90% of such prices changed to {from}%–{to}% of their value {within}{further}: {low} to {high}")
        }
    };
    format!("the price of {as_of} is {} days old; {became}", moved.age_days)
}

fn discount(unit: &mut PricedUnit, settings: &PricingSettings, machine: &CatalogMachine<'_>) {
    let Some(share) = settings.discounts.get(&*machine.provider) else { return };
    let keep = ((1.0 - share.clamp(0.0, 1.0)) * 1e6).round() as i64;
    let text = format!("{}% discount on list prices of {}", plain(share * 100.0), machine.provider);
    unit.change(&text, None, |price| price.scaled(keep));
}

/// Applies the contract for each way of buying. If several contracts cover the same way, the last one wins.
fn contract(unit: &mut PricedUnit, settings: &PricingSettings, machine: &CatalogMachine<'_>, region: &str) {
    for way in CostScenario::ALL {
        let contracts = settings.contracts.iter().rev();
        let Some(contract) = contracts.into_iter().find(|it| it.way == way && it.covers(machine, region)) else {
            continue;
        };
        let Some((price, how)) = contract.price(machine, |way| unit.price(way)) else { continue };
        let committed = match contract.terms {
            ContractTerms::Committed(3.0) => Some(CostScenario::Reserved3y),
            ContractTerms::Committed(_) => Some(CostScenario::Reserved1y),
            _ => None,
        };
        if let Some(committed) = committed {
            // The steps to the commitment price become the steps to the on-demand price.
            let led: Vec<_> =
                unit.steps.iter().filter(|(of, _)| *of == Some(committed)).map(|(_, step)| step.clone()).collect();
            unit.steps.retain(|(of, _)| *of != Some(way));
            unit.steps.extend(led.into_iter().map(|step| (Some(way), step)));
            unit.is_committed = true;
        }
        unit.sustains &= way != CostScenario::OnDemand;
        if matches!(contract.terms, ContractTerms::Rate(_)) {
            unit.moves[way as usize] = None;
            unit.of_index[way as usize] = None;
            if way == CostScenario::Spot {
                unit.spot_in_doubt = None;
            }
        }
        unit.push(way, SumStep::new(format!("{} {}: {how}", machine.name, spoken_way(way)), price));
        unit.set(way, Some(price));
    }
}

fn spoken_way(way: CostScenario) -> &'static str {
    match way {
        CostScenario::OnDemand => "on demand",
        way => scenario_in_words(way),
    }
}

/// Formats dollars with two decimals, or more if the price has more.
pub(super) fn dollars(money: Money) -> String {
    let micros = money.micros().unsigned_abs();
    let sign = if money.micros() < 0 { "-" } else { "" };
    let mut decimals = format!("{:06}", micros % 1_000_000);
    while decimals.len() > 2 && decimals.ends_with('0') {
        decimals.pop();
    }
    format!("{sign}${}.{decimals}", micros / 1_000_000)
}

pub(super) fn scenario_in_words(scenario: CostScenario) -> &'static str {
    match scenario {
        CostScenario::OnDemand => "on-demand",
        CostScenario::Spot => "spot",
        CostScenario::Reserved1y => "one-year",
        CostScenario::Reserved3y => "three-year",
    }
}
