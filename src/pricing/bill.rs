//! What each resource costs, and the sums of it.

use std::collections::BTreeMap;

use crate::catalog::{Catalog, Class, Machine, Money, MoneyRange, Recognized, is_stale};
use crate::inventory::{Fact, Inventory, Key, Origin, Purchase, Range, Resource, Role, Value};
use crate::source::each;

use super::attached::attached;
use super::combined::{combined, mark_within};
use super::hours::{Runtime, runtime};
use super::purchase::{Bought, PurchaseVariant, buy};
use super::share::{FoundMachines, Searches, Share, on_any_machine, pod_variants};
use super::sustained::shares;
use super::unit::{PricedUnit, dollars, unit};
use super::{
    Apart, Bill, BillItem, Ending, HOURS_PER_MONTH, Of, Period, PricingSettings, Scenario, Status, Step, multiply,
};
use crate::complete::{devices, plain, within};

/// What everything costs. The inventory must be complete.
pub fn bill(inventory: &Inventory, catalog: &Catalog, settings: &PricingSettings) -> Bill {
    let searches = Searches::default();
    let item = |resource: &Resource| Pricing { catalog, settings, resource, searches: &searches }.item();
    let items = each(inventory.resources.iter().collect(), item);
    let mut bill = Bill { items, ..Bill::default() };
    bill.sum_up(inventory);
    bill
}

impl Bill {
    /// Adds the items up, one for each resource of the inventory, in its order.
    pub fn sum_up(&mut self, inventory: &Inventory) {
        mark_within(inventory, &mut self.items);
        let mut sums = Bill::default();
        for (resource, item) in inventory.resources.iter().zip(&self.items) {
            if resource.version_of.is_some() {
                continue;
            }
            if !resource.is_added() {
                sums.apart.entry(resource.counted).or_default().add(resource, item);
                continue;
            }
            match (item.monthly, resource.role) {
                (Some(monthly), Role::Rented) => sums.rented += monthly,
                (Some(monthly), Role::Requested) => sums.requested += monthly,
                (None, _) => sums.unpriced += usize::from(item.amount.is_none()),
            }
            if let Some(monthly) = item.monthly.filter(|_| item.is_unnamed) {
                sums.unnamed.resources += 1;
                sums.unnamed.amount += monthly;
            }
            if let Some(attached) = &item.attached {
                sums.attached += attached.monthly;
            }
            sums.stale += usize::from(item.stale.is_some());
            if let Some(monthly) = item.monthly.filter(|_| item.stale.is_some()) {
                let sum = match resource.role {
                    Role::Rented => &mut sums.past_shelf_life.rented,
                    Role::Requested => &mut sums.past_shelf_life.requested,
                };
                *sum += monthly.expected;
            }
            let dates = [sums.oldest_row.take(), item.as_of.clone()];
            sums.oldest_row = dates.into_iter().flatten().min();
        }
        sums.combined = combined(inventory, &self.items);
        *self = Bill { items: std::mem::take(&mut self.items), ..sums };
    }

    /// What runs and ends, of which no text says how often: beside the months, added up by what its amounts are for.
    pub fn endings(&self, inventory: &Inventory) -> BTreeMap<(Role, Period), Ending> {
        let mut all: BTreeMap<(Role, Period), Ending> = BTreeMap::new();
        for (resource, item) in inventory.resources.iter().zip(&self.items).filter(|(it, _)| it.is_added()) {
            let Some(amount) = item.amount.filter(|_| item.per != Period::Month) else { continue };
            let ending = all.entry((resource.role, item.per)).or_default();
            ending.resources += 1;
            ending.amount += amount;
            if amount == MoneyRange::ZERO {
                ending.each_uncounted += item.per_hour.map_or(Money::ZERO, |it| it.expected);
            }
        }
        all
    }
}

impl Apart {
    fn add(&mut self, resource: &Resource, item: &BillItem) {
        self.resources += 1;
        match (item.monthly, resource.role) {
            (Some(monthly), Role::Rented) => self.rented += monthly,
            (Some(monthly), Role::Requested) => self.requested += monthly,
            (None, _) => self.unpriced += usize::from(item.amount.is_none()),
        }
    }
}

/// Everything that prices one resource.
pub(super) struct Pricing<'s, 'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) settings: &'a PricingSettings,
    pub(super) resource: &'s Resource,
    /// What was found for other resources.
    pub(super) searches: &'s Searches<'a>,
}

