//! Reads one fact as its definition describes.

use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, UnknownFact, ValueType};
use crate::languages::hcl::value::{self, HclData};
use crate::source::Span;

use super::language::{FactReading, RowConstant, Spec};
use super::node::{PlacedValue, ValueNode, scalar};
use super::scope::{RowScope, Truth};
use crate::inventory::row_path::{RowPath, Start};

/// The form of the result: a fact of the inventory, or a plain type.
#[derive(Clone, Copy)]
pub(super) struct WantedType {
    pub(super) value_type: ValueType,
    /// The seconds of one unit. A duration becomes a number of such units.
    pub(super) seconds_each: f64,
    /// The noun for several values.
    noun: &'static str,
}

impl WantedType {
    pub(super) const TEXT: WantedType = WantedType { value_type: ValueType::Text, seconds_each: 1.0, noun: "value" };
    pub(super) const TEXTS: WantedType = WantedType { value_type: ValueType::List, seconds_each: 1.0, noun: "value" };
    pub(super) const NUMBER: WantedType =
        WantedType { value_type: ValueType::Number, seconds_each: 1.0, noun: "number" };

    pub(super) fn of(key: Key) -> WantedType {
        let seconds_each = if key.name().ends_with("_minutes") { 60.0 } else { 1.0 };
        let noun = match key {
            Key::Machine => "machine type",
            Key::Accelerator => "accelerator",
            _ => "value",
        };
        WantedType { value_type: key.value_type(), seconds_each, noun }
    }
}

