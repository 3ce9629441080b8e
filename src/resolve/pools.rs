//! Matches pods to the node pools that they select, if both are in the same tree.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::inventory::accelerators::{is_put_by_cloud, names_pools};
use crate::inventory::{
    BillingRole, Fact, FactOrigin, FactValue, Inventory, Key, KnownFact, Link, LinkKind, Purchase, Range, Resource,
    Taint, UnknownFact, environment_in,
};
use crate::source::{Span, around};

use super::homes::{HomeIndex, is_within};

/// Facts that a pod inherits from its pool, unless its own manifest sets them.
const INHERITED: &[Key] = &[
    Key::Provider,
    Key::Region,
    Key::Machine,
    Key::Accelerator,
    Key::AcceleratorMemory,
    Key::SharedBy,
    Key::Sharing,
    Key::Purchase,
    Key::OnDemandBase,
    Key::SpotShare,
    Key::Placement,
];

/// Returns the vendor of a resource's accelerators, if it is known.
pub(super) type AcceleratorVendor<'v> = &'v dyn Fn(&Resource) -> Option<String>;

/// Links each pod to the pool whose labels it selects, among the pools that belong with it. A pod without a selector is
/// linked to the only pool whose devices it requests: the only one whose taint it tolerates, or the only one at all. If
/// several pools fit, it is linked to all of them as possible ones.
pub(super) fn link_pools(inventory: &mut Inventory, vendor: AcceleratorVendor<'_>) {
    join_named(inventory);
    let pools: Vec<usize> = positions(inventory, BillingRole::Rented, is_pool);
    let pods: Vec<usize> = positions(inventory, BillingRole::Requested, |pod| {
        let says = !pod.selector.labels.is_empty() || !pod.selector.taints.is_empty() || is_of_kubernetes(pod);
        says && pod.pools().next().is_none()
    });
    if pools.is_empty() || pods.is_empty() {
        return;
    }
    let index = PoolIndex::new(inventory, &pools);
    for pod in pods {
        let tolerated = || index.tolerated(inventory, pod, vendor);
        let mut near = NearPools::default();
        let only = || {
            near = index.near(inventory, pod, vendor);
            index.only(inventory, pod, &near)
        };
        let (selected, several) = match index.selected(inventory, pod) {
            Ok(join) => (Some(join), Vec::new()),
            Err(several) => (None, several),
        };
        let found = selected.or_else(tolerated).or_else(only);
        let Some(Join { pool, span, why }) = found else {
            let possible = if near.fitting.is_empty() { several } else { near.fitting };
            if !possible.is_empty() && possible.len() <= MOST_POSSIBLE {
                attach_possible(&mut inventory.resources, pod, &possible);
            }
            continue;
        };
        let count = nodes(inventory, &pools, pool, pod);
        let pool = inventory.resources[pool].clone();
        let pod = &mut inventory.resources[pod];
        attach(pod, &pool, span, why);
        if let Some(count) = count {
            pod.count = count;
        }
    }
}

/// Gives each pod the machines of the pool that its configuration names. A link to no machines of the same deployment,
/// or to several pools, does not show where the pod runs.
fn join_named(inventory: &mut Inventory) {
    let is_named = |it: &Resource| it.links.iter().any(|link| link.kind == LinkKind::Pool);
    for pod in positions(inventory, BillingRole::Requested, is_named) {
        let resource = &mut inventory.resources[pod];
        let (named, others) = std::mem::take(&mut resource.links).into_iter().partition(|it| it.kind == LinkKind::Pool);
        resource.links = others;
        let (named, run): (Vec<Link>, _) = (named, resource.run.clone());
        let has_name = |it: &&Resource, link: &Link| it.run == run && *it.declared.address == *link.to;
        let rented = || inventory.resources.iter().filter(|it| it.role == BillingRole::Rented);
        let mut pools = named.into_iter().filter_map(|link| {
            let pool = rented().find(|it| has_name(it, &link))?.clone();
            Some((link, pool))
        });
        if let (Some((link, pool)), None) = (pools.next(), pools.next()) {
            attach(&mut inventory.resources[pod], &pool, link.span, "the configuration names this pool".into());
        }
    }
}

/// Returns the number of nodes for a workload with one pod on each node: those of the matched pool, and of other pools
/// in the same place that can host the pod.
fn nodes(inventory: &Inventory, pools: &[usize], joined: usize, pod: usize) -> Option<Fact<Range>> {
    let (pool, pod) = (&inventory.resources[joined], &inventory.resources[pod]);
    if pod.flag(Key::OnEachNode) != Some(true) || !matches!(pod.count, Fact::Unknown(_)) {
        return None;
    }
    let beside = |it: &&Resource| (&it.run, &it.home.folder) == (&pool.run, &pool.home.folder) && hosts(it, pod);
    let all = pools.iter().map(|&at| &inventory.resources[at]).filter(beside);
    let mut counts = all.map(|it| it.count.value().copied());
    let sum = counts.try_fold(Range::exactly(0.0), |sum, count| Some(sum.plus(count?)))?;
    Some(Fact::known(sum, pool.count.span()?, FactOrigin::Resolved))
}

