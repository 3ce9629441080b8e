//! Searches machines by their properties.

use std::collections::BTreeSet;

use super::Catalog;
use super::machine::CatalogMachine;
use super::quote::Offer;
use crate::diagnostic::distance;

/// The properties of the machines to find. An empty field matches all machines.
#[derive(Debug, Clone, Default)]
pub struct Search<'s> {
    /// The name of one accelerator, or of all with the same chip, such as `A100`.
    pub accelerator: Option<&'s str>,
    /// The number of accelerators of one machine.
    pub count: Option<f64>,
    /// The minimum memory of one accelerator.
    pub memory_gib: Option<f64>,
    pub providers: &'s [String],
    /// The region. By default, it is the region in which the list of each provider is most complete.
    pub region: Option<&'s str>,
}

impl Catalog {
    /// Returns machines by provider and name, each in one region. Retired machines are left out.
    pub fn search(&self, search: &Search<'_>) -> Vec<Offer<'_>> {
        let chips = search.accelerator.map(|name| self.chips(name));
        let fits = |machine: &CatalogMachine<'_>| {
            let accelerator = chips.as_ref().is_none_or(|chips| chips.contains(&&*machine.accelerator));
            let count = search.count.is_none_or(|count| machine.count == count);
            let provider = search.providers.is_empty()
                || search.providers.iter().any(|it| it.eq_ignore_ascii_case(&machine.provider));
            let memory = search.memory_gib.is_none_or(|least| {
                self.accelerator(&machine.accelerator).is_some_and(|known| known.memory_gib >= least)
            });
            accelerator && count && provider && memory && self.retired(machine).is_none()
        };
        let mut machines: Vec<CatalogMachine<'_>> = self.machines().collect();
        machines.extend(self.put_together());
        machines.retain(fits);
        machines.sort_by(|one, two| {
            let key = |it: &CatalogMachine<'_>| (it.provider.to_ascii_lowercase(), it.name.to_ascii_lowercase());
            key(one).cmp(&key(two)).then(one.count.total_cmp(&two.count))
        });
        machines.into_iter().filter_map(|machine| self.in_region(machine, search.region)).collect()
    }

    /// Returns the accelerators that a name means: `A100-80GB` is one, and `A100` means all with this chip.
    pub fn chips(&self, name: &str) -> Vec<&str> {
        let stem = |name: &str| name.split('-').next().unwrap_or_default().to_ascii_lowercase();
        let written = name.trim().to_ascii_lowercase();
        let same: Vec<&str> = self.accelerators().map(|it| it.name).filter(|it| stem(it) == written).collect();
        match same.as_slice() {
            [] => self.accelerator(name).map(|known| vec![known.name]).unwrap_or_default(),
            _ => same,
        }
    }

    /// Whether two accelerators differ at most in how they are built in, such as `A100-80GB` and `A100-80GB-PCIe`. Tools
    /// that rent machines have one name for both.
    pub fn is_same_chip(&self, one: &str, other: &str) -> bool {
        let chip = |name| self.accelerator(name).map(|it| it.name.strip_suffix("-PCIe").unwrap_or(it.name));
        chip(one).is_some() && chip(one) == chip(other)
    }

    /// Returns the machine of a provider whose name is most similar, if it is similar enough.
    pub fn nearest_machine(&self, provider: &str, name: &str) -> Option<String> {
        const LONGEST: usize = 64;
        let wanted = Some(name.to_ascii_lowercase()).filter(|name| name.len() <= LONGEST)?;
        let limit = (wanted.len() / 4).clamp(1, 2);
        let far = self.machines_of(provider).map(|it| (distance(&wanted, &it.name.to_ascii_lowercase()), it.name));
        far.filter(|(far, _)| *far <= limit).min().map(|(_, known)| known.into_owned())
    }

