//! Checks whether a machine has what a pod requests.

use crate::catalog::{Catalog, CatalogMachine};
use crate::inventory::{BillingRole, Fact, FactOrigin, FactValue, Key, Resource, accelerators};

use super::machines::plain;

/// A number as a lookup key. Two keys are equal only if all bits are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Exact(u64);

impl Exact {
    pub fn of(number: f64) -> Self {
        Exact(number.to_bits())
    }

    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The devices, CPUs and memory that a pod requests from a machine.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CapacityRequest {
    pub devices: Exact,
    pub cpus: Option<Exact>,
    pub memory_gib: Option<Exact>,
    /// Explains why the pod takes less than a whole accelerator; empty if it takes whole ones.
    pub parts: String,
    /// True if all devices are whole accelerators of one machine.
    is_on_one_machine: bool,
}

impl CapacityRequest {
    pub fn of(resource: &Resource, devices: f64) -> Self {
        let number = |key: Key| resource.number(key).map(Exact::of);
        let devices = Exact::of(devices);
        let parts = parts(resource);
        // If a vendor joins devices, pods on several machines may see several devices as one, or one as several.
        let several = resource.text(Key::Vendor).is_some_and(accelerators::are_joined);
        let is_on_one_machine = resource.role == BillingRole::Requested && !several && parts.is_empty();
        CapacityRequest { devices, cpus: number(Key::Cpus), memory_gib: number(Key::Memory), parts, is_on_one_machine }
    }

    /// Returns why the pod never starts on this machine: the first request that exceeds the machine.
    pub fn lacks(&self, machine: &CatalogMachine<'_>) -> Option<String> {
        let asked = [
            (self.whole_devices(), "accelerators", Some(machine.count)),
            (self.cpus, "CPUs", machine.cpus),
            (self.memory_gib, "GiB of memory", machine.memory_gib),
        ];
        asked.into_iter().find_map(|(asked, what, has)| {
            let (asked, has) = (asked?.get(), has.filter(|has| *has > 0.0)?);
            let (more, name) = (plain(asked), &machine.name);
            (asked > has).then(|| {
                format!("the pod requests {more} {what}, but {name} has only {}: the pod never starts", plain(has))
            })
        })
    }

    /// Returns why the pod never starts on any machine of these providers that has one of the accelerators.
    pub fn beyond_all(&self, catalog: &Catalog, providers: &[&str], accelerators: &[String]) -> Option<String> {
        let pairs = providers.iter().flat_map(|provider| accelerators.iter().map(move |name| (*provider, name)));
        let machines: Vec<CatalogMachine<'_>> =
            pairs.flat_map(|(provider, name)| catalog.machines_with(provider, name)).collect();
        let most = |of: &dyn Fn(&CatalogMachine<'_>) -> Option<f64>| {
            let sizes: Option<Vec<f64>> = machines.iter().map(of).collect();
            sizes?.into_iter().reduce(f64::max)
        };
        let asked = [
            (self.whole_devices(), "accelerators", most(&|machine| Some(machine.count))),
            (self.cpus, "CPUs", most(&|machine| machine.cpus)),
            (self.memory_gib, "GiB of memory", most(&|machine| machine.memory_gib)),
        ];
        let (asked, what, has) = asked.into_iter().find_map(|(asked, what, has)| {
            let (asked, has) = (asked?.get(), has?);
            (asked > has).then(|| (plain(asked), what, plain(has)))
        })?;
        let (whose, names) = (providers.join(", "), accelerators.join(", "));
        Some(format!(
            "the pod requests {asked} {what}, but no machine of {whose} with {names} has more than {has}: the pod never starts"
        ))
    }

