//! Derives facts from a machine type: accelerators, CPUs and memory. Also decides which resources are relevant.

use std::sync::Arc;

use crate::catalog::{AWS, AZURE, Catalog, CatalogMachine, GCP, Host, Recognized};
use crate::inventory::{
    BillingRole, CountedAs, CountedIn, Fact, FactOrigin, FactValue, Inventory, Key, KnownFact, Limited, PoolLimit,
    Range, ReadBy, Resource, UnknownFact, accelerators,
};
use crate::source::Span;

use super::Defaults;
use super::capacity::{holds, never_starts};
use super::of_root::share_of_root;
use super::pools::link_pools;
use super::purposes::infer_purposes;
use super::shared_limits::{limits_of_clusters, share_limits};

/// Resources that gpulint left out, because their machine type is unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OmittedResources {
    pub unknown_machines: Vec<UnknownMachine>,
}

/// A machine type that is unknown, on a resource that nothing else marks as one with accelerators.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownMachine {
    pub address: String,
    /// The end of the address that names one of several deployments of a Terraform root: ` (dev.tfvars)`.
    pub run: String,
    pub span: Span,
    pub why: Arc<str>,
}

/// Adds to each resource the facts of its machine and its pool, and removes resources without accelerators. A second
/// call changes nothing.
pub fn complete_machines(inventory: &mut Inventory, catalog: &Catalog, defaults: &Defaults) -> OmittedResources {
    let mut left_out = OmittedResources::default();
    let completion = Completion { catalog, defaults };
    for resource in &mut inventory.resources {
        completion.names(resource);
    }
    inventory.resources.retain_mut(|resource| match resource.role {
        BillingRole::Rented => completion.rented(resource, &mut left_out),
        BillingRole::Requested => true,
    });
    link_pools(inventory, &|it| completion.vendor(it));
    infer_purposes(inventory);
    let only_provider = only_provider(inventory);
    let limits = limits_of_clusters(inventory);
    for resource in &mut inventory.resources {
        if resource.role == BillingRole::Requested {
            completion.requested(resource, only_provider.as_deref());
            if let Some(why) = never_starts(resource, catalog) {
                impossible(resource, why);
            }
        }
        completion.place(resource);
        machine_types(resource);
        resource.convert_count();
        completion.limits(resource);
    }
    share_limits(inventory, &limits);
    share_of_root(inventory);
    left_out
}

/// Returns the end of an address that names the deployment of a Terraform root.
fn run_in_address(resource: &Resource) -> &str {
    let is_of_root = resource.front_end == ReadBy::Terraform;
    let rest = resource.address.strip_prefix(&*resource.declared.address).filter(|_| is_of_root);
    rest.filter(|rest| rest.starts_with(" (") && rest.ends_with(')')).unwrap_or_default()
}

struct Completion<'c> {
    catalog: &'c Catalog,
    defaults: &'c Defaults,
}

/// The conclusion that a machine name allows about a resource.
enum Verdict {
    Carries,
    Plain,
    Unknown(Arc<str>),
}

