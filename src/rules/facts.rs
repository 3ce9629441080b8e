//! The vocabulary of pages: one table of what may be named, which answers too, and which `gpulint facts` prints.

use std::cell::Cell;
use std::sync::{Arc, LazyLock};

use crate::catalog::{Money, MoneyRange};
use crate::fit::{Assessment, Choice};
use crate::inventory::{self, Fact, Inventory, Key, Origin, Purchase, Purpose, Range, Resource, ResourceId};
use crate::pricing::{Bill, HOURS_PER_MONTH, Item, Scenario, Status};
use crate::source::{Date, Span};

use super::Settings;
use super::cel::{About, Field, Handle, Host, Map, Schema, Type, Unknown, Value};
use super::{display, format, template};

/// Everything that rules judge.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
    /// One for each resource, in the same order; absent where no model is declared.
    pub fit: &'a [Fact<Assessment>],
    pub today: Option<Date>,
}

/// Who is asked about, and how money is to be read.
pub(super) struct Asking<'a> {
    pub(super) world: &'a World<'a>,
    pub(super) settings: &'a Settings,
    pub(super) resource: usize,
    pub(super) end: Cell<End>,
    pub(super) saves: Option<MoneyRange>,
}

/// Which end of a range a number is: `saves` is computed for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Floor,
    Expected,
    Ceiling,
}

/// The numbers of the variables that a page may name.
pub(super) mod variable {
    pub(in crate::rules) const RESOURCE: usize = 0;
    pub(in crate::rules) const SETTINGS: usize = 1;
    pub(in crate::rules) const SAVES: usize = 2;
    pub(in crate::rules) const TODAY: usize = 3;
    pub(in crate::rules) const RESOURCES: usize = 4;
    pub(in crate::rules) const TOTAL: usize = 5;
}

/// A kind of record: its schema, and how each field is answered.
struct Records {
    schema: Schema,
    answers: Vec<Answer>,
}

