//! Derives facts from the node labels that a pod or a pool requires: accelerator, machine, region, purchase, provider.

use std::collections::HashSet;
use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, Purchase, Refused, UnknownFact};
use crate::source::Span;

use crate::kubernetes::rows::amount::{fallback, placeholder};
use crate::kubernetes::rows::devices::{DEVICES, DeviceLabel, LabelMeaning};
use crate::kubernetes::rows::facts::{Facts, fill, region_of};
use crate::languages::yaml::Node;

/// A node label with its possible values.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct Condition {
    pub key: Arc<str>,
    pub values: Vec<(Arc<str>, Span)>,
    /// The position of the key and its values.
    pub span: Span,
    pub preferred: bool,
    /// The label accepts any number above this one.
    pub above: Option<u8>,
    /// The excluded nodes: those with these values, or those with the label.
    pub refused: Option<Refused>,
}

impl Condition {
    /// Returns whether the condition only excludes nodes and requires no label.
    pub(in crate::kubernetes) fn only_refuses(&self) -> bool {
        matches!(self.refused, Some(Refused::Values(_) | Refused::Any))
    }
}

/// Returns the labels of a mapping such as `nodeSelector`.
pub(in crate::kubernetes) fn labels(map: &Node) -> Vec<Condition> {
    let conditions = map.entries().iter().filter_map(|entry| {
        let text = entry.value.text()?;
        // Kubectl refuses a boolean without quotes, but templates often contain one.
        let text = entry.value.flag().map_or_else(|| text.clone(), |flag| flag.to_string().into());
        let span = entry.span();
        Some(Condition {
            key: entry.key.clone(),
            values: vec![(text, entry.value.span)],
            span,
            preferred: false,
            above: None,
            refused: None,
        })
    });
    conditions.collect()
}

/// Returns the expressions `{key, operator, values}` of a list.
pub(in crate::kubernetes) fn expressions(list: &Node, preferred: bool) -> Vec<Condition> {
    list.items().iter().filter_map(|item| expression(item, preferred)).collect()
}

fn expression(item: &Node, preferred: bool) -> Option<Condition> {
    let key = item.text_at("key")?.clone();
    let listed = item.get("values").map(Node::items).unwrap_or_default();
    let listed = || listed.iter().filter_map(|value| Some((value.text()?.clone(), value.span)));
    let operator = item.text_at("operator").map_or("In", |operator| operator);
    let number = || listed().next()?.0.parse::<f64>().ok();
    let refused = match operator {
        "NotIn" => Some(Refused::Values(listed().map(|(text, _)| text).collect())),
        "DoesNotExist" => Some(Refused::Any),
        "Gt" => number().map(Refused::AtMost),
        "Gte" => number().map(Refused::Below),
        "Lt" => number().map(Refused::AtLeast),
        "Lte" => number().map(Refused::Above),
        _ => None,
    };
    let mut condition = Condition { key, values: Vec::new(), span: item.span, preferred, above: None, refused };
    match operator {
        "In" => {
            item.get("values")?;
            condition.values = listed().collect();
        }
        // The label is required, with any value.
        "Gt" | "Gte" => {
            let number = number().and_then(|it| u8::try_from(it as i64).ok());
            condition.above = number.and_then(|it| if operator == "Gte" { it.checked_sub(1) } else { Some(it) });
        }
        "Exists" | "Lt" | "Lte" => {}
        "NotIn" | "DoesNotExist" if !preferred => {}
        _ => return None,
    }
    Some(condition)
}

