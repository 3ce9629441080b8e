//! Provides the facts of a resource: values that the files set, and values computed from them.

use std::sync::{Arc, LazyLock};

use super::fit::{FIT, fit};
use super::hosted::{self, HOSTED};
use super::lost_work::LOST_WORK;
use super::market::MARKET;
use super::measured::{self, REMOVABLE, SMALLER};
use super::money::BILL;
use super::pod::{self, POD};
use super::speed::{self, COST, RUN, SPEED};
use super::table::{FactRow, FieldAnswer, Records, rows};
use super::{End, FactContext, belonging, derived, kinds, unknown_fact, unknown_sum};
use crate::inventory::{self, Fact, FactOrigin, FactValue, Key, Purchase, Range};
use crate::languages::cel::{CelMap, CelType, CelValue, UnknownSubject, UnknownValue};
use crate::pricing;
use crate::rules::ApprovedResource;

pub(super) static COUNT: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "count",
        kinds::COUNT,
        Some("expected"),
        rows! {
            floor: CelType::Double, "Always." => |asking, id| of_count(asking, id, |it| it.floor);
            expected: CelType::Double, "Expected number, as the files set it." => |asking, id| match asking.end.get() {
                End::Floor => of_count(asking, id, |it| it.floor),
                End::Expected => of_count(asking, id, |it| it.expected),
                End::Ceiling => of_count(asking, id, |it| it.ceiling),
            };
            ceiling: CelType::Double, "Maximum number. Infinite if nothing limits it." => |asking, id| of_count(asking, id, |it| it.ceiling);
            peak: CelType::Double, "Maximum number, also at times that a schedule sets." => peak;
        },
    )
});

static LINK: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "link",
        kinds::LINK,
        None,
        rows! {
            kind: CelType::Text, "Kind of link. A pod that can run on one of several pools has a link `possible-pool` to each." => |asking, id| of_link(asking, id, |it| CelValue::text(it.kind.name()));
            to: CelType::Text, "Address of the other resource." => |asking, id| of_link(asking, id, |it| CelValue::text(&*it.to));
        },
    )
});