#[derive(Clone, Copy)]
enum Answer {
    Fact(Key),
    Computed(fn(&Asking<'_>, u32) -> Value),
}

type Row = (&'static str, Type, &'static str, Answer);

fn records(name: &'static str, kind: usize, number: Option<usize>, rows: Vec<Row>) -> Records {
    let (mut fields, mut answers) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for (name, holds, meaning, answer) in rows {
        fields.push(Field { name, holds, values: values(name), meaning });
        answers.push(answer);
    }
    let schema = Schema { name, number_of_kind: kind, fields, number, has_facts: kind == kinds::RESOURCE };
    Records { schema, answers }
}

mod kinds {
    pub(super) const RESOURCE: usize = 0;
    pub(super) const COUNT: usize = 1;
    pub(super) const MONEY: usize = 2;
    pub(super) const SCENARIOS: usize = 3;
    pub(super) const BILL: usize = 4;
    pub(super) const CHOICE: usize = 5;
    pub(super) const FIT: usize = 6;
    pub(super) const LINK: usize = 7;
    pub(super) const SETTINGS: usize = 8;
    pub(super) const LABELS: usize = 9;
    pub(super) const TOTAL: usize = 10;
}

/// All values of the facts that have a closed list of them.
fn values(fact: &str) -> &'static [&'static str] {
    static PURPOSES: LazyLock<Vec<&str>> = LazyLock::new(|| Purpose::ALL.iter().map(|it| it.name()).collect());
    static PURCHASES: LazyLock<Vec<&str>> = LazyLock::new(|| Purchase::ALL.iter().map(|it| it.name()).collect());
    match fact {
        "purpose" => &PURPOSES,
        "purchase" => &PURCHASES,
        "role" => &["rented", "requested"],
        "front_end" => &["terraform", "plan", "kubernetes", "chart"],
        "verdict" => &["fits", "borderline", "does-not-fit"],
        "status" => &["priced", "estimated", "unpriced", "unasked"],
        _ => &[],
    }
}

use Answer::{Computed, Fact as Stated};

static COUNT: LazyLock<Records> = LazyLock::new(|| {
    records(
        "count",
        kinds::COUNT,
        Some(1),
        vec![
            ("floor", Type::Double, "Always.", Computed(|asking, id| of_count(asking, id, |it| it.floor))),
            (
                "expected",
                Type::Double,
                "As the text sets it.",
                Computed(|asking, id| match asking.end.get() {
                    End::Floor => of_count(asking, id, |it| it.floor),
                    End::Expected => of_count(asking, id, |it| it.expected),
                    End::Ceiling => of_count(asking, id, |it| it.ceiling),
                }),
            ),
            (
                "ceiling",
                Type::Double,
                "At most; infinite where nothing limits it.",
                Computed(|asking, id| of_count(asking, id, |it| it.ceiling)),
            ),
        ],
    )
});

static MONEY: LazyLock<Records> = LazyLock::new(|| {
    records(
        "money",
        kinds::MONEY,
        Some(1),
        vec![
            ("floor", Type::Double, "Dollars, at least.", Computed(|asking, id| of_money(asking, id, |it| it.floor))),
            (
                "expected",
                Type::Double,
                "Dollars, as the text sets it; in `saves`, each end in turn.",
                Computed(|asking, id| match asking.end.get() {
                    End::Floor => of_money(asking, id, |it| it.floor),
                    End::Expected => of_money(asking, id, |it| it.expected),
                    End::Ceiling => of_money(asking, id, |it| it.ceiling),
                }),
            ),
            (
                "ceiling",
                Type::Double,
                "Dollars, at most.",
                Computed(|asking, id| of_money(asking, id, |it| it.ceiling)),
            ),
        ],
    )
});

static SCENARIOS: LazyLock<Records> = LazyLock::new(|| {
    let money = || Type::Record(&MONEY.schema);
    records(
        "scenarios",
        kinds::SCENARIOS,
        None,
        vec![
            ("on_demand", money(), "On demand.", Computed(|asking, id| money_of(asking, id, Sum::OnDemand))),
            ("spot", money(), "On spot.", Computed(|asking, id| money_of(asking, id, Sum::Spot))),
            (
                "reserved_1y",
                money(),
                "Reserved for a year.",
                Computed(|asking, id| money_of(asking, id, Sum::Reserved1y)),
            ),
            (
                "reserved_3y",
                money(),
                "Reserved for three years.",
                Computed(|asking, id| money_of(asking, id, Sum::Reserved3y)),
            ),
        ],
    )
});

static BILL: LazyLock<Records> = LazyLock::new(|| {
    let money = || Type::Record(&MONEY.schema);
    records(
        "bill",
        kinds::BILL,
        None,
        vec![
            ("monthly", money(), "All of them for a month.", Computed(|asking, id| money_of(asking, id, Sum::Monthly))),
            (
                "hourly",
                money(),
                "One of them for an hour, as it is bought.",
                Computed(|asking, id| money_of(asking, id, Sum::Hourly)),
            ),
            (
                "monthly_if",
                Type::Record(&SCENARIOS.schema),
                "A month, bought in another way.",
                Computed(|_, id| Value::Record(handle(&SCENARIOS, id))),
            ),
            (
                "status",
                Type::Text,
                "priced, estimated, unpriced or unasked.",
                Computed(|asking, id| Value::text(status(asking.item(id)))),
            ),
            (
                "hours_per_month",
                Type::Double,
                "Hours that a month is billed for.",
                Computed(|asking, id| asking.item(id).map_or(Value::Absent, |it| Value::Double(it.hours_per_month))),
            ),
        ],
    )
});

static CHOICE: LazyLock<Records> = LazyLock::new(|| {
    records(
        "choice",
        kinds::CHOICE,
        None,
        vec![
            (
                "provider",
                Type::Text,
                "Who rents it out.",
                Computed(|asking, id| asking.choice(id, |it| Value::text(&*it.provider))),
            ),
            (
                "machine",
                Type::Text,
                "The machine type.",
                Computed(|asking, id| asking.choice(id, |it| Value::text(&*it.machine))),
            ),
            (
                "accelerator",
                Type::Text,
                "Its accelerator.",
                Computed(|asking, id| asking.choice(id, |it| Value::text(&*it.accelerator))),
            ),
            (
                "count",
                Type::Double,
                "Accelerators that it needs of it.",
                Computed(|asking, id| asking.choice(id, |it| Value::Double(it.count))),
            ),
            (
                "hourly",
                Type::Double,
                "Dollars an hour.",
                Computed(|asking, id| asking.choice(id, |it| Value::Double(it.per_hour.usd()))),
            ),
            (
                "monthly",
                Type::Record(&MONEY.schema),
                "As many of them as there are now, for a month.",
                Computed(|asking, id| money_of(asking, id, Sum::Smallest)),
            ),
            (
                "need_gib",
                Type::Double,
                "Memory needed of each accelerator.",
                Computed(|asking, id| asking.choice(id, |it| Value::Double(it.need_gib))),
            ),
            (
                "budget_gib",
                Type::Double,
                "Memory that each accelerator has for it.",
                Computed(|asking, id| asking.choice(id, |it| Value::Double(it.budget_gib))),
            ),
        ],
    )
});

static FIT: LazyLock<Records> = LazyLock::new(|| {
    records(
        "fit",
        kinds::FIT,
        None,
        vec![
            (
                "verdict",
                Type::Text,
                "fits, borderline or does-not-fit.",
                Computed(|asking, id| asking.assessment(id, |it| Value::text(it.verdict.name()))),
            ),
            (
                "need_gib",
                Type::Double,
                "Memory needed of each accelerator.",
                Computed(|asking, id| asking.assessment(id, |it| Value::Double(it.need_gib))),
            ),
            (
                "budget_gib",
                Type::Double,
                "Memory that each accelerator has for it.",
                Computed(|asking, id| asking.assessment(id, |it| Value::Double(it.budget_gib))),
            ),
            (
                "smallest",
                Type::Record(&CHOICE.schema),
                "The cheapest that fits with a margin, where it costs less.",
                Computed(|asking, id| {
                    asking.assessment(id, |it| match it.smallest {
                        Some(_) => Value::Record(handle(&CHOICE, id)),
                        None => Value::Absent,
                    })
                }),
            ),
        ],
    )
});

static LINK: LazyLock<Records> = LazyLock::new(|| {
    records(
        "link",
        kinds::LINK,
        None,
        vec![
            (
                "kind",
                Type::Text,
                "pool, autoscaler, stop or settings.",
                Computed(|asking, id| asking.link(id, |it| Value::text(it.kind.name()))),
            ),
            (
                "to",
                Type::Text,
                "The address at the other end.",
                Computed(|asking, id| asking.link(id, |it| Value::text(&*it.to))),
            ),
        ],
    )
});

static LABEL_SETTINGS: LazyLock<Records> = LazyLock::new(|| {
    records(
        "label settings",
        kinds::LABELS,
        None,
        vec![(
            "required",
            Type::list(Type::Text),
            "Keys that everything must carry; none: at least one that attributes cost.",
            Computed(|asking, _| Value::list(asking.settings.required_labels.iter().map(|key| Value::text(&**key)))),
        )],
    )
});

static SETTINGS: LazyLock<Records> = LazyLock::new(|| {
    records(
        "settings",
        kinds::SETTINGS,
        None,
        vec![
            (
                "labels",
                Type::Record(&LABEL_SETTINGS.schema),
                "What is configured about labels.",
                Computed(|_, id| Value::Record(handle(&LABEL_SETTINGS, id))),
            ),
            (
                "tiers",
                Type::map(Type::Text, Type::list(Type::Text)),
                "The accelerators that each purpose may use.",
                Computed(|asking, _| {
                    let mut map = Map::lenient(None);
                    for (purpose, accelerators) in &asking.settings.tiers {
                        map.set(purpose, Value::list(accelerators.iter().map(|it| Value::text(&**it))));
                    }
                    Value::Map(Arc::new(map))
                }),
            ),
        ],
    )
});

static TOTAL: LazyLock<Records> = LazyLock::new(|| {
    let money = || Type::Record(&MONEY.schema);
    records(
        "total",
        kinds::TOTAL,
        None,
        vec![
            ("rented", money(), "All machines for a month.", Computed(|asking, id| money_of(asking, id, Sum::Rented))),
            (
                "requested",
                money(),
                "All that pods ask for, for a month; a part of the machines.",
                Computed(|asking, id| money_of(asking, id, Sum::Requested)),
            ),
            (
                "unpriced",
                Type::Integer,
                "Resources without a price.",
                Computed(|asking, _| Value::Integer(asking.world.bill.unpriced as i64)),
            ),
        ],
    )
});

static RESOURCE: LazyLock<Records> = LazyLock::new(|| {
    let mut rows: Vec<Row> =
        Key::ALL.iter().map(|key| (key.name(), type_of(key.value_type()), key.meaning(), Stated(*key))).collect();
    rows.extend([
        (
            "address",
            Type::Text,
            "Its name as its own tool writes it.",
            Computed(|asking, id| asking.of(id, |it| Value::text(&*it.address))) as Answer,
        ),
        (
            "kind",
            Type::Text,
            "The Terraform type or the Kubernetes kind.",
            Computed(|asking, id| asking.of(id, |it| Value::text(&*it.kind))),
        ),
        (
            "role",
            Type::Text,
            "rented: a machine that is paid for; requested: a share of one.",
            Computed(|asking, id| asking.of(id, |it| Value::text(it.role.name()))),
        ),
        (
            "front_end",
            Type::Text,
            "terraform, plan, kubernetes or chart.",
            Computed(|asking, id| asking.of(id, |it| Value::text(it.front_end.name()))),
        ),
        ("count", Type::Record(&COUNT.schema), "How many machines or pods there are.", Computed(count)),
        (
            "labels",
            Type::map(Type::Text, Type::Text),
            "Labels, tags and annotations by which cost is attributed.",
            Computed(labels),
        ),
        (
            "taggable",
            Type::Flag,
            "It takes labels that reach the bill.",
            Computed(|asking, id| asking.of(id, |it| Value::Flag(it.labels.taggable))),
        ),
        ("links", Type::list(Type::Record(&LINK.schema)), "What it is linked with.", Computed(links)),
        ("bill", Type::Record(&BILL.schema), "What it costs.", Computed(|_, id| Value::Record(handle(&BILL, id)))),
        ("fit", Type::Record(&FIT.schema), "Whether its model fits.", Computed(fit)),
        (
            "gpus",
            Type::Text,
            "How many of which accelerator, for messages: 2 × 8 A100-80GB.",
            Computed(|asking, id| asking.of(id, |it| Value::text(display::gpus(it)))),
        ),
        (
            "parallelism",
            Type::Integer,
            "Accelerators that the declared parallelism uses: tensor × pipeline × data.",
            Computed(|asking, id| asking.of(id, display::parallelism)),
        ),
    ]);
    records("resource", kinds::RESOURCE, None, rows)
});

fn all() -> [&'static Records; 11] {
    [&RESOURCE, &COUNT, &MONEY, &SCENARIOS, &BILL, &CHOICE, &FIT, &LINK, &SETTINGS, &LABEL_SETTINGS, &TOTAL]
}

pub(super) fn resource_schema() -> &'static Schema {
    &RESOURCE.schema
}

