//! Defines settings that rules can read.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::table::{Records, rows};
use super::{FactContext, kinds, unknown_sum};
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
            budgets: CelType::list(CelType::Any), "Budgets, each with name, label, value, owner, place, usd, months, monthly_usd, organization, elsewhere, elsewhere_in and elsewhere_rest." => |asking, _| {
                CelValue::list(asking.settings.budgets.iter().map(budget))
            };
            limits: CelType::list(CelType::Any), "Limits, each with name, label, value, accelerators, machines, resource_accelerators and resource_machines." => |asking, _| {
                CelValue::list(asking.settings.limits.iter().map(limit))
            };
            approvals_above_accelerators: CelType::Double, "Accelerators above which a resource needs an approval." => |asking, _| {
                asking.settings.approvals_above_accelerators.map_or(CelValue::Absent, CelValue::Double)
            };
            approvals_accelerators: CelType::list(CelType::Text), "Accelerators that always need an approval." => |asking, _| {
                CelValue::list(asking.settings.approvals_accelerators.iter().map(|it| CelValue::text(&**it)))
            };
            approvers: CelType::Text, "Who may approve." => |asking, _| {
                asking.settings.approvers.as_deref().map_or(CelValue::Absent, CelValue::text)
            };
            approves_up_to_usd: CelType::Double, "Dollars per month up to which a label or a review of a pull request approves a resource." => |asking, _| {
                asking.settings.approves_up_to_usd.map_or(CelValue::Absent, CelValue::Double)
            };
            reviewers: CelType::list(CelType::Text), "Users and teams whose review approves what a pull request adds." => |asking, _| {
                CelValue::list(asking.settings.reviewers.iter().map(|it| CelValue::text(&**it)))
            };
            approved_by: CelType::list(CelType::Text), "Those of `reviewers` who approved the newest commit of the pull request, as the code host reports them." => |asking, _| {
                CelValue::list(asking.settings.approved_by.iter().map(|it| CelValue::text(&**it)))
            };
            approving_label: CelType::Text, "Label on a pull request that approves what the change adds." => |asking, _| {
                asking.settings.approving_label.as_deref().map_or(CelValue::Absent, CelValue::text)
            };
            change_labels: CelType::list(CelType::Text), "Labels of the pull request, as the code host reports them." => |asking, _| {
                CelValue::list(asking.settings.change_labels.iter().map(|label| CelValue::text(&**label)))
            };
            is_pull_request: CelType::Flag, "True if the run compares a change, and the code host reports its labels or reviews." => |asking, _| {
                CelValue::Flag(asking.settings.is_pull_request)
            };
            approvals_above_usd: CelType::Double, "Dollars per month above which a resource needs a justification." => |asking, _| {
                asking.settings.approvals_above_usd.map_or(CelValue::Absent, CelValue::Double)
            };
        },
    )
});

fn budget(it: &Budget) -> CelValue {
    let mut map = CelMap::lenient(None);
    map.set("usd", CelValue::Double(it.usd));
    map.set("months", CelValue::Double(it.months));
    map.set("monthly_usd", CelValue::Double(it.usd / it.months));
    for (name, text) in [("owner", &it.owner), ("place", &it.place)] {
        if let Some(text) = text {
            map.set(name, CelValue::text(&**text));
        }
    }
    map.set("organization", CelValue::Flag(it.covers_organization));
    let elsewhere = it.elsewhere.as_ref();
    map.set("elsewhere", CelValue::Double(elsewhere.map_or(0.0, |it| it.usd)));
    if let Some((elsewhere, day)) = elsewhere.and_then(|it| Some((it, it.day?))) {
        let count = elsewhere.repositories;
        let noun = if count == 1 { "repository" } else { "repositories" };
        map.set("elsewhere_in", CelValue::text(format!("{count} other {noun} on {day}")));
    }
    let rest = elsewhere.and_then(|it| it.why_more.as_deref());
    map.set("elsewhere_rest", rest.map_or(CelValue::Double(0.0), |why| unknown_sum(&why.into())));
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
