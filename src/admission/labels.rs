//! Defines variables for facts that follow from the node labels that a pod or a pool requires.

use crate::kubernetes::{ClusterLabel, LabelMeaning, cluster_labels, names_of_pools};
use crate::languages::cel::quoted;

use super::tables::CatalogTables;
use super::variables::{list, map};

/// The labels that nodes must have.
pub(super) struct NodeConditions<'a> {
    pub(super) tables: &'a CatalogTables<'a>,
    /// The list of the labels: `{key, values}`.
    pub(super) conditions: String,
    /// The list of other labels, whose effect the policy cannot evaluate: those of alternatives, and preferred ones.
    pub(super) others: String,
    /// A condition under which something else determines machine or accelerator.
    pub(super) determined: Option<String>,
    /// The way of buying if no label sets one.
    pub(super) usual_purchase: Option<String>,
    /// The tolerations.
    pub(super) tolerations: String,
}

/// The variables of the node labels of a pod.
pub(super) fn conditions_of_pod(tables: &CatalogTables<'_>, pod: &str) -> (String, String) {
    let affinity = format!("{pod}.?spec.?affinity.?nodeAffinity");
    let terms = tables.variables.get("terms", || {
        format!("{affinity}.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])")
    });
    let conditions = tables.variables.get("conditions", || {
        format!(
            "{pod}.?spec.?nodeSelector.orValue({{}}).map(k, {{'key': dyn(k), 'values': dyn([{pod}.spec.nodeSelector[k]])}}) + \
             ({terms}.size() == 1 ? {terms}[0].?matchExpressions.orValue([]).filter(e, e.operator == 'In')\
             .map(e, {{'key': dyn(e.key), 'values': dyn(e.values)}}) : [])"
        )
    });
    let others = tables.variables.get("other_labels", || {
        let keys = "?matchExpressions.orValue([]).map(e, string(e.key)).join(' ')";
        format!(
            "(({terms}.size() > 1 ? {terms}.map(t, t.{keys}).join(' ') : '') + ' ' + \
             {affinity}.?preferredDuringSchedulingIgnoredDuringExecution.orValue([]).map(p, p.?preference.{keys}).join(' ') \
             + ' ' + {pod}.?metadata.?annotations.orValue({{}}).map(k, string(k)).join(' ')).split(' ')"
        )
    });
    (conditions, others)
}

