//! The possible machine types of a resource, each with its price in its region.

use super::purchase::PurchaseVariant;
use super::searches::Searches;
use super::unit::{PricedUnit, unit};
use super::{PricingSettings, StepSource, SumStep};
use crate::catalog::{Catalog, CatalogMachine, Recognized};
use crate::inventory::{Fact, FactOrigin, FactValue, Key, Resource, UnknownFact};

/// The inputs for the price of one resource.
pub(super) struct Pricing<'s, 'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) settings: &'a PricingSettings,
    pub(super) resource: &'s Resource,
    /// The results of searches for other resources.
    pub(super) searches: &'s Searches<'a>,
}

/// The region whose prices apply to a resource.
pub(super) struct PricingRegion {
    pub(super) region: String,
    pub(super) step: Option<SumStep>,
    /// Why the region is assumed, if neither the files nor the settings name it.
    assumed: Option<String>,
}

/// The part of a machine that a pod uses.
#[derive(Debug, Clone, Default)]
pub(super) struct Share {
    pub(super) part: f64,
    /// The calculation of the share.
    pub(super) why: String,
    /// The accelerators that the pod does not request and that no other pod can use next to it.
    pub(super) stranded: f64,
}

impl<'a> Pricing<'_, 'a> {
    /// Returns each machine with its price in its region. `share` returns the part of it that is paid for, and why.
    pub(super) fn variants(
        &self,
        provider: &str,
        machines: Vec<CatalogMachine<'a>>,
        share: impl Fn(&CatalogMachine<'a>) -> Option<Share>,
    ) -> Vec<PurchaseVariant<'a>> {
        let place = self.region(provider);
        let region = place.region.clone();
        let is_apart = self.catalog.place_apart(provider, &region).is_some();
        let is_dedicated = self.resource.text(Key::Tenancy).is_some();
        let variant = |machine: CatalogMachine<'a>| {
            let mut unit = unit(self.catalog, self.settings, &machine, &region);
            if !unit.is_own && (is_dedicated || is_apart && !unit.is_listed) {
                unit = PricedUnit::default();
            }
            unit.limit_spot(self.resource);
            if self.resource.flag(Key::SpotOffered) == Some(false) {
                unit.never_spot();
            }
            self.add_region_step(&mut unit, &machine, &place);
            self.mark_assumed(&mut unit);
            let mut whole = Share { part: 1.0, ..Share::default() };
            if let Some(share) = share(&machine) {
                unit = unit.times(share.part, &share.why);
                whole = share;
            }
            PurchaseVariant { machine, region: region.clone(), unit, share: whole.part, stranded: whole.stranded }
        };
        machines.into_iter().map(variant).collect()
    }

    /// Returns the possible machine types.
    pub(super) fn machines(&self, provider: &str) -> Result<Vec<CatalogMachine<'a>>, String> {
        match self.resource.fact(Key::Machine) {
            Fact::Known(machine) => {
                let name = machine.value.as_text().unwrap_or_default();
                Ok(vec![self.named(provider, name)?])
            }
            Fact::Unknown(unknown) => {
                let names: Vec<&str> = unknown.candidates.iter().filter_map(FactValue::as_text).collect();
                let found = self.catalog.machines_among(provider, &names);
                if found.is_empty() { Err(unknown.why.to_string()) } else { Ok(found) }
            }
            Fact::Absent => Err("no machine is named".to_owned()),
        }
    }

    fn named(&self, provider: &str, name: &str) -> Result<CatalogMachine<'a>, String> {
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

    /// Returns the region that sets the price: the known one, or else the configured or the base region, with a step.
    pub(super) fn region(&self, provider: &str) -> PricingRegion {
        let said = |text: String| Some(SumStep::from_text(text).about(StepSource::Fact(Key::Region)));
        let configured = self.settings.defaults.region.as_deref();
        let configured = configured.and_then(|region| self.catalog.region(provider, region));
        match self.resource.fact(Key::Region) {
            Fact::Known(known) => {
                let region = known.value.as_text().unwrap_or_default().to_owned();
                let step = match &known.origin {
                    FactOrigin::Assumed(from) => said(format!("no region is set: {region} is {from}")),
                    _ => None,
                };
                let is_assumed = step.is_some() && configured.is_none();
                PricingRegion {
                    assumed: is_assumed.then(|| format!("no region is set: price of {region}")),
                    region,
                    step,
                }
            }
            Fact::Unknown(UnknownFact { why, candidates, .. }) if candidates.len() == 1 && configured.is_none() => {
                let region = candidates.first().and_then(FactValue::as_text).unwrap_or_default();
                let region = self.catalog.region(provider, region).unwrap_or(region).to_owned();
                let step = said(format!("the region is not known ({why}): {region} is assumed"));
                PricingRegion { assumed: Some(format!("{why}: price of {region}")), region, step }
            }
            other => {
                let region = configured.unwrap_or_else(|| self.catalog.base_region(provider)).to_owned();
                let why = other.why().unwrap_or("it is not set");
                let step = said(format!("the region is not known ({why}): {region} is assumed"));
                let assumed = configured.is_none().then(|| format!("no region is set: price of {region}"));
                PricingRegion { region, step, assumed }
            }
        }
    }

    /// Adds the region to the steps. If the region is assumed and the price depends on it, the price is an estimate.
    pub(super) fn add_region_step(&self, unit: &mut PricedUnit, machine: &CatalogMachine<'_>, place: &PricingRegion) {
        place.step.clone().into_iter().for_each(|step| unit.add_step(step));
        if let Some(assumed) = &place.assumed
            && !unit.is_own
            && self.depends_on_region(machine, &place.region)
        {
            unit.estimate(assumed.clone());
        }
    }

    /// Marks the price as an estimate if the machine or the number is the only known candidate of an unknown value.
    fn mark_assumed(&self, unit: &mut PricedUnit) {
        if let Fact::Unknown(UnknownFact { why, candidates, .. }) = self.resource.fact(Key::Machine)
            && let [FactValue::Text(only)] = candidates.as_slice()
            && !only.contains(['*', '?'])
        {
            unit.estimate(why.to_string());
        }
        if let Fact::Unknown(UnknownFact { why, candidates, .. }) = &self.resource.count
            && candidates.len() == 1
        {
            unit.estimate(why.to_string());
        }
    }

    /// Whether a machine has a different price in another region.
    fn depends_on_region(&self, machine: &CatalogMachine<'_>, region: &str) -> bool {
        let price = |region: &str| self.catalog.quote(machine, region).and_then(|quote| quote.on_demand);
        let here = price(region);
        let others = self.catalog.region_names(&machine.provider).filter(|other| *other != region);
        here.is_some() && others.filter_map(price).any(|there| Some(there) != here)
    }
}
