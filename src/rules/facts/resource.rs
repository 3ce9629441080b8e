//! A resource: what its text states, and what follows from that.

use std::sync::{Arc, LazyLock};

use super::fit::{FIT, fit};
use super::hosted::{self, HOSTED};
use super::market::MARKET;
use super::measured::{self, SMALLER};
use super::money::BILL;
use super::pod::{self, POD};
use super::speed::{self, COST, RUN, SPEED};
use super::table::{Answer, FactRow, Records, rows};
use super::{End, FactContext, belonging, derived, kinds, unknown_fact, unknown_sum};
use crate::inventory::{self, Fact, Key, Purchase, Range};
use crate::languages::cel::{About, CelValue, Map, Type, UnknownValue};
use crate::pricing;

pub(super) static COUNT: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "count",
        kinds::COUNT,
        Some("expected"),
        rows! {
            floor: Type::Double, "Always." => |asking, id| of_count(asking, id, |it| it.floor);
            expected: Type::Double, "As the text sets it." => |asking, id| match asking.end.get() {
                End::Floor => of_count(asking, id, |it| it.floor),
                End::Expected => of_count(asking, id, |it| it.expected),
                End::Ceiling => of_count(asking, id, |it| it.ceiling),
            };
            ceiling: Type::Double, "At most; infinite where nothing limits it." => |asking, id| of_count(asking, id, |it| it.ceiling);
        },
    )
});

static LINK: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "link",
        kinds::LINK,
        None,
        rows! {
            kind: Type::Text, "pool, autoscaler, stop or settings." => |asking, id| of_link(asking, id, |it| CelValue::text(it.kind.name()));
            to: Type::Text, "The address at the other end." => |asking, id| of_link(asking, id, |it| CelValue::text(&*it.to));
        },
    )
});

pub(super) static RESOURCE: LazyLock<Records> = LazyLock::new(|| {
    let stated = |key: &Key| FactRow {
        name: key.name(),
        holds: type_of(key.value_type()),
        meaning: key.meaning(),
        answer: Answer::Stated(*key),
    };
    let mut all: Vec<FactRow> = Key::ALL.iter().map(stated).collect();
    all.extend(rows! {
        address: Type::Text, "Its name as its own tool writes it." => |asking, id| asking.of(id, |it| CelValue::text(&*it.address));
        kind: Type::Text, "The Terraform type or the Kubernetes kind." => |asking, id| asking.of(id, |it| CelValue::text(&*it.kind));
        path: Type::Text, "The file that it stands in." => |asking, id| belonging::path(asking, RESOURCE.handle(id));
        root: Type::Text, "The directory that it is applied from: its Terraform root, its chart, its kustomization, its folder." => |asking, id| belonging::root(asking, RESOURCE.handle(id));
        applied_in: Type::Text, "The run that applies it, as reports call it: its root, with the values or variables that tell it from others of that root." => |asking, id| belonging::applied_in(asking, RESOURCE.handle(id));
        application: Type::Text, "What its labels call the application: app.kubernetes.io/part-of, else instance or name of these, else application or app." => |asking, id| belonging::application(asking, RESOURCE.handle(id));
        in_namespace: Type::Text, "The namespace that its manifest says." => |asking, id| belonging::namespace(asking, RESOURCE.handle(id));
        role: Type::Text, "rented: a machine that is paid for; requested: a share of one." => |asking, id| asking.of(id, |it| CelValue::text(it.role.name()));
        front_end: Type::Text, "terraform, plan, kubernetes or chart." => |asking, id| asking.of(id, |it| CelValue::text(it.front_end.name()));
        count: COUNT.holds(), "How many machines or pods there are." => count;
        labels: Type::map(Type::Text, Type::Text), "Labels, tags and annotations by which cost is attributed." => labels;
        taggable: Type::Flag, "It takes labels that reach the bill." => |asking, id| asking.of(id, |it| CelValue::Flag(it.labels.taggable));
        superseded: Type::Flag, "Another version of the same object stands in the tree, and sums count that one." => |asking, id| asking.of(id, |it| CelValue::Flag(it.version_of.is_some()));
        is_paid: Type::Flag, "Its dollars are in the sums, and in no other resource: a machine, or a pod that runs on no machine of the tree." => is_paid;
        links: Type::list(LINK.holds()), "What it is linked with." => links;
        bill: BILL.holds(), "What it costs." => |_, id| BILL.value(id);
        market: MARKET.holds(), "Where else it would be cheaper." => |_, id| MARKET.value(id);
        fit: FIT.holds(), "Whether its model fits." => fit;
        speed: SPEED.holds(), "How fast its model answers, where enough was measured of such servers: an estimate for all accelerators of one machine or pod, busy all the time." => speed::speed;
        cost: COST.holds(), "What tokens, requests, seats and runs cost, where that can be said." => |_, id| COST.value(id);
        run: RUN.holds(), "How long training takes, where that can be said." => |_, id| RUN.value(id);
        hosted: HOSTED.holds(), "What its model costs with those who serve it to everybody; nothing where its data are declared private." => hosted::hosted;
        object: Type::Any, "The manifest that it stands in, as it is written." => |asking, id| text_of(asking, id, |it| asking.raws.of_resource(asking.world, it, true));
        block: Type::Any, "The Terraform block that it stands in, evaluated." => |asking, id| text_of(asking, id, |it| asking.raws.of_resource(asking.world, it, false));
        pod: POD.holds(), "The pod that it is, whatever makes it." => |asking, id| text_of(asking, id, |it| pod::of_resource(asking, it));
        taints: Type::list(Type::Any), "The taints that the nodes of a pool get: {key, value, effect}." => |asking, id| asking.of(id, pod::taints);
        node_labels: Type::map(Type::Text, Type::Text), "The labels that the nodes of a pool get." => |asking, id| asking.of(id, pod::node_labels);
        gpus: Type::Text, "How many of which accelerator, for messages: 2 × 8 A100-80GB." => |asking, id| asking.of(id, |it| CelValue::text(derived::gpus(it)));
        copies: Type::Double, "What answers by itself, at least: groups of pods where several run one copy, else pods or machines." => |asking, id| asking.of(id, derived::copies);
        only_waits: Type::Flag, "A pod that holds its accelerators while nothing runs, and that neither requests nor an autoscaler are in charge of." => |asking, id| asking.of(id, derived::only_waits);
        asks_no_spot: Type::Flag, "A pod that ends and says which machine of a cloud it wants and asks for none on spot, and neither a pool of the text, nor one that it names, nor a queue decides." => |asking, id| asking.of(id, derived::asks_no_spot);
        may_rest: Type::Flag, "Its requests may stop for hours: true, and certain only where the text says that it is no production." => |asking, id| asking.of(id, derived::may_rest);
        floor_if_any: Type::Double, "How many are always there, where there is any: a condition that is not known may leave none." => |asking, id| asking.of(id, derived::floor_if_any);
        base: Type::Double, "Machines that always run in production and pay by the hour, which a commitment may pay for: none of what ends, is scheduled or on lease, or comes and goes, and none that a commitment covers already, as the bill says." => base;
        base_beside: Type::Double, "Machines of the same type and region that always run in production and pay by the hour; nothing where there are none." => base_beside;
        gpus_used: Type::Double, "Accelerators of one machine or pod that the declared parallelism uses." => |asking, id| asking.of(id, derived::gpus_used);
        gpus_needed: Type::Double, "Accelerators that one copy of the model is spread over: tensor × pipeline." => |asking, id| asking.of(id, derived::gpus_needed);
        surely_busy: Type::Double, "Measured: the mean share of the time in which its accelerators worked, where the meter does not overstate it and it is sure what was measured." => |asking, id| asking.of(id, measured::surely_busy);
        copies_needed: Type::Double, "Measured: copies that would have held the most requests there were, with half as much room again; by the requests that one answers at a time and by its cache." => |asking, id| asking.of(id, measured::copies_needed);
        measured_smaller: SMALLER.holds(), "The cheapest machine with as many smaller accelerators, which would have held what was measured and been busy for at most 70 % of the time; where it costs less." => measured::measured_smaller;
        served_smaller: SMALLER.holds(), "The cheapest machine with less memory that holds the model of a server and half as much again of its cache as was measured, and is fast enough for it; where it costs less." => measured::served_smaller;
        parallelism: Type::Integer, "Accelerators that the declared parallelism uses: tensor × pipeline × data." => |asking, id| asking.of(id, derived::parallelism);
    });
    let mut records = Records::new("resource", kinds::RESOURCE, None, all);
    records.schema.has_facts = true;
    records
});