impl RowScope<'_> {
    /// Returns the value of the first alternative that has one. If an alternative may have a value, the fact is
    /// unknown, with all possible values.
    pub(super) fn fact(&self, spec: &Spec, wanted: WantedType) -> Fact<FactValue> {
        let mut doubt: Option<UnknownFact<FactValue>> = None;
        for alternative in &spec.0 {
            let fact = self.alternative(alternative, wanted);
            let says_something = matches!(&fact, Fact::Unknown(_)) && !self.may_be_silent(alternative, wanted);
            match (fact, &mut doubt) {
                (Fact::Unknown(unknown), None) if says_something => return Fact::Unknown(unknown),
                (Fact::Unknown(unknown), Some(doubt)) if says_something => {
                    add_candidates(doubt, unknown.candidates);
                    break;
                }
                (Fact::Absent, _) => {}
                (Fact::Known(known), None) => return Fact::Known(known),
                (Fact::Known(known), Some(doubt)) => {
                    add_candidates(doubt, vec![known.value]);
                    break;
                }
                (Fact::Unknown(unknown), None) => doubt = Some(unknown),
                (Fact::Unknown(unknown), Some(doubt)) => add_candidates(doubt, unknown.candidates),
            }
        }
        match doubt {
            // All possible values are the same.
            Some(UnknownFact { span, candidates, .. }) if candidates.len() == 1 && is_exhaustive(spec) => candidates
                .into_iter()
                .next()
                .map_or(Fact::Absent, |value| Fact::known(value, span, FactOrigin::Resolved)),
            // The alternative may also have no value, and no candidate represents that.
            Some(doubt) if !is_exhaustive(spec) => Fact::Unknown(UnknownFact { candidates: Vec::new(), ..doubt }),
            Some(doubt) => Fact::Unknown(doubt),
            None => Fact::Absent,
        }
    }

    /// Returns whether an alternative with an unknown value may have no value, so that the next alternative applies.
    fn may_be_silent(&self, alternative: &FactReading, wanted: WantedType) -> bool {
        let Some(path) = &alternative.at else { return true };
        if !matches!(self.holds(&alternative.when), Truth::Yes(_)) {
            return true;
        }
        let chooses = !alternative.map.is_empty() && !alternative.map.contains_key("*");
        let leaves: Vec<PlacedValue> = self.find(path).into_iter().flat_map(|node| leaves(node, wanted)).collect();
        leaves.iter().all(|held| match held.value.cause() {
            Some(cause) if cause.candidates.is_empty() => held.perhaps || chooses || alternative.pattern.is_some(),
            Some(cause) => cause.candidates.iter().any(|it| interpret(it, alternative, wanted).is_none()),
            None => interpret(&held.value, alternative, wanted).is_none(),
        })
    }

    pub(super) fn alternative(&self, alternative: &FactReading, wanted: WantedType) -> Fact<FactValue> {
        let (condition_at, doubt) = match self.holds(&alternative.when) {
            Truth::No => return Fact::Absent,
            Truth::Yes(span) => (span, None),
            Truth::Unknown { .. } if alternative.if_known => return Fact::Absent,
            Truth::Unknown { why, span } => (None, Some((why, span))),
        };
        let fact = match self.read_alternative(alternative, condition_at, wanted) {
            Fact::Unknown(_) if alternative.if_known => Fact::Absent,
            fact => fact,
        };
        let fact = match (&alternative.because, fact) {
            (Some(reason), Fact::Known(known)) => {
                Fact::Known(KnownFact { origin: FactOrigin::Inferred(reason.as_str().into()), ..known })
            }
            (_, fact) => fact,
        };
        match (doubt, fact) {
            (_, Fact::Absent) => Fact::Absent,
            (None, fact) => fact,
            (Some((why, span)), Fact::Known(known)) => {
                Fact::Unknown(UnknownFact { span, why: why.into(), candidates: vec![known.value] })
            }
            (Some((why, span)), Fact::Unknown(unknown)) => {
                Fact::Unknown(UnknownFact { span, why: why.into(), candidates: unknown.candidates })
            }
        }
    }

    /// Returns the value of the alternative if its condition is true.
    fn read_alternative(
        &self,
        alternative: &FactReading,
        condition_at: Option<Span>,
        wanted: WantedType,
    ) -> Fact<FactValue> {
        let place = condition_at.unwrap_or_else(|| self.span());
        if let Some(why) = &alternative.unknown {
            return Fact::unknown(why.as_str(), place);
        }
        if let Some(constant) = &alternative.is {
            return Fact::written(constant.value(), place);
        }
        if let Some(constant) = &alternative.default {
            return Fact::known(constant.value(), place, FactOrigin::Default);
        }
        if !alternative.join.is_empty() {
            return self.joined(alternative, wanted);
        }
        let Some(path) = &alternative.at else { return Fact::Absent };
        if !alternative.share_of.0.is_empty() {
            return self.share(alternative, path);
        }
        if alternative.length {
            return length(&self.find(&path.whole()));
        }
        let nodes = self.find(path);
        if let Some(constant) = &alternative.present {
            return present(&nodes, constant);
        }
        let leaves = nodes.into_iter().flat_map(|node| leaves(node, wanted));
        let facts: Vec<Fact<FactValue>> = leaves.map(|held| read(&held, alternative, wanted)).collect();
        let fact = together(facts, wanted);
        match path.start {
            // The value comes through a link or the provider, not from the resource itself.
            Start::Link(_) | Start::Provider => resolved(fact),
            _ => fact,
        }
    }

    /// Returns the part that a number has in the sum of others. Unset numbers count as zero.
    fn share(&self, alternative: &FactReading, part: &RowPath) -> Fact<FactValue> {
        let number = |path: &RowPath| {
            let one = FactReading { at: Some(path.clone()), ..FactReading::default() };
            self.read_alternative(&one, None, WantedType::NUMBER)
        };
        let part = match number(part) {
            Fact::Known(part) => part,
            other => return other,
        };
        let mut sum = 0.0;
        for path in &alternative.share_of.0 {
            match number(path) {
                Fact::Known(known) => sum += known.value.as_number().unwrap_or(0.0),
                Fact::Unknown(unknown) => return Fact::Unknown(UnknownFact { candidates: Vec::new(), ..unknown }),
                Fact::Absent => {}
            }
        }
        let Some(share) = part.value.as_number().map(|part| part / sum).filter(|share| share.is_finite()) else {
            return Fact::Absent;
        };
        let share = share * alternative.times.unwrap_or(1.0) + alternative.plus.unwrap_or(0.0);
        Fact::Known(KnownFact { value: FactValue::Number(share), ..part })
    }

    /// Joins several strings. The result is unknown if one of them is unknown.
    fn joined(&self, alternative: &FactReading, wanted: WantedType) -> Fact<FactValue> {
        let mut parts: Vec<Fact<FactValue>> = Vec::new();
        for path in &alternative.join {
            let one = FactReading { at: Some(path.clone()), ..FactReading::default() };
            match self.read_alternative(&one, None, WantedType { value_type: ValueType::Text, ..wanted }) {
                Fact::Absent => return Fact::Absent,
                part => parts.push(part),
            }
        }
        let mut known: Vec<KnownFact<FactValue>> = Vec::new();
        for part in parts {
            match part {
                Fact::Known(part) => known.push(part),
                Fact::Unknown(unknown) => return Fact::Unknown(UnknownFact { candidates: Vec::new(), ..unknown }),
                Fact::Absent => {}
            }
        }
        let text: Vec<String> = known.iter().map(|part| part.value.to_string()).collect();
        let origin = known.iter().map(|part| part.origin.clone()).max();
        match known.into_iter().next() {
            Some(first) => {
                let value = FactValue::text(text.join(&alternative.with));
                Fact::Known(KnownFact { value, origin: origin.unwrap_or(FactOrigin::Written), ..first })
            }
            None => Fact::Absent,
        }
    }
}

