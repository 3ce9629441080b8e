//! Finds volumes and file systems that are billed by themselves: those that a machine refers to, and those next to it.

use std::sync::Arc;

use crate::inventory::{DiskSpeed, Fact, FactOrigin, FactValue, Key, MachineDisk, Volume};

use super::super::block::EvaluatedBlock;
use super::disks::disks;
use super::fact::WantedType;
use super::language::{RowRole, RowTable, TypeRow};
use super::links::BlockIndex;
use super::scope::RowScope;

/// The maximum number of volumes next to machines that are listed.
const MOST_NEARBY: usize = 16;

/// Returns each volume that the block refers to, with its size, if known.
pub(super) fn volumes(table: &'static RowTable, index: &BlockIndex<'_>, block: &EvaluatedBlock) -> Fact<FactValue> {
    let mut named: Vec<String> = Vec::new();
    let mut first = None;
    for (address, place) in &block.references {
        let Some(volume) = index.instances(address).first() else { continue };
        let Some(row) = row_of(table, volume, RowRole::Storage) else { continue };
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

/// Returns the volumes that the block refers to and whose definition describes their size and kind.
pub(super) fn used_volumes(table: &'static RowTable, index: &BlockIndex<'_>, block: &EvaluatedBlock) -> Vec<Volume> {
    let mut found: Vec<Volume> = Vec::new();
    for (address, _) in &block.references {
        for volume in index.instances(address) {
            let row = row_of(table, volume, RowRole::Storage).filter(|row| !row.disks.is_empty());
            if let Some(row) = row.filter(|_| found.iter().all(|it| *it.name != volume.address)) {
                found.extend(read(volume, row, false));
            }
        }
    }
    found
}

/// Returns the volumes of a root that no machine refers to: disks without any user, and file systems.
pub(super) fn nearby(table: &'static RowTable, index: &BlockIndex<'_>, blocks: &[EvaluatedBlock]) -> Arc<[Volume]> {
    let is_machine = |block: &EvaluatedBlock| {
        let rows = block.labels.first().map_or(&[][..], |kind| table.of_type(kind));
        rows.iter().any(|row| matches!(row.role, RowRole::Rented | RowRole::Requested | RowRole::Template))
    };
    let free = blocks.iter().filter_map(|block| {
        if let Some(row) = row_of(table, block, RowRole::Storage) {
            return (!index.referrers(&block.address).any(is_machine)).then(|| read(block, row, false));
        }
        let row = row_of(table, block, RowRole::Disk)?;
        index.referrers(&block.address).next().is_none().then(|| read(block, row, true))
    });
    free.flatten().take(MOST_NEARBY).collect()
}

fn row_of(table: &'static RowTable, block: &EvaluatedBlock, role: RowRole) -> Option<&'static TypeRow> {
    let kind = block.labels.first().filter(|_| block.keyword == "resource" && !block.is_none())?;
    table.of_type(kind).iter().find(|row| row.role == role)
}

fn read(block: &EvaluatedBlock, row: &'static TypeRow, is_unused: bool) -> Vec<Volume> {
    let scope = RowScope::of(block);
    let mut found = disks(&scope, &row.disks);
    if found.is_empty() {
        let kind = Fact::unknown("its kind has no price in the catalog", block.span);
        found.push(MachineDisk { gib: gib(block, row), kind, count: Fact::Absent, speed: DiskSpeed::default() });
    }
    let instances = block.instances.clone().map(|count| FactValue::Number(count.expected));
    let of = |mut disk: MachineDisk| {
        if instances.value().and_then(FactValue::as_number) != Some(1.0) {
            disk.count = instances.clone();
        }
        Volume { name: block.address.as_str().into(), disk, is_unused }
    };
    found.into_iter().map(of).collect()
}

fn gib(block: &EvaluatedBlock, row: &'static TypeRow) -> Fact<FactValue> {
    let size = row.keyed.iter().find(|(key, _)| *key == Key::DiskGib);
    size.map_or(Fact::Absent, |(_, spec)| RowScope::of(block).fact(spec, WantedType::NUMBER))
}

fn named_with_size(address: &str, volume: &EvaluatedBlock, row: &'static TypeRow) -> String {
    match gib(volume, row).value().and_then(FactValue::as_number) {
        Some(gib) => format!("{address} ({gib} GiB)"),
        None => address.to_owned(),
    }
}