pub(super) fn is_pool(it: &Resource) -> bool {
    it.role == BillingRole::Rented && (!it.selector.labels.is_empty() || !it.selector.taints.is_empty())
}

fn positions(inventory: &Inventory, role: BillingRole, wanted: impl Fn(&Resource) -> bool) -> Vec<usize> {
    let all = inventory.resources.iter().enumerate();
    all.filter(|(_, it)| it.role == role && wanted(it)).map(|(at, _)| at).collect()
}

/// The limit on pools for one pod. If more pools fit, gpulint checks only the nearest ones.
const MOST_CANDIDATES: usize = 1_000;

/// The limit on pools that a pod can run on: more than a cluster usually has for accelerators.
const MOST_POSSIBLE: usize = 8;

/// A pool that a pod runs on, the line that proves the match, and the reason why both belong together.
struct Join {
    pool: usize,
    span: Span,
    why: Arc<str>,
}

/// Pools indexed by a label of their nodes, so that each pod is compared with few pools. Of equal pools in one place,
/// only the first is in the index. All lists are in the order of folders.
struct PoolIndex {
    pools: BTreeMap<(String, Arc<str>), Vec<usize>>,
    all: Vec<usize>,
    /// Pools with a taint that pods must tolerate.
    tainted: Vec<usize>,
    /// The position of each pool in the order of folders.
    order: HashMap<usize, usize>,
    homes_by_folder: HomeIndex,
}

impl PoolIndex {
    fn new(inventory: &Inventory, pools: &[usize]) -> Self {
        let mut by_label: BTreeMap<(String, Arc<str>), Vec<usize>> = BTreeMap::new();
        let mut alike: HashMap<String, usize> = HashMap::new();
        let folder = |at: usize| inventory.resources[at].home.folder.split('/');
        let mut pools = pools.to_vec();
        pools.sort_by(|&one, &other| folder(one).cmp(folder(other)).then(one.cmp(&other)));
        let (mut all, mut tainted) = (Vec::new(), Vec::new());
        let order = pools.iter().enumerate().map(|(place, &at)| (at, place)).collect();
        for at in pools {
            let pool = &inventory.resources[at];
            if *alike.entry(offer(pool)).or_insert(at) != at {
                continue;
            }
            all.push(at);
            if !pool.selector.taints.is_empty() {
                tainted.push(at);
            }
            for (key, fact) in &pool.selector.labels {
                if let Some(value) = fact.value() {
                    by_label.entry((key.clone(), value.clone())).or_default().push(at);
                }
            }
        }
        PoolIndex { pools: by_label, all, tainted, order, homes_by_folder: HomeIndex::new(&inventory.resources) }
    }

    /// Returns the pool that has every label the pod selects, and the place of the selector. If several pools with
    /// different machines have them, returns those.
    fn selected(&self, inventory: &Inventory, pod: usize) -> Result<Join, Vec<usize>> {
        let pod = &inventory.resources[pod];
        let with_carriers = pod.selector.labels.iter().find_map(|(key, asked)| {
            let carriers = self.carriers(key, asked);
            (!carriers.is_empty()).then_some((key, carriers))
        });
        let Some((key, carriers)) = with_carriers else { return Err(Vec::new()) };
        let candidates = nearest(inventory, &carriers, pod);
        let fitting = candidates.iter().map(|&at| (at, &inventory.resources[at])).filter(|(_, pool)| hosts(pool, pod));
        let together = fitting.filter_map(|(at, pool)| {
            let (near, why) = self.homes_by_folder.why(&pool.home, &pod.home, names_it(pool, pod))?;
            Some((near, at, why))
        });
        let mut together: Vec<_> = together.collect();
        let near = together.iter().map(|(near, ..)| *near).max();
        together.retain(|(it, ..)| Some(*it) == near);
        // The base of environments lacks their values.
        let is_added = |(_, at, _): &(_, usize, _)| inventory.resources[*at].is_added();
        if together.iter().any(is_added) {
            together.retain(is_added);
        }
        // Pods of production do not run on the pool of another environment.
        if together.len() > 1 {
            let of = |it: &Resource| it.run.as_ref().and_then(|run| environment_in(run.as_str()));
            let own = of(pod);
            let is_same = |(_, at, _): &(_, usize, _)| own.is_some() && of(&inventory.resources[*at]) == own;
            if together.iter().any(is_same) {
                together.retain(is_same);
            }
        }
        let several = || together.iter().map(|(_, at, _)| *at).collect();
        let Some((_, pool, why)) = together.first() else { return Err(Vec::new()) };
        let first = &inventory.resources[*pool];
        if together.iter().any(|(_, other, _)| !rents_the_same(first, &inventory.resources[*other])) {
            return Err(several());
        }
        let span = first.selector.labels.get(key).and_then(Fact::span).ok_or_else(several)?;
        Ok(Join { pool: *pool, span, why: why.clone() })
    }

