//! Implements functions that need the catalog: `fits`, `price`, `alternatives`, `linked`.

use std::sync::Arc;

use super::{End, FactContext, belonging, change, kinds, unknown_price};
use crate::catalog::{Money, Quote};
use crate::fit::{self, Assessment, FitChoice, FitVerdict, MarketPlace};
use crate::inventory::{self, BillingRole, Fact, Inventory, Key, KnownFact, ReadBy, Resource};
use crate::languages::cel::{CelBudget, CelMap, CelValue, Fault, Handle, UnknownSubject, UnknownValue, wrong};
use crate::pricing;
use crate::resolve::complete_machines;
use crate::rules::format;
use crate::source::Span;

/// The steps that one of these functions costs, because it checks every machine of a provider.
const STEPS: usize = 5_000;

/// The limit on the alternatives that a rule sees.
const MOST: usize = 16;

pub(super) fn ask(
    asking: &FactContext<'_>,
    function: &str,
    given: &[CelValue],
    budget: &mut CelBudget,
) -> Result<CelValue, Fault> {
    match (function, given) {
        ("usd", [dollars]) => {
            let dollars = dollars.as_number().ok_or_else(wrong)?;
            Ok(CelValue::text(format::amount(dollars, asking.world.pricing.currency)))
        }
        ("between", [least, most]) => {
            let (least, most) = (least.as_number().ok_or_else(wrong)?, most.as_number().ok_or_else(wrong)?);
            Ok(CelValue::Double(match asking.end.get() {
                End::Floor => least,
                End::Expected => f64::midpoint(least, most),
                End::Ceiling => most,
            }))
        }
        ("linked", [CelValue::Record(record), CelValue::Text(kind)]) => linked(asking, *record, kind),
        ("price", [CelValue::Text(machine), CelValue::Text(region), CelValue::Text(purchase)]) => {
            budget.spend(STEPS / 10)?;
            price(asking, machine, region, purchase)
        }
        ("fits", [CelValue::Text(model), CelValue::Text(accelerator), count]) => {
            budget.spend(STEPS)?;
            Ok(fits(asking, model, accelerator, count.as_number().unwrap_or(1.0)))
        }
        ("alternatives", [CelValue::Record(record)]) => {
            budget.spend(STEPS)?;
            alternatives(asking, *record, budget)
        }
        ("by", [delta, CelValue::Text(label)]) => change::by(asking, delta, label, budget),
        ("references" | "referenced_by", [of]) => {
            let record = belonging::record_of(of).ok_or("expected a block or a resource")?;
            references(asking, record, function == "referenced_by", budget)
        }
        ("here" | "same_root" | "same_application" | "same_namespace", [all]) => {
            belonging::together(asking, function, all, budget)
        }
        _ => Err("no matching overload".to_owned().into()),
    }
}

fn resource<'a>(asking: &FactContext<'a>, record: Handle) -> Result<&'a Resource, Fault> {
    let is_resource = record.schema.number_of_kind == kinds::RESOURCE;
    let found = asking.world.resource(record.id).filter(|_| is_resource);
    found.ok_or_else(|| "expected a resource".to_owned().into())
}

fn linked(asking: &FactContext<'_>, record: Handle, kind: &str) -> Result<CelValue, Fault> {
    let known = inventory::LinkKind::ALL.iter().any(|it| it.name() == kind);
    if !known {
        let names: Vec<&str> = inventory::LinkKind::ALL.iter().map(|it| it.name()).collect();
        return Err(format!("there is no kind of link `{kind}`: use {}", names.join(", ")).into());
    }
    Ok(CelValue::Flag(resource(asking, record)?.links.iter().any(|link| link.kind.name() == kind)))
}

/// Returns the blocks that a block refers to, or that refer to it. For a resource, its block counts.
fn references(asking: &FactContext<'_>, record: Handle, back: bool, budget: &mut CelBudget) -> Result<CelValue, Fault> {
    let inventory = asking.world.inventory;
    let block = match record.schema.number_of_kind {
        kinds::BLOCK => Some(record.id as usize),
        kinds::RESOURCE if asking.world.is_earlier(record.id) => None,
        kinds::RESOURCE => {
            let raw = asking.raws.raw_of(inventory, resource(asking, record)?);
            raw.filter(|(is_object, _)| !is_object).map(|(_, id)| id)
        }
        _ => return Err("expected a block".into()),
    };
    let found = block.map_or(CelValue::list([]), |id| asking.raws.edges(inventory, id, back));
    if let CelValue::List(found) = &found {
        budget.build(found.len() * size_of::<CelValue>())?;
    }
    Ok(found)
}

