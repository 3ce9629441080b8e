//! Finds volumes and file systems that a machine refers to and that are billed separately.

use crate::inventory::{Fact, FactOrigin, FactValue, Key};

use super::super::block::EvaluatedBlock;
use super::fact::WantedType;
use super::language::{RowRole, RowTable, TypeRow};
use super::links::BlockIndex;
use super::scope::RowScope;

/// Returns each volume with its size, if known.
pub(super) fn volumes(table: &'static RowTable, index: &BlockIndex<'_>, block: &EvaluatedBlock) -> Fact<FactValue> {
    let mut named: Vec<String> = Vec::new();
    let mut first = None;
    for (address, place) in &block.references {
        let Some(volume) = index.instances(address).first() else { continue };
        let Some(row) = row_of(table, volume) else { continue };
        let text = named_with_size(address, volume, row);
        if !named.contains(&text) {
            named.push(text);
            first = first.or(Some(*place));
        }
    }
    match first {
        Some(place) => {
            let named = named.into_iter().map(Into::into).collect();
            Fact::known(FactValue::List(named), place, FactOrigin::Resolved)
        }
        None => Fact::Absent,
    }
}

fn row_of(table: &'static RowTable, block: &EvaluatedBlock) -> Option<&'static TypeRow> {
    let kind = block.labels.first().filter(|_| block.keyword == "resource" && !block.is_none())?;
    table.of_type(kind).iter().find(|row| row.role == RowRole::Storage)
}

fn named_with_size(address: &str, volume: &EvaluatedBlock, row: &TypeRow) -> String {
    let size = row.keyed.iter().find(|(key, _)| *key == Key::DiskGib);
    let size = size.map(|(_, spec)| RowScope::of(volume).fact(spec, WantedType::NUMBER));
    match size.as_ref().and_then(Fact::value).and_then(FactValue::as_number) {
        Some(gib) => format!("{address} ({gib} GiB)"),
        None => address.to_owned(),
    }
}