pub(super) static RESOURCE: LazyLock<Records> = LazyLock::new(|| {
    let stated = |key: &Key| FactRow {
        name: key.name(),
        holds: type_of(key.value_type()),
        meaning: key.meaning(),
        answer: FieldAnswer::Stated(*key),
    };
    let mut all: Vec<FactRow> = Key::ALL.iter().map(stated).collect();
    all.extend(rows! {
        address: CelType::Text, "Address of the resource in its own tool." => |asking, id| asking.of(id, |it| CelValue::text(&*it.address));
        kind: CelType::Text, "Terraform type or Kubernetes kind." => |asking, id| asking.of(id, |it| CelValue::text(&*it.kind));
        path: CelType::Text, "File that contains the resource." => |asking, id| belonging::path(asking, RESOURCE.handle(id));
        root: CelType::Text, "Directory from which the resource is applied: its Terraform root, its chart, its kustomization or its folder." => |asking, id| belonging::root(asking, RESOURCE.handle(id));
        applied_in: CelType::Text, "Deployment that applies the resource, as reports name it: its root, with the values or variables that \
         distinguish it from other deployments of the root." => |asking, id| belonging::applied_in(asking, RESOURCE.handle(id));
        application: CelType::Text, "Application in its labels: app.kubernetes.io/part-of, else instance or name of these, else application or app." => |asking, id| belonging::application(asking, RESOURCE.handle(id));
        in_namespace: CelType::Text, "Namespace in its manifest." => |asking, id| belonging::namespace(asking, RESOURCE.handle(id));
        role: CelType::Text, "rented: a provisioned machine; requested: accelerators that a pod asks for." => |asking, id| asking.of(id, |it| CelValue::text(it.role.name()));
        front_end: CelType::Text, "Where the resource was read: terraform, plan, kubernetes or chart." => |asking, id| asking.of(id, |it| CelValue::text(it.front_end.name()));
        count: COUNT.holds(), "Number of machines or pods." => count;
        labels: CelType::map(CelType::Text, CelType::Text), "Labels, tags and annotations that attribute the cost." => labels;
        taggable: CelType::Flag, "True if the type accepts labels that appear on the bill." => |asking, id| asking.of(id, |it| CelValue::Flag(it.labels.taggable));
        label_keys_beside: CelType::list(CelType::Text), "Keys of the labels or tags of other resources in the same deployment. Not set if \
         there are none." => |asking, id| asking.of(id, label_keys_beside);
        assumed: CelType::list(CelType::Text), "Names of the facts that the files do not set and for which gpulint uses a value of its settings \
         or of its price list: 'region' in assumed." => |asking, id| asking.of(id, assumed);
        approved_usd: CelType::Double, "Dollars per month that `[[approved]]` allows for the resource today. Not set without an entry." => approved_usd;
        pool_accelerators: CelType::Double, "For a pod: maximum accelerators of the largest pool that it can run on. Not set without a pool." => pool_accelerators;
        superseded: CelType::Flag, "True if another version of the same object exists in the files and the totals count that one instead." => |asking, id| asking.of(id, |it| CelValue::Flag(it.version_of.is_some()));
        counted: CelType::Text, "How the totals count the resource: deployed, or the reason why they leave it out, such as example or excluded." => |asking, id| asking.of(id, |it| CelValue::text(it.counted.name()));
        is_paid: CelType::Flag, "True if the totals count its cost here: a machine, or a pod on no machine of the files." => is_paid;
        links: CelType::list(LINK.holds()), "Links to other resources." => links;
        bill: BILL.holds(), "Cost of the resource." => |_, id| BILL.value(id);
        market: MARKET.holds(), "Cheaper regions and providers for the same machine." => |_, id| MARKET.value(id);
        fit: FIT.holds(), "Whether the model fits." => fit;
        speed: SPEED.holds(), "Estimate of the speed at which the model answers: for all accelerators of one machine or pod at full load. \
         Set if enough such servers were measured." => speed::speed;
        cost: COST.holds(), "Cost of tokens, requests, seats and runs, if known." => |_, id| COST.value(id);
        run: RUN.holds(), "Duration of training, if known." => |_, id| RUN.value(id);
        lost_work: LOST_WORK.holds(), "Cost of starts, interruptions and repeated work, as far as it is known." => |_, id| LOST_WORK.value(id);
        hosted: HOSTED.holds(), "Price of the same model at public hosts. Not set if its data is declared private." => hosted::hosted;
        object: CelType::Any, "The manifest of the resource as written." => |asking, id| text_of(asking, id, |it| asking.raws.of_resource(asking.world, it, true));
        block: CelType::Any, "The Terraform block of the resource, evaluated." => |asking, id| text_of(asking, id, |it| asking.raws.of_resource(asking.world, it, false));
        pod: POD.holds(), "The pod of the resource, whatever object creates it." => |asking, id| text_of(asking, id, |it| pod::of_resource(asking, it));
        taints: CelType::list(CelType::Any), "Taints of the pool's nodes: {key, value, effect}." => |asking, id| asking.of(id, pod::taints);
        node_labels: CelType::map(CelType::Text, CelType::Text), "Labels of the pool's nodes." => |asking, id| asking.of(id, pod::node_labels);
        gpus: CelType::Text, "For messages: number and name of the accelerators, such as 2 × 8 A100-80GB." => |asking, id| asking.of(id, |it| CelValue::text(derived::gpus(it)));
        copies: CelType::Double, "Minimum number of copies that answer requests: groups of pods if one copy spans several pods, else pods or machines." => |asking, id| asking.of(id, derived::copies);
        only_waits: CelType::Flag, "True for a pod that holds its accelerators while idle, and that neither requests nor an autoscaler start or stop." => |asking, id| asking.of(id, derived::only_waits);
        asks_no_spot: CelType::Flag, "True for a pod that ends by itself, selects a cloud's machine and does not request spot, if no pool or \
         queue decides this instead." => |asking, id| asking.of(id, derived::asks_no_spot);
        may_rest: CelType::Flag, "True if it may stop for hours. Certain only if the files mark it as not production." => |asking, id| asking.of(id, derived::may_rest);
        floor_if_any: CelType::Double, "Number that always runs, unless the count is zero: a condition that is unknown may create none." => |asking, id| asking.of(id, derived::floor_if_any);
        base: CelType::Double, "Machines that are eligible for a commitment: they always run in production and are billed by the hour. \
         Machines that end, are scheduled or leased, scale, or are committed already on the bill do not count." => base;
        base_beside: CelType::Double, "Machines of the same type and region that always run in production and are billed by the hour. Not set \
         if there are none." => base_beside;
        gpus_used: CelType::Double, "Accelerators of one machine or pod that the declared parallelism uses." => |asking, id| asking.of(id, derived::gpus_used);
        gpus_needed: CelType::Double, "Accelerators for one copy of the model: tensor × pipeline." => |asking, id| asking.of(id, derived::gpus_needed);
        surely_busy: CelType::Double, "Measured mean share of the time in which its accelerators worked. Set if the metric does not \
         overestimate and the measured workload is certain." => |asking, id| asking.of(id, measured::surely_busy);
        copies_needed: CelType::Double, "Copies that the measured peak of requests would need, plus half as many again: by the requests that \
         one copy answers at a time and by its cache." => |asking, id| asking.of(id, measured::copies_needed);
        removable: REMOVABLE.holds(), "Replicas or machines that can be removed one by one. For a single one, its accelerators, unless one \
         program computes on all of them. Not set if it scales and the number was not measured." => measured::removable;
        copies_for_traffic: CelType::Double, "Copies that the declared or measured tokens need at three times their mean rate, by the slower \
         end of the speed estimate. At least two in production. Not set if one of both is unknown." => measured::copies_for_traffic;
        measured_smaller: SMALLER.holds(), "Cheapest machine with as many smaller accelerators that fits the measured memory and would be \
         at most 70% busy. Not set if it is not cheaper." => measured::measured_smaller;
        served_smaller: SMALLER.holds(), "Cheapest machine with less memory that fits the server's model and one and a half times the \
         measured cache, and is fast enough. Not set if it is not cheaper." => measured::served_smaller;
        smaller_for_pods: SMALLER.holds(), "Cheapest machine with the same accelerator and enough of them for all pods of a pool. Not set if \
         it is not cheaper." => measured::smaller_for_pods;
        retired_on: CelType::Text, "Date from which the cloud does not run its machine type any more: a date or a year." => retired_on;
        newer: SMALLER.holds(), "Machine of the same provider with newer accelerators and as much memory, at the lowest cost of the same \
         work by memory bandwidth and arithmetic. Not set if the work does not cost less there." => measured::newer;
        entry: SMALLER.holds(), "Cheapest machine with as many accelerators of the smallest current kinds, to write and test code. Not \
         set if it is not cheaper." => measured::entry;
        parallelism: CelType::Integer, "Accelerators that the declared parallelism uses: tensor × pipeline × data." => |asking, id| asking.of(id, derived::parallelism);
    });
    let mut records = Records::new("resource", kinds::RESOURCE, None, all);
    records.schema.has_facts = true;
    records
});