impl NodeConditions<'_> {
    /// Returns the condition that labels with one of these meanings are required.
    pub(super) fn requires(&self, meanings: &[LabelMeaning]) -> String {
        let labels = Self::labels(meanings);
        format!("{}.exists(c, c.key in {})", self.conditions, list(labels.iter().map(|it| it.key.as_str())))
    }

    /// Returns the values of the labels with this meaning, each list in a list.
    pub(super) fn values(&self, meaning: LabelMeaning) -> String {
        let labels = Self::labels(&[meaning]);
        let keys = list(labels.iter().map(|it| it.key.as_str()));
        format!("{}.filter(c, c.key in {keys}).map(c, c.values)", self.conditions)
    }

    fn labels(meanings: &[LabelMeaning]) -> Vec<ClusterLabel> {
        cluster_labels().into_iter().filter(|it| it.fact.is_some_and(|fact| meanings.contains(&fact))).collect()
    }

    /// Returns the condition that a label with one of these keys has an effect that the policy cannot evaluate.
    fn is_unclear(&self, labels: &[ClusterLabel]) -> String {
        let keys = list(labels.iter().map(|it| it.key.as_str()));
        let special: Vec<&str> = labels.iter().filter(|it| it.is_special).map(|it| it.key.as_str()).collect();
        let others = format!("{}.exists(k, k in {keys})", self.others);
        match special.is_empty() {
            true => others,
            false => format!("{others} || {}.exists(c, c.key in {})", self.conditions, list(special)),
        }
    }

    /// Returns the labels with one of these meanings.
    fn found(&self, meaning: LabelMeaning, name: &str) -> (Vec<ClusterLabel>, String) {
        let labels = Self::labels(&[meaning]);
        let found = self.tables.variables.get(name, || {
            format!("{}.filter(c, c.key in {})", self.conditions, list(labels.iter().map(|it| it.key.as_str())))
        });
        (labels, found)
    }

    /// Returns whether labels determine a part of the machine type, or a name or another property reveals it.
    fn is_machine_unclear(&self) -> String {
        self.tables.variables.get("machine_unclear", || {
            use LabelMeaning::{Accelerator, Category, Family, Machine};
            let parts = Self::labels(&[Family, Category]);
            let all = Self::labels(&[Machine, Accelerator, Family, Category]);
            let known: Vec<ClusterLabel> =
                cluster_labels().into_iter().filter(|it| it.fact != Some(LabelMeaning::Pool)).collect();
            let names = names_of_pools().join("|").replace('\\', "\\\\").replace('\'', "\\'");
            format!(
                "{} || {}.exists(c, c.key in {} || !(c.key in {}) && c.values.exists(v, v.matches('{names}'))) || \
                 {}.exists(t, t.?value.orValue('').matches('{names}')){}",
                self.is_unclear(&all),
                self.conditions,
                list(parts.iter().map(|it| it.key.as_str())),
                list(known.iter().map(|it| it.key.as_str())),
                self.tolerations,
                self.determined.as_ref().map_or_else(String::new, |other| format!(" || {other}"))
            )
        })
    }

    /// Returns the possible machine types.
    pub(super) fn machine(&self) -> String {
        let (labels, found) = self.found(LabelMeaning::Machine, "machine_labels");
        let unclear = self.is_machine_unclear();
        self.tables.variables.get("machine", || {
            let is_unclear = self.is_unclear(&labels);
            format!(
                "{found}.size() > 1 || {is_unclear} ? [] : {found}.size() == 1 ? {found}[0].values.map(v, dyn(v)) : \
                 {unclear} ? [] : [dyn(null)]"
            )
        })
    }

    /// Returns the possible accelerators: those of a label, or else those of the machine types.
    pub(super) fn accelerator(&self) -> String {
        let (labels, found) = self.found(LabelMeaning::Accelerator, "accelerator_labels");
        let (unclear, machine) = (self.is_machine_unclear(), self.machine());
        let name = self.tables.accelerator_of("v");
        let machines = self.tables.accelerators_of_machines();
        self.tables.variables.get("accelerator", || {
            let is_unclear = self.is_unclear(&labels);
            format!(
                "{found}.size() > 1 || {is_unclear} ? [] : {found}.size() == 1 ? {found}[0].values.map(v, dyn({name})) : \
                 {unclear} || {machine}.exists(m, m != null && (m.lowerAscii().matches('{}') || \
                 {machines}[?m.lowerAscii()].orValue('-') == '')) ? [] : \
                 [{machine}.filter(m, m != null && m.lowerAscii() in {machines}).map(m, dyn({machines}[m.lowerAscii()]))]\
                 .map(a, a.size() == 0 ? ({machine}.size() == 0 ? [] : [dyn(null)]) : a.all(o, o == a[0]) ? [a[0]] : a)[0]",
                CatalogTables::unlisted_machines()
            )
        })
    }

    /// Returns the possible amounts of memory. The memory is set only if one accelerator is possible.
    pub(super) fn accelerator_memory_gib(&self) -> String {
        let accelerator = self.accelerator();
        let special = Self::labels(&[LabelMeaning::AcceleratorMemoryGib]);
        self.tables.variables.get("accelerator_memory_gib", || {
            let memory = self.tables.memory_of("a");
            format!(
                "{accelerator}.size() == 0 || {} ? [] : {accelerator}.size() > 1 ? [dyn(null)] : \
                 [{accelerator}[0]].map(a, a != null && {memory}.hasValue() ? dyn({memory}.value()) : dyn(null))",
                self.is_unclear(&special)
            )
        })
    }

    /// Returns the possible ways of buying, from labels and from tolerated taints of spot nodes.
    pub(super) fn purchase(&self) -> String {
        let (labels, found) = self.found(LabelMeaning::Purchase, "purchase_labels");
        let usual = self.usual_purchase.as_ref().map_or_else(|| "null".to_owned(), |it| quoted(it));
        self.tables.variables.get("purchase", || {
            let meanings: Vec<(String, &str)> = labels
                .iter()
                .flat_map(|it| it.map.iter().map(|(value, means)| (format!("{}={value}", it.key), means.as_str())))
                .collect();
            let table = map(meanings.iter().map(|(key, means)| (key.as_str(), quoted(means))));
            let spot = list(meanings.iter().filter(|(_, means)| *means == "spot").map(|(key, _)| key.as_str()));
            format!(
                "{found}.size() > 1 || {} ? [] : {found}.size() == 1 ? \
                 [{found}[0].values.map(v, {table}[?{found}[0].key + '=' + v].orValue(''))].map(p, '' in p ? [] : \
                 'spot' in p && 'on-demand' in p ? [dyn('spot-or-on-demand')] : p.map(one, dyn(one)))[0] : \
                 {}.exists(t, t.?key.orValue('') + '=' + t.?value.orValue('') in {spot}) ? [dyn('spot-or-on-demand')] : \
                 [dyn({usual})]",
                self.is_unclear(&labels),
                self.tolerations
            )
        })
    }
}
