//! How many there are: of a block that makes several machines, another number of machines.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inventory::{CountedIn, Fact, FrontEnd, Inventory, Range, Resource, RunId};

use super::scenario::Scenario;

/// No text makes more of one block.
const MOST: f64 = 10_000.0;

impl Scenario {
    pub(super) fn set_count(&self, inventory: &mut Inventory, count: Range) {
        let (whole, instances): (Vec<usize>, Vec<usize>) = (0..inventory.resources.len())
            .filter(|at| inventory.resources.get(*at).is_some_and(|it| self.is_about(&it.address)))
            .partition(|at| inventory.resources.get(*at).is_none_or(|it| !is_instance(it) || !is_exact(count)));
        for at in whole {
            let Some(it) = inventory.resources.get_mut(at) else { continue };
            let span = it.count.span().unwrap_or(it.span);
            it.count = Fact::written(count, span);
            it.counted_in = CountedIn::Machines;
            it.limits.clear();
        }
        let mut blocks: BTreeMap<(Option<RunId>, Arc<str>), Vec<usize>> = BTreeMap::new();
        for at in instances {
            let Some(it) = inventory.resources.get(at) else { continue };
            blocks.entry((it.run.clone(), it.declared.block.clone())).or_default().push(at);
        }
        let mut gone = vec![false; inventory.resources.len()];
        let mut more = Vec::new();
        for places in blocks.into_values() {
            let wanted = count.expected as usize;
            for at in places.iter().skip(wanted) {
                gone.get_mut(*at).into_iter().for_each(|it| *it = true);
            }
            for (number, at) in places.iter().enumerate().take(wanted) {
                if let Some(it) = inventory.resources.get_mut(*at) {
                    name(it, number);
                }
            }
            let last = places.last().and_then(|at| inventory.resources.get(*at)).cloned();
            for number in places.len()..wanted {
                more.extend(last.clone().map(|mut it| {
                    name(&mut it, number);
                    it
                }));
            }
        }
        let mut gone = gone.into_iter();
        inventory.resources.retain(|_| !gone.next().unwrap_or(false));
        inventory.resources.extend(more);
    }
}

fn is_exact(count: Range) -> bool {
    count.floor == count.ceiling && count.ceiling <= MOST
}

/// One machine of a block that makes as many as its `count` says, or one as long as it has none.
fn is_instance(it: &Resource) -> bool {
    let is_terraform = matches!(it.front_end, FrontEnd::Terraform | FrontEnd::Plan);
    let is_one = it.count.span() == Some(it.span) && it.count.value() == Some(&Range::exactly(1.0));
    let is_whole = *it.declared.address == *it.address;
    let key = it.address.strip_prefix(&*it.declared.block);
    let is_numbered = key.is_some_and(|key| {
        key.is_empty() || key.strip_prefix('[').and_then(|it| it.strip_suffix(']')).is_some_and(is_number)
    });
    is_terraform && is_one && is_whole && is_numbered
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn name(it: &mut Resource, number: usize) {
    it.address = format!("{}[{number}]", it.declared.block);
    it.declared.address = it.address.as_str().into();
}