/// Returns the retirement date of the machine type. If the type is one of several, the date is unknown, unless none of
/// them has one.
fn retired_on(asking: &FactContext<'_>, id: u32) -> CelValue {
    asking.of(id, |it| {
        let catalog = asking.world.catalog;
        let Some(provider) = it.text(Key::Provider) else { return CelValue::Absent };
        let retired = |name: &str| {
            let attached =
                || catalog.equipped(name, it.text(Key::Accelerator)?, it.number(Key::AcceleratorCount)?).ok();
            let machine = catalog.machine(provider, name).or_else(attached)?;
            catalog.retired(&machine).filter(|date| !date.is_empty())
        };
        match it.fact(Key::Machine) {
            Fact::Known(machine) => machine.value.as_text().and_then(retired).map_or(CelValue::Absent, CelValue::text),
            Fact::Unknown(machine) => {
                let mut names = machine.candidates.iter().filter_map(FactValue::as_text);
                let may_be = machine.candidates.is_empty() || names.any(|name| retired(name).is_some());
                if may_be { unknown_fact(&machine.why, machine.span, Vec::new()) } else { CelValue::Absent }
            }
            Fact::Absent => CelValue::Absent,
        }
    })
}

/// Returns the eligible machines, with the same calculation as `gpulint plan`.
fn base(asking: &FactContext<'_>, id: u32) -> CelValue {
    let Some(item) = asking.item(id) else { return CelValue::Absent };
    asking.asked_base.set(true);
    asking.of(id, |resource| match pricing::base(resource, item) {
        Ok(machines) => CelValue::Double(machines),
        Err(why) => unknown_fact(&why.into(), resource.count.span().unwrap_or(resource.span), Vec::new()),
    })
}

