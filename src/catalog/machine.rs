//! Machine types with accelerators, and their lookup by name.

use std::borrow::Cow;

use super::Catalog;
use super::accelerator::is_version;
use super::clouds::{AWS, AZURE, GCP};
use super::format::MACHINES;
use super::table::{CatalogBlock, Cells, compare, covers};

/// A machine type with its accelerators.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogMachine<'c> {
    pub provider: Cow<'c, str>,
    /// The name that the cloud uses.
    pub name: Cow<'c, str>,
    /// The canonical name of the accelerator.
    pub accelerator: Cow<'c, str>,
    /// The number of accelerators. It is a fraction if machines share one device.
    pub count: f64,
    pub cpus: Option<f64>,
    pub memory_gib: Option<f64>,
    pub(super) kind: PriceKind<'c>,
}

/// The source of a machine's price.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PriceKind<'c> {
    /// The tables list the machine.
    Listed,
    /// A managed service: the price of the machine `below` times a factor in millionths.
    Service { below: &'c str, factor: i64, evidence: &'c str },
    /// Chips of a TPU. In the first generations, devices and pod slices have different prices.
    Tpu { variant: &'c str },
    /// Parts with separate prices: N1 with attached accelerators, or a Cloud Run instance.
    Equipped { parts: [Cow<'c, str>; 3] },
}

/// The result of looking up the name of a machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Recognized<'c> {
    Machine(CatalogMachine<'c>),
    /// The name belongs to a family with accelerators, but the catalog does not list it.
    Family {
        provider: &'c str,
        accelerator: Option<&'c str>,
    },
    /// A machine to which accelerators with their own names can be attached.
    Host(Host),
    /// A machine without accelerators, as far as the catalog knows.
    Plain,
}

/// A machine that has no accelerators until they are attached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Host {
    pub cpus: f64,
    pub memory_gib: f64,
}

impl CatalogMachine<'_> {
    /// Whether its accelerators are attached and billed separately.
    pub fn has_guests(&self) -> bool {
        matches!(&self.kind, PriceKind::Equipped { parts: [core, ..] } if core == "n1-core")
    }
}

