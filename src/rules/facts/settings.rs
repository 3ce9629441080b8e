//! What is configured.

use std::sync::{Arc, LazyLock};

use super::kinds;
use super::table::{Records, rows};
use crate::rules::Budget;
use crate::rules::cel::{Map, Type, Value};

static LABELS: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "label settings",
        kinds::LABELS,
        None,
        rows! {
            required: Type::list(Type::Text), "Keys that everything must carry; none: at least one that attributes cost." => |asking, _| {
                Value::list(asking.settings.required_labels.iter().map(|key| Value::text(&**key)))
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
            labels: LABELS.holds(), "What is configured about labels." => |_, id| LABELS.value(id);
            tiers: Type::map(Type::Text, Type::list(Type::Text)), "The accelerators that each purpose may use." => |asking, _| {
                let mut map = Map::lenient(None);
                for (purpose, accelerators) in &asking.settings.tiers {
                    map.set(purpose, Value::list(accelerators.iter().map(|it| Value::text(&**it))));
                }
                Value::Map(Arc::new(map))
            };
            budgets: Type::list(Type::Any), "Budgets, each with name, label, value and monthly_usd." => |asking, _| {
                Value::list(asking.settings.budgets.iter().map(budget))
            };
            approvals_above_usd: Type::Double, "Dollars a month above which a resource must be justified." => |asking, _| {
                asking.settings.approvals_above_usd.map_or(Value::Absent, Value::Double)
            };
        },
    )
});

fn budget(it: &Budget) -> Value {
    let mut map = Map::lenient(None);
    map.set("name", Value::text(it.name.as_str()));
    map.set("monthly_usd", Value::Double(it.monthly_usd));
    if let Some((label, value)) = &it.label {
        map.set("label", Value::text(label.as_str()));
        map.set("value", Value::text(value.as_str()));
    }
    Value::Map(Arc::new(map))
}

pub(super) fn all() -> [&'static Records; 2] {
    [&LABELS, &SETTINGS]
}
