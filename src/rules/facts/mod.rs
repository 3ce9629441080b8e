//! Defines the vocabulary of rules: one table that defines, documents and answers all names. `gpulint facts` prints
//! it.

mod ask;
mod belonging;
mod change;
mod derived;
mod fit;
mod functions;
mod hosted;
mod lost_work;
mod market;
mod measured;
mod money;
mod pod;
mod raw;
mod replacement;
mod resource;
mod scope;
mod settings;
mod speed;
mod table;

use std::cell::Cell;
use std::sync::Arc;

use crate::catalog::{Catalog, MoneyRange};
use crate::fit::{Assessment, Market};
use crate::inventory::{self, Fact, FactOrigin, Inventory, Resource};
use crate::languages::cel::{
    self, CelBudget, CelHost, CelType, CelValue, Fault, Handle, Read, RecordSchema, UnknownSubject, UnknownValue,
};
use crate::pricing::{self, Bill, BillItem, Delta};
use crate::source::{Date, Span};

use super::RuleSettings;
use super::{format, template};
pub use belonging::APPLICATION_LABELS;
pub(super) use change::resource_of as changed_resource;
pub(super) use functions::functions as functions_for;
pub(super) use money::hours_of;
use money::{DELTA, MONEY, MoneySum, TOTAL};
use raw::{BLOCK, OBJECT};
pub(super) use raw::{RawPath, Raws, part, written};
use resource::{COUNT, RESOURCE};
pub use scope::LooksAt;
pub(super) use scope::{SCOPES, Subject};
use settings::{SETTINGS, TREE};
use table::{FieldAnswer, Records};

/// The input of all rules.
#[derive(Debug, Clone, Copy)]
pub struct RuleContext<'a> {
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
    /// The model assessments, one for each resource in the same order; absent without a declared model.
    pub fit: &'a [Fact<Assessment>],
    pub today: Option<Date>,
    /// Data that rules can query in addition to the resources.
    pub catalog: &'a Catalog,
    pub pricing: &'a pricing::PricingSettings,
    /// The change, if the state is compared with an earlier one.
    pub delta: Option<&'a Delta>,
    /// The earlier state, if available.
    pub before: Option<Earlier<'a>>,
}

/// The state before a change.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
}

impl<'a> RuleContext<'a> {
    /// Returns a resource by its index. Indexes of the earlier state follow those of the current state.
    fn resource(&self, id: u32) -> Option<&'a Resource> {
        let (id, now) = (id as usize, &self.inventory.resources);
        now.get(id).or_else(|| self.before?.inventory.resources.get(id - now.len()))
    }

    /// Returns true if the index belongs to the earlier state.
    fn is_earlier(&self, id: u32) -> bool {
        id as usize >= self.inventory.resources.len()
    }
}

/// The resource that an expression is evaluated for, and how money is read.
pub(super) struct FactContext<'a> {
    pub(super) world: &'a RuleContext<'a>,
    pub(super) settings: &'a RuleSettings,
    pub(super) raws: &'a Raws,
    pub(super) market: &'a Market<'a>,
    pub(super) about: Subject,
    /// The index of the evaluated resource, object or block.
    pub(super) resource: usize,
    pub(super) end: Cell<End>,
    /// In `saves`: the estimate of the number of machines that an alternative needs.
    pub(super) needed: Cell<Option<NeededMachines>>,
    pub(super) saves: Option<MoneyRange>,
    /// Whether an expression used the spot price.
    pub(super) asked_spot: Cell<bool>,
    /// Whether an expression used measured hours, whose cost is per month.
    pub(super) asked_measured: Cell<bool>,
    /// Whether an expression used the cost of machines. Commitments may already pay a part of this cost.
    pub(super) asked_machines: Cell<bool>,
    /// Whether an expression used only machines without a commitment, so that commitments reduce nothing that follows.
    pub(super) asked_base: Cell<bool>,
    /// Whether an expression used the current month, which has its own number of hours.
    pub(super) asked_this_month: Cell<bool>,
    /// The current member of `each`.
    pub(super) one: OneOf,
}

/// One member of the list in `each`, with the results of the rule's other expressions for it.
#[derive(Default)]
pub(super) struct OneOf {
    pub(super) each: CelValue,
    pub(super) members: CelValue,
    pub(super) amount: CelValue,
    pub(super) limit: CelValue,
}