/// Returns the conditions of a node affinity. Alternative terms are merged by key.
pub(in crate::kubernetes) fn affinity(node_affinity: &Node) -> Vec<Condition> {
    let mut all: Vec<Condition> = Vec::new();
    let required = node_affinity.at("requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    let terms = required.map(Node::items).unwrap_or_default();
    for term in terms {
        for condition in term.get("matchExpressions").map(|list| expressions(list, false)).unwrap_or_default() {
            // An exclusion in one alternative does not apply to the others.
            if terms.len() > 1 && condition.only_refuses() {
                continue;
            }
            let condition = Condition { refused: condition.refused.filter(|_| terms.len() == 1), ..condition };
            match all.iter_mut().find(|known| known.key == condition.key && terms.len() > 1) {
                Some(known) => known.values.extend(condition.values),
                None => all.push(condition),
            }
        }
    }
    let preferred = node_affinity.get("preferredDuringSchedulingIgnoredDuringExecution").map(Node::items);
    for term in preferred.unwrap_or_default() {
        all.extend(term.at("preference.matchExpressions").map(|list| expressions(list, true)).unwrap_or_default());
    }
    all
}

/// The limit on families and sizes. Larger lists add no information.
const MOST: usize = 50;

/// Returns the facts from conditions. Later conditions do not override earlier ones, and names only fill gaps.
pub(in crate::kubernetes) fn facts(conditions: &[Condition]) -> Facts {
    let mut facts = Facts::new();
    for preferred in [false, true] {
        for condition in conditions.iter().filter(|it| it.preferred == preferred && !it.only_refuses()) {
            if let Some(label) = DEVICES.label(&condition.key) {
                read_node_condition(&mut facts, condition, label, conditions);
            }
        }
    }
    for condition in conditions {
        if DEVICES.label(&condition.key).is_none_or(|label| label.fact == Some(LabelMeaning::Pool)) {
            names(&mut facts, condition);
        }
    }
    facts
}

fn read_node_condition(facts: &mut Facts, condition: &Condition, label: &DeviceLabel, all: &[Condition]) {
    if let Some(provider) = &label.provider {
        let origin = if condition.preferred { inferred(condition) } else { FactOrigin::Resolved };
        fill(facts, Key::Provider, Fact::known(FactValue::text(provider.as_str()), condition.span, origin));
    }
    if let Some(part) = &label.owned
        && let Some((value, span)) = condition.values.iter().find(|(value, _)| value.contains(part.as_str()))
    {
        let origin = FactOrigin::Inferred(format!("`{value}` hardware cannot be rented").into());
        fill(facts, Key::Purchase, Fact::known(Purchase::OnPrem.into(), *span, origin));
    }
    let Some(fact) = label.fact else { return };
    let key = match fact {
        LabelMeaning::Accelerator => Key::Accelerator,
        LabelMeaning::AcceleratorMemoryGib => Key::AcceleratorMemory,
        LabelMeaning::AcceleratorCount => Key::AcceleratorCount,
        LabelMeaning::Vendor => Key::Vendor,
        LabelMeaning::Machine | LabelMeaning::Family | LabelMeaning::Category => Key::Machine,
        LabelMeaning::Region | LabelMeaning::Zone => Key::Region,
        LabelMeaning::Purchase => Key::Purchase,
        LabelMeaning::Slice => Key::Slice,
        LabelMeaning::SharedBy => Key::SharedBy,
        LabelMeaning::Sharing => Key::Sharing,
        LabelMeaning::TimeLimitSeconds => Key::TimeLimit,
        LabelMeaning::Processor => Key::Processor,
        LabelMeaning::Pool | LabelMeaning::Size | LabelMeaning::Generation => return,
    };
    if condition.values.is_empty() {
        let any = matches!(fact, LabelMeaning::AcceleratorCount | LabelMeaning::Vendor);
        let why = format!("any value of {} fits", condition.key);
        fill(facts, key, if any { Fact::unknown(why, condition.span) } else { Fact::Absent });
        return;
    }
    let mut values: Vec<(Fact<FactValue>, Span)> = Vec::new();
    // A set is used, because a list may name every machine type of a cloud.
    let mut seen = HashSet::new();
    for (text, span) in split(condition, label) {
        let fact = one(label, fact, &text, span);
        if seen.insert(format!("{:?} {:?}", fact.value(), fact.why())) {
            values.push((fact, span));
        }
    }
    let fact = match key {
        Key::Purchase => purchase(condition, values),
        _ if fact == LabelMeaning::Family => families(condition, all),
        _ if fact == LabelMeaning::Category => category(condition, label, all),
        _ => several(condition, values),
    };
    fill(facts, key, fact);
}

fn split(condition: &Condition, label: &DeviceLabel) -> Vec<(Arc<str>, Span)> {
    let Some(separator) = &label.split else { return condition.values.clone() };
    let parts = condition.values.iter().flat_map(|(text, span)| {
        text.split(separator.as_str()).map(|part| (Arc::from(part.trim()), *span)).collect::<Vec<_>>()
    });
    parts.collect()
}

fn one(label: &DeviceLabel, fact: LabelMeaning, text: &Arc<str>, span: Span) -> Fact<FactValue> {
    if let Some((value, origin)) = fallback(text) {
        return match one(label, fact, &Arc::from(value), span) {
            Fact::Known(known) => Fact::Known(KnownFact { origin: known.origin.weakest(origin), ..known }),
            other => other,
        };
    }
    if let Some(why) = placeholder(text) {
        return Fact::unknown(why, span);
    }
    let value = match fact {
        LabelMeaning::Zone => FactValue::text(region_of(text)),
        LabelMeaning::AcceleratorMemoryGib
        | LabelMeaning::AcceleratorCount
        | LabelMeaning::SharedBy
        | LabelMeaning::TimeLimitSeconds => match text.parse::<f64>() {
            Ok(number) => FactValue::Number(number * label.scale.unwrap_or(1.0)),
            Err(_) => return Fact::unknown(format!("`{text}` is not a number"), span),
        },
        _ if label.any.is_some() => FactValue::text(label.any.clone().unwrap_or_default()),
        _ if label.map.is_empty() => FactValue::Text(text.clone()),
        _ => match label.map.get(&**text) {
            Some(value) => FactValue::text(value.as_str()),
            None => return Fact::unknown(format!("`{text}` is not a known value of {}", label.key), span),
        },
    };
    Fact::written(value, span)
}

/// Returns a known fact for one value, and an unknown fact with candidates for several.
fn several(condition: &Condition, mut values: Vec<(Fact<FactValue>, Span)>) -> Fact<FactValue> {
    if values.len() <= 1 {
        let Some((fact, _)) = values.pop() else { return Fact::Absent };
        return match fact {
            Fact::Known(mut known) if condition.preferred => {
                known.origin = inferred(condition);
                Fact::Known(known)
            }
            other => other,
        };
    }
    let candidates: Vec<FactValue> = values.iter().filter_map(|(fact, _)| fact.value().cloned()).collect();
    let why = format!("{} values of {} are possible", values.len(), condition.key);
    Fact::Unknown(UnknownFact { span: condition.span, why: why.into(), candidates })
}

/// Returns the purchase option. A pool that uses spot or on demand, depending on availability, has its own option.
fn purchase(condition: &Condition, values: Vec<(Fact<FactValue>, Span)>) -> Fact<FactValue> {
    let has = |purchase| values.iter().any(|(fact, _)| Purchase::from_fact(fact) == Some(purchase));
    let either = has(Purchase::Spot) && (has(Purchase::OnDemand) || condition.preferred);
    if either {
        return Fact::known(Purchase::SpotOrOnDemand.into(), condition.span, FactOrigin::Written);
    }
    several(condition, values)
}

/// Returns the machine types of families, limited to the sizes in another condition.
fn families(condition: &Condition, all: &[Condition]) -> Fact<FactValue> {
    if is_narrowed(all, &[LabelMeaning::Machine]) {
        return Fact::Absent;
    }
    let sizes = other_condition(condition, all, LabelMeaning::Size).map_or_else(|| vec!["*".to_owned()], texts);
    let names: Vec<&str> = condition.values.iter().map(|(text, _)| &**text).collect();
    let why = format!("any machine type with {} {}", condition.key, names.join(" or "));
    let families = names.iter().filter(|name| name.len() > 1).take(MOST);
    let machines = families.flat_map(|name| sizes.iter().map(move |size| FactValue::text(format!("{name}.{size}"))));
    let candidates: Vec<FactValue> = machines.collect();
    match candidates.as_slice() {
        [only] if sizes != ["*"] => {
            let origin = if condition.preferred { inferred(condition) } else { FactOrigin::Resolved };
            Fact::known(only.clone(), condition.span, origin)
        }
        _ => Fact::Unknown(UnknownFact { span: condition.span, why: why.into(), candidates }),
    }
}

/// Returns whether another condition determines the machine types more exactly.
fn is_narrowed(all: &[Condition], by: &[LabelMeaning]) -> bool {
    let says = |it: &Condition| DEVICES.label(&it.key).and_then(|label| label.fact).is_some_and(|it| by.contains(&it));
    all.iter().any(|it| !it.preferred && !it.values.is_empty() && says(it))
}

/// Returns the other condition with this meaning.
fn other_condition<'c>(condition: &Condition, all: &'c [Condition], said: LabelMeaning) -> Option<&'c Condition> {
    let says = |it: &&Condition| DEVICES.label(&it.key).is_some_and(|label| label.fact == Some(said));
    all.iter()
        .filter(says)
        .find(|it| it.preferred == condition.preferred && !(it.values.is_empty() && it.above.is_none()))
}

