//! Finds budgets that apply to no resource. If a budget's label is misspelled, every change would pass.

use super::Session;
use crate::Analysis;
use crate::inventory::{Fact, Resource};

impl Session {
    /// Returns a line for each budget whose label no resource has.
    pub(in crate::cli) fn budgets_of_nobody(&self, analysis: &Analysis) -> Vec<String> {
        let resources = &analysis.inventory.resources;
        if resources.is_empty() || self.scope.only.is_some() {
            return Vec::new();
        }
        let budgets = self.policy.config.budgets();
        let labels = budgets.iter().filter_map(|budget| Some((budget.of?, budget.span)));
        let nobodys = labels.filter(|((key, value), _)| !resources.iter().any(|it| may_carry(it, key, value)));
        let line = |((key, value), span)| {
            let at = self.scope.paths.locate(&self.sources, span);
            let meant = other(resources, key, value);
            format!(
                "the budget for {key} = \"{value}\" ({}:{}) contains no resources: none has this label{meant}",
                at.path, at.line
            )
        };
        nobodys.map(line).collect()
    }
}

/// Whether the resource has the label, or its labels are unknown.
fn may_carry(resource: &Resource, key: &str, value: &str) -> bool {
    match resource.labels.entries.get(key) {
        Some(Fact::Known(known)) => *known.value == *value,
        Some(Fact::Unknown(_)) => true,
        Some(Fact::Absent) | None => resource.labels.open.is_some(),
    }
}

/// Returns the label that was probably meant: another spelling of the key or the value.
fn other(resources: &[Resource], key: &str, value: &str) -> String {
    let labels = || resources.iter().flat_map(|it| &it.labels.entries);
    if let Some((spelt, _)) = labels().find(|(it, _)| it.as_str() != key && it.eq_ignore_ascii_case(key)) {
        return format!("; some have `{spelt}`");
    }
    let values = labels().filter(|(it, _)| it.as_str() == key).filter_map(|(_, fact)| fact.value());
    let mut values: Vec<&str> = values.map(|it| &**it).filter(|it| *it != value).collect();
    values.sort_unstable();
    values.dedup();
    match values.as_slice() {
        [] => String::new(),
        values => {
            format!("; resources have {}", values.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", "))
        }
    }
}

const MOST_NAMED: usize = 5;