/// A name that pages may use, beside the facts of a resource.
pub(super) struct Named {
    pub(super) name: &'static str,
    pub(super) holds: Type,
    pub(super) number: usize,
    pub(super) meaning: &'static str,
    pub(super) seen_by: SeenBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeenBy {
    /// Rules about one resource.
    Resource,
    /// Rules about everything.
    Repository,
    Both,
    /// Messages.
    Messages,
}

pub(super) fn named() -> Vec<Named> {
    use SeenBy::{Both, Messages, Repository};
    let row = |name, holds, number, seen_by, meaning| Named { name, holds, number, meaning, seen_by };
    let resource = Type::Record(&RESOURCE.schema);
    vec![
        row(
            "resource",
            resource.clone(),
            variable::RESOURCE,
            SeenBy::Resource,
            "The resource; its facts may be named without it.",
        ),
        row("resources", Type::list(resource), variable::RESOURCES, Repository, "All resources, `for: repository`."),
        row("total", Type::Record(&TOTAL.schema), variable::TOTAL, Repository, "The whole bill, `for: repository`."),
        row("settings", Type::Record(&SETTINGS.schema), variable::SETTINGS, Both, "What is configured."),
        row("today", Type::Timestamp, variable::TODAY, Both, "The day that was given, at midnight."),
        row("saves", Type::Record(&MONEY.schema), variable::SAVES, Messages, "What the page computed under `saves`."),
    ]
}

fn handle(records: &'static Records, id: u32) -> Handle {
    Handle { schema: &records.schema, id }
}

fn type_of(key: inventory::Type) -> Type {
    match key {
        inventory::Type::Text => Type::Text,
        inventory::Type::Integer => Type::Integer,
        inventory::Type::Number => Type::Double,
        inventory::Type::Flag => Type::Flag,
        inventory::Type::List => Type::list(Type::Text),
    }
}

impl Host for Asking<'_> {
    fn variable(&self, number: usize) -> Value {
        let id = self.resource as u32;
        match number {
            variable::RESOURCE => Value::Record(handle(&RESOURCE, id)),
            variable::SETTINGS => Value::Record(handle(&SETTINGS, 0)),
            variable::SAVES => money_of(self, id, Sum::Saves),
            variable::TODAY => self.today(),
            variable::RESOURCES => {
                let all = 0..self.world.inventory.resources.len();
                Value::list(all.map(|id| Value::Record(handle(&RESOURCE, id as u32))))
            }
            variable::TOTAL => Value::Record(handle(&TOTAL, 0)),
            _ => Value::Absent,
        }
    }

