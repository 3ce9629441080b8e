//! Converts evaluated blocks to resources by the definitions of `resources/`.
//!
//! A definition lists the place of each fact of a type; comments at the top of the table explain the keys. This module
//! handles the keys and knows no type. If a definition needs more, a new key is added for all definitions.

mod arguments;
mod budgets;
mod build;
mod control;
mod count;
mod declaration;
mod disks;
mod fact;
mod inverse;
mod labels;
mod language;
mod like;
mod links;
mod load;
mod module;
mod node;
mod place;
mod programs;
mod reservations;
mod scope;
mod shifts;
mod site;
mod spot;
mod startup;
mod volumes;

pub(super) use inverse::{Literal, PlannedEdit};
pub(super) use language::{Companion, NeededBlock};
pub(super) use links::{BlockIndex, module_of};
pub(super) use node::{PlacedValue, ValueNode};
pub(super) use place::regions;
pub(super) use site::Site;
pub(super) use spot::Spot;

use std::collections::HashSet;

use crate::inventory::{BillingRole, FactOverrides, Key, ReadBy, RepeatedBlock, Resource, RunId};
use crate::source::Span;

use super::address;
use super::block::EvaluatedBlock;
use build::Builder;
use language::RowRole;

pub(crate) use like::TypeRows;
pub(crate) use load::{add_types, providers, types, words};

/// Returns whether a definition describes resources of the type.
pub(super) fn has_row(kind: &str) -> bool {
    !load::table().of_type(kind).is_empty()
}

/// Returns whether a definition describes resources of the type that provision, request or are templates.
pub(crate) fn may_rent(kind: &str) -> bool {
    load::table()
        .of_type(kind)
        .iter()
        .any(|row| !matches!(row.role, RowRole::Control | RowRole::Storage | RowRole::Disk | RowRole::Budget))
}

/// Returns the resources that blocks provision and request, in the order of the blocks. Blocks with a count of 0 give
/// switched-off resources. `default_maps` has the defaults of variables that no file assigns.
pub(super) fn resources(
    (blocks, switched_off): (&[EvaluatedBlock], &[EvaluatedBlock]),
    default_maps: &[Span],
    front_end: ReadBy,
    adjust: Option<(&dyn FactOverrides, &RunId)>,
) -> Vec<Resource> {
    let table = load::table();
    let index = BlockIndex::new(blocks, switched_off);
    let mut builder = Builder::new(table, &index, blocks, default_maps, front_end);
    let mut controls = Vec::new();
    for block in blocks.iter().chain(switched_off) {
        match (block.keyword.as_str(), block.labels.first()) {
            ("resource", Some(kind)) => {
                for (at, row) in table.of_type(kind).iter().enumerate() {
                    match row.role {
                        RowRole::Control => controls.push((block, row)),
                        RowRole::Storage | RowRole::Disk | RowRole::Budget => {}
                        _ => builder.add(block, kind, row, at == 0),
                    }
                }
            }
            ("module", _) if !index.is_expanded(block) => module::add(&mut builder, block),
            _ => {}
        }
    }
    let mut resources = builder.resources;
    let nearby = volumes::nearby(table, &index, blocks);
    let budget = budgets::of_root(table, blocks);
    for it in resources.iter_mut().filter(|it| it.resource.role == BillingRole::Rented) {
        it.resource.nearby_volumes = nearby.clone();
        it.resource.set(Key::CloudBudget, budget.clone());
    }
    control::apply(&controls, &index, &mut resources);
    if let Some((adjust, run)) = adjust {
        resources = resources.into_iter().flat_map(|built| built.adjusted(adjust, run)).collect();
    }
    reservations::subtract_reserved_machines(&mut resources);
    let mut resources: Vec<Resource> = resources.into_iter().map(|built| built.resource).collect();
    mark_declared_again(&mut resources);
    resources
}

/// Marks resources of repeated declarations as alternatives.
fn mark_declared_again(resources: &mut [Resource]) {
    let again = resources.iter().filter_map(|it| Some(address::declaration(&it.declared.block)?.0));
    let again: HashSet<String> = again.map(str::to_owned).collect();
    if again.is_empty() {
        return;
    }
    for it in resources {
        let block = it.declared.block.clone();
        let first = || address::around(&block).find(|part| again.contains(*part)).map(|part| (part, 1));
        let declaration = address::declaration(&block).or_else(first);
        it.repeated = declaration.map(|(address, number)| RepeatedBlock { address: address.into(), number });
    }
}
