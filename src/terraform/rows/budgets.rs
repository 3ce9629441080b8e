//! Finds the budget of the cloud that covers everything in a root.

use crate::inventory::{Fact, FactValue, Key};

use super::super::block::EvaluatedBlock;
use super::fact::WantedType;
use super::language::{RowRole, RowTable};
use super::scope::{RowScope, Truth};

/// Returns the highest monthly limit of the budgets without filters; unknown if one of them is unknown.
pub(super) fn of_root(table: &'static RowTable, blocks: &[EvaluatedBlock]) -> Fact<FactValue> {
    let mut highest = Fact::Absent;
    for block in blocks.iter().filter(|block| block.keyword == "resource" && !block.is_none()) {
        let rows = block.labels.first().map_or(&[][..], |kind| table.of_type(kind));
        for row in rows.iter().filter(|row| row.role == RowRole::Budget) {
            let scope = RowScope::of(block);
            if matches!(scope.holds(&row.when), Truth::No) {
                continue;
            }
            let spec = row.keyed.iter().find(|(key, _)| *key == Key::CloudBudget);
            let limit = spec.map_or(Fact::Absent, |(_, spec)| scope.fact(spec, WantedType::NUMBER));
            let number = |fact: &Fact<FactValue>| fact.value().and_then(FactValue::as_number);
            highest = match (&highest, &limit) {
                (_, Fact::Absent) | (Fact::Unknown(_), _) => highest,
                (Fact::Absent, _) | (_, Fact::Unknown(_)) => limit,
                _ if number(&limit) > number(&highest) => limit,
                _ => highest,
            };
        }
    }
    highest
}