    fn field(&self, record: Handle, field: usize) -> Value {
        let answer = all().get(record.schema.number_of_kind).and_then(|records| records.answers.get(field)).copied();
        match answer {
            Some(Stated(key)) => self.of(record.id, |resource| value_of(resource.fact(key))),
            Some(Computed(compute)) => compute(self, record.id),
            None => Value::Absent,
        }
    }
}

impl Asking<'_> {
    fn of(&self, id: u32, read: impl Fn(&Resource) -> Value) -> Value {
        self.world.inventory.resources.get(id as usize).map_or(Value::Absent, read)
    }

    fn item(&self, id: u32) -> Option<&Item> {
        self.world.bill.items.get(id as usize)
    }

    fn assessment(&self, id: u32, read: impl Fn(&Assessment) -> Value) -> Value {
        match self.world.fit.get(id as usize) {
            Some(Fact::Known(known)) => read(&known.value),
            Some(Fact::Unknown(unknown)) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
            Some(Fact::Absent) | None => Value::Absent,
        }
    }

    fn choice(&self, id: u32, read: impl Fn(&Choice) -> Value) -> Value {
        self.assessment(id, |it| it.smallest.as_ref().map_or(Value::Absent, &read))
    }

    fn link(&self, id: u32, read: impl Fn(&inventory::Link) -> Value) -> Value {
        // a link is numbered by its resource and its place among the links of it
        let (resource, place) = (id / MAX_LINKS, id % MAX_LINKS);
        self.of(resource, |it| it.links.get(place as usize).map_or(Value::Absent, &read))
    }

    fn today(&self) -> Value {
        match self.world.today.and_then(|date| super::cel::midnight(&date.to_string())) {
            Some(time) => time,
            None => unknown_price("no date was given"),
        }
    }
}