/// The end of a range that is evaluated. gpulint computes `saves` for each end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Floor,
    Expected,
    Ceiling,
}

/// An estimate of the number of machines that an alternative needs. It is independent of the end of the current cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeededMachines {
    Expected,
    Most,
}

/// Numbers of the variables in rules.
pub(super) mod variable {
    pub(in crate::rules) const RESOURCE: usize = 0;
    pub(in crate::rules) const SETTINGS: usize = 1;
    pub(in crate::rules) const SAVES: usize = 2;
    pub(in crate::rules) const TODAY: usize = 3;
    pub(in crate::rules) const RESOURCES: usize = 4;
    pub(in crate::rules) const TOTAL: usize = 5;
    pub(in crate::rules) const DELTA: usize = 6;
    pub(in crate::rules) const TREE: usize = 7;
    pub(in crate::rules) const OBJECT: usize = 8;
    pub(in crate::rules) const BLOCK: usize = 9;
    pub(in crate::rules) const OBJECTS: usize = 10;
    pub(in crate::rules) const BLOCKS: usize = 11;
    pub(in crate::rules) const EACH: usize = 12;
    pub(in crate::rules) const MEMBERS: usize = 13;
    pub(in crate::rules) const AMOUNT: usize = 14;
    pub(in crate::rules) const LIMIT: usize = 15;
}

/// Numbers of the kinds of records.
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
    pub(super) const DELTA: usize = 11;
    pub(super) const TREE: usize = 12;
    pub(super) const MARKET: usize = 13;
    pub(super) const OBJECT: usize = 14;
    pub(super) const BLOCK: usize = 15;
    pub(super) const COST_SCENARIOS: usize = 16;
    pub(super) const SMALLER: usize = 17;
    pub(super) const SPEED: usize = 18;
    pub(super) const COST: usize = 19;
    pub(super) const ENDS: usize = 20;
    pub(super) const HOSTED: usize = 21;
    pub(super) const RUN: usize = 22;
    pub(super) const POD: usize = 23;
    pub(super) const CHANGED: usize = 24;
    pub(super) const REMOVABLE: usize = 25;
    pub(super) const LOST_WORK: usize = 26;
}

/// Returns the records of a kind.
fn records(kind: usize) -> Option<&'static Records> {
    static ALL: std::sync::LazyLock<Vec<&'static Records>> = std::sync::LazyLock::new(|| {
        let mut all: Vec<&'static Records> = Vec::new();
        all.extend(resource::all());
        all.extend(money::all());
        all.extend(fit::all());
        all.extend(speed::all());
        all.push(&hosted::HOSTED);
        all.push(&lost_work::LOST_WORK);
        all.extend(settings::all());
        all.extend(raw::all());
        all.push(&pod::POD);
        all.push(&change::CHANGED);
        all.extend(market::all());
        all.extend(measured::all());
        all.sort_by_key(|records| records.schema.number_of_kind);
        all
    });
    ALL.get(kind).copied()
}

/// Returns the facts that a rule with this scope can use without a prefix, and the number of their variable.
pub(super) fn implied(looks_at: LooksAt) -> Option<(usize, &'static RecordSchema)> {
    match looks_at {
        LooksAt::Resource => Some((variable::RESOURCE, &RESOURCE.schema)),
        LooksAt::Object => Some((variable::OBJECT, &OBJECT.schema)),
        LooksAt::Block => Some((variable::BLOCK, &BLOCK.schema)),
        LooksAt::Repository | LooksAt::Change | LooksAt::Text => None,
    }
}

pub(super) fn resource_schema() -> &'static RecordSchema {
    &RESOURCE.schema
}

