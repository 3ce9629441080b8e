//! What the settings say of the traffic of servers, where the text itself says nothing.

use std::sync::Arc;

use crate::catalog::covers;
use crate::inventory::{Fact, Key, Origin, Resource, Value};

/// Which resources a table of the settings is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourceFilter {
    /// A form of addresses, `*` for any text; every resource where this is missing.
    pub address: Option<String>,
    /// A label that the resource must carry, with its value.
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

/// What some servers are asked for on a usual day.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traffic {
    pub about: ResourceFilter,
    pub said: Vec<(Key, f64)>,
}

/// What a label declares is nearer to the server; of several tables the last one decides.
pub(super) fn settle_traffic(resource: &mut Resource, traffic: &[Traffic]) {
    let why: Arc<str> = "set by `traffic` in the settings".into();
    for table in traffic.iter().rev().filter(|table| table.about.covers(resource)).collect::<Vec<_>>() {
        for (key, number) in table.said.iter().filter(|(_, number)| *number > 0.0) {
            if resource.fact(*key).is_absent() {
                let origin = Origin::Inferred(why.clone());
                resource.set(*key, Fact::known(Value::Number(*number), resource.span, origin));
            }
        }
    }
}
