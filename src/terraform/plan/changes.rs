//! Reads the resources of a plan, in one of its two states.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::Arc;

use crate::languages::hcl::syntax::json::{Json, JsonKind};
use crate::source::Span;
use crate::terraform::address::base;
use crate::terraform::block::{EvaluatedBlock, Provider};
use crate::terraform::border::{Fact, Range};

use super::configuration::PlanConfiguration;
use super::merge::{self, Merge, Sides};
use super::{PlanSide, TerraformPlan};

/// One resource in a change or in a state.
struct Entry<'j> {
    json: &'j Json,
    sides: Sides<'j>,
    /// The reason why it is unknown whether the resource will exist.
    deferred: Option<&'j str>,
}

/// Adds the resources that exist before or after the plan is applied.
pub(super) fn read(json: &Json, side: PlanSide, plan: &mut TerraformPlan) {
    let configuration = PlanConfiguration::read(json);
    let mut entries = Vec::new();
    match (json.get("resource_changes").filter(|it| !it.items().is_empty()), side) {
        (Some(changes), _) => {
            entries.extend(changes.items().iter().filter_map(|change| changed(change, side, None)));
            let deferred = json.get("deferred_changes").map(Json::items).unwrap_or_default();
            entries.extend(
                deferred
                    .iter()
                    .filter_map(|it| changed(it.get("resource_change")?, side, it.get("reason").and_then(Json::text))),
            );
        }
        // This is a state, or a plan without its changes.
        (None, PlanSide::After) => {
            let values = json.get("planned_values").or_else(|| json.get("values"));
            listed(values.and_then(|it| it.get("root_module")), &mut entries);
        }
        (None, PlanSide::Before) => {
            let values = json.get("prior_state").and_then(|it| it.get("values")).or_else(|| json.get("values"));
            listed(values.and_then(|it| it.get("root_module")), &mut entries);
        }
    }
    // The results of data sources are in the prior state of the plan.
    let mut read = Vec::new();
    listed(json.get("prior_state").and_then(|it| it.get("values")?.get("root_module")), &mut read);
    let known: HashSet<&str> = entries.iter().filter_map(|it| it.json.get("address")?.text()).collect();
    read.retain(|it| text(it.json, "mode") == "data" && !known.contains(text(it.json, "address")));
    let mut hidden = configuration.secrets();
    for entry in entries.iter().chain(&read) {
        match entry.sides.sensitive {
            Some(_) => secrets(entry.sides.values, entry.sides.sensitive, &mut hidden),
            None => merge::named_secrets(entry.sides.values, &mut hidden),
        }
    }
    let mut providers = BTreeMap::new();
    for entry in entries.iter().chain(&read) {
        plan.blocks.extend(block(&configuration, entry, &hidden, &mut providers, &mut plan.secrets));
    }
}

/// Shorter strings occur in too many places to be treated as secrets.
pub(super) const SHORTEST_SECRET: usize = 6;

/// Returns the strings that are marked as sensitive. Values that a provider computes from them may repeat them without
/// a mark.
fn secrets<'j>(value: Option<&'j Json>, marks: Option<&'j Json>, found: &mut HashSet<&'j str>) {
    let (Some(value), Some(marks)) = (value, marks) else { return };
    let all = marks.flag() == Some(true);
    match &value.kind {
        JsonKind::Text(text, _) if all && text.len() >= SHORTEST_SECRET => {
            found.insert(text);
        }
        JsonKind::List(items) => {
            for (at, item) in items.iter().enumerate() {
                secrets(Some(item), if all { Some(marks) } else { marks.items().get(at) }, found);
            }
        }
        JsonKind::Object(entries) => {
            let below = merge::by_name(Some(marks));
            for (name, item) in entries {
                secrets(Some(item), if all { Some(marks) } else { below.get(&*name.text).copied() }, found);
            }
        }
        _ => {}
    }
}

fn text<'j>(json: &'j Json, key: &str) -> &'j str {
    json.get(key).and_then(Json::text).unwrap_or_default()
}

fn is_null(json: &Json) -> bool {
    matches!(json.kind, JsonKind::Null)
}