    /// Returns the pools that have a label with the requested value, or with one of the possible values. If any value
    /// fits, returns all pools with the label.
    fn carriers(&self, key: &str, asked: &Fact<Arc<str>>) -> Cow<'_, [usize]> {
        let with = |value: &Arc<str>| self.pools.get(&(key.to_owned(), value.clone()));
        let several = match asked {
            Fact::Known(known) => return with(&known.value).map(Cow::from).unwrap_or_default(),
            Fact::Unknown(unknown) if !unknown.candidates.is_empty() => {
                unknown.candidates.iter().filter_map(with).collect::<Vec<_>>()
            }
            // A label that the cloud sets does not show whose nodes these are.
            Fact::Unknown(_) if !is_put_by_cloud(key) => {
                let from = (key.to_owned(), Arc::from(""));
                self.pools.range(from..).take_while(|((it, _), _)| it == key).map(|(_, pools)| pools).collect()
            }
            _ => return Cow::default(),
        };
        // The lists are in the order of folders, so the combined list must be, too.
        let mut all: Vec<usize> = several.into_iter().flatten().copied().collect();
        all.sort_by_key(|at| self.order.get(at));
        all.dedup();
        Cow::from(all)
    }

    /// Returns the only pool that has the devices of a pod without a selector, and a taint that the pod tolerates.
    fn tolerated(&self, inventory: &Inventory, pod: usize, vendor: AcceleratorVendor<'_>) -> Option<Join> {
        let pod = &inventory.resources[pod];
        let fits = without_selector(pod, vendor)?;
        let candidates = nearest(inventory, &self.tainted, pod).iter().map(|&at| (at, &inventory.resources[at]));
        let mut together = candidates.filter(|(_, pool)| fits(pool)).filter_map(|(at, pool)| {
            let (_, why) = self.homes_by_folder.why(&pool.home, &pod.home, false)?;
            let tolerates = |key: &Arc<str>| pod.selector.taints.iter().any(|it| it.key == *key);
            let span = pool.selector.taints.iter().find(|taint| tolerates(&taint.key))?.span;
            Some(Join {
                pool: at,
                span,
                why: format!("the pod tolerates the taint of the only pool that fits; {why}").into(),
            })
        });
        together.next().filter(|_| together.next().is_none())
    }

    /// Returns the only pool that fits a pod of Kubernetes without a selector, of the pools that belong with it.
    fn only(&self, inventory: &Inventory, pod: usize, near: &NearPools) -> Option<Join> {
        let [at] = near.fitting.as_slice() else { return None };
        let (pool, pod) = (&inventory.resources[*at], &inventory.resources[pod]);
        let (_, why) = self.homes_by_folder.why(&pool.home, &pod.home, false)?;
        let kind = if near.count == 1 { "with accelerators" } else { "that fits" };
        Some(Join { pool: *at, span: pool.span, why: format!("this is the only pool {kind}; {why}").into() })
    }

    /// Returns the pools with accelerators that belong with a pod of Kubernetes without a selector. If a pool is too
    /// many or unknown, none of them fits.
    fn near(&self, inventory: &Inventory, pod: usize, vendor: AcceleratorVendor<'_>) -> NearPools {
        let pod = &inventory.resources[pod];
        // An unknown label can select other nodes.
        let is_known = pod.selector.labels.values().all(|asked| matches!(asked, Fact::Known(_)));
        let fits = without_selector(pod, vendor).filter(|_| is_known && is_of_kubernetes(pod));
        let Some(fits) = fits else { return NearPools::default() };
        let belongs = |pool: &Resource| self.homes_by_folder.why(&pool.home, &pod.home, false).is_some();
        let candidates = nearest(inventory, &self.all, pod).iter().copied();
        let near: Vec<usize> =
            candidates.filter(|at| belongs(&inventory.resources[*at])).take(MOST_POSSIBLE + 1).collect();
        let count = near.len();
        // A pool of unknown machines can host the pod, too.
        let are_known = near.iter().all(|at| vendor(&inventory.resources[*at]).is_some());
        let fitting = near.into_iter().filter(|at| fits(&inventory.resources[*at]));
        NearPools { count, fitting: fitting.filter(|_| are_known && count <= MOST_POSSIBLE).collect() }
    }
}

/// The pools with accelerators that belong with a pod.
#[derive(Default)]
struct NearPools {
    count: usize,
    fitting: Vec<usize>,
}