    /// Returns the number of devices, if all are whole accelerators on one machine.
    fn whole_devices(&self) -> Option<Exact> {
        self.is_on_one_machine.then_some(self.devices)
    }
}

/// Returns why the resource takes less than a whole accelerator, or an empty string.
fn parts(resource: &Resource) -> String {
    let shared = resource.number(Key::SharedBy).filter(|pods| *pods > 1.0);
    let shared = shared.map(|pods| format!("{} pods share each", plain(pods)));
    let asked = resource.number(Key::AcceleratorCount).unwrap_or(1.0);
    let slice = resource.text(Key::Slice).map(|profile| format!("{} slices of {profile}", plain(asked)));
    let all: Vec<String> = slice.into_iter().chain(shared).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}

/// Returns why a pod can never start: neither its machine nor any machine of its cloud with its accelerator is large
/// enough. Pods on owned hardware, or in an unknown cloud, are never reported.
pub(super) fn never_starts(resource: &Resource, catalog: &Catalog) -> Option<String> {
    let is_said = |key: Key| matches!(resource.fact(key).origin(), Some(FactOrigin::Written | FactOrigin::Resolved));
    let provider = resource.text(Key::Provider).filter(|provider| catalog.assumed_clouds().contains(provider))?;
    let request = CapacityRequest::of(resource, devices(resource, catalog).ok()?);
    if let Some(name) = resource.text(Key::Machine) {
        return request.lacks(&catalog.machine(provider, name)?);
    }
    let accelerator =
        resource.text(Key::Accelerator).filter(|_| is_said(Key::Provider) && is_said(Key::Accelerator))?;
    let is_open = resource.fact(Key::Machine).is_unknown();
    (!is_open).then(|| request.beyond_all(catalog, &[provider], &[accelerator.to_owned()])).flatten()
}

/// Returns whether a machine is large enough for a pod, as far as both are known.
pub(super) fn holds(resource: &Resource, machine: &CatalogMachine<'_>) -> bool {
    let count = resource.number(Key::AcceleratorCount).unwrap_or(0.0);
    count <= machine.count && CapacityRequest::of(resource, count).lacks(machine).is_none()
}

/// Returns the number of whole accelerators that the pod takes. A slice counts as its share of a device.
pub fn devices(resource: &Resource, catalog: &Catalog) -> Result<f64, String> {
    let count = match resource.fact(Key::AcceleratorCount) {
        Fact::Known(known) => known.value.as_number().unwrap_or(1.0),
        Fact::Unknown(unknown) => {
            return Err(format!("the number of accelerators that the pod requests is unknown: {}", unknown.why));
        }
        Fact::Absent => 1.0,
    };
    whole_devices(resource, catalog, count)
}

/// Returns the number of whole accelerators for each number that the pod may request, with the expected number first.
pub fn possible_devices(resource: &Resource, catalog: &Catalog) -> Result<Vec<f64>, String> {
    let candidates = match resource.fact(Key::AcceleratorCount) {
        Fact::Unknown(unknown) => unknown.candidates.as_slice(),
        _ => &[],
    };
    let counts: Option<Vec<f64>> = candidates.iter().map(FactValue::as_number).collect();
    match counts.filter(|counts| !counts.is_empty()) {
        Some(counts) => counts.into_iter().map(|count| whole_devices(resource, catalog, count)).collect(),
        None => Ok(vec![devices(resource, catalog)?]),
    }
}

fn whole_devices(resource: &Resource, catalog: &Catalog, count: f64) -> Result<f64, String> {
    // A pod that shares an accelerator requests it like a whole one.
    let count = count / resource.number(Key::SharedBy).filter(|pods| *pods >= 1.0).unwrap_or(1.0);
    let Some(profile) = resource.text(Key::Slice) else { return Ok(count) };
    let most = match resource.text(Key::Accelerator) {
        Some(accelerator) => catalog.mig(accelerator, profile).map(|slice| slice.max_instances),
        // All devices that have this profile agree in practice: the profile names its share of the compute.
        None => catalog.slices(profile).iter().map(|slice| slice.max_instances).min(),
    };
    let most = most.ok_or_else(|| format!("no known accelerator has slices of {profile}"))?;
    Ok(count / f64::from(most))
}