impl<'a> Pricing<'_, 'a> {
    fn item(&self) -> BillItem {
        if let Some(why) = self.resource.text(Key::Impossible) {
            return unpriced(why.to_owned());
        }
        let variants = match self.resource.role {
            Role::Rented => self.rented(),
            Role::Requested => pod_variants(self),
        };
        let priced = variants.and_then(|variants| {
            let (variants, bought) = self.cheapest_to_dearest(&variants)?;
            Ok(self.total(&variants, bought))
        });
        priced.unwrap_or_else(|why| unpriced(self.apart().unwrap_or(why)))
    }

    /// Why what the region costs says nothing of it.
    fn apart(&self) -> Option<String> {
        let provider = self.resource.text(Key::Provider)?;
        if let Some(tenancy) = self.resource.text(Key::Tenancy) {
            return Some(format!("{tenancy} tenancy has prices of its own, which the catalog does not know"));
        }
        let place = self.resource.text(Key::Region)?;
        let region = self.catalog.place_apart(provider, place)?;
        Some(format!("{place} is no part of {region} by its prices, and the catalog knows none of its own"))
    }

    fn rented(&self) -> FoundMachines<'a> {
        let provider = self.resource.text(Key::Provider);
        let accelerator = self.resource.fact(Key::Accelerator);
        if self.resource.fact(Key::Machine).is_absent() && accelerator.is_narrowed() {
            // Whoever rents it out chooses the machine: node auto-provisioning, accelerators of a service, brokers.
            return on_any_machine(self, provider, devices(self.resource, self.catalog)?);
        }
        let provider = provider.ok_or("the provider is not known")?;
        Ok(self.variants(provider, self.machines(provider)?, |_| None).into())
    }

    /// Each machine with its price in its region; `share` says which part of it is paid for, and why.
    pub(super) fn variants(
        &self,
        provider: &str,
        machines: Vec<Machine<'a>>,
        share: impl Fn(&Machine<'a>) -> Option<Share>,
    ) -> Vec<PurchaseVariant<'a>> {
        let (region, region_step) = self.region(provider);
        let is_apart = self.catalog.place_apart(provider, &region).is_some();
        let is_dedicated = self.resource.text(Key::Tenancy).is_some();
        let variant = |machine: Machine<'a>| {
            let mut unit = unit(self.catalog, self.settings, &machine, &region);
            if !unit.is_own && (is_dedicated || is_apart && !unit.is_listed) {
                unit = PricedUnit::default();
            }
            unit.limit_spot(self.resource);
            if self.resource.flag(Key::SpotOffered) == Some(false) {
                unit.never_spot();
            }
            region_step.clone().into_iter().for_each(|step| unit.say(step));
            let mut whole = Share { part: 1.0, ..Share::default() };
            if let Some(share) = share(&machine) {
                unit = unit.times(share.part, &share.why);
                whole = share;
            }
            PurchaseVariant { machine, region: region.clone(), unit, share: whole.part, stranded: whole.stranded }
        };
        machines.into_iter().map(variant).collect()
    }

    /// The variants that have a price as they are bought, and the price from the cheapest of them to the dearest. The
    /// first one is what is expected.
    fn cheapest_to_dearest<'v>(
        &self,
        variants: &'v [PurchaseVariant<'a>],
    ) -> Result<(Vec<&'v PurchaseVariant<'a>>, Bought), String> {
        let mut priced = Vec::new();
        let mut all: Option<Bought> = None;
        let mut last = String::from("no machine is known");
        for variant in variants {
            match buy(self.catalog, self.resource, variant, self.count()) {
                Ok(bought) => {
                    let range = bought.per_hour;
                    let all = all.get_or_insert(bought);
                    all.per_hour.floor = all.per_hour.floor.min(range.floor);
                    all.per_hour.ceiling = all.per_hour.ceiling.max(range.ceiling);
                    priced.push(variant);
                }
                Err(why) => last = why,
            }
        }
        all.map(|bought| (priced, bought)).ok_or(last)
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
            Fact::Absent => Err("no machine is named".to_owned()),
        }
    }

    fn named(&self, provider: &str, name: &str) -> Result<Machine<'a>, String> {
        if let Some(machine) = self.catalog.machine(provider, name) {
            return Ok(machine);
        }
        let guests = self.resource.text(Key::Accelerator).zip(self.resource.number(Key::AcceleratorCount));
        match (self.catalog.recognize(provider, name), guests) {
            (Recognized::Host(_), Some((accelerator, count))) => self.catalog.equipped(name, accelerator, count),
            _ => {
                let near = self.catalog.nearest_machine(provider, name);
                let near = near.map(|near| format!(": the nearest name is {near}")).unwrap_or_default();
                Err(format!("{name} of {provider} is not in the catalog{near}"))
            }
        }
    }

    /// The region that prices it. One that cannot be known is taken for the configured or the base region, and said.
    pub(super) fn region(&self, provider: &str) -> (String, Option<Step>) {
        let said = |text: String| Some(Step::said(text).of(Of::Fact(Key::Region)));
        match self.resource.fact(Key::Region) {
            Fact::Known(known) => {
                let region = known.value.as_text().unwrap_or_default().to_owned();
                let step = match &known.origin {
                    Origin::Assumed(from) => said(format!("the text names no region: {region} is {from}")),
                    _ => None,
                };
                (region, step)
            }
            other => {
                let configured = self.settings.defaults.region.as_deref();
                let configured = configured.and_then(|region| self.catalog.region(provider, region));
                let region = configured.unwrap_or_else(|| self.catalog.base_region(provider)).to_owned();
                let why = other.why().unwrap_or("the text names none");
                let step = said(format!("the region is not known ({why}): {region} is assumed"));
                (region, step)
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

    /// An hour of the machines that cost most of all that the limits of a pool leave room for.
    fn most_within_limits(&self, variants: &[&PurchaseVariant<'_>]) -> Option<Money> {
        if self.resource.limits.is_empty() {
            return None;
        }
        let of = |variant: &&PurchaseVariant<'_>| {
            let many = Some(within(&self.resource.limits, &variant.machine)).filter(|many| many.is_finite())?;
            let each = buy(self.catalog, self.resource, variant, self.count()).ok()?;
            Some(each.per_hour.ceiling.times(many))
        };
        variants.iter().map(of).collect::<Option<Vec<Money>>>()?.into_iter().max()
    }

    fn is_spot(&self) -> bool {
        matches!(self.resource.purchase(), Some(Purchase::Spot))
    }

    /// The date of the price that was used.
    fn date_of_price(&self, variant: &PurchaseVariant<'_>) -> Option<String> {
        let of_spot = Some(variant.unit.spot_as_of.clone()).filter(|date| self.is_spot() && !date.is_empty());
        of_spot.or_else(|| variant.unit.as_of.clone())
    }

    /// That the price is older than prices of its kind may be.
    fn stale(&self, variant: &PurchaseVariant<'_>) -> Option<String> {
        let (today, is_spot) = (self.settings.today?, self.is_spot());
        let date = &self.date_of_price(variant)?;
        let class = if is_spot { Class::Spot } else { self.catalog.class(&variant.machine.provider) };
        let machine = &variant.machine;
        is_stale(date, class, today).then(|| {
            let days = class.days();
            let what = if is_spot { "spot" } else { class.name() };
            format!(
                "{} of {} is priced as of {date}: {what} prices are good for {days} days",
                machine.name, machine.provider
            )
        })
    }

    fn total(&self, variants: &[&PurchaseVariant<'_>], bought: Bought) -> BillItem {
        let Some(&first) = variants.first() else { return BillItem::default() };
        let per_hour = bought.per_hour;
        let mut steps = first.unit.steps(&bought.ways);
        steps.extend(bought.steps);
        if variants.len() > 1 {
            let (low, high) = (dollars(per_hour.floor), dollars(per_hour.ceiling));
            let text = format!("it may be any of {} machines, from {low} to {high}", variants.len());
            steps.push(Step::new(text, per_hour.expected).of(Of::Fact(Key::Machine)));
        }
        let status = match (first.unit.status(), bought.estimated) {
            (Status::Priced, Some(why)) => Status::Estimated(why),
            (status, _) => status,
        };
        let count = self.count();
        let runtime = runtime(self.resource, self.settings, count);
        let mut item = BillItem {
            status,
            per_hour: Some(per_hour),
            per: runtime.per,
            hours: runtime.hours.expected,
            hours_because: runtime.because.clone(),
            count,
            as_of: self.date_of_price(first),
            attached: attached(self.catalog, self.resource, count, &runtime),
            licence: licence(self.resource),
            stranded: first.stranded,
            is_unnamed: first.unit.is_unnamed,
            will_not_start: first.unit.will_not_start.clone().filter(|_| self.is_spot()),
            stale: self.stale(first),
            spot_in_doubt: first.unit.spot_in_doubt.clone(),
            ..BillItem::default()
        };
        let because = runtime.because.clone().map(Step::said);
        steps.extend(because.map(|step| Step { of: runtime.of.map(Of::Fact), ..step }));
        match count {
            Some(count) => {
                let times = times(count, &runtime, &mut steps);
                let mut list = multiply(per_hour, times);
                // The most that a limit leaves room for is many small machines or few large ones, and not many large ones.
                if let Some(most) = self.most_within_limits(variants) {
                    list.ceiling = most.times(runtime.hours.ceiling);
                    list.expected = list.expected.min(list.ceiling);
                }
                steps.push(Step::new(runtime.sum(count), list.expected).of(Of::Count));
                let off = sustained(first, &runtime, count);
                let amount = match &off {
                    Some((shares, text)) if bought.ways == [Scenario::OnDemand] => {
                        let amount = multiply(list, *shares);
                        item.sustained = Some(*shares);
                        steps.push(Step::new(text.clone(), amount.expected));
                        amount
                    }
                    _ => list,
                };
                item.amount = Some(amount);
                item.monthly = item.amount.filter(|_| item.per == Period::Month);
                let if_bought = |way| {
                    let list = multiply(scenario_range(variants, way)?, times);
                    let off = off.as_ref().filter(|_| way == Scenario::OnDemand);
                    Some((way, off.map_or(list, |(shares, _)| multiply(list, *shares))))
                };
                item.amount_if = Scenario::ALL.into_iter().filter_map(if_bought).collect();
            }
            None => {
                let why = self.resource.count.why().unwrap_or("the text does not say");
                steps.push(Step::said(format!("how many there are is not known: {why}")).of(Of::Count));
            }
        }
        item.steps = steps;
        item
    }
}

/// What the vendor takes off by itself for the hours of a month, and why.
fn sustained(variant: &PurchaseVariant<'_>, runtime: &Runtime, count: Range) -> Option<(Range, String)> {
    if !variant.unit.sustains || runtime.per != Period::Month {
        return None;
    }
    let each = runtime.together.filter(|_| count.expected > 0.0).map(|all| all.map(|hours| hours / count.expected));
    let hours = each.unwrap_or(runtime.hours);
    let shares = shares(hours);
    let text =
        format!("x {}: {} of 730 hours of an N1 machine, sustained use", plain(shares.expected), plain(hours.expected));
    (shares.expected < 1.0 || shares.ceiling < 1.0).then_some((shares, text))
}

/// Hours of all of them together. Where nothing limits how many there are, the most that can be said is what is expected.
fn times(count: Range, runtime: &Runtime, steps: &mut Vec<Step>) -> Range {
    match runtime.together {
        Some(hours) => limited(hours, steps),
        None => limited(count, steps).times(runtime.hours),
    }
}

/// Software that is billed by the hour beside the machine, and of which no price is known.
fn licence(resource: &Resource) -> Option<String> {
    let software = resource.text(Key::Licence).map(|software| format!("the licence of {software} is billed beside it"));
    let tenancy = resource.text(Key::Tenancy).map(|tenancy| format!("{tenancy} tenancy is billed above it"));
    let all: Vec<String> = software.into_iter().chain(tenancy).collect();
    (!all.is_empty()).then(|| format!("{} and is not included", all.join("; ")))
}

/// Where nothing limits how many there are, the most that can be said is what is expected.
fn limited(count: Range, steps: &mut Vec<Step>) -> Range {
    if count.ceiling.is_finite() {
        return count;
    }
    let text = "nothing limits how many there are: the ceiling is what is expected".to_owned();
    steps.push(Step::said(text).of(Of::Count));
    let most = if count.expected.is_finite() { count.expected } else { count.floor };
    Range { floor: count.floor, expected: most, ceiling: most }
}

fn scenario_range(variants: &[&PurchaseVariant<'_>], scenario: Scenario) -> Option<MoneyRange> {
    let expected = variants.first()?.unit.price(scenario)?;
    let all = || variants.iter().filter_map(|variant| variant.unit.price(scenario));
    Some(MoneyRange { floor: all().min()?, expected, ceiling: all().max()? })
}

fn unpriced(why: String) -> BillItem {
    let steps = vec![Step::said(format!("unpriced: {why}"))];
    BillItem { status: Status::Unpriced(why), steps, hours: HOURS_PER_MONTH, ..BillItem::default() }
}

pub(super) fn spoken_count(count: Range) -> String {
    if count.floor == count.ceiling {
        return plain(count.expected);
    }
    let ceiling = if count.ceiling.is_finite() { plain(count.ceiling) } else { "any number".into() };
    format!("{} (from {} to {ceiling})", plain(count.expected), plain(count.floor))
}
