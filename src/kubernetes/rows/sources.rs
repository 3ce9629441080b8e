//! Reads facts from objects according to the definitions.

use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, Purchase, UnknownFact};
use crate::languages::yaml::{Node, NodeData};
use crate::source::{AdaptiveRegex, Span};

use super::facts::{Facts, fill, region_of};
use super::path::{ManifestPath, PathMatch};
use super::table;
use super::table::{AmountUnit, FieldSource};
use super::writing::KindConstant;
use crate::kubernetes::rows::amount;

/// Returns the facts of a definition, or of an entry in it, for one match of `along`.
pub(in crate::kubernetes) fn facts(
    rows: &table::FactSources,
    root: &Node,
    along: &ManifestPath,
    at: &PathMatch<'_>,
    head: Span,
) -> Facts {
    let mut facts = Facts::new();
    for (name, sources) in rows {
        let Some(key) = Key::named(name) else { continue };
        for source in &sources.0 {
            fill(&mut facts, key, read(source, key, root, along, at, head));
        }
    }
    facts
}

fn read(
    source: &FieldSource,
    key: Key,
    root: &Node,
    along: &ManifestPath,
    at: &PathMatch<'_>,
    head: Span,
) -> Fact<FactValue> {
    let is_on = |path: &ManifestPath| path.relative_to(root, along, at).iter().any(|node| node.flag() == Some(true));
    if source.only_if.as_ref().is_some_and(|path| !is_on(path)) {
        return Fact::Absent;
    }
    let version = root.get("apiVersion").and_then(Node::text).map(|version| &**version);
    let paths = source.of_version(version).into_iter();
    let found = paths.map(|path| path.relative_to(root, along, at)).find(|nodes| !nodes.is_empty());
    if let Some(constant) = &source.is {
        return concluded(source, constant, head);
    }
    if let Some(why) = &source.unknown {
        let applies = source.at.0.is_empty() || found.is_some();
        let candidates = || source.candidates.iter().map(|it| FactValue::text(it.as_str())).collect();
        let unknown = || UnknownFact { span: head, why: why.as_str().into(), candidates: candidates() };
        return if applies { Fact::Unknown(unknown()) } else { Fact::Absent };
    }
    match (found, &source.present, &source.default) {
        (Some(nodes), Some(constant), _) => concluded(source, constant, nodes.first().map_or(head, |node| node.span)),
        (Some(nodes), None, _) => written(source, key, &nodes),
        (None, _, Some(constant)) => {
            let place = source.below.as_ref().and_then(|key| root.entry(key)).map_or(head, |entry| entry.key_span);
            Fact::known(value(constant), place, FactOrigin::Default)
        }
        (None, _, None) => Fact::Absent,
    }
}

fn concluded(source: &FieldSource, constant: &KindConstant, span: Span) -> Fact<FactValue> {
    let origin = source.because.as_ref().map_or(FactOrigin::Resolved, |why| FactOrigin::Inferred(why.as_str().into()));
    Fact::known(value(constant), span, origin)
}

fn value(constant: &KindConstant) -> FactValue {
    match constant {
        KindConstant::Flag(flag) => FactValue::Flag(*flag),
        KindConstant::Number(number) => FactValue::Number(*number),
        KindConstant::Text(text) => FactValue::text(text.as_str()),
    }
}

/// Returns the fact for the nodes of a source. Several different values become candidates.
fn written(source: &FieldSource, key: Key, nodes: &[&Node]) -> Fact<FactValue> {
    let mut facts: Vec<Fact<FactValue>> = Vec::new();
    let all = nodes.iter().flat_map(|node| inside(source, node));
    for fact in all.map(|node| one(source, &node)).filter(|fact| !fact.is_absent()) {
        if !facts.iter().any(|known| known.value() == fact.value() && known.why() == fact.why()) {
            facts.push(fact);
        }
    }
    if facts.len() <= 1 {
        return facts.pop().unwrap_or_default();
    }
    let Some(span) = facts.first().and_then(Fact::span) else { return Fact::Absent };
    let candidates: Vec<FactValue> = facts.iter().filter_map(|fact| fact.value().cloned()).collect();
    if key == Key::Purchase && candidates.iter().any(|value| Purchase::of(value) == Some(Purchase::Spot)) {
        return Fact::written(Purchase::SpotOrOnDemand.into(), span);
    }
    let why = format!("{} values are possible", facts.len());
    Fact::Unknown(UnknownFact { span, why: why.into(), candidates })
}

