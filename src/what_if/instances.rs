//! Changes the number of machines of a block that creates several.

use crate::inventory::{CountedIn, Fact, Range, ReadBy, Resource};

/// The maximum number of machines of one block.
const MOST: f64 = 10_000.0;

/// Returns the resources with another count. For a block that creates machines one by one, it removes or adds
/// machines.
pub(super) fn counted(mut it: Resource, count: Range, today: usize) -> Vec<Resource> {
    let is_exact = count.floor == count.ceiling && count.ceiling <= MOST;
    if !is_exact || !is_instance(&it) {
        let span = it.count.span().unwrap_or(it.span);
        it.count = Fact::written(count, span);
        it.counted_in = CountedIn::Machines;
        it.limits.clear();
        return vec![it];
    }
    let wanted = count.expected as usize;
    if wanted == 0 {
        return switched_off(it, count);
    }
    let place = place(&it).unwrap_or(0);
    // Adds machines after the block's last machine of today, as Terraform would number them.
    let more = if place + 1 == today.max(1) { today.max(1)..wanted } else { 0..0 };
    let others = more.map(|number| named(it.clone(), number));
    // If the number of machines is unknown, the first machine represents all.
    let stays = place < wanted && (place == 0 || place < today);
    stays.then(|| named(it.clone(), place)).into_iter().chain(others).collect()
}

/// Keeps the first machine with a count of zero, as gpulint reads a block that creates none.
fn switched_off(it: Resource, none: Range) -> Vec<Resource> {
    let span = it.span;
    let mut first = (place(&it) == Some(0)).then(|| named(it, 0));
    first.iter_mut().for_each(|it| it.count = Fact::written(none, span));
    first.into_iter().collect()
}

/// Whether the resource is one machine of a Terraform block, with or without a `count`.
pub(super) fn is_instance(it: &Resource) -> bool {
    let is_terraform = matches!(it.front_end, ReadBy::Terraform | ReadBy::Plan);
    let is_one = it.count.span() == Some(it.span) && it.count.value() == Some(&Range::exactly(1.0));
    // A resource that is only a part of a block has a longer address.
    let is_whole = it.address.starts_with(&*it.declared.address)
        && it.address.get(it.declared.address.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("));
    is_terraform && is_one && is_whole && place(it).is_some()
}

/// Returns the machine's index in its block.
fn place(it: &Resource) -> Option<usize> {
    match it.declared.address.strip_prefix(&*it.declared.block)? {
        "" => Some(0),
        key => key.strip_prefix('[')?.strip_suffix(']')?.parse().ok(),
    }
}

fn named(mut it: Resource, number: usize) -> Resource {
    it.address = format!("{}[{number}]", it.declared.block);
    it.declared.address = it.address.as_str().into();
    it
}
