//! Changes the number of machines of a block that creates several.

use crate::inventory::{CountedIn, Fact, Range, ReadBy, Resource};

/// No text makes more of one block.
const MOST: f64 = 10_000.0;

/// A resource with another count; of a block that makes one machine after the other, as many as are left of it.
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
    // Behind the last one of today, as the text would have them.
    let more = if place + 1 == today.max(1) { today.max(1)..wanted } else { 0..0 };
    let others = more.map(|number| named(it.clone(), number));
    // Where nobody knows how many there are, the first one stands for all.
    let stays = place < wanted && (place == 0 || place < today);
    stays.then(|| named(it.clone(), place)).into_iter().chain(others).collect()
}

/// A block that makes none is read as one of which there are none.
fn switched_off(it: Resource, none: Range) -> Vec<Resource> {
    let span = it.span;
    let mut first = (place(&it) == Some(0)).then(|| named(it, 0));
    first.iter_mut().for_each(|it| it.count = Fact::written(none, span));
    first.into_iter().collect()
}

/// One machine of a block that makes as many as its `count` says, or one as long as it has none.
pub(super) fn is_instance(it: &Resource) -> bool {
    let is_terraform = matches!(it.front_end, ReadBy::Terraform | ReadBy::Plan);
    let is_one = it.count.span() == Some(it.span) && it.count.value() == Some(&Range::exactly(1.0));
    // Of what is only a part of a block, the address says more.
    let is_whole = it.address.starts_with(&*it.declared.address)
        && it.address.get(it.declared.address.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("));
    is_terraform && is_one && is_whole && place(it).is_some()
}

/// Which of the machines of its block it is.
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