fn resolved(fact: Fact<FactValue>) -> Fact<FactValue> {
    match fact {
        Fact::Known(known) => Fact::Known(KnownFact { origin: known.origin.weakest(FactOrigin::Resolved), ..known }),
        other => other,
    }
}

/// Returns whether the alternatives cover all cases: the last one has a value for any configuration.
fn is_exhaustive(spec: &Spec) -> bool {
    spec.0.last().is_some_and(|last| last.when.0.is_empty() && (last.is.is_some() || last.default.is_some()))
}

/// Adds candidates. They must cover all possible values, so no candidates are left if some are unknown.
fn add_candidates(doubt: &mut UnknownFact<FactValue>, more: Vec<FactValue>) {
    if doubt.candidates.is_empty() {
        return;
    }
    if more.is_empty() {
        doubt.candidates.clear();
    }
    for value in more {
        if !doubt.candidates.contains(&value) {
            doubt.candidates.push(value);
        }
    }
}

fn present(nodes: &[ValueNode<'_>], constant: &RowConstant) -> Fact<FactValue> {
    let Some(first) = nodes.first().filter(|node| !node.is_empty_text()) else { return Fact::Absent };
    match first {
        ValueNode::Value(PlacedValue {
            value: value::HclValue { data: HclData::Unknown(cause), .. }, said, ..
        }) => {
            // An attribute that another resource computes exists, whatever its value is.
            if cause.computed_by.is_some() && cause.candidates.is_empty() {
                return Fact::written(constant.value(), *said);
            }
            let candidates = vec![constant.value()];
            Fact::Unknown(UnknownFact { span: *said, why: cause.why.as_str().into(), candidates })
        }
        node => Fact::written(constant.value(), node.span()),
    }
}

/// Counts blocks at the end of a link, each as often as its own `count`.
fn number_of_blocks(nodes: &[ValueNode<'_>]) -> Fact<f64> {
    let mut number: Fact<f64> = Fact::Absent;
    for node in nodes {
        let one = match node {
            ValueNode::Block(block) => block.instances.clone().map(|range| range.expected),
            _ => Fact::written(1.0, node.span()),
        };
        number = match (number, one) {
            (Fact::Known(sum), Fact::Known(one)) => Fact::Known(KnownFact { value: sum.value + one.value, ..sum }),
            (Fact::Absent, one) => one,
            (sum @ Fact::Unknown(_), _) => sum,
            (_, one) => one,
        };
    }
    number
}

fn length(nodes: &[ValueNode<'_>]) -> Fact<FactValue> {
    let Some(first) = nodes.first() else { return Fact::Absent };
    let ValueNode::Value(held) = first else {
        return number_of_blocks(nodes).map(|number| FactValue::Integer(number as i64));
    };
    match &held.value.data {
        HclData::Unknown(cause) => Fact::unknown(cause.why.as_str(), held.said),
        _ => {
            let elements = first.clone().keyed_elements().len();
            let origin = if held.is_written_here() { FactOrigin::Written } else { FactOrigin::Resolved };
            Fact::known(FactValue::Integer(elements as i64), held.said, origin)
        }
    }
}

/// Returns the scalars below a node, as a list if a list is requested.
fn leaves(node: ValueNode<'_>, wanted: WantedType) -> Vec<PlacedValue> {
    let ValueNode::Value(held) = node.clone() else { return Vec::new() };
    let is_collection = matches!(
        held.value.data,
        HclData::List(_) | HclData::Set(_) | HclData::Tuple(_) | HclData::Map(_) | HclData::Object(_)
    );
    if !is_collection || wanted.value_type == ValueType::List {
        return vec![held];
    }
    let elements = node.keyed_elements().into_iter();
    elements.filter_map(|(_, node)| if let ValueNode::Value(held) = node { Some(held) } else { None }).collect()
}

/// Reads one value in the form that the definition requests.
fn read(held: &PlacedValue, alternative: &FactReading, wanted: WantedType) -> Fact<FactValue> {
    if held.value.sensitive {
        return Fact::unknown("the value is sensitive", held.said);
    }
    if let HclData::Unknown(cause) = &held.value.data {
        let mut unknown = UnknownFact { span: held.said, why: cause.why.as_str().into(), candidates: Vec::new() };
        unknown.candidates = match cause.candidates.is_empty() {
            // The value is unknown, so it is one of the values in the map.
            true => alternative.map.values().map(RowConstant::value).collect(),
            false => {
                let all: Vec<Option<FactValue>> =
                    cause.candidates.iter().map(|it| interpret(it, alternative, wanted)).collect();
                all.into_iter().flatten().collect()
            }
        };
        unknown.candidates.dedup();
        return Fact::Unknown(unknown);
    }
    match interpret(&held.value, alternative, wanted) {
        Some(value) => {
            let origin = if held.is_written_here() { FactOrigin::Written } else { FactOrigin::Resolved };
            Fact::Known(KnownFact { value, span: held.said, defined: held.defined(), origin })
        }
        None => Fact::Absent,
    }
}

/// Interprets a value according to the alternative: its meaning, its part, its unit.
fn interpret(value: &value::HclValue, alternative: &FactReading, wanted: WantedType) -> Option<FactValue> {
    let mut value = plain(value)?;
    if let Some(pattern) = &alternative.pattern {
        value = FactValue::text(pattern.first_group(&value.to_string())?);
    }
    if alternative.product {
        value = FactValue::Number(product(&value.to_string())?);
    }
    if !alternative.map.is_empty() {
        let text = value.to_string();
        let mut words = alternative.map.iter();
        let word = words.find(|(word, _)| word.eq_ignore_ascii_case(&text)).map(|(_, meaning)| meaning);
        value = word.or_else(|| alternative.map.get("*"))?.value();
    }
    if let Some(unit) = alternative.unit {
        value = FactValue::Number(seconds(&value.to_string(), unit.seconds())? / wanted.seconds_each);
    }
    if alternative.times.is_some() || alternative.plus.is_some() {
        let number = value.conform(ValueType::Number)?.as_number()?;
        value = FactValue::Number(number * alternative.times.unwrap_or(1.0) + alternative.plus.unwrap_or(0.0));
    }
    Some(value)
}

/// Converts a Terraform value to an inventory value. Empty strings have no value.
pub(super) fn plain(value: &value::HclValue) -> Option<FactValue> {
    Some(match &value.data {
        HclData::Text(text) if text.trim().is_empty() => return None,
        HclData::Text(text) => FactValue::Text(text.clone()),
        HclData::Bool(flag) => FactValue::Flag(*flag),
        HclData::Number(number) => match number.as_i64() {
            Some(n) => FactValue::Integer(n),
            None => FactValue::Number(number.as_f64()),
        },
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            FactValue::List(items.iter().filter_map(scalar).map(Arc::from).collect())
        }
        _ => return None,
    })
}

/// Combines several values for one fact: known if they agree, otherwise one of them.
fn together(facts: Vec<Fact<FactValue>>, wanted: WantedType) -> Fact<FactValue> {
    let mut known: Vec<KnownFact<FactValue>> = Vec::new();
    for fact in facts {
        match fact {
            Fact::Known(one) if known.iter().all(|it| it.value != one.value) => known.push(one),
            Fact::Unknown(unknown) if known.is_empty() => return Fact::Unknown(unknown),
            Fact::Unknown(UnknownFact { span, why, candidates }) if !candidates.is_empty() => {
                let all = known.into_iter().map(|it| it.value).chain(candidates).collect();
                return Fact::Unknown(UnknownFact { span, why, candidates: all });
            }
            Fact::Unknown(unknown) => return Fact::Unknown(unknown),
            _ => {}
        }
    }
    match known.len() {
        0 | 1 => known.pop().map_or(Fact::Absent, Fact::Known),
        n => {
            let span = known[0].span;
            let candidates = known.into_iter().map(|it| it.value).collect();
            Fact::Unknown(UnknownFact { span, why: format!("one of {n} {}s", wanted.noun).into(), candidates })
        }
    }
}

/// Returns 16 for `2x2x4`.
fn product(text: &str) -> Option<f64> {
    text.split(['x', 'X']).try_fold(1.0, |all, part| Some(all * part.trim().parse::<f64>().ok()?))
}

/// Parses `7200s`, `2h`, `30 minutes`, `PT1H30M`, or a bare number in units of `unit` seconds.
fn seconds(text: &str, unit: f64) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number * unit);
    }
    let text = text.strip_prefix("pt").unwrap_or(&text);
    let (mut sum, mut rest) = (0.0, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest.get(..digits)?.parse().ok()?;
        let tail = rest.get(digits..)?.trim_start();
        let word = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        sum += number
            * match tail.get(..word)?.chars().next()? {
                's' => 1.0,
                'm' => 60.0,
                'h' => 3_600.0,
                'd' => 86_400.0,
                'w' => 604_800.0,
                _ => return None,
            };
        rest = tail.get(word..)?.trim_start();
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_spelling() {
        for (text, unit, expected) in [
            ("7200s", 60.0, Some(7200.0)),
            ("30", 60.0, Some(1800.0)),
            ("PT1H30M", 1.0, Some(5400.0)),
            ("2 hours", 1.0, Some(7200.0)),
            ("1d12h", 1.0, Some(129_600.0)),
            ("soon", 1.0, None),
            ("5x", 1.0, None),
        ] {
            assert_eq!(seconds(text, unit), expected, "{text}");
        }
    }
}
