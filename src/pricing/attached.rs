//! What a machine brings with it that is billed apart: its disks.

use crate::catalog::{Catalog, MoneyRange};
use crate::inventory::{Key, Range, Resource};

use super::Step;
use super::complete::plain;
use super::unit::dollars;

/// A cost beside that of the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Attached {
    pub monthly: MoneyRange,
    pub steps: Vec<Step>,
}

/// The disk of each machine, for whole months: a disk is paid for while its machine is stopped.
pub(super) fn attached(catalog: &Catalog, resource: &Resource, count: Option<Range>) -> Option<Attached> {
    let gib = resource.number(Key::DiskGib).filter(|gib| *gib > 0.0)?;
    let provider = resource.text(Key::Provider)?;
    let region = resource.text(Key::Region).unwrap_or_else(|| catalog.base_region(provider));
    let disk = catalog.disk(provider, resource.text(Key::DiskType), region, gib)?;
    let count = count?;
    let most = if count.ceiling.is_finite() { count.ceiling } else { count.expected };
    let monthly = MoneyRange {
        floor: disk.per_month.times(count.floor),
        expected: disk.per_month.times(count.expected),
        ceiling: disk.per_month.times(most),
    };
    let text = format!(
        "disk of {} GiB {} in {}: {}, {}; x {} machines",
        plain(gib),
        disk.kind,
        disk.region,
        disk.source,
        disk.as_of,
        plain(count.expected)
    );
    let each = Step { text: format!("{} a month each", dollars(disk.per_month)), result: Some(disk.per_month) };
    Some(Attached { monthly, steps: vec![each, Step { text, result: Some(monthly.expected) }] })
}
