//! Evaluated blocks → resources, by the rows of `resources/`.
//!
//! A row says for a type where each fact stands; the words are explained at the top of the table. This reader knows the
//! words and no type: what a row cannot say becomes a word for every row.

mod arguments;
mod build;
mod control;
mod count;
mod disks;
mod fact;
mod inverse;
mod labels;
mod language;
#[cfg(test)]
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
mod volumes;

pub(super) use inverse::{Assignment, Literal};
pub(super) use links::{BlockIndex, module_of};
pub(super) use node::{PlacedValue, ValueNode};
pub(super) use site::Site;
pub(super) use spot::Spot;

use std::collections::HashSet;

use crate::inventory::{Adjust, FrontEnd, RepeatedBlock, Resource, RunId};
use crate::source::Span;

use super::address;
use super::block::Block;
use build::Builder;
use language::RowRole;

pub(crate) use load::{providers, types, words};

/// Whether a row describes resources of the type.
pub(super) fn has_row(kind: &str) -> bool {
    !load::table().of_type(kind).is_empty()
}

/// Whether a row describes what resources of the type rent, request or are a template of.
pub(super) fn may_rent(kind: &str) -> bool {
    load::table().of_type(kind).iter().any(|row| !matches!(row.role, RowRole::Control | RowRole::Storage))
}

/// What the blocks rent and request, and with a count of none what those would that are switched off. The order is that
/// of the blocks. `default_maps` are what variables are as long as nobody assigns them.
pub(super) fn resources(
    (blocks, switched_off): (&[Block], &[Block]),
    default_maps: &[Span],
    front_end: FrontEnd,
    adjust: Option<(&dyn Adjust, &RunId)>,
) -> Vec<Resource> {
    let table = load::table();
    let index = BlockIndex::new(blocks, switched_off);
    let mut builder = Builder::new(table, &index, default_maps, front_end);
    let mut controls = Vec::new();
    for block in blocks.iter().chain(switched_off) {
        match (block.keyword.as_str(), block.labels.first()) {
            ("resource", Some(kind)) => {
                for (at, row) in table.of_type(kind).iter().enumerate() {
                    match row.role {
                        RowRole::Control => controls.push((block, row)),
                        RowRole::Storage => {}
                        _ => builder.add(block, kind, row, at == 0),
                    }
                }
            }
            ("module", _) if !index.is_expanded(block) => module::add(&mut builder, block),
            _ => {}
        }
    }
    let mut resources = builder.resources;
    control::apply(&controls, &index, &mut resources);
    if let Some((adjust, run)) = adjust {
        resources = resources.into_iter().flat_map(|built| built.adjusted(adjust, run)).collect();
    }
    reservations::settle(&mut resources);
    let mut resources: Vec<Resource> = resources.into_iter().map(|built| built.resource).collect();
    mark_declared_again(&mut resources);
    resources
}

/// Says of what several blocks declare that they are alternatives.
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