impl Catalog {
    /// Returns the machine with this name in any case, including service prefixes and retired names.
    pub fn machine(&self, provider: &str, name: &str) -> Option<CatalogMachine<'_>> {
        let name = name.trim();
        self.listed(provider, name).or_else(|| match &*provider.to_ascii_lowercase() {
            AWS => self.service_machine(name),
            GCP => self.tpu_machine(name),
            AZURE => {
                let name = name.len().checked_sub(6).and_then(|at| name.split_at_checked(at));
                let plain = name.filter(|(_, end)| end.eq_ignore_ascii_case("_promo")).map(|(name, _)| name);
                plain.and_then(|name| self.listed(provider, name))
            }
            _ => None,
        })
    }

    /// Returns the machines with this name from all providers.
    pub fn machines_named(&self, name: &str) -> Vec<CatalogMachine<'_>> {
        self.providers().into_iter().filter_map(|provider| self.machine(provider, name)).collect()
    }

    /// Returns everything that is known about a name, even if the catalog does not list the machine.
    pub fn recognize(&self, provider: &str, name: &str) -> Recognized<'_> {
        if let Some(machine) = self.machine(provider, name) {
            return Recognized::Machine(machine);
        }
        if let Some((provider, accelerator)) = self.family(provider, name) {
            return Recognized::Family { provider, accelerator };
        }
        match n1_host(name).filter(|_| provider.eq_ignore_ascii_case(GCP)) {
            Some(host) => Recognized::Host(host),
            None => Recognized::Plain,
        }
    }

    /// Returns the first provider whose unlisted machines match the name, and their accelerator.
    pub fn family_of(&self, name: &str) -> Option<(&str, Option<&str>)> {
        self.providers().into_iter().find_map(|provider| self.family(provider, name))
    }

    /// Returns the provider of a name that only one provider uses.
    pub fn provider_of(&self, name: &str) -> Option<&str> {
        let mut found = self.machines_named(name).into_iter().map(|machine| machine.provider);
        let only = found.next();
        if found.next().is_some() {
            return None;
        }
        match only {
            Some(only) => self.providers().into_iter().find(|provider| *provider == only),
            None => self.assumed_clouds().into_iter().find(|cloud| self.family(cloud, name).is_some()),
        }
    }

    /// Whether a word is the name of an accelerator or of a machine with accelerators.
    pub fn names_something(&self, word: &str) -> bool {
        self.words.is_name(word, || self.provider_of(word).is_some() || self.accelerator(word).is_some())
    }

    /// Returns an N1 host with attached accelerators, or why this combination does not exist.
    pub fn equipped(&self, host: &str, accelerator: &str, count: f64) -> Result<CatalogMachine<'_>, String> {
        let Some(shape) = n1_host(host) else {
            return Err(format!("accelerators cannot be attached to {host}, only to N1 machines"));
        };
        let Some((name, component, most, _)) = self.guest(accelerator) else {
            let mut known: Vec<_> = self.guests().map(|(name, ..)| name).collect();
            known.sort_unstable();
            return Err(format!(
                "{accelerator} cannot be attached to {host}: N1 machines support {}",
                known.join(", ")
            ));
        };
        let is_power = count >= 1.0 && count.fract() == 0.0 && (count as u64).is_power_of_two();
        if !is_power || count > most {
            return Err(format!("{count} {name} cannot be attached to one machine: use 1, 2, ... up to {most}"));
        }
        Ok(CatalogMachine {
            provider: GCP.into(),
            name: host.to_ascii_lowercase().into(),
            accelerator: name.into(),
            count,
            cpus: Some(shape.cpus),
            memory_gib: Some(shape.memory_gib),
            kind: PriceKind::Equipped { parts: ["n1-core".into(), "n1-ram".into(), component.into()] },
        })
    }

    /// Returns a Cloud Run instance. `is_zonal` sets its zonal redundancy. `None` if the accelerator has no price.
    pub fn run_instance(
        &self,
        accelerator: &str,
        is_zonal: bool,
        cpus: f64,
        memory_gib: f64,
    ) -> Option<CatalogMachine<'_>> {
        let name = self.accelerator(accelerator)?.name;
        let zonal = if is_zonal { "-zonal" } else { "" };
        let guest = format!("run-nvidia-{}{zonal}", name.to_ascii_lowercase());
        self.block.table("gcp_components").find(&[&*guest])?;
        Some(CatalogMachine {
            provider: GCP.into(),
            name: format!("Cloud Run of {cpus} vCPUs and {memory_gib} GiB").into(),
            accelerator: name.into(),
            count: 1.0,
            cpus: Some(cpus),
            memory_gib: Some(memory_gib),
            kind: PriceKind::Equipped { parts: ["run-core".into(), "run-memory".into(), guest.into()] },
        })
    }

    /// Returns all machines with rows: first those of the tables by provider and name, then those that only an update
    /// added.
    pub fn machines(&self) -> impl Iterator<Item = CatalogMachine<'_>> {
        self.machines_in(None)
    }

    /// Returns the machines of one provider.
    pub fn machines_of<'c, 'p>(&'c self, provider: &'p str) -> impl Iterator<Item = CatalogMachine<'c>> + use<'c, 'p> {
        self.machines_in(Some(provider)).filter(move |machine| machine.provider == provider)
    }

    fn machines_in<'c, 'p>(
        &'c self,
        provider: Option<&'p str>,
    ) -> impl Iterator<Item = CatalogMachine<'c>> + use<'c, 'p> {
        let table = self.block.table("prices");
        let is_new = move |machine: &CatalogMachine<'_>| table.find(&[&*machine.provider, &*machine.name]).is_none();
        let refreshed = self.refreshed.iter().flat_map(move |block| self.different(block, provider)).filter(is_new);
        let is_own = move |machine: &CatalogMachine<'_>| {
            let blocks = [Some(&self.block), self.refreshed.as_ref()].into_iter().flatten();
            let mut tables = blocks.map(|block| block.table("prices"));
            tables.all(|table| table.find(&[&*machine.provider, &*machine.name]).is_none())
        };
        let own = self.own.machines().filter_map(|(provider, name)| self.own_machine(provider, name)).filter(is_own);
        self.different(&self.block, provider).chain(refreshed).chain(own)
    }

    /// Returns the machines without a row, priced by parts: hosts of TPUs, and N1 with accelerators.
    pub(super) fn put_together(&self) -> Vec<CatalogMachine<'_>> {
        let hosts = self.block.table("gcp_tpu_machines").rows().map(|mut row| row.text());
        let mut found: Vec<CatalogMachine<'_>> = hosts.filter_map(|name| self.tpu_machine(name)).collect();
        for (accelerator, _, most, _) in self.guests() {
            let counts = [1.0, 2.0, 4.0, 8.0].into_iter().filter(|count| *count <= most);
            // Four CPUs per accelerator are usual.
            let equip = |count: f64| self.equipped(&format!("n1-standard-{}", count * 4.0), accelerator, count).ok();
            found.extend(counts.filter_map(equip));
        }
        found
    }

    fn different<'c>(
        &'c self,
        block: &'c CatalogBlock,
        provider: Option<&str>,
    ) -> impl Iterator<Item = CatalogMachine<'c>> + use<'c> {
        let table = block.table("prices");
        let rows = provider.map_or(0..table.len(), |provider| table.range(&[provider]));
        let mut before = ("", "");
        rows.filter_map(move |place| {
            let row = table.row(place);
            let mut key = row;
            let key = (key.text(), key.text());
            let is_new = key != before;
            before = key;
            is_new.then(|| self.read_machine(row))
        })
    }

    /// Returns the machines of a provider with this accelerator. Those with the fewest accelerators come first.
    pub fn machines_with(&self, provider: &str, accelerator: &str) -> Vec<CatalogMachine<'_>> {
        let table = self.block.table(MACHINES);
        let names = table.range(&[provider, accelerator]).map(|index| {
            let mut row = table.row(index);
            let _ = (row.text(), row.text());
            row.text()
        });
        let mut found: Vec<_> = names.filter_map(|name| self.listed(provider, name)).collect();
        let own = self.own.machines().filter(|(of, _)| of.eq_ignore_ascii_case(provider));
        for machine in own.filter_map(|(of, name)| self.own_machine(of, name)) {
            if machine.accelerator == accelerator && found.iter().all(|it| it.name != machine.name) {
                found.push(machine);
            }
        }
        found.sort_by(|one, two| one.count.total_cmp(&two.count).then_with(|| compare(&one.name, &two.name)));
        found
    }

    /// Returns the machines with accelerators among these names, in their order. A pattern such as `g5.*` means all
    /// machines that it matches, the cheapest first.
    pub fn machines_among(&self, provider: &str, names: &[&str]) -> Vec<CatalogMachine<'_>> {
        let mut found: Vec<CatalogMachine<'_>> = Vec::new();
        for name in names {
            if name.contains('*') {
                found.extend(self.covered(provider, name));
            } else {
                found.extend(self.machine(provider, name));
            }
        }
        found
    }

    fn covered(&self, provider: &str, pattern: &str) -> Vec<CatalogMachine<'_>> {
        let region = self.base_region(provider);
        // Azure's family names lack the prefix of their sizes.
        let is_short = provider.eq_ignore_ascii_case(AZURE) && !covers("Standard_*", pattern);
        let family = format!("Standard_{}*", pattern.trim_end_matches(['*', '.']));
        let pattern = if is_short { &family } else { pattern };
        let is_one = |it: &CatalogMachine<'_>| it.provider.eq_ignore_ascii_case(provider) && covers(pattern, &it.name);
        let mut all: Vec<_> = self.machines().filter(is_one).collect();
        all.sort_by_cached_key(|machine| {
            let price = self.quote(machine, region).and_then(|quote| quote.on_demand.or(quote.spot));
            (price.is_none(), price, machine.name.to_string())
        });
        all
    }

    /// Returns the providers that have prices, sorted.
    pub fn providers(&self) -> Vec<&str> {
        let mut providers = self.block.providers();
        let own = self.own.machines().map(|(provider, _)| provider);
        providers.extend(
            own.filter(|own| !providers.iter().any(|known| known.eq_ignore_ascii_case(own))).collect::<Vec<_>>(),
        );
        providers.sort_unstable();
        providers.dedup();
        providers
    }

    /// Returns the maximum number of EFA interfaces of a machine. `None` if it has none or the number is unknown.
    pub fn efa_interfaces(&self, provider: &str, name: &str) -> Option<f64> {
        let mut row = self.block.table("efa").find(&[provider, name])?;
        let _ = (row.text(), row.text());
        row.number()
    }

    /// Returns the price of a license for each vCPU and hour, in dollars, on demand.
    pub fn licence_per_cpu(&self, provider: &str, software: &str) -> Option<f64> {
        let mut row = self.block.table("licenses").find(&[provider, software])?;
        let _ = (row.text(), row.text());
        row.number()
    }

    /// Returns the provider with this name or alias.
    pub fn provider_called(&self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase().replace(['_', ' '], "-");
        self.block.table("providers").rows().find_map(|mut row| {
            let (provider, _class, _assumed, also) = (row.text(), row.text(), row.number(), row.text());
            (provider == name || also.split(' ').any(|it| it == name)).then_some(provider)
        })
    }

    fn listed(&self, provider: &str, name: &str) -> Option<CatalogMachine<'_>> {
        let refreshed = self.refreshed.as_ref().and_then(|block| block.table("prices").find(&[provider, name]));
        let listed = refreshed.or_else(|| self.block.table("prices").find(&[provider, name]));
        listed.map(|row| self.read_machine(row)).or_else(|| self.own_machine(provider, name))
    }

    fn own_machine(&self, provider: &str, name: &str) -> Option<CatalogMachine<'_>> {
        let (row, count) = self.own.machine(provider, name)?;
        let accelerator = self.accelerator(&row.accelerator).map_or(&*row.accelerator, |known| known.name);
        Some(CatalogMachine {
            provider: (&*row.provider).into(),
            name: (&*row.machine).into(),
            accelerator: accelerator.into(),
            count,
            cpus: row.vcpus,
            memory_gib: row.memory_gib,
            kind: PriceKind::Listed,
        })
    }

    fn read_machine<'c>(&'c self, mut row: Cells<'c>) -> CatalogMachine<'c> {
        let (provider, name, _region, accelerator) = (row.text(), row.text(), row.text(), row.text());
        let (count, cpus, memory_gib) = (row.number(), row.number(), row.number());
        CatalogMachine {
            provider: provider.into(),
            name: name.into(),
            accelerator: accelerator.into(),
            count: count.unwrap_or_default(),
            cpus,
            memory_gib,
            kind: PriceKind::Listed,
        }
    }

    fn service_machine(&self, name: &str) -> Option<CatalogMachine<'_>> {
        let below = name.get(..3).filter(|start| start.eq_ignore_ascii_case("ml.")).and_then(|_| name.get(3..))?;
        let machine = self.listed(AWS, below)?;
        let (factor, evidence) = self.block.table("sagemaker").rows().find_map(|mut row| {
            let (pattern, factor, evidence) = (row.text(), row.millionths(), row.text());
            covers(pattern, name).then_some((factor?, evidence))
        })?;
        let Cow::Borrowed(below) = machine.name else { return None };
        let kind = PriceKind::Service { below, factor, evidence };
        Some(CatalogMachine { name: format!("ml.{below}").into(), kind, ..machine })
    }

    /// Parses a TPU machine such as `ct5lp-hightpu-4t`, or the type of a slice such as `v5litepod-16` or `v4-8`.
    fn tpu_machine(&self, name: &str) -> Option<CatalogMachine<'_>> {
        if let Some(mut row) = self.block.table("gcp_tpu_machines").find(&[name]) {
            let (name, accelerator, variant) = (row.text(), row.text(), row.text());
            let (chips, cpus, memory_gib) = (row.number()?, row.number(), row.number());
            let mut machine = self.tpu(accelerator, chips)?;
            (machine.name, machine.cpus, machine.memory_gib) = (name.into(), cpus, memory_gib);
            machine.kind = PriceKind::Tpu { variant };
            return Some(machine);
        }
        let (generation, size) = name.rsplit_once('-')?;
        let size: u32 = size.parse().ok().filter(|size| (1..=16_384).contains(size))?;
        let accelerator = self.accelerator(generation).filter(|known| known.kind == "tpu")?.name;
        // For v2, v3, v4 and v5p, the number counts cores, and a chip has two.
        let counts_cores = matches!(accelerator, "TPU-v2" | "TPU-v3" | "TPU-v4" | "TPU-v5p");
        let chips = if counts_cores { f64::from(size) / 2.0 } else { f64::from(size) };
        let mut machine = self.tpu(accelerator, chips)?;
        machine.name = name.to_ascii_lowercase().into();
        Some(machine)
    }

    /// Returns a number of chips of one TPU generation.
    pub fn tpu(&self, accelerator: &str, chips: f64) -> Option<CatalogMachine<'_>> {
        let known = self.accelerator(accelerator).filter(|known| known.kind == "tpu")?;
        // In the first two generations, slices of more than four chips (one host) are part of a pod, at another price.
        let variant = match known.name {
            "TPU-v2" | "TPU-v3" if chips > 4.0 => "pod",
            "TPU-v2" | "TPU-v3" => "device",
            _ => "",
        };
        Some(CatalogMachine {
            provider: GCP.into(),
            name: format!("{} x {chips}", known.name).into(),
            accelerator: known.name.into(),
            count: chips,
            cpus: None,
            memory_gib: None,
            kind: PriceKind::Tpu { variant },
        })
    }

    /// Returns a number of accelerators without a named machine.
    pub fn single(&self, provider: &str, accelerator: &str, count: f64) -> Option<CatalogMachine<'_>> {
        let known = self.accelerator(accelerator)?;
        Some(CatalogMachine {
            provider: provider.to_owned().into(),
            name: known.name.into(),
            accelerator: known.name.into(),
            count,
            cpus: None,
            memory_gib: None,
            kind: PriceKind::Listed,
        })
    }

    fn family(&self, provider: &str, name: &str) -> Option<(&str, Option<&str>)> {
        let name = match provider {
            AWS => name.strip_prefix("ml.").unwrap_or(name),
            _ => name,
        };
        let mut is_known = false;
        let listed = self.block.table("families").rows().find_map(|mut row| {
            let known = Some(row.text()).filter(|known| known.eq_ignore_ascii_case(provider))?;
            is_known = true;
            let (pattern, accelerator) = (row.text(), row.text());
            let accelerator = Some(accelerator).filter(|accelerator| !accelerator.is_empty());
            covers(pattern, name).then_some((known, accelerator))
        });
        let is_known = is_known || !self.block.table("prices").range(&[provider]).is_empty();
        listed.or_else(|| self.named_by_parts(provider, name).filter(|_| !is_known))
    }

    /// Recognizes a machine whose operator invents its names, such as `hall2.64c600g.A100`, by a part of its name:
    /// 1. a known accelerator of at least three letters and digits, or
    /// 2. a shorter one if another part is a word such as `gpu`.
    fn named_by_parts(&self, provider: &str, name: &str) -> Option<(&'static str, Option<&str>)> {
        const WORDS: [&str; 3] = ["gpu", "vgpu", "nvidia"];
        if provider.is_empty() {
            return None;
        }
        let parts: Vec<&str> = name.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
        let says = parts.iter().any(|part| WORDS.iter().any(|word| part.eq_ignore_ascii_case(word)));
        let says_tpu = parts.iter().any(|part| part.eq_ignore_ascii_case("tpu"));
        let is_long = |part: &&&str| part.len() > 2 || says;
        let is_name = |part: &&&str| says_tpu || !is_version(part);
        let found =
            parts.iter().filter(is_long).filter(is_name).find_map(|part| self.accelerator(part).map(|it| it.name));
        (found.is_some() || says).then_some(("", found))
    }

    /// Returns when the machine was retired: a date or a year.
    pub fn retired(&self, machine: &CatalogMachine<'_>) -> Option<&str> {
        if machine.has_guests() {
            let (_, _, _, date) = self.guest(&machine.accelerator)?;
            return Some(date).filter(|date| !date.is_empty());
        }
        self.block.table("retired").rows().find_map(|mut row| {
            let (known, pattern, date) = (row.text(), row.text(), row.text());
            (known == machine.provider && covers(pattern, &machine.name)).then_some(date)
        })
    }

    fn guest(&self, accelerator: &str) -> Option<(&str, &str, f64, &str)> {
        let canonical = self.accelerator(accelerator)?.name;
        self.guests().find(|(name, ..)| *name == canonical)
    }

    fn guests(&self) -> impl Iterator<Item = (&str, &str, f64, &str)> {
        self.block
            .table("gcp_guests")
            .rows()
            .map(|mut row| (row.text(), row.text(), row.number().unwrap_or_default(), row.text()))
    }
}

/// Returns the vCPUs and the memory that the name of an N1 machine contains.
fn n1_host(name: &str) -> Option<Host> {
    let name = name.trim().to_ascii_lowercase();
    if let Some(custom) = name.strip_prefix("custom-").or_else(|| name.strip_prefix("n1-custom-")) {
        let mut parts = custom.split('-');
        let (cpus, mebibytes): (f64, f64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        return (cpus.is_finite() && mebibytes.is_finite()).then_some(Host { cpus, memory_gib: mebibytes / 1024.0 });
    }
    let (series, cpus) = name.strip_prefix("n1-")?.rsplit_once('-')?;
    // The ratio is in GiB per vCPU, from the table of N1 machine types.
    let ratio = match series {
        "standard" => 3.75,
        "highmem" => 6.5,
        "highcpu" => 0.9,
        _ => return None,
    };
    let cpus: u32 = cpus.parse().ok().filter(|cpus| (1..=96).contains(cpus))?;
    Some(Host { cpus: f64::from(cpus), memory_gib: f64::from(cpus) * ratio })
}
