//! Defines settings that rules can read.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::table::{Records, rows};
use super::{FactContext, kinds};
use crate::inventory::SupportingComponent;
use crate::languages::cel::{CelMap, CelType, CelValue};
use crate::rules::{Budget, CountLimit};

static LABELS: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "label settings",
        kinds::LABELS,
        None,
        rows! {
            required: CelType::list(CelType::Text), "Label keys that every resource must have. If empty: at least one that attributes cost." => |asking, _| {
                CelValue::list(asking.settings.required_labels.iter().map(|key| CelValue::text(&**key)))
            };
            values: CelType::map(CelType::Text, CelType::list(CelType::Text)), "Allowed values of each label, by its key." => |asking, _| {
                texts(&asking.settings.label_values)
            };
        },
    )
});

pub(super) static SETTINGS: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "settings",
        kinds::SETTINGS,
        None,
        rows! {
            labels: LABELS.holds(), "Settings for labels." => |_, id| LABELS.value(id);
            tiers: CelType::map(CelType::Text, CelType::list(CelType::Text)), "Allowed accelerators for each purpose." => |asking, _| {
                texts(&asking.settings.tiers)
            };
            budgets: CelType::list(CelType::Any), "Budgets, each with name, label, value and monthly_usd." => |asking, _| {
                CelValue::list(asking.settings.budgets.iter().map(budget))
            };
            limits: CelType::list(CelType::Any), "Limits, each with name, label, value, accelerators, machines, resource_accelerators and resource_machines." => |asking, _| {
                CelValue::list(asking.settings.limits.iter().map(limit))
            };
            approving_label: CelType::Text, "Label on a pull request that approves what the change adds." => |asking, _| {
                asking.settings.approving_label.as_deref().map_or(CelValue::Absent, CelValue::text)
            };
            change_labels: CelType::list(CelType::Text), "Labels of the pull request, as the code host reports them." => |asking, _| {
                CelValue::list(asking.settings.change_labels.iter().map(|label| CelValue::text(&**label)))
            };
            approvals_above_usd: CelType::Double, "Dollars per month above which a resource needs a justification." => |asking, _| {
                asking.settings.approvals_above_usd.map_or(CelValue::Absent, CelValue::Double)
            };
        },
    )
});

fn budget(it: &Budget) -> CelValue {
    let mut map = CelMap::lenient(None);
    map.set("monthly_usd", CelValue::Double(it.monthly_usd));
    of_somebody(map, &it.name, it.label.as_ref())
}

fn limit(it: &CountLimit) -> CelValue {
    let mut map = CelMap::lenient(None);
    for (name, most) in [
        ("accelerators", it.accelerators),
        ("machines", it.machines),
        ("resource_accelerators", it.resource_accelerators),
        ("resource_machines", it.resource_machines),
    ] {
        if let Some(most) = most {
            map.set(name, CelValue::Double(most));
        }
    }
    of_somebody(map, &it.name, it.label.as_ref())
}

fn of_somebody(mut map: CelMap, name: &str, label: Option<&(String, String)>) -> CelValue {
    map.set("name", CelValue::text(name));
    if let Some((label, value)) = label {
        map.set("label", CelValue::text(label.as_str()));
        map.set("value", CelValue::text(value.as_str()));
    }
    CelValue::Map(Arc::new(map))
}

fn texts(lists: &BTreeMap<String, Vec<String>>) -> CelValue {
    let mut map = CelMap::lenient(None);
    for (name, items) in lists {
        map.set(name, CelValue::list(items.iter().map(|it| CelValue::text(&**it))));
    }
    CelValue::Map(Arc::new(map))
}

pub(super) static TREE: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "tree",
        kinds::TREE,
        None,
        rows! {
            metrics: CelType::Flag, "True if the files define an exporter of accelerator metrics." => |asking, _| has(asking, SupportingComponent::Metrics);
            quota: CelType::Flag, "True if the files define a quota for a namespace." => |asking, _| has(asking, SupportingComponent::Quota);
            queue: CelType::Flag, "True if the files define a queue for batch work." => |asking, _| has(asking, SupportingComponent::Queue);
            priority: CelType::Flag, "True if the files define priority classes." => |asking, _| has(asking, SupportingComponent::Priority);
            karpenter: CelType::Flag, "True if the files install Karpenter on AWS." => |asking, _| has(asking, SupportingComponent::Karpenter);
            interruption_queue: CelType::Flag, "True if the files give Karpenter a queue of interruptions." => |asking, _| has(asking, SupportingComponent::InterruptionQueue);
            budget: CelType::Flag, "True if the files define a cloud budget." => |asking, _| has(asking, SupportingComponent::Budget);
        },
    )
});

fn has(asking: &FactContext<'_>, sign: SupportingComponent) -> CelValue {
    CelValue::Flag(asking.world.inventory.signs.contains_key(&sign))
}

pub(super) fn all() -> [&'static Records; 3] {
    [&LABELS, &SETTINGS, &TREE]
}