fn price(asking: &FactContext<'_>, machine: &str, region: &str, purchase: &str) -> Result<CelValue, Fault> {
    let bought: fn(&Quote<'_>) -> Option<Money> = match purchase {
        "on-demand" => |quote| quote.on_demand,
        "spot" => |quote| quote.spot,
        "reserved" => |quote| quote.reserved_1y.or(quote.reserved_3y),
        other => return Err(format!("`{other}` is not a way of buying: use on-demand, spot or reserved").into()),
    };
    let catalog = asking.world.catalog;
    let quote = catalog.provider_of(machine).and_then(|provider| {
        let region = catalog.region(provider, region)?;
        catalog.quote(&catalog.machine(provider, machine)?, region)
    });
    Ok(match quote.and_then(|quote| bought(&quote)) {
        Some(price) => CelValue::Double(price.usd()),
        None => unknown_price(&format!("no {purchase} price is known for {machine} in {region}")),
    })
}

/// Answers as `gpulint fit` does, for a server with the model's own precision and context.
fn fits(asking: &FactContext<'_>, model: &str, accelerator: &str, count: f64) -> CelValue {
    let world = asking.world;
    let span = span(asking);
    let Some(span) = span else { return CelValue::Absent };
    let mut question = Resource::new(ReadBy::Terraform, BillingRole::Requested, "question", "question", span, span);
    // `gpulint fit` also assumes a server with the model's whole window by default.
    let texts = [(Key::Model, model), (Key::Accelerator, accelerator), (Key::Task, "serve"), (Key::Program, "vllm")];
    for (key, text) in texts {
        question.set(key, Fact::written(inventory::FactValue::text(text), span));
    }
    question.set(Key::AcceleratorCount, Fact::written(inventory::FactValue::Number(count), span));
    let mut inventory = Inventory { resources: vec![question], ..Inventory::default() };
    complete_machines(&mut inventory, world.catalog, &world.pricing.defaults);
    let bill = pricing::bill(&inventory, world.catalog, world.pricing);
    let assessed = inventory
        .resources
        .first()
        .zip(bill.items.first())
        .map(|(resource, item)| fit::assess(resource, item, world.catalog, asking.market));
    match assessed {
        Some(Fact::Known(KnownFact { value: Assessment { placed: Fact::Known(placed), .. }, .. })) => {
            CelValue::Flag(placed.value.verdict != FitVerdict::DoesNotFit)
        }
        Some(Fact::Known(KnownFact { value: Assessment { placed: Fact::Unknown(unknown), .. }, .. })) => {
            unknown_because(unknown.why)
        }
        Some(Fact::Unknown(unknown)) => unknown_because(unknown.why),
        _ => unknown_because(format!("cannot tell whether {model} fits").into()),
    }
}

fn unknown_because(why: Arc<str>) -> CelValue {
    CelValue::Unknown(Arc::new(UnknownValue {
        why,
        span: None,
        about: UnknownSubject::Fact,
        candidates: Vec::new(),
        beginning: None,
    }))
}

/// Returns a span for an assumed resource, which has no place in the files.
fn span(asking: &FactContext<'_>) -> Option<Span> {
    let inventory = asking.world.inventory;
    let raw = inventory.objects.first().or(inventory.blocks.first());
    inventory.resources.first().map(|it| it.span).or(raw.map(|it| it.span))
}

fn alternatives(asking: &FactContext<'_>, record: Handle, budget: &mut CelBudget) -> Result<CelValue, Fault> {
    let (resource, world) = (resource(asking, record)?, asking.world);
    let now = asking.item(record.id).and_then(|item| item.per_hour).map(|range| range.expected);
    let shared = resource.role == BillingRole::Requested;
    let number = |key| if shared { resource.number(key).unwrap_or(0.0) } else { 0.0 };
    let clouds: Vec<&str> =
        resource.text(Key::Provider).map_or_else(|| world.catalog.assumed_clouds(), |provider| vec![provider]);
    let places: Vec<MarketPlace<'_>> = clouds
        .into_iter()
        .map(|provider| MarketPlace {
            provider,
            region: resource.text(Key::Region).unwrap_or_else(|| world.catalog.base_region(provider)),
            purchase: resource.purchase(),
            shared,
            cpus: number(Key::Cpus),
            memory_gib: number(Key::Memory),
            ..MarketPlace::default()
        })
        .collect();
    let choices = fit::options(resource, world.catalog, asking.market, &places);
    let cheaper = choices.into_iter().filter(|choice| now.is_none_or(|now| choice.per_hour < now)).take(MOST);
    let values: Vec<CelValue> = cheaper.map(|choice| shown(&choice)).collect();
    budget.build(values.len() * 256)?;
    Ok(CelValue::list(values))
}

fn shown(choice: &FitChoice) -> CelValue {
    let mut map = CelMap::lenient(None);
    for (key, text) in
        [("provider", &choice.provider), ("machine", &choice.machine), ("accelerator", &choice.accelerator)]
    {
        map.set(key, CelValue::text(text.as_str()));
    }
    map.set("count", CelValue::Double(choice.count));
    map.set("hourly", CelValue::Double(choice.per_hour.usd()));
    CelValue::Map(Arc::new(map))
}