impl Completion<'_> {
    /// Replaces names by the names of the catalog.
    fn names(&self, resource: &mut Resource) {
        self.rewrite(resource, Key::Accelerator, |name| {
            self.catalog.accelerator(name).map(|known| known.name.to_owned())
        });
        self.expand_families(resource);
        if let Some(provider) = resource.text(Key::Provider).map(str::to_owned) {
            self.rewrite(resource, Key::Region, |region| self.catalog.region(&provider, region).map(str::to_owned));
        }
        let chips = resource.fact(Key::Topology).clone().map(|topology| topology.as_text().and_then(chips));
        if resource.fact(Key::AcceleratorCount).is_absent()
            && let Fact::Known(KnownFact { value: Some(chips), span, defined, origin }) = chips
        {
            let count = KnownFact { value: FactValue::Number(chips), span, defined, origin };
            resource.set(Key::AcceleratorCount, Fact::Known(count));
        }
    }

    /// Replaces the names of AWS families, such as `g5`, by patterns for their machine types. AWS Batch accepts both.
    fn expand_families(&self, resource: &mut Resource) {
        let machine = resource.fact(Key::Machine);
        let names: Vec<FactValue> = match machine {
            Fact::Known(known) => vec![known.value.clone()],
            Fact::Unknown(unknown) => unknown.candidates.clone(),
            Fact::Absent => return,
        };
        let is_family = |name: &str| {
            let first = || self.catalog.recognize(AWS, &format!("{name}."));
            !name.contains(['.', '*']) && matches!(first(), Recognized::Family { .. })
        };
        if resource.text(Key::Provider) != Some(AWS) || !names.iter().any(|it| it.as_text().is_some_and(is_family)) {
            return;
        }
        let expand = |name: FactValue| match name.as_text() {
            Some(text) if is_family(text) => FactValue::text(format!("{text}.*")),
            _ => name,
        };
        let why = machine.why().unwrap_or("it names a family of machine types").to_owned();
        let unknown = UnknownFact {
            span: machine.span().unwrap_or(resource.span),
            why: why.into(),
            candidates: names.into_iter().map(expand).collect(),
        };
        resource.set(Key::Machine, Fact::Unknown(unknown));
    }

    fn rewrite(&self, resource: &mut Resource, key: Key, name: impl Fn(&str) -> Option<String>) {
        let renamed = |value: FactValue| match value.as_text().and_then(&name) {
            Some(canonical) => FactValue::text(canonical),
            None => value,
        };
        let fact = resource.fact(key).clone().map(renamed);
        resource.set(key, fact);
    }

    /// Returns whether a provisioned machine has accelerators, or may have some, and adds the derived facts.
    fn rented(&self, resource: &mut Resource, left_out: &mut OmittedResources) -> bool {
        let asked = asked_for(resource);
        let machine = resource.fact(Key::Machine).clone();
        if resource.fact(Key::Provider).is_absent()
            && let Some(provider) = self.provider_of(&machine)
        {
            infer_provider(resource, provider, &machine);
        }
        let verdict = match &machine {
            Fact::Known(known) => self.known_machine(resource, known),
            Fact::Unknown(unknown) => self.one_of(resource, unknown),
            Fact::Absent => self.without_machine(resource),
        };
        match verdict {
            Verdict::Carries => true,
            Verdict::Plain => asked,
            Verdict::Unknown(why) if is_named(resource) => {
                // The machine type is unknown, so it is also unknown whether it supports the accelerators.
                let span = machine.span().unwrap_or(resource.span);
                resource.set(Key::Impossible, Fact::unknown(why, span));
                true
            }
            Verdict::Unknown(_) if speaks_of_accelerators(resource) => true,
            // The resource has no instances, so its machine type does not matter.
            Verdict::Unknown(_) if resource.is_switched_off() => false,
            // No deployment applies an example. It is relevant only if it names accelerators.
            Verdict::Unknown(_) if resource.counted == CountedAs::Example => false,
            // Environments replace this deployment, and each of them has its own entry if its value is unknown.
            Verdict::Unknown(_) if resource.counted == CountedAs::Base && resource.front_end == ReadBy::Terraform => {
                false
            }
            Verdict::Unknown(why) => {
                left_out.unknown_machines.push(UnknownMachine {
                    address: resource.address.clone(),
                    run: run_in_address(resource).to_owned(),
                    span: machine.span().unwrap_or(resource.span),
                    why,
                });
                false
            }
        }
    }

    /// Returns the vendor of the accelerators, known or common to all candidates.
    fn vendor(&self, resource: &Resource) -> Option<String> {
        if let Some(said) = resource.text(Key::Vendor) {
            return Some(said.to_ascii_lowercase());
        }
        let names: Vec<&FactValue> = match resource.fact(Key::Accelerator) {
            Fact::Known(known) => vec![&known.value],
            Fact::Unknown(unknown) => unknown.candidates.iter().collect(),
            Fact::Absent => Vec::new(),
        };
        let mut vendors =
            names.into_iter().map(|it| Some(self.catalog.accelerator(it.as_text()?)?.vendor.to_ascii_lowercase()));
        let first = vendors.next()??;
        vendors.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }

    /// Returns the cloud of a machine type, or of all its candidates.
    fn provider_of(&self, machine: &Fact<FactValue>) -> Option<&str> {
        let names: Vec<&FactValue> = match machine {
            Fact::Known(known) => vec![&known.value],
            Fact::Unknown(unknown) => unknown.candidates.iter().collect(),
            Fact::Absent => Vec::new(),
        };
        let mut providers = names.into_iter().map(|name| self.catalog.provider_of(name.as_text()?));
        let first = providers.next()??;
        providers.all(|other| other == Some(first)).then_some(first)
    }

    fn known_machine(&self, resource: &mut Resource, machine: &KnownFact<FactValue>) -> Verdict {
        let name = machine.value.as_text().unwrap_or_default().to_owned();
        let provider = resource.text(Key::Provider).unwrap_or_default().to_owned();
        match self.catalog.recognize(&provider, &name) {
            Recognized::Machine(found) => {
                if let Some(why) = self.contradiction(resource, &found) {
                    impossible(resource, why);
                }
                describe(resource, machine, &found, self.catalog);
                Verdict::Carries
            }
            Recognized::Family { accelerator, .. } => {
                if let Some(accelerator) = accelerator {
                    let why = format!("machine type {name} is unknown: this is the accelerator of its family");
                    let origin = machine.origin.clone().weakest(FactOrigin::Inferred(why.into()));
                    follow(
                        resource,
                        Key::Accelerator,
                        FactValue::text(accelerator),
                        &KnownFact { origin, ..machine.clone() },
                    );
                    self.memory(resource);
                }
                Verdict::Carries
            }
            Recognized::Host(host) => self.host(resource, machine, &name, host),
            Recognized::Plain => {
                let asked = resource.text(Key::Accelerator).map(str::to_owned);
                if let Some(accelerator) = asked.filter(|_| provider == GCP && asked_for(resource))
                    && let Err(why) = self.catalog.equipped(&name, &accelerator, 1.0)
                {
                    impossible(resource, why);
                    self.memory(resource);
                }
                Verdict::Plain
            }
        }
    }

    /// Handles a machine type whose accelerators are attached separately.
    fn host(&self, resource: &mut Resource, machine: &KnownFact<FactValue>, name: &str, host: Host) -> Verdict {
        if !asked_for(resource) {
            return Verdict::Plain;
        }
        follow(resource, Key::Cpus, FactValue::Number(host.cpus), machine);
        follow(resource, Key::Memory, FactValue::Number(host.memory_gib), machine);
        if resource.fact(Key::AcceleratorCount).is_absent() {
            follow(resource, Key::AcceleratorCount, FactValue::Number(1.0), machine);
        }
        let (accelerator, count) = (resource.text(Key::Accelerator), resource.number(Key::AcceleratorCount));
        if let (Some(accelerator), Some(count)) = (accelerator, count)
            && let Err(why) = self.catalog.equipped(name, accelerator, count)
        {
            impossible(resource, why);
        }
        self.memory(resource);
        Verdict::Carries
    }

    /// Returns why the requested accelerators contradict the accelerators that are built into the machine.
    fn contradiction(&self, resource: &Resource, machine: &CatalogMachine<'_>) -> Option<String> {
        let has = || format!("{} carries {} {}", machine.name, plain(machine.count), machine.accelerator);
        let asked = resource.text(Key::Accelerator)?;
        if asked != machine.accelerator && !self.catalog.is_same_chip(asked, &machine.accelerator) {
            return Some(format!("{}, so {asked} cannot be attached", has()));
        }
        let count = resource.number(Key::AcceleratorCount)?;
        // A machine may have a part of a device, and the configuration requests it as one device.
        let is_it = count == machine.count || (count == 1.0 && machine.count < 1.0);
        (!is_it && count > 0.0).then(|| format!("{}, not {}", has(), plain(count)))
    }

    /// Handles a resource whose machine type is one of several.
    fn one_of(&self, resource: &mut Resource, machine: &UnknownFact<FactValue>) -> Verdict {
        let provider = resource.text(Key::Provider).unwrap_or_default().to_owned();
        let names: Vec<&str> = machine.candidates.iter().filter_map(FactValue::as_text).collect();
        if names.is_empty() {
            return Verdict::Unknown(machine.why.clone());
        }
        let machines = self.catalog.machines_among(&provider, &names);
        let is_family = |name: &&str| matches!(self.catalog.recognize(&provider, name), Recognized::Family { .. });
        if machines.is_empty() && !names.iter().any(is_family) {
            return Verdict::Plain;
        }
        let machines = self.narrowed(resource, machine, machines);
        self.common(resource, machine, &machines, Key::Accelerator, |it| FactValue::text(&*it.accelerator));
        self.common(resource, machine, &machines, Key::AcceleratorCount, |it| FactValue::Number(it.count));
        self.memory(resource);
        if resource.counted_in == CountedIn::Cpus && machines.iter().all(|it| it.cpus.is_some()) {
            self.common(resource, machine, &machines, Key::Cpus, |it| FactValue::Number(it.cpus.unwrap_or_default()));
        }
        Verdict::Carries
    }

    /// Returns the machines that match the accelerators and processors of the configuration, if that excludes some.
    fn narrowed<'m>(
        &self,
        resource: &mut Resource,
        machine: &UnknownFact<FactValue>,
        all: Vec<CatalogMachine<'m>>,
    ) -> Vec<CatalogMachine<'m>> {
        let text = |key: Key| resource.text(key).map(str::to_ascii_lowercase);
        let (vendor, processor) = (text(Key::Vendor), text(Key::Processor));
        let count = resource.number(Key::AcceleratorCount);
        let fits = |it: &CatalogMachine<'_>| {
            let known = self.catalog.accelerator(&it.accelerator);
            let runs = known.as_ref().map(|it| if it.processor.is_empty() { "amd64" } else { it.processor });
            let same = |wanted: &Option<String>, has: Option<&str>| match (wanted, has) {
                (Some(wanted), Some(has)) => has.eq_ignore_ascii_case(wanted),
                _ => true,
            };
            let made_by = known.as_ref().map(|it| it.vendor);
            same(&vendor, made_by) && same(&processor, runs) && count.is_none_or(|count| count == it.count)
        };
        let (left, rest): (Vec<CatalogMachine<'m>>, Vec<CatalogMachine<'m>>) = all.into_iter().partition(fits);
        if left.is_empty() || rest.is_empty() {
            return if left.is_empty() { rest } else { left };
        }
        let candidates: Vec<FactValue> = left.iter().map(|it| FactValue::text(&*it.name)).collect();
        let fact = match candidates.as_slice() {
            [only] => {
                Fact::known(only.clone(), machine.span, FactOrigin::Inferred("the only machine that fits".into()))
            }
            _ => Fact::Unknown(UnknownFact { span: machine.span, why: machine.why.clone(), candidates }),
        };
        resource.set(Key::Machine, fact);
        left
    }

    /// Sets a fact to the value that all candidates share, or else lists the possible values.
    fn common(
        &self,
        resource: &mut Resource,
        machine: &UnknownFact<FactValue>,
        machines: &[CatalogMachine<'_>],
        key: Key,
        of: impl Fn(&CatalogMachine<'_>) -> FactValue,
    ) {
        if !resource.fact(key).is_absent() {
            return;
        }
        let mut values: Vec<FactValue> = Vec::new();
        for value in machines.iter().map(of) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let fact = match values.as_slice() {
            [only] => Fact::known(only.clone(), machine.span, FactOrigin::Resolved),
            _ => Fact::Unknown(UnknownFact { span: machine.span, why: machine.why.clone(), candidates: values }),
        };
        resource.set(key, fact);
    }

    /// Handles a resource that sets a number of accelerators and no machine type: it may use any machine type of the
    /// provider with that number.
    fn any_machine(&self, resource: &mut Resource) -> Option<Verdict> {
        let provider = resource.text(Key::Provider)?.to_owned();
        let Fact::Known(count) = resource.fact(Key::AcceleratorCount).clone() else { return None };
        let wanted = count.value.as_number()?;
        let machines = self.catalog.machines().filter(|it| it.provider == *provider && it.count == wanted);
        let candidates: Vec<FactValue> = machines.map(|it| FactValue::text(&*it.name)).collect();
        let why = format!("any machine type with {} accelerators fits", plain(wanted));
        let machine = UnknownFact { span: count.span, why: why.into(), candidates };
        if machine.candidates.is_empty() {
            return None;
        }
        resource.set(Key::Machine, Fact::Unknown(machine.clone()));
        Some(self.one_of(resource, &machine))
    }

    fn without_machine(&self, resource: &mut Resource) -> Verdict {
        if !asked_for(resource) {
            return Verdict::Plain;
        }
        let is_named = !resource.fact(Key::Accelerator).is_absent();
        if !is_named && let Some(verdict) = self.any_machine(resource) {
            return verdict;
        }
        if let Fact::Unknown(unknown) = resource.fact(Key::AcceleratorCount)
            && !is_named
            && unknown.candidates.is_empty()
        {
            // A variable may set the number to zero.
            return Verdict::Unknown(unknown.why.clone());
        }
        let is_limited = resource.limits.iter().any(|limit| limit.of == Limited::Accelerators);
        if (is_limited || resource.counted_in == CountedIn::Accelerators)
            && let Fact::Known(known) = resource.fact(Key::Accelerator).clone()
        {
            follow(resource, Key::AcceleratorCount, FactValue::Number(1.0), &known);
        }
        self.memory(resource);
        Verdict::Carries
    }

    /// Applies the limits of a pool to its number of machines. If several types are possible, the smallest may allow
    /// the most.
    fn limits(&self, resource: &mut Resource) {
        // A limit names the accelerators of a vendor.
        if let (Fact::Absent, Some(known)) = (resource.fact(Key::Vendor), resource.fact(Key::LimitSetting).span())
            && let Some(vendor) = self.vendor(resource)
        {
            resource.set(Key::Vendor, Fact::known(FactValue::text(vendor), known, FactOrigin::Resolved));
        }
        let Some(span) = resource.limits.iter().find_map(|limit| limit.most.span()) else { return };
        let provider = resource.text(Key::Provider).unwrap_or_default();
        let machines = match resource.fact(Key::Machine) {
            Fact::Known(known) => {
                known.value.as_text().and_then(|name| self.catalog.machine(provider, name)).into_iter().collect()
            }
            Fact::Unknown(unknown) => {
                let names: Vec<&str> = unknown.candidates.iter().filter_map(FactValue::as_text).collect();
                self.catalog.machines_among(provider, &names)
            }
            Fact::Absent => Vec::new(),
        };
        let most = machines.iter().map(|machine| within(&resource.limits, machine)).reduce(f64::max);
        let most = most.or_else(|| {
            // If no machine type is named, only the accelerators of the machines are known.
            let each = resource.number(Key::AcceleratorCount).filter(|each| *each > 0.0)?;
            let limit = resource.limits.iter().find(|limit| limit.of == Limited::Accelerators)?;
            Some((limit.most.value()? / each).floor())
        });
        let has_unknown = resource.limits.iter().any(|limit| limit.most.is_unknown());
        resource.count = match most {
            Some(most) if most.is_finite() || !has_unknown => {
                Fact::known(Range { floor: 0.0, expected: 0.0, ceiling: most }, span, FactOrigin::Written)
            }
            Some(_) => {
                let why = resource.limits.iter().find_map(|limit| limit.most.why()).unwrap_or("its limit is unknown");
                Fact::unknown(why.to_owned(), span)
            }
            None => {
                Fact::unknown("the limit is known, but the number of accelerators per machine is not".to_owned(), span)
            }
        };
    }

    /// Derives the machine type from the number of EFA interfaces. EFA is an AWS network, and only some AWS machine
    /// types have this number.
    fn by_network(&self, resource: &mut Resource) {
        let Fact::Known(asked) = resource.fact(Key::EfaInterfaces).clone() else { return };
        let Some(interfaces) = asked.value.as_number().filter(|it| *it > 0.0) else { return };
        if resource.fact(Key::Provider).is_absent() {
            let origin = FactOrigin::Inferred("EFA is an AWS network".into());
            resource.set(Key::Provider, Fact::known(FactValue::text(AWS), asked.span, origin));
        }
        if !resource.fact(Key::Machine).is_absent() || resource.text(Key::Provider) != Some(AWS) {
            return;
        }
        let vendor = resource.text(Key::Vendor).map(str::to_ascii_lowercase);
        let chip = resource.text(Key::Accelerator).map(str::to_owned);
        let suits = |machine: &CatalogMachine<'_>| {
            let known = self.catalog.accelerator(&machine.accelerator);
            self.catalog.efa_interfaces(AWS, &machine.name).is_some_and(|has| has >= interfaces)
                && vendor.as_ref().is_none_or(|vendor| known.is_some_and(|it| it.vendor.eq_ignore_ascii_case(vendor)))
                && chip.as_ref().is_none_or(|chip| *machine.accelerator == **chip)
                && holds(resource, machine)
        };
        let machines: Vec<CatalogMachine<'_>> = self.catalog.machines_of(AWS).filter(suits).collect();
        let names: Vec<FactValue> = machines.iter().map(|machine| FactValue::text(&*machine.name)).collect();
        let why: Arc<str> = format!("a machine type with {} EFA interfaces", plain(interfaces)).into();
        let fact = match names.as_slice() {
            [] => return,
            [only] => Fact::known(only.clone(), asked.span, FactOrigin::Inferred(why)),
            _ => Fact::Unknown(UnknownFact { span: asked.span, why, candidates: names }),
        };
        resource.set(Key::Machine, fact);
    }

    fn requested(&self, resource: &mut Resource, only_provider: Option<&str>) {
        self.by_network(resource);
        let machine = resource.fact(Key::Machine).clone();
        if resource.fact(Key::Provider).is_absent() {
            if let Some(provider) = self.provider_of(&machine) {
                infer_provider(resource, provider, &machine);
            } else if let Some(provider) = only_provider.filter(|only| may_be_of(resource, only)) {
                let origin = FactOrigin::Inferred("the only provider in this tree".into());
                resource.set(Key::Provider, Fact::known(FactValue::text(provider), resource.span, origin));
            } else if let Some(provider) = &self.defaults.provider {
                let origin = FactOrigin::Assumed("defaults.provider".into());
                resource.set(Key::Provider, Fact::known(FactValue::text(provider.as_str()), resource.span, origin));
            }
        }
        let provider = resource.text(Key::Provider).unwrap_or_default().to_owned();
        self.only_large_enough(resource, &provider);
        let machine = resource.fact(Key::Machine).clone();
        match &machine {
            Fact::Known(known) => {
                let name = known.value.as_text().unwrap_or_default();
                if let Some(found) = self.catalog.machine(&provider, name) {
                    follow(resource, Key::Accelerator, FactValue::text(&*found.accelerator), known);
                    follow(resource, Key::NodeAccelerators, FactValue::Number(found.count), known);
                    for (key, value) in [(Key::NodeCpus, found.cpus), (Key::NodeMemory, found.memory_gib)] {
                        if let Some(value) = value {
                            follow(resource, key, FactValue::Number(value), known);
                        }
                    }
                }
            }
            Fact::Unknown(unknown) => {
                let names: Vec<&str> = unknown.candidates.iter().filter_map(FactValue::as_text).collect();
                let machines = self.catalog.machines_among(&provider, &names);
                if !machines.is_empty() {
                    self.common(resource, unknown, &machines, Key::Accelerator, |it| FactValue::text(&*it.accelerator));
                }
            }
            Fact::Absent => {}
        }
        self.slice(resource);
        self.memory(resource);
    }

    /// Sets the machine type if only one of the possible types can hold the pod.
    fn only_large_enough(&self, resource: &mut Resource, provider: &str) {
        let Fact::Unknown(unknown) = resource.fact(Key::Machine).clone() else { return };
        let names: Vec<&str> = unknown.candidates.iter().filter_map(FactValue::as_text).collect();
        let machines = self.catalog.machines_among(provider, &names);
        let (holding, small): (Vec<CatalogMachine<'_>>, Vec<CatalogMachine<'_>>) =
            machines.into_iter().partition(|machine| holds(resource, machine));
        if let ([only], false) = (holding.as_slice(), small.is_empty()) {
            let why = format!("{}: only {} is large enough", unknown.why, only.name);
            let machine = Fact::known(FactValue::text(&*only.name), unknown.span, FactOrigin::Inferred(why.into()));
            resource.set(Key::Machine, machine);
        }
    }

    /// Sets the accelerator of a MIG profile, if only one accelerator has this profile.
    fn slice(&self, resource: &mut Resource) {
        let Fact::Known(profile) = resource.fact(Key::Slice).clone() else { return };
        if !resource.fact(Key::Accelerator).is_absent() {
            return;
        }
        let slices = self.catalog.slices(profile.value.as_text().unwrap_or_default());
        let names: Vec<FactValue> = slices.iter().map(|slice| FactValue::text(slice.accelerator)).collect();
        let fact = match names.as_slice() {
            [] => return,
            [only] => {
                let why = format!("{only} is the only accelerator that has slices of {}", profile.value);
                Fact::known(only.clone(), profile.span, FactOrigin::Inferred(why.into()))
            }
            _ => {
                let why = format!("{} accelerators have slices of {}", names.len(), profile.value);
                Fact::Unknown(UnknownFact { span: profile.span, why: why.into(), candidates: names })
            }
        };
        resource.set(Key::Accelerator, fact);
    }

    /// Sets the memory of the accelerator, if the accelerator is known.
    fn memory(&self, resource: &mut Resource) {
        let Fact::Known(accelerator) = resource.fact(Key::Accelerator).clone() else { return };
        let known = accelerator.value.as_text().and_then(|name| self.catalog.accelerator(name));
        if let Some(known) = known {
            follow(resource, Key::AcceleratorMemory, FactValue::Number(known.memory_gib), &accelerator);
        }
    }

    /// Sets the region for the price, if the configuration sets none.
    fn place(&self, resource: &mut Resource) {
        let Some(provider) = resource.text(Key::Provider).map(str::to_owned) else { return };
        if !resource.fact(Key::Region).is_absent() {
            // The provider may be known only since the previous step.
            self.rewrite(resource, Key::Region, |region| self.catalog.region(&provider, region).map(str::to_owned));
            return;
        }
        let (region, from) = self.assumed_region(&provider);
        resource
            .set(Key::Region, Fact::known(FactValue::text(region), resource.span, FactOrigin::Assumed(from.into())));
    }

    fn assumed_region(&self, provider: &str) -> (String, &'static str) {
        let configured = self.defaults.region.as_deref();
        match configured.and_then(|region| self.catalog.region(provider, region)) {
            Some(region) => (region.to_owned(), "defaults.region"),
            None => (self.catalog.base_region(provider).to_owned(), "the provider's base region"),
        }
    }
}