    /// Returns a hint with similar names of accelerators and machines, and with the command that lists names.
    pub fn did_you_mean(&self, name: &str) -> String {
        const MOST: usize = 3;
        const LONGEST: usize = 64;
        let folded = |text: &str| text.trim().to_lowercase().chars().take(LONGEST).collect::<String>();
        let wanted = folded(name);
        let limit = (wanted.chars().count() / 3).clamp(1, 3);
        let machines: Vec<CatalogMachine<'_>> = self.machines().collect();
        let accelerators = self.accelerators().map(|it| it.name);
        let names: BTreeSet<&str> = accelerators.chain(machines.iter().map(|it| &*it.name)).collect();
        let far = |known: &str| {
            let known = folded(known);
            // An incomplete name such as `g5.2x` matches the names that begin with it.
            if known.starts_with(&wanted) { 1 } else { distance(&wanted, &known) }
        };
        let mut near: Vec<(usize, &str)> = names.into_iter().map(|known| (far(known), known)).collect();
        near.retain(|(far, _)| *far <= limit);
        near.sort_unstable();
        let near: Vec<&str> = near.into_iter().take(MOST).map(|(_, known)| known).collect();
        let lists = "run `gpulint price H100` to list machine types by accelerator";
        if near.is_empty() { lists.to_owned() } else { format!("did you mean {}? {lists}", near.join(", ")) }
    }

    /// Returns a machine in the region in which its provider's list is most complete, even without a price.
    pub fn in_base_region<'c>(&'c self, machine: CatalogMachine<'c>) -> Offer<'c> {
        let region = self.base_region(&machine.provider);
        let quote = self.quote(&machine, region).unwrap_or_default();
        Offer { machine, region, quote }
    }

    /// Returns a machine in the requested region, or else in the region in which its provider's list is most complete.
    pub fn in_region<'c>(&'c self, machine: CatalogMachine<'c>, region: Option<&str>) -> Option<Offer<'c>> {
        let region = match region {
            Some(region) => self.region(&machine.provider, region)?,
            None => self.base_region(&machine.provider),
        };
        let quote = self.quote(&machine, region)?;
        Some(Offer { machine, region, quote })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_stands_for_all_of_its_boards() {
        let catalog = Catalog::embedded();
        assert_eq!(catalog.chips("H100"), ["H100-80GB", "H100-NVL", "H100-PCIe"]);
        assert_eq!(catalog.chips("nvidia-h100-80gb"), ["H100-80GB"]);
        assert_eq!(catalog.chips("L4"), ["L4"]);
        assert!(catalog.chips("nothing").is_empty());
    }

    #[test]
    fn machines_are_found_by_what_is_needed() {
        let catalog = Catalog::examples();
        let providers = ["aws".to_owned(), "gcp".to_owned()];
        let search = Search { accelerator: Some("H100"), count: Some(8.0), providers: &providers, ..Search::default() };
        let found: Vec<_> = catalog.search(&search).into_iter().map(|it| it.machine.name.to_string()).collect();
        assert_eq!(found, ["p5.48xlarge", "a3-highgpu-8g", "a3-megagpu-8g"]);
        let large = Search { memory_gib: Some(141.0), ..Search::default() };
        assert!(catalog.search(&large).iter().all(|it| it.machine.accelerator != "H100-80GB"));
        // The prices are sums of parts: 4 x 0.03 + 15 x 0.004 + 0.35, and four chips at 1.20.
        let gcp = ["gcp".to_owned()];
        let one = |accelerator| {
            let search = Search { accelerator: Some(accelerator), providers: &gcp, ..Search::default() };
            let found = catalog.search(&search).into_iter();
            found.map(|it| (it.machine.name.to_string(), it.quote.on_demand.unwrap().usd())).collect::<Vec<_>>()
        };
        assert!(one("T4").contains(&("n1-standard-4".to_owned(), 0.53)), "{:?}", one("T4"));
        assert!(one("TPU-v5e").contains(&("ct5lp-hightpu-4t".to_owned(), 4.8)), "{:?}", one("TPU-v5e"));
        let azure = ["azure".to_owned()];
        let retired = Search { accelerator: Some("V100-16GB"), providers: &azure, ..Search::default() };
        assert!(catalog.search(&retired).is_empty());
    }
}
