//! Finds budgets that have ended or apply to no resource. If a budget's label is misspelled, every change would pass.

use super::Session;
use crate::Analysis;
use crate::config;
use crate::inventory::{Fact, Resource};

impl Session {
    /// Returns a line for each budget whose label no resource has.
    pub(in crate::cli) fn budgets_of_nobody(&self, analysis: &Analysis) -> Vec<String> {
        let resources = &analysis.inventory.resources;
        if resources.is_empty() || self.scope.only.is_some() {
            return Vec::new();
        }
        let budgets = self.policy.config.budgets();
        let of_here = budgets.iter().filter(|budget| !budget.covers_organization);
        let labels = of_here.filter_map(|budget| Some((budget.of?, budget.span)));
        let nobodys = labels.filter(|((key, value), _)| !resources.iter().any(|it| may_carry(it, key, value)));
        let line = |((key, value), span)| {
            let at = self.scope.paths.locate(&self.sources, span);
            let meant = other(resources, key, value);
            format!(
                "the budget for {key} = \"{value}\" ({}:{}) contains no resources: none has this label{meant}",
                at.path, at.line
            )
        };
        nobodys.map(line).chain(self.ended_budgets()).collect()
    }

    /// Returns a line for each budget whose last day is over.
    fn ended_budgets(&self) -> impl Iterator<Item = String> {
        let today = self.policy.today;
        let ended = move |budget: config::BudgetSetting<'_>| {
            let until = budget.until.filter(|until| *until < today)?;
            let at = self.scope.paths.locate(&self.sources, budget.span);
            let whom = budget.owner.map(|owner| format!(": ask {owner}")).unwrap_or_default();
            Some(format!("the budget in {}:{} ended on {until} and still counts{whom}", at.path, at.line))
        };
        self.policy.config.budgets().into_iter().filter_map(ended)
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