/// Links of one resource that pages can see.
const MAX_LINKS: u32 = 256;

fn links(asking: &Asking<'_>, id: u32) -> Value {
    asking.of(id, |it| {
        let count = (it.links.len() as u32).min(MAX_LINKS);
        Value::list((0..count).map(|place| Value::Record(handle(&LINK, id * MAX_LINKS + place))))
    })
}

pub(super) fn value_of(fact: &Fact<inventory::Value>) -> Value {
    match fact {
        Fact::Known(known) => plain(&known.value),
        Fact::Unknown(unknown) => {
            unknown_fact(&unknown.why, unknown.span, unknown.candidates.iter().map(plain).collect())
        }
        Fact::Absent => Value::Absent,
    }
}

fn plain(value: &inventory::Value) -> Value {
    match value {
        inventory::Value::Text(text) => Value::Text(text.clone()),
        inventory::Value::Integer(n) => Value::Integer(*n),
        inventory::Value::Number(n) => Value::Double(*n),
        inventory::Value::Flag(flag) => Value::Flag(*flag),
        inventory::Value::List(items) => Value::list(items.iter().map(|item| Value::Text(item.clone()))),
    }
}

fn unknown_fact(why: &Arc<str>, span: Span, candidates: Vec<Value>) -> Value {
    Value::Unknown(Arc::new(Unknown { why: why.clone(), span: Some(span), about: About::Fact, candidates }))
}

fn unknown_price(why: &str) -> Value {
    Value::Unknown(Arc::new(Unknown { why: why.into(), span: None, about: About::Price, candidates: Vec::new() }))
}

fn count(asking: &Asking<'_>, id: u32) -> Value {
    asking.of(id, |resource| match &resource.count {
        Fact::Known(_) => Value::Record(handle(&COUNT, id)),
        Fact::Unknown(unknown) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
        Fact::Absent => Value::Absent,
    })
}