/// The same as in a plan of purchases.
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

/// What the text says of it, which only the state at hand has.
fn text_of(asking: &FactContext<'_>, id: u32, read: impl Fn(&inventory::Resource) -> CelValue) -> CelValue {
    match asking.world.is_earlier(id) {
        true => unknown_sum(&"of the earlier state only facts are at hand".into()),
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

fn type_of(key: inventory::ValueType) -> Type {
    match key {
        inventory::ValueType::Text => Type::Text,
        inventory::ValueType::Integer => Type::Integer,
        inventory::ValueType::Number => Type::Double,
        inventory::ValueType::Flag => Type::Flag,
        inventory::ValueType::List => Type::list(Type::Text),
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

fn labels(asking: &FactContext<'_>, id: u32) -> CelValue {
    asking.of(id, |resource| {
        let open = resource.labels.open.as_ref().map(|unknown| {
            let (why, span) = (unknown.why.clone(), Some(unknown.span));
            Arc::new(UnknownValue { why, span, about: About::Fact, candidates: Vec::new(), beginning: None })
        });
        let mut map = Map::lenient(open);
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

/// Links of one resource that pages can see.
const MAX_LINKS: u32 = 256;

fn links(asking: &FactContext<'_>, id: u32) -> CelValue {
    asking.of(id, |it| {
        let count = (it.links.len() as u32).min(MAX_LINKS);
        CelValue::list((0..count).map(|place| LINK.value(id * MAX_LINKS + place)))
    })
}

/// A link is numbered by its resource and its place among the links of it.
fn of_link(asking: &FactContext<'_>, id: u32, read: impl Fn(&inventory::Link) -> CelValue) -> CelValue {
    let (resource, place) = (id / MAX_LINKS, id % MAX_LINKS);
    asking.of(resource, |it| it.links.get(place as usize).map_or(CelValue::Absent, &read))
}