fn texts(condition: &Condition) -> Vec<String> {
    condition.values.iter().map(|(text, _)| text.to_string()).take(MOST).collect()
}

/// Generations have one digit so far.
const LAST_GENERATION: u8 = 9;

/// Returns the machine types of categories, if all of their machines have accelerators. The machine type stays unknown,
/// within the generations and sizes of other conditions.
fn category(condition: &Condition, label: &DeviceLabel, all: &[Condition]) -> Fact<FactValue> {
    if !condition.values.iter().all(|(text, _)| label.map.contains_key(&**text))
        || is_narrowed(all, &[LabelMeaning::Family, LabelMeaning::Machine])
    {
        return Fact::Absent;
    }
    let names: Vec<&str> = condition.values.iter().map(|(text, _)| &**text).collect();
    let why = format!("any machine type of the category {}", names.join(" or "));
    let generations = match other_condition(condition, all, LabelMeaning::Generation) {
        Some(Condition { above: Some(above), .. }) => {
            (above.saturating_add(1)..=LAST_GENERATION).map(|it| it.to_string()).collect()
        }
        Some(listed) => texts(listed),
        None => vec!["#".to_owned()],
    };
    let sizes = other_condition(condition, all, LabelMeaning::Size).map(texts).unwrap_or_default();
    let sizes: Vec<String> = if sizes.is_empty() { vec![String::new()] } else { dotted(sizes) };
    // A category is the letters before the generation: g covers g4dn, g5 and g6e.
    let generations = names.iter().flat_map(|name| generations.iter().map(move |it| format!("{name}{it}*")));
    let candidates = generations.flat_map(|it| sizes.iter().map(move |size| FactValue::text(format!("{it}{size}"))));
    let candidates = candidates.take(MOST * MOST).collect();
    Fact::Unknown(UnknownFact { span: condition.span, why: why.into(), candidates })
}