/// Returns true for pods of Kubernetes. Tasks of ECS and jobs of Batch and Slurm have machines of their own.
fn is_of_kubernetes(pod: &Resource) -> bool {
    pod.metered.iter().any(|name| name.kind.is_some())
}

/// Returns a check whether a pool has the devices of a pod, if the pod selects no nodes by labels of their owner.
fn without_selector<'p>(pod: &'p Resource, vendor: AcceleratorVendor<'p>) -> Option<impl Fn(&Resource) -> bool + 'p> {
    if pod.selector.labels.keys().any(|key| !is_put_by_cloud(key)) {
        return None;
    }
    let wanted = vendor(pod)?;
    Some(move |pool: &Resource| {
        vendor(pool).as_ref() == Some(&wanted)
            && agrees(pool, pod, Key::Provider)
            && is_large_enough(pool, pod)
            && hosts(pool, pod)
    })
}

/// Returns the pools in the folders around a pod, from pools in the order of folders.
fn nearest<'p>(inventory: &Inventory, pools: &'p [usize], pod: &Resource) -> &'p [usize] {
    if pools.len() <= MOST_CANDIDATES {
        return pools;
    }
    let mut best: &[usize] = &[];
    for outer in around(&pod.home.folder) {
        let folder = |at: &usize| inventory.resources[*at].home.folder.split('/');
        let start = pools.partition_point(|at| folder(at).lt(outer.split('/')));
        let inside = pools.get(start..).unwrap_or_default();
        let count = inside
            .iter()
            .take(MOST_CANDIDATES + 1)
            .take_while(|at| is_within(&inventory.resources[**at].home.folder, outer));
        let count = count.count();
        if count > MOST_CANDIDATES {
            break;
        }
        best = inside.get(..count).unwrap_or_default();
    }
    best
}

/// Returns all properties of a pool that decide which pods it can host.
fn offer(pool: &Resource) -> String {
    let labels: Vec<_> = pool.selector.labels.iter().map(|(key, fact)| (key, fact.value())).collect();
    let taints: Vec<&str> = pool.selector.taints.iter().map(|taint| taint.key.as_ref()).collect();
    let texts = [Key::Machine, Key::Accelerator].map(|key| pool.text(key));
    let sizes = SIZES.map(|key| pool.number(key));
    format!("{:?} {labels:?} {taints:?} {texts:?} {sizes:?}", pool.home)
}

/// Returns whether a node of this pool could host the pod. Labels that the cloud sets are ignored. If the pod proves
/// in another way that it means this pool, other labels that the pool lacks are ignored too, because something else
/// sets them.
fn hosts(pool: &Resource, pod: &Resource) -> bool {
    let proven = is_proven(pool, pod);
    let labels = pod.selector.labels.iter().all(|(key, asked)| match (pool.selector.labels.get(key), asked) {
        (Some(Fact::Known(carried)), Fact::Known(asked)) => carried.value == asked.value,
        (Some(Fact::Known(carried)), Fact::Unknown(asked)) => {
            asked.candidates.is_empty() || asked.candidates.contains(&carried.value)
        }
        (Some(_), _) | (None, Fact::Absent) => true,
        (None, _) => proven || is_put_by_cloud(key),
    });
    let refused = pod.selector.refuses.iter().any(|(key, refused)| {
        pool.selector.labels.get(&**key).and_then(Fact::value).is_some_and(|carried| refused.covers(carried))
    });
    let taints = pool.selector.taints.iter().all(|taint| is_put_by_cloud(&taint.key) || tolerates(pod, taint));
    let agree = agrees(pool, pod, Key::Machine) && agrees(pool, pod, Key::Accelerator);
    // If a pod names a kind of accelerator and no pool, a pool that is too small does not match: it belongs to another
    // example.
    labels && !refused && taints && agree && (names_it(pool, pod) || is_large_enough(pool, pod))
}

fn tolerates(pod: &Resource, taint: &Taint) -> bool {
    pod.selector.taints.iter().any(|it| it.key == taint.key || it.key.is_empty())
}

/// Returns whether the pod names the pool, or has a label and a toleration that only the pool's owner defines.
fn is_proven(pool: &Resource, pod: &Resource) -> bool {
    let shared = |wanted: &dyn Fn(&str) -> bool| {
        pod.selector.labels.iter().any(|(key, asked)| {
            let carried = pool.selector.labels.get(key).and_then(Fact::value);
            wanted(key) && carried.is_some() && carried == asked.value()
        })
    };
    let named = shared(&|key| names_pools(key) && !key.ends_with("instance-type"));
    let own = |taint: &&Taint| !is_put_by_cloud(&taint.key);
    let tolerated =
        pool.selector.taints.iter().filter(own).any(|taint| pod.selector.taints.iter().any(|it| it.key == taint.key));
    named || tolerated && shared(&|key| !is_put_by_cloud(key))
}

