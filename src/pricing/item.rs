//! The cost of one resource.

use std::collections::BTreeMap;

use super::attached::attached;
use super::hours::{Runtime, hours_of_run, runtime};
use super::purchase::{PurchasePrice, PurchaseVariant, buy};
use super::searches::FoundMachines;
use super::share::{on_any_machine, pod_variants};
use super::sustained::shares;
use super::unit::dollars;
use super::variants::Pricing;
use super::{
    BillItem, CostScenario, HOURS_PER_MONTH, NoLimit, Period, PricedRun, Status, StepSource, SumStep, multiply,
};
use crate::catalog::{Catalog, Money, MoneyRange, PriceClass, is_stale};
use crate::inventory::{BillingRole, Fact, Key, Purchase, Range, Resource};
use crate::resolve::{devices, plain};

impl<'a> Pricing<'_, 'a> {
    pub(super) fn item(&self) -> BillItem {
        if let Some(why) = self.resource.text(Key::Impossible) {
            return unpriced(why.to_owned());
        }
        let variants = match self.resource.role {
            BillingRole::Rented => self.rented(),
            BillingRole::Requested => pod_variants(self),
        };
        let priced = variants.and_then(|variants| {
            let (priced, bought) = self.cheapest_to_dearest(&variants)?;
            let item = self.total(&priced, bought);
            if !variants.iter().any(|variant| variant.unit.has_moved()) {
                return Ok(item);
            }
            let as_listed = self.as_listed(&variants)?;
            Ok(BillItem { as_listed: Some(Box::new(as_listed)), ..item })
        });
        priced.unwrap_or_else(|why| unpriced(self.why_no_list_price().unwrap_or(why)))
    }

    /// Returns the item without the effect of outdated prices.
    fn as_listed(&self, variants: &[PurchaseVariant<'a>]) -> Result<BillItem, String> {
        let listed = |variant: &PurchaseVariant<'a>| PurchaseVariant {
            machine: variant.machine.clone(),
            region: variant.region.clone(),
            unit: variant.unit.as_listed(),
            ..*variant
        };
        let variants: Vec<_> = variants.iter().map(listed).collect();
        let (priced, bought) = self.cheapest_to_dearest(&variants)?;
        Ok(self.total(&priced, bought))
    }

    /// Returns why the list price of the region does not apply, if it does not.
    fn why_no_list_price(&self) -> Option<String> {
        let provider = self.resource.text(Key::Provider)?;
        if let Some(tenancy) = self.resource.text(Key::Tenancy) {
            return Some(format!("the catalog has no prices for {tenancy} tenancy"));
        }
        let place = self.resource.text(Key::Region)?;
        let region = self.catalog.place_apart(provider, place)?;
        Some(format!("the catalog has no prices for {place}, and those of {region} do not apply"))
    }

    fn rented(&self) -> FoundMachines<'a> {
        let provider = self.resource.text(Key::Provider);
        let accelerator = self.resource.fact(Key::Accelerator);
        if self.resource.fact(Key::Machine).is_absent() && accelerator.is_narrowed() {
            // The provider chooses the machine: node auto-provisioning, accelerators of a service, brokers.
            return on_any_machine(self, provider, devices(self.resource, self.catalog)?);
        }
        let provider = provider.ok_or("the provider is unknown")?;
        Ok(self.variants(provider, self.machines(provider)?, |_| None).into())
    }

    /// Returns the variants that have a price in this way of buying, and their price range. The first variant is the
    /// expected one.
    fn cheapest_to_dearest<'v>(
        &self,
        variants: &'v [PurchaseVariant<'a>],
    ) -> Result<(Vec<&'v PurchaseVariant<'a>>, PurchasePrice), String> {
        let mut priced = Vec::new();
        let mut all: Option<PurchasePrice> = None;
        let mut last = String::from("the machine type is unknown");
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

    /// Returns the number of replicas, as far as it is known.
    pub(super) fn count(&self) -> Option<Range> {
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

    /// Returns the cost of the fewest and the most CPUs, if the files count CPUs: each machine type alone provides
    /// them, and the cheapest and the most expensive total count. A machine type with more CPUs than the maximum never starts.
    fn by_cpus(
        &self,
        variants: &[&PurchaseVariant<'_>],
        price: impl Fn(&PurchaseVariant<'_>) -> Option<MoneyRange>,
    ) -> Option<(Money, Money)> {
        let cpus = self.resource.cpus_together.filter(|cpus| cpus.ceiling.is_finite())?;
        let totals = variants.iter().filter_map(|variant| {
            let each = variant.machine.cpus.filter(|each| *each > 0.0 && *each <= cpus.ceiling.max(cpus.floor))?;
            let price = price(variant)?;
            Some((price.floor.times((cpus.floor / each).ceil()), price.ceiling.times((cpus.ceiling / each).floor())))
        });
        totals.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    fn is_spot(&self) -> bool {
        matches!(self.resource.purchase(), Some(Purchase::Spot))
    }

    /// Returns the date of the price.
    fn date_of_price(&self, variant: &PurchaseVariant<'_>) -> Option<String> {
        let of_spot = Some(variant.unit.spot_as_of.clone()).filter(|date| self.is_spot() && !date.is_empty());
        of_spot.or_else(|| variant.unit.as_of.clone())
    }

    /// Returns why the price is outdated, if it is.
    fn stale(&self, variant: &PurchaseVariant<'_>) -> Option<String> {
        let (today, is_spot) = (self.settings.today?, self.is_spot());
        let date = &self.date_of_price(variant)?;
        let class = if is_spot { PriceClass::Spot } else { self.catalog.class(&variant.machine.provider) };
        let machine = &variant.machine;
        is_stale(date, class, today).then(|| {
            let days = class.days();
            let what = if is_spot { "spot" } else { class.name() };
            format!(
                "the price of {} of {} is dated {date}, and {what} prices are valid for {days} days",
                machine.name, machine.provider
            )
        })
    }

    /// Returns the price of the first of these products that the region of the machine lists.
    fn booked(&self, variant: &PurchaseVariant<'_>, products: &[&str]) -> Option<Money> {
        let (machine, region) = (&variant.machine, &variant.region);
        let listed =
            |product: &&str| self.catalog.commitment_of_region(&machine.provider, &machine.name, region, product);
        let found = products.iter().find_map(listed)?;
        Some(found.per_hour.times(variant.share))
    }

    fn total(&self, variants: &[&PurchaseVariant<'_>], bought: PurchasePrice) -> BillItem {
        let Some(&first) = variants.first() else { return BillItem::default() };
        let per_hour = bought.per_hour;
        let status = match (first.unit.status(), bought.estimated) {
            (Status::Priced, Some(why)) => Status::Estimated(why),
            (status, _) => status,
        };
        let count = self.count();
        let runtime = runtime(self.resource, self.settings, count);
        let mut steps = first.unit.steps(&bought.ways);
        steps.extend(first.unit.steps_of_age(&bought.ways));
        steps.extend(bought.steps);
        if variants.len() > 1 {
            let (low, high) = (dollars(per_hour.floor), dollars(per_hour.ceiling));
            let text = format!("it can be any of {} machine types, from {low} to {high}", variants.len());
            steps.push(SumStep::new(text, per_hour.expected).about(StepSource::Fact(Key::Machine)));
        }
        let because = runtime.because.clone().map(SumStep::from_text);
        steps.extend(because.map(|step| SumStep { of: runtime.of.map(StepSource::Fact), ..step }));
        let mut item = BillItem {
            status,
            steps,
            per_hour: Some(per_hour),
            per: runtime.per,
            hours: runtime.hours.expected,
            hours_because: runtime.because.clone(),
            hours_range: Some(runtime.hours),
            starts: runtime.starts,
            runs_per_month: runtime.runs,
            replica_starts: runtime.replica_starts,
            takes_disks_away: runtime.takes_away,
            count,
            as_of: self.date_of_price(first),
            attached: attached(self.catalog, self.resource, count, &runtime),
            licence: licence(self.catalog, self.resource),
            stranded: first.stranded,
            is_unnamed: first.unit.is_unnamed,
            will_not_start: first.unit.will_not_start.clone().filter(|_| self.is_spot()),
            stale: self.stale(first),
            price_move: first.unit.price_move(if self.is_spot() { CostScenario::Spot } else { CostScenario::OnDemand }),
            spot_in_doubt: first.unit.spot_in_doubt.clone(),
            per_hour_if: if_bought_by_the_hour(variants),
            block_per_hour: self.booked(first, &["ec2-capacity-block", "dws-calendar"]),
            flex_per_hour: self.booked(first, &["dws-flex-start"]),
            is_committed: first.unit.is_committed,
            ..BillItem::default()
        };
        self.add_worst(&mut item, variants, count);
        match count {
            Some(count) => self.add_amounts(&mut item, variants, &bought.ways, &runtime, count),
            None => {
                let why = self.resource.count.why().unwrap_or("it is not set");
                item.steps.push(
                    SumStep::from_text(format!("the number of replicas is unknown: {why}")).about(StepSource::Count),
                );
            }
        }
        item
    }

    /// Adds the cost of all replicas for as long as they run, for the chosen and the other ways of buying.
    fn add_amounts(
        &self,
        item: &mut BillItem,
        variants: &[&PurchaseVariant<'_>],
        ways: &[CostScenario],
        runtime: &Runtime,
        count: Range,
    ) {
        let (Some(&first), Some(per_hour)) = (variants.first(), item.per_hour) else { return };
        let whole = whole_month(runtime);
        let is_committed = first.unit.is_committed || !ways.is_empty() && ways.iter().all(|way| way.is_commitment());
        let runtime = whole.as_ref().filter(|_| is_committed).map_or(runtime, |whole| billed_always(item, whole));
        let times = times(count, runtime, &mut item.steps);
        if runtime.per == Period::Month {
            let licence = listed_licence(self.catalog, self.resource);
            item.licence_month = licence.map(|it| multiply(it.each, times));
        }
        let mut list = multiply(per_hour, times);
        // A limit allows many small machines or few large ones, but not many large ones.
        let limits = Some(variants).filter(|_| !self.resource.limits.is_empty());
        let price =
            |it: &&PurchaseVariant<'_>| Some(buy(self.catalog, self.resource, it, Some(count)).ok()?.per_hour.ceiling);
        let prices = || variants.iter().map(price).collect::<Option<Vec<Money>>>();
        if let Some(most) = limits.and_then(|variants| self.most_together(variants, &prices()?)) {
            list.ceiling = most.times(runtime.hours.ceiling);
            list.expected = list.expected.min(list.ceiling);
        }
        let with_cpus = |list: MoneyRange, total: Option<(Money, Money)>| within_cpus(list, total, runtime);
        let bought =
            |variant: &PurchaseVariant<'_>| Some(buy(self.catalog, self.resource, variant, Some(count)).ok()?.per_hour);
        list = with_cpus(list, self.by_cpus(variants, bought));
        item.steps.push(SumStep::new(runtime.sum(count), list.expected).about(StepSource::Count));
        let off = sustained(first, runtime, count);
        let mut amount = list;
        if let (Some((shares, text)), [CostScenario::OnDemand]) = (&off, ways) {
            amount = multiply(list, *shares);
            item.sustained = Some(*shares);
            item.steps.push(SumStep::new(text.clone(), amount.expected));
        }
        item.amount = Some(amount);
        item.run = hours_of_run(self.resource, self.settings, Some(count)).map(|(hours, because)| {
            let amount = multiply(per_hour, limited(count, &mut Vec::new()).times(hours));
            PricedRun { hours, because, amount }
        });
        item.monthly = item.amount.filter(|_| item.per == Period::Month);
        let off = off.as_ref().map(|(shares, _)| *shares);
        item.amount_if = self.amounts_if(variants, count, (runtime, whole.as_ref()), off);
    }

    /// Returns the cost for each way of buying. A commitment bills the whole month.
    fn amounts_if(
        &self,
        variants: &[&PurchaseVariant<'_>],
        count: Range,
        (runtime, whole): (&Runtime, Option<&Runtime>),
        off: Option<Range>,
    ) -> BTreeMap<CostScenario, MoneyRange> {
        let if_bought = |way: CostScenario| {
            let runtime = whole.filter(|_| way.is_commitment()).unwrap_or(runtime);
            let list = multiply(scenario_range(variants, way)?, times(count, runtime, &mut Vec::new()));
            let list = within_cpus(list, self.by_cpus(variants, |variant| variant.unit.range(way)), runtime);
            let off = off.filter(|_| way == CostScenario::OnDemand);
            Some((way, off.map_or(list, |shares| multiply(list, shares))))
        };
        CostScenario::ALL.into_iter().filter_map(if_bought).collect()
    }
}

/// Returns the hours that a commitment bills, if the resource runs for a part of the month only.
fn whole_month(runtime: &Runtime) -> Option<Runtime> {
    let is_part = runtime.together.is_some() || runtime.hours != Range::exactly(HOURS_PER_MONTH);
    let is_whole = || Runtime { hours: Range::exactly(HOURS_PER_MONTH), together: None, ..runtime.clone() };
    (runtime.per == Period::Month && is_part).then(is_whole)
}

/// Notes that a commitment bills these hours.
fn billed_always<'r>(item: &mut BillItem, whole: &'r Runtime) -> &'r Runtime {
    item.steps.push(SumStep::from_text("a commitment is billed for all hours, used or not".to_owned()));
    (item.hours, item.hours_range) = (whole.hours.expected, Some(whole.hours));
    whole
}

/// Limits an amount to the least and most that a limit on CPUs allows for each hour.
fn within_cpus(list: MoneyRange, total: Option<(Money, Money)>, runtime: &Runtime) -> MoneyRange {
    let Some((least, most)) = total.filter(|_| runtime.together.is_none()) else { return list };
    let (floor, ceiling) = (least.times(runtime.hours.floor), most.times(runtime.hours.ceiling));
    let floor = floor.min(ceiling);
    MoneyRange { floor, expected: list.expected.clamp(floor, ceiling), ceiling }
}

/// Returns the share of the hourly price that is left after the automatic discount for long use, and why.
fn sustained(variant: &PurchaseVariant<'_>, runtime: &Runtime, count: Range) -> Option<(Range, String)> {
    let unit = &variant.unit;
    if runtime.per != Period::Month {
        return None;
    }
    let each = runtime.together.filter(|_| count.expected > 0.0).map(|all| all.map(|hours| hours / count.expected));
    let hours = each.unwrap_or(runtime.hours);
    let run = plain(hours.expected);
    let (shares, text) = match &unit.purchased {
        Some(own) => {
            let terms = own.terms_of_share(hours.expected);
            (hours.map(|hours| own.share_of_rate(hours)), format!("x {terms}: it runs {run} of 730 hours"))
        }
        None if unit.sustains => {
            let shares = shares(hours);
            (shares, format!("x {}: {run} of 730 hours of an N1 machine, sustained use", plain(shares.expected)))
        }
        None => return None,
    };
    (shares.expected < 1.0 || shares.ceiling < 1.0).then_some((shares, text))
}

/// Returns the hours of all replicas together. If nothing limits their number, the maximum is the expected number.
fn times(count: Range, runtime: &Runtime, steps: &mut Vec<SumStep>) -> Range {
    match runtime.together {
        Some(hours) => limited(hours, steps),
        None => limited(count, steps).times(runtime.hours),
    }
}

/// Returns software and tenancy that the price does not include, and what the software costs if the catalog lists it.
fn licence(catalog: &Catalog, resource: &Resource) -> Option<String> {
    let software =
        resource.text(Key::Licence).map(|software| format!("the license of {software} is billed separately"));
    let tenancy = resource.text(Key::Tenancy).map(|tenancy| format!("{tenancy} tenancy costs extra"));
    let all: Vec<String> = software.into_iter().chain(tenancy).collect();
    let amount = listed_licence(catalog, resource).map(|it| {
        let most = if it.each.floor == it.each.ceiling { "" } else { "at most " };
        let (whole, each) = (dollars(it.each.ceiling), dollars(it.per_cpu));
        format!(": {most}{whole}/hour for each machine, {} vCPU x {each}", plain(it.cpus))
    });
    (!all.is_empty()).then(|| format!("{} and is not included{}", all.join("; "), amount.unwrap_or_default()))
}

/// The listed price of the software of one machine.
struct ListedLicence {
    /// The price of one machine per hour.
    each: MoneyRange,
    per_cpu: Money,
    cpus: f64,
}

fn listed_licence(catalog: &Catalog, resource: &Resource) -> Option<ListedLicence> {
    let (provider, software) = (resource.text(Key::Provider)?, resource.text(Key::Licence)?);
    let (per_cpu, cpus) = (catalog.licence_per_cpu(provider, software)?, resource.number(Key::Cpus)?);
    let most = Money::from_usd(per_cpu * cpus);
    // On spot, a license costs less.
    let each = match resource.purchase() {
        Some(Purchase::OnDemand) => MoneyRange::exactly(most),
        _ => MoneyRange { floor: Money::ZERO, expected: most, ceiling: most },
    };
    Some(ListedLicence { each, per_cpu: Money::from_usd(per_cpu), cpus })
}

/// If nothing limits the number, replaces the maximum by the expected number.
fn limited(count: Range, steps: &mut Vec<SumStep>) -> Range {
    if count.ceiling.is_finite() {
        return count;
    }
    let text = "nothing limits the number of replicas: the maximum cost is the expected cost".to_owned();
    steps.push(SumStep::from_text(text).about(StepSource::Count));
    let most = if count.expected.is_finite() { count.expected } else { count.floor };
    Range { floor: count.floor, expected: most, ceiling: most }
}

fn scenario_range(variants: &[&PurchaseVariant<'_>], scenario: CostScenario) -> Option<MoneyRange> {
    let expected = variants.first()?.unit.price(scenario)?;
    let all = || variants.iter().filter_map(|variant| variant.unit.range(scenario));
    let (floor, ceiling) = (all().map(|it| it.floor).min()?, all().map(|it| it.ceiling).max()?);
    Some(MoneyRange { floor, expected, ceiling })
}

fn if_bought_by_the_hour(variants: &[&PurchaseVariant<'_>]) -> BTreeMap<CostScenario, MoneyRange> {
    let priced = |way| Some((way, scenario_range(variants, way)?));
    CostScenario::ALL.into_iter().filter_map(priced).collect()
}

fn unpriced(why: String) -> BillItem {
    let steps = vec![SumStep::from_text(format!("unpriced: {why}"))];
    let worst = Some(Err(NoLimit::Price(why.as_str().into())));
    BillItem { status: Status::Unpriced(why), steps, hours: HOURS_PER_MONTH, worst, ..BillItem::default() }
}