/// Returns whether the configuration sets an accelerator or a number of accelerators.
fn is_named(resource: &Resource) -> bool {
    names_accelerator(resource) || resource.number(Key::AcceleratorCount).is_some_and(|count| count > 0.0)
}

/// Returns whether the configuration requests accelerators by name or number, and more than zero.
fn asked_for(resource: &Resource) -> bool {
    let none = resource.number(Key::AcceleratorCount) == Some(0.0);
    let named = names_accelerator(resource) || !resource.fact(Key::AcceleratorCount).is_absent();
    named && !none
}

/// Returns whether the configuration sets something about the accelerator. If one unreadable template decides both
/// accelerator and machine type, there may be no accelerator.
fn names_accelerator(resource: &Resource) -> bool {
    match (resource.fact(Key::Accelerator), resource.fact(Key::Machine)) {
        (Fact::Absent, _) => false,
        (Fact::Unknown(one), Fact::Unknown(other)) => one.span != other.span || !one.candidates.is_empty(),
        _ => true,
    }
}

fn describe(resource: &mut Resource, from: &KnownFact<FactValue>, machine: &CatalogMachine<'_>, catalog: &Catalog) {
    // Accelerators that are built into a machine override the configuration.
    let fact = |value: FactValue| Fact::Known(KnownFact { value, ..from.clone() });
    resource.set(Key::Accelerator, fact(FactValue::text(&*machine.accelerator)));
    resource.set(Key::AcceleratorCount, fact(FactValue::Number(machine.count)));
    if let Some(known) = catalog.accelerator(&machine.accelerator) {
        resource.set(Key::AcceleratorMemory, fact(FactValue::Number(known.memory_gib)));
    }
    for (key, value) in [(Key::Cpus, machine.cpus), (Key::Memory, machine.memory_gib)] {
        if let Some(value) = value {
            resource.set(key, fact(FactValue::Number(value)));
        }
    }
}

