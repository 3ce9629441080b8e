//! Adds the traffic, starts and interruptions of resources from the settings, unless the configuration sets them.

use std::sync::Arc;

use crate::catalog::covers;
use crate::inventory::{Fact, FactOrigin, FactValue, Key, Resource};

/// The resources that a table of the settings applies to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourceFilter {
    /// A pattern of addresses, in which `*` matches any text. Without it, the table applies to every resource.
    pub address: Option<String>,
    /// A label, with its value, that the resource must have.
    pub label: Option<(String, String)>,
}

impl ResourceFilter {
    pub fn covers(&self, resource: &Resource) -> bool {
        let address = self.address.as_ref().is_none_or(|form| covers(form, &resource.address));
        let label = self.label.as_ref().is_none_or(|(key, value)| {
            let carried = resource.labels.entries.get(key).and_then(|fact| fact.value());
            carried.is_some_and(|carried| **carried == **value)
        });
        address && label
    }
}

/// Declared numbers of some resources, such as the usual daily load of servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traffic {
    pub about: ResourceFilter,
    pub said: Vec<(Key, f64)>,
    /// The setting that contains the entry.
    pub setting: &'static str,
}

/// Sets the traffic of a resource from the settings. A label on the resource overrides them. If several tables match,
/// the last one applies.
pub(super) fn apply_traffic(resource: &mut Resource, traffic: &[Traffic]) {
    for table in traffic.iter().rev().filter(|table| table.about.covers(resource)).collect::<Vec<_>>() {
        for (key, number) in table.said.iter().filter(|(_, number)| *number > 0.0) {
            if resource.fact(*key).is_absent() {
                let why: Arc<str> = format!("set by `{}` in the settings", table.setting).into();
                let origin = FactOrigin::Inferred(why);
                resource.set(*key, Fact::known(FactValue::Number(*number), resource.span, origin));
            }
        }
    }
}