/// Returns whether both pools use the same machine type, or the same candidates, as far as known.
fn rents_the_same(one: &Resource, other: &Resource) -> bool {
    match (one.fact(Key::Machine), other.fact(Key::Machine)) {
        (Fact::Unknown(one), Fact::Unknown(other)) => one.candidates == other.candidates,
        _ => one.text(Key::Machine) == other.text(Key::Machine),
    }
}

/// Returns whether the pod selects a label whose value the pool's owner set.
fn names_it(pool: &Resource, pod: &Resource) -> bool {
    pod.selector
        .labels
        .keys()
        .any(|key| pool.selector.labels.contains_key(key) && (!is_put_by_cloud(key) || names_pools(key)))
}

const SIZES: [Key; 3] = [Key::AcceleratorCount, Key::Cpus, Key::Memory];

fn is_large_enough(pool: &Resource, pod: &Resource) -> bool {
    SIZES.into_iter().all(|key| match (pool.number(key), pod.number(key)) {
        (Some(has), Some(asked)) => asked <= has,
        _ => true,
    })
}

/// Returns whether a fact of the pod was only guessed, such as an accelerator from the name of a pool.
fn is_guess(origin: &FactOrigin) -> bool {
    matches!(origin, FactOrigin::Assumed(_) | FactOrigin::Inferred(_))
}

fn agrees(pool: &Resource, pod: &Resource, key: Key) -> bool {
    if pod.fact(key).origin().is_some_and(is_guess) {
        return true;
    }
    match (pool.text(key), pod.text(key)) {
        (Some(pool), Some(pod)) => pool.eq_ignore_ascii_case(pod),
        _ => true,
    }
}

fn attach(pod: &mut Resource, pool: &Resource, span: Span, why: Arc<str>) {
    for &key in INHERITED {
        // The pod can run on any machine that the pool may use.
        let open = pool.fact(key).is_open() && matches!(key, Key::Machine | Key::Accelerator);
        if open && pod.fact(key).is_absent() {
            pod.set(key, pool.fact(key).clone());
        }
        let Fact::Known(known) = pool.fact(key) else { continue };
        let replace = match pod.fact(key) {
            Fact::Absent => true,
            Fact::Known(own) => is_guess(&own.origin),
            Fact::Unknown(_) => key != Key::Purchase,
        };
        if replace {
            let origin = known.origin.clone().weakest(FactOrigin::Resolved);
            pod.set(key, Fact::Known(KnownFact { origin, ..known.clone() }));
        }
    }
    pod.links.push(Link { kind: LinkKind::Pool, to: pool.address.clone(), span, why });
}

/// Links a pod to the pools that it can run on. It gets what all of them have, and their machines as candidates.
fn attach_possible(resources: &mut [Resource], pod: usize, pools: &[usize]) {
    let why: Arc<str> = format!("it can run on {} pools", pools.len()).into();
    let found: Vec<&Resource> = pools.iter().map(|&at| &resources[at]).collect();
    let facts: Vec<_> = INHERITED.iter().filter_map(|&key| Some((key, of_any(&found, key, &why)?))).collect();
    let to = |pool: &&Resource| Link {
        kind: LinkKind::PossiblePool,
        to: pool.address.clone(),
        span: pool.span,
        why: why.clone(),
    };
    let links: Vec<Link> = found.iter().map(to).collect();
    let pod = &mut resources[pod];
    for (key, fact) in facts {
        let replace = match pod.fact(key) {
            Fact::Absent => true,
            Fact::Known(own) => is_guess(&own.origin),
            Fact::Unknown(_) => key != Key::Purchase,
        };
        if replace {
            pod.set(key, fact);
        }
    }
    pod.links.extend(links);
}