/// Sets a fact that follows from another one, unless the configuration sets it.
fn follow(resource: &mut Resource, key: Key, value: FactValue, from: &KnownFact<FactValue>) {
    if resource.fact(key).is_absent() {
        resource.set(key, Fact::Known(KnownFact { value, ..from.clone() }));
    }
}

/// Returns how many machines of this type all limits together allow. Unknown properties of the machine limit nothing.
fn within(limits: &[PoolLimit], machine: &CatalogMachine<'_>) -> f64 {
    let room = |limit: &PoolLimit| Some((limit.most.value()? / share_of_limit(limit.of, machine)?).floor());
    limits.iter().filter_map(room).fold(f64::INFINITY, f64::min)
}

/// Returns how much of a limit one machine takes, if this is known.
pub fn share_of_limit(of: Limited, machine: &CatalogMachine<'_>) -> Option<f64> {
    let each = match of {
        Limited::Machines => Some(1.0),
        Limited::Accelerators => Some(machine.count),
        Limited::Cpus => machine.cpus,
        Limited::MemoryGib => machine.memory_gib,
    };
    each.filter(|each| *each > 0.0)
}

fn impossible(resource: &mut Resource, why: String) {
    let fact = match resource.fact(Key::Accelerator) {
        Fact::Known(known) => Fact::Known(KnownFact { value: FactValue::text(why), ..known.clone() }),
        _ => Fact::written(FactValue::text(why), resource.span),
    };
    resource.set(Key::Impossible, fact);
}

