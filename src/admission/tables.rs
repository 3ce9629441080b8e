//! Converts the catalog to tables that a policy can read: names of accelerators, and machine types.

use std::collections::BTreeMap;

use crate::catalog::{BOARDS, BRANDS, Catalog, CatalogMachine, DRIVER_SUFFIXES};
use crate::languages::cel::quoted;

use super::variables::{PolicyVariables, list, map};

/// The catalog, as variables of a policy.
pub(super) struct CatalogTables<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) variables: &'a PolicyVariables,
}

/// Prefixes of machine types that gpulint reads without a row of the catalog: slices of TPUs and managed services.
const UNLISTED: &str = "^(?:ml\\\\.|ct[0-9]|tpu|v[0-9])";

impl CatalogTables<'_> {
    /// Returns the table of all spellings of accelerators: letters and digits in lower case → canonical name.
    fn spellings(&self) -> String {
        self.variables.get("spellings", || {
            let spellings = self.catalog.accelerator_spellings();
            map(spellings.iter().map(|(spelling, name)| (spelling.as_str(), quoted(name))))
        })
    }

    /// Returns the table of the memory of accelerators in GiB.
    fn memory(&self) -> String {
        self.variables.get("memory", || {
            let all = self.catalog.accelerators().map(|it| (it.name.to_owned(), it.memory_gib));
            let all: BTreeMap<String, f64> = all.collect();
            map(all.iter().map(|(name, gib)| (name.as_str(), format!("{gib:?}"))))
        })
    }

    /// Returns the canonical name of an accelerator in a node label, or else the value of the label. It follows
    /// `Catalog::accelerator` step by step.
    pub(super) fn accelerator_of(&self, label: &str) -> String {
        let (names, memory) = (self.spellings(), self.memory());
        let word = format!(
            "[{label}.lowerAscii()].map(l, [l.replace('_', '-').replace('.', '-').split('-').filter(w, w != '' && \
             !(w in {}))].map(w, w.size() == 1 && w[0].matches('^v[0-9].?$') && !l.contains('tpu') ? {label} : \
             w.join('') in {names} ? {names}[w.join('')] : [w.filter(m, m.matches('^[0-9]+gb?$'))].map(m, \
             [w.filter(r, !r.matches('^[0-9]+gb?$')).join('')].map(r, m.size() > 0 && r in {names} && \
             {memory}[?{names}[r]].orValue(0.0) == double(m[0].replace('gb', '').replace('g', '')) ? {names}[r] : \
             {label})[0])[0])[0])[0]",
            list(BRANDS.into_iter().chain(BOARDS).chain(["gpu"]))
        );
        let mut found = word;
        for _ in 0..3 {
            let rest = match found.starts_with("[k]") {
                true => format!("[{}].map(k, {found})[0]", simpler("k")),
                false => found,
            };
            found = format!("[k].map(k, k in {names} ? {names}[k] : {rest})[0]");
        }
        let squeezed = format!("{label}.lowerAscii().replace('-', '').replace('_', '').replace('.', '')");
        format!("[{squeezed}].map(k, {found})[0]")
    }

    /// Returns the memory of an accelerator in GiB as an optional.
    pub(super) fn memory_of(&self, accelerator: &str) -> String {
        format!("{}[?{accelerator}]", self.memory())
    }

    /// Returns the machine types by their name in lower case. Several clouds may have one of the same name.
    fn machines(&self) -> BTreeMap<String, Vec<CatalogMachine<'_>>> {
        let mut all: BTreeMap<String, Vec<CatalogMachine<'_>>> = BTreeMap::new();
        for machine in self.catalog.machines() {
            all.entry(machine.name.to_ascii_lowercase()).or_default().push(machine);
        }
        all
    }

    /// Returns a table of machine types that only one cloud has, with the values that `read` returns.
    fn machines_of_one_cloud(&self, name: &str, read: impl Fn(&CatalogMachine<'_>) -> String) -> String {
        self.variables.get(name, || {
            let machines = self.machines();
            map(machines.iter().filter_map(|(name, machines)| match machines.as_slice() {
                [only] => Some((name.as_str(), read(only))),
                _ => None,
            }))
        })
    }

    /// Returns the table of the accelerators of machine types. The name of an accelerator is empty if several clouds
    /// have a machine type of this name.
    pub(super) fn accelerators_of_machines(&self) -> String {
        self.variables.get("machines", || {
            let machines = self.machines();
            map(machines.iter().map(|(name, machines)| match machines.as_slice() {
                [only] => (name.as_str(), quoted(&only.accelerator)),
                _ => (name.as_str(), "''".to_owned()),
            }))
        })
    }

    /// Returns the table of the numbers of accelerators of machine types.
    pub(super) fn counts_of_machines(&self) -> String {
        self.machines_of_one_cloud("machine_counts", |machine| format!("{:?}", machine.count))
    }

    /// Returns the table of the clouds of machine types.
    pub(super) fn clouds_of_machines(&self) -> String {
        self.machines_of_one_cloud("machine_clouds", |machine| quoted(&machine.provider))
    }

    /// Returns a pattern for machine types that the tables do not contain.
    pub(super) fn unlisted_machines() -> &'static str {
        UNLISTED
    }
}

/// Returns the name without the suffix of a driver or the prefix of a vendor.
fn simpler(key: &str) -> String {
    let mut text = String::new();
    for suffix in DRIVER_SUFFIXES {
        text += &format!("{key}.endsWith({}) ? {key}.substring(0, {key}.size() - {}) : ", quoted(suffix), suffix.len());
    }
    text += &format!("{key}.indexOf('mig') > 0 ? {key}.substring(0, {key}.indexOf('mig')) : ");
    for brand in BRANDS {
        text += &format!("{key}.startsWith({}) ? {key}.substring({}) : ", quoted(brand), brand.len());
    }
    text + key
}