/// Returns the fact of a pod that runs on one of these pools; `None` if a pool does not have it.
fn of_any(pools: &[&Resource], key: Key, why: &Arc<str>) -> Option<Fact<FactValue>> {
    let span = pools.iter().find_map(|pool| pool.fact(key).span())?;
    let mut origin = FactOrigin::Resolved;
    let mut candidates: Vec<FactValue> = Vec::new();
    for pool in pools {
        let values = match pool.fact(key) {
            Fact::Known(known) => {
                origin = origin.weakest(known.origin.clone());
                vec![known.value.clone()]
            }
            Fact::Unknown(unknown) => unknown.candidates.clone(),
            // Machines are on demand if nothing else is set.
            Fact::Absent if key == Key::Purchase => vec![Purchase::OnDemand.into()],
            Fact::Absent => return None,
        };
        if values.is_empty() {
            return None;
        }
        let more: Vec<FactValue> = values.into_iter().filter(|value| !candidates.contains(value)).collect();
        candidates.extend(more);
    }
    let may_be_spot = |value: &FactValue| {
        matches!(Purchase::of(value), Some(Purchase::Spot | Purchase::Mixed | Purchase::SpotOrOnDemand))
    };
    match (key, candidates.as_slice()) {
        (_, [value]) => Some(Fact::known(value.clone(), span, origin)),
        (Key::Machine | Key::Accelerator, _) => Some(Fact::Unknown(UnknownFact { span, why: why.clone(), candidates })),
        (Key::Purchase, values) if values.iter().any(may_be_spot) => {
            Some(Fact::known(Purchase::SpotOrOnDemand.into(), span, origin))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::purposes::infer_purposes;
    use super::*;
    use crate::inventory::{CountedAs, MeterName, Purpose, ReadBy, Refused};
    use crate::source::{MemoryTree, SourceFiles};

    fn span() -> Span {
        let sources = SourceFiles::new(MemoryTree::new().with("a", "text"));
        Span::new(sources.open("a").unwrap(), 0, 4)
    }

    fn resource(role: BillingRole, name: &str, labels: &[(&str, &str)]) -> Resource {
        let mut it = Resource::new(ReadBy::Terraform, role, "kind", name, span(), span());
        for (key, value) in labels {
            it.selector.labels.insert((*key).into(), Fact::written((*value).into(), span()));
        }
        it
    }

    fn pool(name: &str, machine: &str, labels: &[(&str, &str)]) -> Resource {
        let mut it = resource(BillingRole::Rented, name, labels);
        it.set(Key::Machine, Fact::written(FactValue::text(machine), span()));
        it
    }

    /// Returns the pools of each kind of link of the last resource.
    fn links(resources: Vec<Resource>) -> Vec<(LinkKind, String)> {
        let mut inventory = Inventory { resources, ..Inventory::default() };
        link_pools(&mut inventory, &|_| Some("nvidia".to_owned()));
        let pod = inventory.resources.pop();
        pod.into_iter().flat_map(|pod| pod.links).map(|link| (link.kind, link.to)).collect()
    }

    fn linked(resources: Vec<Resource>) -> Option<String> {
        links(resources).into_iter().find(|(kind, _)| *kind == LinkKind::Pool).map(|(_, to)| to)
    }

    #[test]
    fn a_pod_runs_on_the_pool_it_selects() {
        let a = pool("a", "g5.xlarge", &[("team", "x")]);
        let b = pool("b", "p5.48xlarge", &[("team", "y")]);
        let pod = resource(BillingRole::Requested, "pod", &[("team", "y"), ("cloud.google.com/zone", "1")]);
        assert_eq!(linked(vec![a, b, pod]).as_deref(), Some("b"));
    }

    #[test]
    fn a_pod_that_names_no_pool_does_not_mean_one_that_is_too_small() {
        let sized = |mut it: Resource, count: f64| {
            it.set(Key::AcceleratorCount, Fact::written(FactValue::Number(count), span()));
            it
        };
        let on = |key: &str, asked: f64| {
            let pool = sized(pool("a", "g2-standard-12", &[(key, "x")]), 1.0);
            linked(vec![pool, sized(resource(BillingRole::Requested, "pod", &[(key, "x")]), asked)])
        };
        assert_eq!(on("cloud.google.com/gke-accelerator", 1.0).as_deref(), Some("a"));
        assert_eq!(on("cloud.google.com/gke-accelerator", 2.0), None);
        assert_eq!(on("cloud.google.com/gke-nodepool", 2.0).as_deref(), Some("a"));
        assert_eq!(on("team", 2.0).as_deref(), Some("a"));
    }

    /// Comparing each pod with each pool would be four billion comparisons.
    #[test]
    fn thousands_of_pools_that_are_alike_are_one_for_thousands_of_pods() {
        const MANY: usize = 20_000;
        let pools = (0..MANY).map(|n| pool(&format!("p{n}"), "g5.xlarge", &[("team", "x")]));
        let pods = (0..MANY).map(|_| resource(BillingRole::Requested, "pod", &[("team", "x")]));
        let mut inventory = Inventory { resources: pools.chain(pods).collect(), ..Inventory::default() };
        link_pools(&mut inventory, &|_| Some("nvidia".to_owned()));
        let pods = inventory.resources.iter().skip(MANY);
        assert!(pods.flat_map(|pod| &pod.links).filter(|link| link.to == "p0").count() == MANY);
    }

    #[test]
    fn a_pool_is_for_what_runs_on_it() {
        let purposes = |pods: &[(&str, Purpose)]| {
            let mut resources = vec![pool("a", "g5.xlarge", &[("team", "x")])];
            for (team, purpose) in pods {
                let mut pod = resource(BillingRole::Requested, "pod", &[("team", *team)]);
                pod.set(Key::Purpose, Fact::written(FactValue::text(purpose.name()), span()));
                resources.push(pod);
            }
            let mut inventory = Inventory { resources, ..Inventory::default() };
            link_pools(&mut inventory, &|_| Some("nvidia".to_owned()));
            infer_purposes(&mut inventory);
            inventory.resources[0].text(Key::Purpose).map(str::to_owned)
        };
        use Purpose::{Inference, Test, Training};
        assert_eq!(purposes(&[("x", Inference), ("y", Training)]).as_deref(), Some("inference"));
        assert_eq!(purposes(&[("x", Inference), ("x", Training)]), None);
        assert_eq!(purposes(&[("y", Training), ("z", Test)]).as_deref(), Some("training"));
        assert_eq!(purposes(&[]), None);
    }

    #[test]
    fn a_pod_without_selectors_runs_on_the_only_pool_whose_taint_it_tolerates() {
        let tainted = |name: &str, machine: &str, key: &str| {
            let mut it = pool(name, machine, &[]);
            it.selector.taints.push(Taint { key: key.into(), value: None, effect: None, span: span() });
            it
        };
        let pod = |key: &str| {
            let mut it = resource(BillingRole::Requested, "pod", &[]);
            it.selector.taints.push(Taint { key: key.into(), value: None, effect: None, span: span() });
            it
        };
        let a = tainted("a", "g5.xlarge", "nvidia.com/gpu");
        assert_eq!(linked(vec![a.clone(), pod("nvidia.com/gpu")]).as_deref(), Some("a"));
        assert_eq!(linked(vec![a.clone(), pod("other")]), None, "it says nothing about this pool");
        let mut elsewhere = pod("nvidia.com/gpu");
        elsewhere.selector.labels.insert("team".into(), Fact::written("x".into(), span()));
        assert_eq!(linked(vec![a.clone(), elsewhere]), None, "it wants a node that nobody described");
        let b = tainted("b", "p5.48xlarge", "nvidia.com/gpu");
        assert_eq!(linked(vec![a, b, pod("nvidia.com/gpu")]), None, "two would do");
    }

    #[test]
    fn a_pod_that_several_pools_fit_is_linked_to_all_of_them() {
        let sized = |name: &str, machine: &str, count: f64| {
            let mut it = pool(name, machine, &[("pool", name)]);
            it.set(Key::AcceleratorCount, Fact::written(FactValue::Number(count), span()));
            it.set(Key::Provider, Fact::written(FactValue::text("aws"), span()));
            it
        };
        let pod = |asked: f64| {
            let mut it = resource(BillingRole::Requested, "pod", &[]);
            let (kind, name) = (Some("Deployment".into()), "pod".to_owned());
            it.metered.push(MeterName { kind, namespace: None, name, is_own: true });
            it.set(Key::AcceleratorCount, Fact::written(FactValue::Number(asked), span()));
            it
        };
        let linked = |resources: Vec<Resource>| {
            let mut inventory = Inventory { resources, ..Inventory::default() };
            link_pools(&mut inventory, &|_| Some("nvidia".to_owned()));
            inventory.resources.pop().unwrap()
        };
        let (small, large) = (sized("small", "g6.4xlarge", 1.0), sized("large", "p4d.24xlarge", 8.0));
        let mut spot = sized("spot", "g6.4xlarge", 1.0);
        spot.set(Key::Purchase, Fact::known(Purchase::Spot.into(), span(), FactOrigin::Default));

        let either = linked(vec![small.clone(), large.clone(), pod(1.0)]);
        assert_eq!(either.pools().collect::<Vec<_>>(), ["small", "large"]);
        assert!(either.links.iter().all(|link| link.kind == LinkKind::PossiblePool));
        assert_eq!(either.text(Key::Provider), Some("aws"));
        let Fact::Unknown(machine) = either.fact(Key::Machine) else { panic!("{:?}", either.fact(Key::Machine)) };
        assert_eq!(machine.candidates, ["g6.4xlarge", "p4d.24xlarge"].map(FactValue::text));
        assert!(either.fact(Key::Purchase).is_absent());

        let alike = linked(vec![small.clone(), spot.clone(), large.clone(), pod(1.0)]);
        assert_eq!(alike.purchase(), Some(Purchase::SpotOrOnDemand));
        assert_eq!(alike.fact(Key::Purchase).origin(), Some(&FactOrigin::Default), "as weak as that of the pool");

        let mut own = pod(1.0);
        own.set(Key::Machine, Fact::written(FactValue::text("g6.4xlarge"), span()));
        let own = linked(vec![small.clone(), spot, large.clone(), own]);
        assert_eq!((own.pools().count(), own.text(Key::Machine)), (2, Some("g6.4xlarge")));

        let only = linked(vec![small.clone(), large.clone(), pod(8.0)]);
        assert_eq!((&*only.links[0].to, only.links[0].kind), ("large", LinkKind::Pool), "only one is large enough");
        let mut task = pod(1.0);
        task.metered.clear();
        assert_eq!(linked(vec![small, large, task]).pools().count(), 0, "no pod of Kubernetes");
    }

    #[test]
    fn two_machines_are_both_possible() {
        let a = pool("a", "g5.xlarge", &[("team", "x")]);
        let b = pool("b", "p5.48xlarge", &[("team", "x")]);
        let pod = resource(BillingRole::Requested, "pod", &[("team", "x")]);
        let possible = |name: &str| (LinkKind::PossiblePool, name.to_owned());
        assert_eq!(links(vec![a.clone(), b.clone(), pod.clone()]), [possible("a"), possible("b")]);

        let mut base = b;
        base.counted = CountedAs::Base;
        assert_eq!(linked(vec![a, base, pod]).as_deref(), Some("a"), "an environment replaces the base");
    }

    #[test]
    fn who_writes_the_name_of_a_pool_may_ask_for_labels_that_something_else_gives() {
        let a = pool("a", "g5.xlarge", &[("karpenter.sh/nodepool", "gpu")]);
        let named = [("karpenter.sh/nodepool", "gpu"), ("disk", "ssd")];
        assert_eq!(linked(vec![a, resource(BillingRole::Requested, "pod", &named)]).as_deref(), Some("a"));
        let mut owned = pool("b", "g5.xlarge", &[("team", "x"), ("disk", "hdd")]);
        let taint = Taint { key: "dedicated".into(), value: None, effect: None, span: span() };
        owned.selector.taints.push(taint.clone());
        let asks = |labels: &[(&str, &str)]| {
            let mut pod = resource(BillingRole::Requested, "pod", labels);
            pod.selector.taints.push(taint.clone());
            linked(vec![owned.clone(), pod])
        };
        assert_eq!(asks(&[("team", "x"), ("zone", "a")]).as_deref(), Some("b"), "its label and its taint");
        assert_eq!(asks(&[("team", "x"), ("disk", "ssd")]), None, "it says another disk");
    }

    #[test]
    fn a_role_is_given_by_the_owner() {
        let a = pool("a", "g5.xlarge", &[("node-role.kubernetes.io/gpu", "")]);
        let role = |key: &str| linked(vec![a.clone(), resource(BillingRole::Requested, "pod", &[(key, "")])]);
        assert_eq!(role("node-role.kubernetes.io/gpu").as_deref(), Some("a"));
        assert_eq!(role("node-role.kubernetes.io/worker-gpu"), None);
        let mut other = resource(BillingRole::Requested, "pod", &[("node-role.kubernetes.io/worker-gpu", "")]);
        other.selector.taints.push(Taint { key: "nvidia.com/gpu".into(), value: None, effect: None, span: span() });
        let mut tainted = a;
        tainted.selector.taints.push(Taint { key: "nvidia.com/gpu".into(), value: None, effect: None, span: span() });
        assert_eq!(linked(vec![tainted, other]), None, "another role, and the taint that all have");
    }

    #[test]
    fn any_value_will_do_or_all_but_some() {
        let a = pool("a", "g5.xlarge", &[("team", "x")]);
        let b = pool("b", "p5.48xlarge", &[("team", "y"), ("disk", "ssd")]);
        let asks = |key: &str, values: &[&str], refuses: Option<Refused>| {
            let mut pod = resource(BillingRole::Requested, "pod", &[]);
            let candidates: Vec<Arc<str>> = values.iter().map(|it| Arc::from(*it)).collect();
            let any = UnknownFact { span: span(), why: "any".into(), candidates };
            pod.selector.labels.insert(key.into(), Fact::Unknown(any));
            pod.selector.refuses.extend(refuses.map(|it| (Arc::from(key), it)));
            linked(vec![a.clone(), b.clone(), pod])
        };
        assert_eq!(asks("disk", &[], None).as_deref(), Some("b"));
        assert_eq!(asks("team", &[], None), None, "both have one");
        assert_eq!(asks("team", &["y", "z"], None).as_deref(), Some("b"));
        assert_eq!(asks("team", &[], Some(Refused::Values(vec!["y".into()]))).as_deref(), Some("a"));
        assert_eq!(asks("disk", &[], Some(Refused::Any)), None);
    }

    #[test]
    fn a_label_or_taint_of_ones_own_keeps_pods_away() {
        let a = pool("a", "g5.xlarge", &[("team", "x")]);
        assert_eq!(
            linked(vec![a.clone(), resource(BillingRole::Requested, "pod", &[("team", "x"), ("disk", "ssd")])]),
            None
        );
        let mut tainted = a;
        tainted.selector.taints.push(Taint { key: "dedicated".into(), value: None, effect: None, span: span() });
        let mut pod = resource(BillingRole::Requested, "pod", &[("team", "x")]);
        assert_eq!(linked(vec![tainted.clone(), pod.clone()]), None);
        pod.selector.taints.push(Taint { key: "dedicated".into(), value: None, effect: None, span: span() });
        assert_eq!(linked(vec![tainted, pod]).as_deref(), Some("a"));
    }
}