/// A name that rules can use in addition to the facts of a resource.
pub(super) struct ConditionName {
    pub(super) name: &'static str,
    pub(super) holds: CelType,
    pub(super) number: usize,
    pub(super) meaning: &'static str,
    pub(super) seen_by: SeenBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeenBy {
    /// Available in rules about one resource.
    Resource,
    /// Available in rules about everything or about a change.
    Whole,
    /// Available in rules about a change.
    Change,
    /// Available in rules with `each`.
    Group,
    Any,
    /// Available in messages.
    Messages,
}

pub(super) fn named() -> [ConditionName; 14] {
    use SeenBy::{Any, Change, Group, Messages, Whole};
    let row = |name, holds, number, seen_by, meaning| ConditionName { name, holds, number, meaning, seen_by };
    let about_one = "The resource. You may leave out `resource.` in front of its facts.";
    [
        row("resource", RESOURCE.holds(), variable::RESOURCE, SeenBy::Resource, about_one),
        row("resources", CelType::list(RESOURCE.holds()), variable::RESOURCES, Any, "All resources."),
        row(
            "total",
            TOTAL.holds(),
            variable::TOTAL,
            Whole,
            "All costs together, in rules `for: repository`. In rules `for: change`: after the change.",
        ),
        row("delta", DELTA.holds(), variable::DELTA, Change, "Effect of the change on cost, in rules `for: change`."),
        row("settings", SETTINGS.holds(), variable::SETTINGS, Any, "Settings of this run."),
        row(
            "tree",
            TREE.holds(),
            variable::TREE,
            Any,
            "Other components that the files define, such as exporters and quotas.",
        ),
        row("today", CelType::Timestamp, variable::TODAY, Any, "The date of the run, at midnight."),
        row(
            "objects",
            CelType::list(CelType::Any),
            variable::OBJECTS,
            Any,
            "All manifests as they are written, with or without accelerators.",
        ),
        row(
            "blocks",
            CelType::list(BLOCK.holds()),
            variable::BLOCKS,
            Any,
            "All Terraform blocks, evaluated, with or without accelerators.",
        ),
        row(
            "each",
            CelType::Any,
            variable::EACH,
            Group,
            "One member of the list in `each`, in rules `for: repository` and `for: change`.",
        ),
        row(
            "members",
            CelType::list(RESOURCE.holds()),
            variable::MEMBERS,
            Group,
            "Resources that `members` selects for the member of `each`.",
        ),
        row("amount", CelType::Double, variable::AMOUNT, Group, "Value of `amount` for the member of `each`."),
        row("limit", CelType::Double, variable::LIMIT, Group, "Value of `limit` for the member of `each`."),
        row("saves", MONEY.holds(), variable::SAVES, Messages, "Value of `saves` in the rule file."),
    ]
}

impl CelHost for FactContext<'_> {
    fn variable(&self, number: usize) -> CelValue {
        let id = self.resource as u32;
        match number {
            variable::RESOURCE => RESOURCE.value(id),
            variable::SETTINGS => SETTINGS.value(0),
            variable::SAVES => money::money(self, id, MoneySum::Saves),
            variable::TODAY => self.today(),
            variable::RESOURCES => self.raws.all_resources(),
            variable::TOTAL => TOTAL.value(0),
            variable::OBJECT => OBJECT.value(id),
            variable::BLOCK => BLOCK.value(id),
            variable::OBJECTS => self.raws.all_objects(self.world),
            variable::BLOCKS => self.raws.all_blocks(self.world),
            variable::DELTA => DELTA.value(0),
            variable::TREE => TREE.value(0),
            variable::EACH => self.one.each.clone(),
            variable::MEMBERS => self.one.members.clone(),
            variable::AMOUNT => self.one.amount.clone(),
            variable::LIMIT => self.one.limit.clone(),
            _ => CelValue::Absent,
        }
    }

    fn field(&self, record: Handle, field: usize) -> CelValue {
        match records(record.schema.number_of_kind).and_then(|records| records.answers.get(field)) {
            Some(FieldAnswer::Stated(key)) => self.of(record.id, |resource| value_of(resource.fact(*key))),
            Some(FieldAnswer::Computed(compute)) => compute(self, record.id),
            None => CelValue::Absent,
        }
    }

    fn ask(&self, function: &str, given: &[CelValue], budget: &mut CelBudget) -> Result<CelValue, Fault> {
        ask::ask(self, function, given, budget)
    }
}

impl FactContext<'_> {
    fn of(&self, id: u32, read: impl Fn(&Resource) -> CelValue) -> CelValue {
        self.world.resource(id).map_or(CelValue::Absent, read)
    }

    fn item(&self, id: u32) -> Option<&BillItem> {
        let (id, now) = (id as usize, &self.world.bill.items);
        now.get(id).or_else(|| self.world.before?.bill.items.get(id - now.len()))
    }

    fn today(&self) -> CelValue {
        match self.world.today.and_then(|date| cel::midnight(&date.to_string())) {
            Some(time) => time,
            None => unknown_sum(&"the date is unknown".into()),
        }
    }
}

