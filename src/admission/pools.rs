//! Defines variables for a pool of machines.

use crate::AnalysisSettings;
use crate::kubernetes::{ClusterPool, LabelMeaning, ManifestStep};
use crate::languages::cel::quoted;
use crate::rules::End;

use super::labels::NodeConditions;
use super::pods::optional;
use super::prices::{hourly_prices, regions};
use super::tables::CatalogTables;
use super::variables::map;

/// The facts of a pool.
pub(super) struct PoolVariables<'a> {
    pub(super) tables: &'a CatalogTables<'a>,
    pub(super) nodes: NodeConditions<'a>,
}

impl<'a> PoolVariables<'a> {
    pub(super) fn new(tables: &'a CatalogTables<'a>, pool: &ClusterPool) -> Option<PoolVariables<'a>> {
        let lists = |paths: &[Vec<ManifestStep>], text: &dyn Fn(&str) -> String| -> Option<Vec<String>> {
            paths.iter().map(|path| Some(text(&optional(path)?))).collect()
        };
        let requirements = lists(&pool.requirements, &|path| {
            format!(
                "{path}.orValue([]).filter(e, e.operator == 'In').map(e, {{'key': dyn(e.key), 'values': dyn(e.values)}})"
            )
        })?;
        let labels = lists(&pool.labels, &|path| {
            format!("{path}.orValue({{}}).map(k, {{'key': dyn(k), 'values': dyn([{path}.value()[k]])}})")
        })?;
        let all: Vec<String> = requirements.into_iter().chain(labels).collect();
        let conditions = tables.variables.get("conditions", || all.join(" + "));
        let nodes = NodeConditions {
            tables,
            conditions,
            others: "['']".to_owned(),
            determined: None,
            usual_purchase: pool.purchase.clone(),
            tolerations: "[]".to_owned(),
        };
        Some(PoolVariables { tables, nodes })
    }

    /// Returns the possible machine types in lower case, if all of them have accelerators and are of one cloud. Otherwise,
    /// gpulint does not judge the pool, or the policy does not know it.
    pub(super) fn rented(&self) -> String {
        let (machine, clouds) = (self.nodes.machine(), self.tables.clouds_of_machines());
        self.tables.variables.get("rented", || {
            format!(
                "[{machine}.map(m, m == null ? '' : m.lowerAscii())].map(l, l.exists(m, !(m in {clouds}) || \
                 {clouds}[m] != {clouds}[?l[0]].orValue('')) ? [] : l)[0]"
            )
        })
    }

    /// Returns the possible machine types as written. Labels of processors and accelerators may exclude some of several.
    pub(super) fn machine(&self) -> String {
        use LabelMeaning::{AcceleratorCount, Processor, Vendor};
        let (machine, rented) = (self.nodes.machine(), self.rented());
        let narrowed = self.nodes.requires(&[AcceleratorCount, Processor, Vendor]);
        self.tables.variables.get("machine_of_pool", || {
            format!("{rented}.size() == 0 || {rented}.size() > 1 && {narrowed} ? [] : {machine}")
        })
    }

    /// Returns the possible values of a property of the machine types.
    fn of_machines(&self, name: &str, table: &str, meaning: LabelMeaning) -> String {
        let (machine, rented) = (self.machine(), self.rented());
        let stated = self.nodes.requires(&[meaning]);
        self.tables.variables.get(name, || {
            format!(
                "{machine}.size() == 0 || {rented}.size() > 1 && {stated} ? [] : [{rented}.map(m, dyn({table}[m]))]\
                 .map(a, a.all(o, o == a[0]) ? [a[0]] : a)[0]"
            )
        })
    }

    pub(super) fn accelerator(&self) -> String {
        let table = self.tables.accelerators_of_machines();
        self.of_machines("accelerator_of_pool", &table, LabelMeaning::Accelerator)
    }

    pub(super) fn accelerator_count(&self) -> String {
        let table = self.tables.counts_of_machines();
        self.of_machines("count_of_pool", &table, LabelMeaning::AcceleratorCount)
    }

    /// Returns the possible amounts of memory. The memory is set only if one accelerator is possible.
    pub(super) fn accelerator_memory_gib(&self) -> String {
        let accelerator = self.accelerator();
        let memory = self.tables.memory_of("a");
        self.tables.variables.get("memory_of_pool", || {
            format!(
                "{accelerator}.size() == 1 ? {accelerator}.map(a, {memory}.hasValue() ? dyn({memory}.value()) : dyn(null)) : \
                 {accelerator}.size() == 0 ? [] : [dyn(null)]"
            )
        })
    }

    /// Returns the price of one machine per hour, at one end of its range. The price is known if the pool requires no other
    /// region than that of the prices.
    pub(super) fn hourly(&self, end: End, settings: &AnalysisSettings) -> String {
        let (machine, rented, purchase) = (self.machine(), self.rented(), self.nodes.purchase());
        let clouds = self.tables.clouds_of_machines();
        let name = |what: &str| format!("{what}_{end:?}").to_ascii_lowercase();
        let prices = self.tables.variables.get(&name("usd_per_hour"), || {
            let prices = hourly_prices(settings, end);
            map(prices.iter().map(|(machine, usd)| (machine.as_str(), format!("{usd:?}"))))
        });
        let regions = self.tables.variables.get("price_regions", || {
            let regions = regions(settings);
            map(regions.iter().map(|(cloud, region)| (cloud.as_str(), quoted(region))))
        });
        let elsewhere = [LabelMeaning::Region, LabelMeaning::Zone].map(|meaning| {
            let values = self.nodes.values(meaning);
            let is_same = "v.startsWith(r) && v.size() - r.size() <= 2";
            format!("{values}.exists(l, l.exists(v, ![{regions}[?{clouds}[{rented}[0]]].orValue('-')].exists(r, {is_same})))")
        });
        let several = match end {
            End::Floor => "[dyn(p.min())]",
            // The expected price of several machine types depends on more than their prices.
            End::Expected => "p.size() > 1 ? [] : [dyn(p[0])]",
            End::Ceiling => "[dyn(p.max())]",
        };
        self.tables.variables.get(&name("hourly"), || {
            format!(
                "{machine}.size() == 0 || {purchase}.size() != 1 || {} ? [] : \
                 [{rented}.map(m, {prices}[?m + '|' + string({purchase}[0])].orValue(-1.0))].map(p, p.exists(u, u < 0.0) ? [] : \
                 {several})[0]",
                elsewhere.join(" || ")
            )
        })
    }
}