fn dotted(sizes: Vec<String>) -> Vec<String> {
    sizes.into_iter().map(|size| format!(".{size}")).collect()
}

fn names(facts: &mut Facts, condition: &Condition) {
    let [(text, span)] = condition.values.as_slice() else { return };
    for pattern in &DEVICES.names {
        let Some(found) = pattern.find(text).filter(|_| pattern.suits(&condition.key)) else { continue };
        let why = format!("the name `{text}` of {}", condition.key);
        let origin = FactOrigin::Inferred(why.as_str().into());
        let key = if pattern.fact == LabelMeaning::Accelerator { Key::Accelerator } else { Key::Machine };
        let says_chip = matches!(facts.get(&Key::Accelerator), Some(Fact::Known(_)));
        let says_machine = matches!(facts.get(&Key::Machine), Some(Fact::Known(_)));
        if (key == Key::Accelerator && (says_chip || says_machine)) || (key == Key::Machine && says_machine) {
            continue;
        }
        let fact = match pattern.fact {
            // The name of a family does not determine the machine type.
            LabelMeaning::Family => Fact::Unknown(UnknownFact {
                span: *span,
                why: format!("any machine type of the family in {why}").into(),
                candidates: vec![FactValue::text(found)],
            }),
            _ => Fact::known(FactValue::text(found), *span, origin.clone()),
        };
        fill(facts, key, fact);
        if let Some(provider) = &pattern.provider {
            fill(facts, Key::Provider, Fact::known(FactValue::text(provider.as_str()), *span, origin));
        }
    }
}

fn inferred(condition: &Condition) -> FactOrigin {
    FactOrigin::Inferred(format!("nodes with {} are preferred, not required", condition.key).into())
}
