//! Infers the purpose of a pool from the pods that run on it.

use std::collections::{BTreeMap, HashMap};

use crate::inventory::{BillingRole, Fact, FactOrigin, Inventory, Key, LinkKind, Purpose, Resource};
use crate::source::around;

use super::homes::HomeIndex;
use super::pools::is_pool;

/// Gives each pool without its own purpose the purpose of its pods, if they agree. If no pod selects the pool by name,
/// all pods that belong with it count.
pub(super) fn infer_purposes(inventory: &mut Inventory) {
    let homes_by_folder = HomeIndex::new(&inventory.resources);
    let of_pool = purposes_on_pools(inventory);
    let mut of_folder: HashMap<&str, Agreement> = HashMap::new();
    for pod in working_pods(inventory) {
        for folder in around(&pod.home.folder) {
            of_folder.entry(folder).or_default().add(pod.purpose());
        }
    }
    let beside = |it: &Resource| of_folder.get(homes_by_folder.folder_of_pods(&it.home)?)?.purpose();
    let inferred: Vec<(usize, Purpose, &str)> = inventory
        .resources
        .iter()
        .enumerate()
        .filter(|(_, it)| is_pool(it) && has_no_own_purpose(it))
        .filter_map(|(at, it)| match of_pool.get(it.address.as_str()) {
            Some(agreement) => Some((at, agreement.purpose()?, "the pods on it have this purpose")),
            // A resource that sets the model it serves does not host other pods.
            None if !it.fact(Key::Model).is_absent() => None,
            // A pool whose machine type is completely unknown may have no accelerators.
            None if !it.fact(Key::Accelerator).is_narrowed() && !it.fact(Key::Machine).is_narrowed() => None,
            // If users experiment on a pool, it may also have other purposes.
            None => {
                let purpose = beside(it).filter(|purpose| *purpose != Purpose::Interactive)?;
                Some((at, purpose, "all GPU pods of its folder have this purpose"))
            }
        })
        .collect();
    for (at, purpose, why) in inferred {
        let it = &mut inventory.resources[at];
        let span = it.span;
        it.set(Key::Purpose, Fact::known(purpose.into(), span, FactOrigin::Inferred(why.into())));
        it.set(Key::PurposeOfNetwork, Fact::Absent);
    }
}

/// Returns the purposes of the pods on each pool. Pods that can run elsewhere give no purpose, but they can contradict it.
fn purposes_on_pools(inventory: &Inventory) -> BTreeMap<&str, Agreement> {
    let mut of_pool: BTreeMap<&str, Agreement> = BTreeMap::new();
    for pod in working_pods(inventory).filter(|it| it.purpose().is_some()) {
        for link in pod.links.iter().filter(|link| link.kind == LinkKind::Pool) {
            of_pool.entry(&link.to).or_default().add(pod.purpose());
        }
    }
    for pod in working_pods(inventory) {
        for link in pod.links.iter().filter(|link| link.kind == LinkKind::PossiblePool) {
            if let Some(agreement) = of_pool.get_mut(link.to.as_str()) {
                agreement.add(pod.purpose());
            }
        }
    }
    of_pool
}

/// Returns the pods that show what their pool is for. Tests and infrastructure run on any pool.
fn working_pods(inventory: &Inventory) -> impl Iterator<Item = &Resource> {
    let pods = inventory.resources.iter().filter(|it| it.role == BillingRole::Requested);
    pods.filter(|it| !matches!(it.purpose(), Some(Purpose::Test | Purpose::Infra)))
}

fn has_no_own_purpose(resource: &Resource) -> bool {
    resource.fact(Key::Purpose).is_absent() || resource.flag(Key::PurposeOfNetwork) == Some(true)
}

/// The common purpose of several pods, if all of them agree.
#[derive(Default)]
struct Agreement {
    said: Option<Purpose>,
    broken: bool,
}

impl Agreement {
    fn add(&mut self, purpose: Option<Purpose>) {
        self.broken |= purpose.is_none() || self.said.is_some_and(|said| Some(said) != purpose);
        self.said = purpose;
    }

    fn purpose(&self) -> Option<Purpose> {
        self.said.filter(|_| !self.broken)
    }
}