fn base_beside(asking: &FactContext<'_>, id: u32) -> CelValue {
    let world = asking.world;
    let beside = |resource: &inventory::Resource| {
        let same = |it: &inventory::Resource| {
            let keys = [Key::Provider, Key::Region, Key::Machine];
            keys.iter().all(|key| it.text(*key).is_some() && it.text(*key) == resource.text(*key))
        };
        let is_other = |it: &inventory::Resource| {
            it.is_added()
                && it.fact(Key::Reservation).is_absent()
                && it.purchase() == Some(Purchase::OnDemand)
                && same(it)
        };
        let others = world.inventory.resources.iter().zip(&world.bill.items).filter(|(it, _)| is_other(it));
        let machines: f64 = others.filter_map(|(it, item)| pricing::base(it, item).ok()).sum();
        if machines >= 1.0 { CelValue::Double(machines) } else { CelValue::Absent }
    };
    asking.of(id, beside)
}

/// Returns a value from the files, which only the current state has.
fn text_of(asking: &FactContext<'_>, id: u32, read: impl Fn(&inventory::Resource) -> CelValue) -> CelValue {
    match asking.world.is_earlier(id) {
        true => unknown_sum(&"only facts are known for the state before the change".into()),
        false => asking.of(id, read),
    }
}

fn is_paid(asking: &FactContext<'_>, id: u32) -> CelValue {
    let is_within = asking.item(id).is_some_and(|item| item.is_within);
    asking.of(id, |it| CelValue::Flag(it.is_added() && !is_within))
}

pub(super) fn all() -> [&'static Records; 3] {
    [&COUNT, &LINK, &RESOURCE]
}

fn type_of(key: inventory::ValueType) -> CelType {
    match key {
        inventory::ValueType::Text => CelType::Text,
        inventory::ValueType::Integer => CelType::Integer,
        inventory::ValueType::Number => CelType::Double,
        inventory::ValueType::Flag => CelType::Flag,
        inventory::ValueType::List => CelType::list(CelType::Text),
    }
}

fn count(asking: &FactContext<'_>, id: u32) -> CelValue {
    asking.of(id, |resource| match &resource.count {
        Fact::Known(_) => COUNT.value(id),
        Fact::Unknown(unknown) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
        Fact::Absent => CelValue::Absent,
    })
}

fn of_count(asking: &FactContext<'_>, id: u32, end: fn(&Range) -> f64) -> CelValue {
    asking.of(id, |resource| resource.count.value().map_or(CelValue::Absent, |range| CelValue::Double(end(range))))
}

/// Returns the maximum of the number and of all numbers that a schedule sets.
pub(super) fn peak(asking: &FactContext<'_>, id: u32) -> CelValue {
    asking.of(id, |resource| {
        let Some(range) = resource.count.value() else { return CelValue::Absent };
        let mut peak = range.ceiling;
        for number in resource.shifts.iter().flat_map(|shift| shift.change.numbers()) {
            match number {
                Fact::Known(known) => peak = peak.max(known.value),
                Fact::Unknown(unknown) => return unknown_fact(&unknown.why, unknown.span, Vec::new()),
                Fact::Absent => {}
            }
        }
        CelValue::Double(peak)
    })
}