fn value_of(fact: &Fact<inventory::FactValue>) -> CelValue {
    match fact {
        Fact::Known(known) => plain(&known.value),
        Fact::Unknown(unknown) => {
            unknown_fact(&unknown.why, unknown.span, unknown.candidates.iter().map(plain).collect())
        }
        Fact::Absent => CelValue::Absent,
    }
}

fn plain(value: &inventory::FactValue) -> CelValue {
    match value {
        inventory::FactValue::Text(text) => CelValue::Text(text.clone()),
        inventory::FactValue::Integer(n) => CelValue::Integer(*n),
        inventory::FactValue::Number(n) => CelValue::Double(*n),
        inventory::FactValue::Flag(flag) => CelValue::Flag(*flag),
        inventory::FactValue::List(items) => CelValue::list(items.iter().map(|item| CelValue::Text(item.clone()))),
    }
}

/// Returns a string as the value of a fact: a label.
fn text_of(fact: &Fact<Arc<str>>) -> CelValue {
    match fact {
        Fact::Known(known) => CelValue::Text(known.value.clone()),
        Fact::Unknown(unknown) => {
            let candidates = unknown.candidates.iter().map(|it| CelValue::Text(it.clone())).collect();
            unknown_fact(&unknown.why, unknown.span, candidates)
        }
        Fact::Absent => CelValue::Absent,
    }
}

fn unknown_fact(why: &Arc<str>, span: Span, candidates: Vec<CelValue>) -> CelValue {
    CelValue::Unknown(Arc::new(UnknownValue {
        why: why.clone(),
        span: Some(span),
        about: UnknownSubject::Fact,
        candidates,
        beginning: None,
    }))
}

/// Returns an unknown value for a total. No line of the files explains it, and a rule cannot be evaluated without it.
fn unknown_sum(why: &Arc<str>) -> CelValue {
    let unknown = UnknownValue {
        why: why.clone(),
        span: None,
        about: UnknownSubject::Fact,
        candidates: Vec::new(),
        beginning: None,
    };
    CelValue::Unknown(Arc::new(unknown))
}

fn unknown_price(why: &str) -> CelValue {
    CelValue::Unknown(Arc::new(UnknownValue {
        why: why.into(),
        span: None,
        about: UnknownSubject::Price,
        candidates: Vec::new(),
        beginning: None,
    }))
}

/// The place and origin of a fact that a rule read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stand {
    pub(super) name: &'static str,
    pub(super) span: Option<Span>,
    pub(super) defined: Option<Span>,
    pub(super) origin: Option<FactOrigin>,
}

impl Stand {
    fn of<T>(name: &'static str, fact: &Fact<T>) -> Stand {
        Stand { name, span: fact.span(), defined: fact.defined(), origin: fact.origin().cloned() }
    }
}

impl FactContext<'_> {
    /// Returns the evaluated resource, object or block.
    fn record(&self) -> Handle {
        let id = self.resource as u32;
        match self.about {
            Subject::Resource => RESOURCE.handle(id),
            Subject::Object => OBJECT.handle(id),
            Subject::Block => BLOCK.handle(id),
        }
    }

    /// Returns a read of one of its facts.
    pub(super) fn read(&self, field: usize) -> Read {
        Read { record: self.record(), field }
    }
}

/// Returns the end of an amount of money that a field of it names.
pub fn end_named(field: &str) -> Option<End> {
    [End::Floor, End::Expected, End::Ceiling].get(MONEY.schema.field(field)?).copied()
}

/// Returns true if resources have a fact of this name.
pub fn is_fact_of_resource(name: &str) -> bool {
    RESOURCE.schema.field(name).is_some()
}

/// Returns the index of the kind among the facts of an object.
pub(super) fn kind_of_object() -> Option<usize> {
    OBJECT.schema.field("kind")
}