/// Sets the number of machine types that the resource accepts, if all are named. A pattern can mean any number of
/// types.
fn machine_types(resource: &mut Resource) {
    let is_one = |value: &FactValue| value.as_text().is_some_and(|name| !name.contains('*') && !name.is_empty());
    let machine = resource.fact(Key::Machine).clone();
    let number = match &machine {
        Fact::Known(known) if is_one(&known.value) => 1,
        Fact::Unknown(unknown) if unknown.candidates.len() > 1 && unknown.candidates.iter().all(is_one) => {
            unknown.candidates.len()
        }
        _ => return,
    };
    if resource.flag(Key::Flexible) == Some(true)
        && resource.fact(Key::MachineTypes).is_absent()
        // A family of machines is not a machine type.
        && (number > 1 || resource.fact(Key::AcceleratorCount).value().is_some())
        && let Some(span) = machine.span()
    {
        let number = FactValue::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let origin = machine.origin().cloned().unwrap_or(FactOrigin::Resolved);
        let defined = machine.defined().filter(|it| *it != span);
        resource.set(Key::MachineTypes, Fact::Known(KnownFact { value: number, span, defined, origin }));
    }
}

fn infer_provider(resource: &mut Resource, provider: &str, machine: &Fact<FactValue>) {
    let why = match machine.value() {
        Some(name) => format!("{name} is a machine type of {provider}"),
        None => format!("the machine type is one of {provider}"),
    };
    let span = machine.span().unwrap_or(resource.span);
    resource.set(Key::Provider, Fact::known(FactValue::text(provider), span, FactOrigin::Inferred(why.into())));
}