/// Returns the scalars that a source reads from a node: members of a list, or keys or values of a mapping.
fn inside(source: &FieldSource, node: &Node) -> Vec<Node> {
    match &node.data {
        NodeData::List(items) => items.iter().flat_map(|item| inside(source, item)).collect(),
        NodeData::Map(entries) if source.keys && !amount::is_hole(node) => {
            entries.iter().map(|entry| Node::scalar(entry.key_span, entry.key.clone(), false)).collect()
        }
        NodeData::Map(entries) if source.member && !amount::is_hole(node) => {
            entries.iter().map(|entry| entry.value.clone()).collect()
        }
        _ => vec![node.clone()],
    }
}

fn one(source: &FieldSource, node: &Node) -> Fact<FactValue> {
    if amount::is_hole(node) {
        return Fact::unknown("a template directive sets this value", node.span);
    }
    let Some(text) = node.text() else { return Fact::Absent };
    if let Some((value, origin)) = amount::fallback(text) {
        return match one(source, &Node::scalar(node.span, value, true)) {
            Fact::Known(known) => Fact::Known(KnownFact { origin: known.origin.weakest(origin), ..known }),
            other => other,
        };
    }
    if let Some(why) = amount::placeholder(text) {
        return Fact::unknown(why, node.span);
    }
    if source.unit.is_some() || source.times.is_some() {
        return scaled(source, node, text);
    }
    if !source.map.is_empty() {
        // If the pattern does not match, the source has no value.
        return match &source.pattern {
            None => translated(source, node, text),
            Some(part) => match AdaptiveRegex::new(part.as_str()).first_group(text) {
                Some(part) => translated(source, node, &part),
                None => Fact::Absent,
            },
        };
    }
    if let Some(part) = &source.pattern
        && !(source.member && node.number().is_some())
    {
        let found = AdaptiveRegex::new(part.as_str()).first_group(text);
        return match (found, &source.default) {
            (Some(part), _) => Fact::written(plain(&part), node.span),
            (None, Some(constant)) => Fact::known(value(constant), node.span, FactOrigin::Default),
            (None, None) => Fact::Absent,
        };
    }
    if source.zone {
        return Fact::written(FactValue::text(region_of(text)), node.span);
    }
    match (node.flag(), node.number()) {
        (Some(flag), _) => Fact::written(FactValue::Flag(flag), node.span),
        (_, Some(number)) => Fact::written(FactValue::Number(number), node.span),
        _ => Fact::written(FactValue::Text(text.clone()), node.span),
    }
}

/// Reads a numeric part as a number.
fn plain(part: &str) -> FactValue {
    match part.parse::<f64>() {
        Ok(number) if part.starts_with(|c: char| c.is_ascii_digit()) => FactValue::Number(number),
        _ => FactValue::text(part),
    }
}

fn scaled(source: &FieldSource, node: &Node, text: &str) -> Fact<FactValue> {
    let number = match source.unit {
        Some(AmountUnit::Seconds) => match seconds(text) {
            Some(seconds) => Fact::written(seconds, node.span),
            // `Never` and similar values mean that there is no such time.
            None => return Fact::Absent,
        },
        Some(AmountUnit::Gib) => amount::gib(node),
        _ => amount::number(node),
    };
    number.map(|number| FactValue::Number(number * source.times.unwrap_or(1.0) + source.plus))
}

fn translated(source: &FieldSource, node: &Node, text: &str) -> Fact<FactValue> {
    let plain = node.flag().map(|flag| flag.to_string());
    match source.map.get(plain.as_deref().unwrap_or(text)).or_else(|| source.map.get("*")) {
        Some(value) => Fact::written(FactValue::text(value.as_str()), node.span),
        None => Fact::unknown(format!("`{}` is not a known value", amount::shorten(text)), node.span),
    }
}

/// Parses durations of Go: `30s`, `1h30m`, `720h`. A bare number means seconds.
fn seconds(text: &str) -> Option<f64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Some(seconds).filter(|n| n.is_finite());
    }
    let mut sum = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let scale = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            "w" => 604_800.0,
            _ => return None,
        };
        sum += number.parse::<f64>().ok()? * scale;
        rest = after;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        assert_eq!(seconds("1h30m"), Some(5400.0));
        assert_eq!(seconds("30s"), Some(30.0));
        assert_eq!(seconds("60"), Some(60.0));
        assert_eq!(seconds("Never"), None);
        assert_eq!(seconds("5x"), None);
    }
}