fn of_count(asking: &Asking<'_>, id: u32, end: fn(&Range) -> f64) -> Value {
    asking.of(id, |resource| resource.count.value().map_or(Value::Absent, |range| Value::Double(end(range))))
}

fn labels(asking: &Asking<'_>, id: u32) -> Value {
    asking.of(id, |resource| {
        let open = resource.labels.open.as_ref().map(|unknown| {
            Arc::new(Unknown {
                why: unknown.why.clone(),
                span: Some(unknown.span),
                about: About::Fact,
                candidates: Vec::new(),
            })
        });
        let mut map = Map::lenient(open);
        for (key, fact) in &resource.labels.entries {
            map.set(
                key,
                match fact {
                    Fact::Known(known) => Value::Text(known.value.clone()),
                    Fact::Unknown(unknown) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
                    Fact::Absent => continue,
                },
            );
        }
        Value::Map(Arc::new(map))
    })
}

fn fit(asking: &Asking<'_>, id: u32) -> Value {
    asking.assessment(id, |_| Value::Record(handle(&FIT, id)))
}

fn status(item: Option<&Item>) -> &'static str {
    match item.map(|item| &item.status) {
        Some(Status::Priced) => "priced",
        Some(Status::Estimated(_)) => "estimated",
        Some(Status::Unpriced(_)) => "unpriced",
        Some(Status::Unasked) | None => "unasked",
    }
}

/// A sum of money that pages can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sum {
    Monthly,
    Hourly,
    OnDemand,
    Spot,
    Reserved1y,
    Reserved3y,
    Smallest,
    Saves,
    Rented,
    Requested,
}

impl Sum {
    const ALL: [Sum; 10] = [
        Sum::Monthly,
        Sum::Hourly,
        Sum::OnDemand,
        Sum::Spot,
        Sum::Reserved1y,
        Sum::Reserved3y,
        Sum::Smallest,
        Sum::Saves,
        Sum::Rented,
        Sum::Requested,
    ];
}

fn sum_of(asking: &Asking<'_>, id: u32, sum: Sum) -> Option<MoneyRange> {
    let item = asking.item(id);
    let if_bought = |scenario| item.and_then(|it| it.monthly_if.get(&scenario).copied());
    match sum {
        Sum::Monthly => item?.monthly,
        Sum::Hourly => item?.per_hour,
        Sum::OnDemand => if_bought(Scenario::OnDemand),
        Sum::Spot => if_bought(Scenario::Spot),
        Sum::Reserved1y => if_bought(Scenario::Reserved1y),
        Sum::Reserved3y => if_bought(Scenario::Reserved3y),
        Sum::Smallest => smallest(asking, id),
        Sum::Saves => asking.saves,
        Sum::Rented => Some(asking.world.bill.rented),
        Sum::Requested => Some(asking.world.bill.requested),
    }
}

/// The smaller machine for as many hours, as often.
fn smallest(asking: &Asking<'_>, id: u32) -> Option<MoneyRange> {
    let resource = asking.world.inventory.resources.get(id as usize)?;
    let item = asking.item(id)?;
    let choice = asking.world.fit.get(id as usize)?.value()?.smallest.as_ref()?;
    let count = item.count.or(resource.count.value().copied())?;
    let hours = if item.hours_per_month > 0.0 { item.hours_per_month } else { HOURS_PER_MONTH };
    let monthly = |count: f64| choice.per_hour.times(hours * if count.is_finite() { count } else { 0.0 });
    Some(MoneyRange { floor: monthly(count.floor), expected: monthly(count.expected), ceiling: monthly(count.ceiling) })
}

/// A sum as a record: its number is that of the resource and of the sum.
fn money_of(asking: &Asking<'_>, id: u32, sum: Sum) -> Value {
    if sum_of(asking, id, sum).is_some() {
        let place = Sum::ALL.iter().position(|it| *it == sum).unwrap_or(0);
        return Value::Record(handle(&MONEY, id * Sum::ALL.len() as u32 + place as u32));
    }
    let item = asking.item(id);
    unknown_price(match (sum, item.map(|item| &item.status)) {
        (Sum::Monthly | Sum::Hourly, Some(Status::Unpriced(why))) => why,
        (Sum::Spot, _) => "no price on spot is known",
        (Sum::Reserved1y | Sum::Reserved3y, _) => "no reserved price is known",
        _ => "no price is known",
    })
}