fn labels(asking: &FactContext<'_>, id: u32) -> CelValue {
    asking.of(id, |resource| {
        let open = resource.labels.open.as_ref().map(|unknown| {
            let (why, span) = (unknown.why.clone(), Some(unknown.span));
            Arc::new(UnknownValue { why, span, about: UnknownSubject::Fact, candidates: Vec::new(), beginning: None })
        });
        let mut map = CelMap::lenient(open);
        for (key, fact) in &resource.labels.entries {
            match fact {
                Fact::Known(known) => map.set(key, CelValue::Text(known.value.clone())),
                Fact::Unknown(unknown) => map.set(key, unknown_fact(&unknown.why, unknown.span, Vec::new())),
                Fact::Absent => {}
            }
        }
        CelValue::Map(Arc::new(map))
    })
}

fn label_keys_beside(resource: &inventory::Resource) -> CelValue {
    match &*resource.labels.keys_beside {
        [] => CelValue::Absent,
        keys => CelValue::list(keys.iter().map(|key| CelValue::Text(key.clone()))),
    }
}

/// Returns the maximum accelerators of the largest pool that a pod can run on.
fn pool_accelerators(asking: &FactContext<'_>, id: u32) -> CelValue {
    let resources = &asking.world.inventory.resources;
    let Some(pod) = resources.get(id as usize) else { return CelValue::Absent };
    let mut largest = CelValue::Absent;
    let places = pod.pools().filter_map(|pool| resources.iter().enumerate().find(|(_, it)| it.address == pool));
    for (place, pool) in places {
        // A pool of unknown machines needs an approval itself.
        let each = pool.number(Key::AcceleratorCount).unwrap_or(f64::INFINITY);
        match peak(asking, place as u32) {
            CelValue::Double(count) => {
                let known = largest.as_number().unwrap_or(0.0);
                largest = CelValue::Double(known.max(count * each));
            }
            CelValue::Unknown(unknown) => return CelValue::Unknown(unknown),
            _ => {}
        }
    }
    largest
}

/// Returns the highest amount that is approved for the resource.
fn approved_usd(asking: &FactContext<'_>, id: u32) -> CelValue {
    let approved = &asking.settings.approved;
    if approved.is_empty() {
        return CelValue::Absent;
    }
    let path = belonging::path(asking, RESOURCE.handle(id));
    asking.of(id, |it| {
        let in_file = |form: &str| path.as_text().is_some_and(|path| crate::source::matches(form, path));
        let is_of =
            |entry: &&ApprovedResource| entry.address == it.address && entry.path.as_deref().is_none_or(in_file);
        let is_valid = |entry: &&ApprovedResource| asking.world.today.is_none_or(|today| today <= entry.until);
        let amounts = approved.iter().filter(is_valid).filter(is_of).map(|entry| entry.usd);
        amounts.reduce(f64::max).map_or(CelValue::Absent, CelValue::Double)
    })
}

/// Returns the names of the facts whose values gpulint assumes.
fn assumed(resource: &inventory::Resource) -> CelValue {
    let is_assumed = |key: &Key| matches!(resource.fact(*key).origin(), Some(FactOrigin::Assumed(_)));
    CelValue::list(Key::ALL.iter().filter(|key| is_assumed(key)).map(|key| CelValue::text(key.name())))
}

/// The limit on the links of one resource that rules can see.
const MAX_LINKS: u32 = 256;

fn links(asking: &FactContext<'_>, id: u32) -> CelValue {
    asking.of(id, |it| {
        let count = (it.links.len() as u32).min(MAX_LINKS);
        CelValue::list((0..count).map(|place| LINK.value(id * MAX_LINKS + place)))
    })
}

/// Returns a property of a link. The number of a link encodes its resource and its position among the links.
fn of_link(asking: &FactContext<'_>, id: u32, read: impl Fn(&inventory::Link) -> CelValue) -> CelValue {
    let (resource, place) = (id / MAX_LINKS, id % MAX_LINKS);
    asking.of(resource, |it| it.links.get(place as usize).map_or(CelValue::Absent, &read))
}