/// Returns whether a resource can use machines of a provider. It cannot if the Terraform files of its folder configure
/// another cloud.
fn may_be_of(resource: &Resource, provider: &str) -> bool {
    let clouds = &resource.home.clouds;
    let names = |cloud: &str| clouds.iter().any(|it| it == cloud);
    names(provider) || ![AWS, AZURE, GCP].into_iter().any(names)
}

/// Returns the provider of all provisioned machines, if there is only one.
fn only_provider(inventory: &Inventory) -> Option<String> {
    let rented = inventory.resources.iter().filter(|resource| resource.role == BillingRole::Rented);
    let mut providers: Vec<&str> = rented.filter_map(|resource| resource.text(Key::Provider)).collect();
    providers.sort_unstable();
    providers.dedup();
    match providers.as_slice() {
        [only] => Some((*only).to_owned()),
        _ => None,
    }
}

/// Returns whether the name, labels or taints of a resource refer to accelerators.
fn speaks_of_accelerators(resource: &Resource) -> bool {
    accelerators::are_in_name(&resource.address)
        || resource.selector.taints.iter().any(|taint| accelerators::are_in_name(&taint.key))
        || resource.selector.labels.iter().any(|(key, value)| {
            accelerators::are_in_name(key)
                && value.value().is_none_or(|value| !matches!(&**value, "false" | "none" | "cpu" | "0"))
        })
}

/// Returns the number of chips in a topology: `2x2x4` has 16.
fn chips(topology: &str) -> Option<f64> {
    let mut product: f64 = 1.0;
    for side in topology.split('x') {
        product *= f64::from(side.trim().parse::<u16>().ok()?);
    }
    Some(product).filter(|product| *product >= 1.0)
}

/// Formats a number without needless decimals.
pub fn plain(number: f64) -> String {
    let rounded = (number * 1e6).round() / 1e6;
    format!("{rounded}")
}