fn of_money(asking: &Asking<'_>, id: u32, end: fn(&MoneyRange) -> Money) -> Value {
    let sums = Sum::ALL.len() as u32;
    let sum = Sum::ALL.get((id % sums) as usize).copied().unwrap_or(Sum::Monthly);
    match sum_of(asking, id / sums, sum) {
        Some(range) => Value::Double(end(&range).usd()),
        None => unknown_price("no price is known"),
    }
}

/// Where a fact that a rule read stands, and how it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stand {
    pub(super) name: &'static str,
    pub(super) span: Option<Span>,
    pub(super) defined: Option<Span>,
    pub(super) origin: Option<Origin>,
}

/// The place and origin of a field of a resource.
pub(super) fn stand(world: &World<'_>, id: u32, field: usize) -> Option<Stand> {
    let resource = world.inventory.resources.get(id as usize)?;
    let name = RESOURCE.schema.fields.get(field)?.name;
    fn of<T>(name: &'static str, fact: &Fact<T>) -> Stand {
        Stand { name, span: fact.span(), defined: fact.defined(), origin: fact.origin().cloned() }
    }
    Some(match (RESOURCE.answers.get(field)?, name) {
        (Stated(key), _) => of(name, resource.fact(*key)),
        (Computed(_), "count") => of(name, &resource.count),
        (Computed(_), "fit") => {
            world.fit.get(id as usize).map_or_else(|| of(name, &Fact::<()>::Absent), |fit| of(name, fit))
        }
        (Computed(_), "labels") => {
            Stand { name, span: resource.labels.span, defined: resource.labels.span, origin: None }
        }
        (Computed(_), "parallelism") => display::parallelism_stand(resource),
        (Computed(_), _) => Stand { name, span: None, defined: None, origin: None },
    })
}

/// The value of a field of a resource as text.
pub(super) fn shown(asking: &Asking<'_>, id: u32, field: usize) -> String {
    match asking.field(handle(&RESOURCE, id), field) {
        Value::Record(record) if record.schema == &COUNT.schema => {
            let count = asking.world.inventory.resources.get(id as usize).and_then(|it| it.count.value().copied());
            count.map_or_else(String::new, |it| format!("{}..{}", format::number(it.floor), format::number(it.ceiling)))
        }
        // what is computed is no fact that a text could change by itself
        Value::Record(_) => String::new(),
        value => template::plain(&value),
    }
}

/// The resources whose numbers a condition about everything read.
pub(super) fn resource_of(record: Handle) -> Option<ResourceId> {
    (record.schema.number_of_kind == kinds::RESOURCE).then_some(ResourceId(record.id as usize))
}

/// A line of `gpulint facts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub holds: String,
    pub meaning: String,
    pub values: Vec<&'static str>,
}

/// Every name that a page may use, as `gpulint facts` prints it.
pub fn vocabulary() -> Vec<Entry> {
    let mut entries = Vec::new();
    for Named { name, holds, meaning, .. } in named() {
        let entry =
            Entry { name: name.to_owned(), holds: holds.to_string(), meaning: meaning.to_owned(), values: Vec::new() };
        entries.push(entry);
        describe(name, &holds, &mut entries);
    }
    entries
}

/// Every function and macro that a page may use: how it is written, and what it means.
pub fn functions() -> Vec<Entry> {
    let entry = |(form, meaning): (String, &str)| Entry {
        name: form,
        holds: String::new(),
        meaning: meaning.to_owned(),
        values: Vec::new(),
    };
    super::cel::callable().into_iter().map(entry).collect()
}

fn describe(path: &str, holds: &Type, entries: &mut Vec<Entry>) {
    let Type::Record(schema) = holds else { return };
    for field in &schema.fields {
        let name = format!("{path}.{}", field.name);
        entries.push(Entry {
            holds: field.holds.to_string(),
            meaning: field.meaning.to_owned(),
            values: field.values.to_vec(),
            name: name.clone(),
        });
        // sums and counts are described once, where they are told about first
        if !matches!(field.holds, Type::Record(schema) if schema.number.is_some()) {
            describe(&name, &field.holds, entries);
        }
    }
}