/// Returns the place and origin of a fact.
pub(super) fn stand(world: &RuleContext<'_>, read: Read) -> Option<Stand> {
    let Read { record: Handle { id, schema }, field } = read;
    let name = schema.fields.get(field)?.name;
    let raws = match schema.number_of_kind {
        kinds::OBJECT => Some(&world.inventory.objects),
        kinds::BLOCK => Some(&world.inventory.blocks),
        _ => None,
    };
    if let Some(raws) = raws {
        let origin = raws.get(id as usize)?.origin.clone();
        return Some(Stand { name, span: None, defined: None, origin: Some(origin) });
    }
    let resource = world.inventory.resources.get(id as usize)?;
    Some(match (RESOURCE.answers.get(field)?, name) {
        (FieldAnswer::Stated(key), _) => Stand::of(name, resource.fact(*key)),
        (_, "count") => Stand::of(name, &resource.count),
        (_, "fit") => Stand::of(name, world.fit.get(id as usize).unwrap_or(&Fact::Absent)),
        (_, "labels") => Stand { name, span: resource.labels.span, defined: resource.labels.span, origin: None },
        (_, computed) => derived::stand(computed, resource),
    })
}

/// Returns the value of a fact as a string.
pub(super) fn shown(asking: &FactContext<'_>, read: Read) -> String {
    let id = read.record.id;
    match asking.field(read.record, read.field) {
        CelValue::Record(record) if record.schema.number_of_kind == COUNT.schema.number_of_kind => {
            let count = asking.world.inventory.resources.get(id as usize).and_then(|it| it.count.value().copied());
            count.map_or_else(String::new, |it| format!("{}..{}", format::number(it.floor), format::number(it.ceiling)))
        }
        // A record is computed, so no file contains it.
        CelValue::Record(_) => String::new(),
        value => template::plain(&value),
    }
}

/// Returns the place of a thing that a condition about everything read.
pub(super) fn span_of(world: &RuleContext<'_>, record: Handle) -> Option<Span> {
    let (id, inventory) = (record.id as usize, world.inventory);
    match record.schema.number_of_kind {
        kinds::RESOURCE => inventory.resources.get(id).map(|it| it.span),
        kinds::OBJECT => inventory.objects.get(id).map(|it| it.span),
        kinds::BLOCK => inventory.blocks.get(id).map(|it| it.span),
        _ => None,
    }
}

/// A line of `gpulint facts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VocabularyEntry {
    pub name: String,
    pub holds: String,
    pub meaning: String,
    pub values: Vec<&'static str>,
}

/// Returns every name that rules can use, as `gpulint facts` prints it.
pub fn vocabulary() -> Vec<VocabularyEntry> {
    let mut entries = Vec::new();
    for ConditionName { name, holds, meaning, .. } in named() {
        let (name, meaning) = (name.to_owned(), meaning.to_owned());
        entries.push(VocabularyEntry { name: name.clone(), holds: holds.to_string(), meaning, values: Vec::new() });
        describe(&name, &holds, &mut entries);
    }
    for (looks_at, records) in [("object", &*OBJECT), ("block", &*BLOCK)] {
        for field in &records.schema.fields {
            let meaning = format!("{} `for: {looks_at}`.", field.meaning);
            entries.push(VocabularyEntry {
                name: field.name.to_owned(),
                holds: field.holds.to_string(),
                meaning,
                values: Vec::new(),
            });
        }
    }
    entries
}

fn describe(path: &str, holds: &CelType, entries: &mut Vec<VocabularyEntry>) {
    // A list of records has its facts under its own name.
    if let CelType::List(of) = holds
        && let CelType::Record(schema) = **of
        && !schema.has_facts
    {
        let entry = |field: &cel::SchemaField| VocabularyEntry {
            name: format!("{path}[].{}", field.name),
            holds: field.holds.to_string(),
            meaning: field.meaning.to_owned(),
            values: field.values.to_vec(),
        };
        return entries.extend(schema.fields.iter().map(entry));
    }
    let CelType::Record(schema) = holds else { return };
    for field in &schema.fields {
        let name = format!("{path}.{}", field.name);
        let (holds, meaning) = (field.holds.to_string(), field.meaning.to_owned());
        entries.push(VocabularyEntry { name: name.clone(), holds, meaning, values: field.values.to_vec() });
        // Totals and counts are described once, at their first use.
        if !matches!(field.holds, CelType::Record(schema) if schema.number.is_some()) {
            describe(&name, &field.holds, entries);
        }
    }
}

/// Returns every function and macro that rules can use, with its signature and meaning.
pub fn functions() -> Vec<VocabularyEntry> {
    let entry = |(name, meaning): (String, &str)| {
        let (holds, meaning) = (String::new(), meaning.to_owned());
        VocabularyEntry { name, holds, meaning, values: Vec::new() }
    };
    cel::callable(&functions::FUNCTIONS).into_iter().map(entry).collect()
}