/// Returns one side of a change; `None` if the resource does not exist on that side.
fn changed<'j>(json: &'j Json, side: PlanSide, deferred: Option<&'j str>) -> Option<Entry<'j>> {
    let change = json.get("change")?;
    let (values, unknown, sensitive) = match side {
        PlanSide::Before => ("before", None, "before_sensitive"),
        PlanSide::After => ("after", change.get("after_unknown"), "after_sensitive"),
    };
    let values = change.get(values).filter(|it| !is_null(it));
    let actions: Vec<&str> =
        change.get("actions").map(Json::items).unwrap_or_default().iter().filter_map(Json::text).collect();
    let goes = actions.contains(&"delete") || actions.contains(&"forget");
    let comes = actions.contains(&"create") || actions.contains(&"read");
    let is_there = match side {
        PlanSide::Before => values.is_some(),
        PlanSide::After => comes || !goes,
    };
    let sides = Sides { values, unknown, sensitive: change.get(sensitive) };
    is_there.then_some(Entry { json, sides, deferred })
}

/// Adds the resources of a module and of the modules below it.
fn listed<'j>(module: Option<&'j Json>, entries: &mut Vec<Entry<'j>>) {
    let Some(module) = module else { return };
    let below = |key: &str| module.get(key).map(Json::items).unwrap_or_default();
    for json in below("resources") {
        let sides = Sides { values: json.get("values"), unknown: None, sensitive: json.get("sensitive_values") };
        entries.push(Entry { json, sides, deferred: None });
    }
    for module in below("child_modules") {
        listed(Some(module), entries);
    }
}

fn block<'j>(
    configuration: &PlanConfiguration<'j>,
    entry: &Entry<'j>,
    hidden: &HashSet<&'j str>,
    providers: &mut BTreeMap<String, Option<Arc<Provider>>>,
    secrets: &mut Vec<Span>,
) -> Option<EvaluatedBlock> {
    let Entry { json, sides, deferred } = entry;
    let keyword = match text(json, "mode") {
        "managed" => "resource",
        "data" => "data",
        _ => return None,
    };
    let (kind, name) = (text(json, "type"), text(json, "name"));
    let (head, address) = (json.get("address")?.span, text(json, "address"));
    // An earlier, failed run left this object. It exists until the plan is applied.
    let deposed = json.get("deposed").and_then(Json::text);
    let address = deposed.map_or(address.to_owned(), |key| format!("{address} (deposed {key})"));
    let own = if keyword == "data" { format!("data.{kind}.{name}") } else { format!("{kind}.{name}") };
    let module = module_of(json, &own);
    let written = configuration.resource(module, &own);
    let mut merge = Merge::new(configuration, hidden, module, written, sides, head);
    let body = merge.body(sides, written.map(|it| it.get("expressions")));
    secrets.append(&mut merge.secrets);
    let one = Range::exactly(1.0);
    let instances = match deferred {
        Some(reason) => Fact::unknown(format!("Terraform deferred it: {}", reason.replace('_', " ")), head),
        None => Fact::written(one, head),
    };
    let key = written.and_then(|it| it.get("provider_config_key")).and_then(Json::text);
    let key = key.unwrap_or_else(|| kind.split('_').next().unwrap_or(kind));
    let provider = providers.entry(key.to_owned()).or_insert_with(|| configuration.provider(key).map(Arc::new)).clone();
    Some(EvaluatedBlock {
        keyword: keyword.to_owned(),
        labels: vec![kind.to_owned(), name.to_owned()],
        address,
        span: head,
        body: json.span,
        attributes: body.attributes.into_iter().collect(),
        blocks: body.blocks,
        open_blocks: Vec::new(),
        instances,
        provider,
        source: None,
        references: merge.references,
    })
}

/// Returns the module of a resource, `module.a["x"]`. A state has it only in the address.
fn module_of<'j>(json: &'j Json, own: &str) -> &'j str {
    if let Some(module) = json.get("module_address").and_then(Json::text) {
        return module;
    }
    let address = base(text(json, "address"));
    address.strip_suffix(own).and_then(|it| it.strip_suffix('.')).unwrap_or_default()
}
