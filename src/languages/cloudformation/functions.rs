//! Implements functions of templates, except `Ref`, `Fn::If` and `Fn::Sub`.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use crate::languages::document::{PART_BYTES, as_json_text, joined, pay_for_arguments};
use crate::languages::hcl::value::{Cause, HclNumber, HclValue};
use crate::languages::yaml::Node;
use crate::source::{Span, to_base64};

use super::evaluate::LoopNames;
use super::stack::{ConditionResult, StackInstance};

/// The limit of AWS on the blocks of one call.
const MOST_BLOCKS: u32 = 256;
/// The limit on the candidates of a lookup, beyond which they are of no use.
const MOST_CANDIDATES: usize = 64;

impl StackInstance<'_> {
    pub(super) fn function(&self, name: &str, argument: &Node, at: Span, names: &LoopNames) -> HclValue {
        match name {
            "Sub" => self.substituted(argument, at, names),
            "GetAtt" => self.get_attribute(argument, at, names),
            "FindInMap" => self.find_in_map(argument, at, names),
            "Condition" => argument.text().map_or_else(
                || HclValue::refused("`Condition` takes a name", at),
                |name| answer(self.holds(name, at), at),
            ),
            "Equals" | "And" | "Or" | "Not" => {
                let condition = Node::framed(&format!("Fn::{name}"), argument);
                answer(self.truth(&condition, names), at)
            }
            "ImportValue" => HclValue::unknown("the value is exported by another stack", at),
            "GetAZs" => HclValue::unknown("the zones are unknown before the stack is created", at),
            _ => self.of_values(name, &self.value(argument, names), at),
        }
    }

    /// Evaluates functions that depend only on their arguments.
    fn of_values(&self, name: &str, argument: &HclValue, at: Span) -> HclValue {
        if let Some(cause) = argument.cause() {
            return HclValue::because(cause, at);
        }
        if let Err(unknown) = pay_for_arguments(&self.state, std::slice::from_ref(argument), at)
            .and_then(|()| pay_for_arguments(&self.state, argument.items(), at))
        {
            return unknown;
        }
        match (name, argument.items()) {
            ("Join", [between, list]) => match (between.as_text(), list.cause()) {
                (_, Some(cause)) => HclValue::because(cause, at),
                (Some(between), None) => joined(&self.state, list.items(), &between, at),
                (None, None) => unknown(between, at),
            },
            ("Select", [index, list]) => select(index, list, at),
            ("Split", [by, text]) => match (by.as_text(), text.as_text()) {
                (Some(by), Some(text)) if !by.is_empty() => {
                    let bytes = text.matches(&*by).count().saturating_mul(PART_BYTES).saturating_add(text.len());
                    if let Err(unknown) = self.state.pay_text(bytes, at) {
                        return unknown;
                    }
                    let parts = text.split(&*by).map(|part| HclValue::text(part, at)).collect();
                    HclValue::tuple(parts, at).marked(argument.any_sensitive())
                }
                _ => unknown(argument, at),
            },
            ("Length", items) => match argument.any_cause().filter(|_| items.is_empty()) {
                Some(cause) => HclValue::because(cause, at),
                None => HclValue::number(HclNumber::counted(argument.members()), at),
            },
            ("Base64", _) => match argument.as_text() {
                Some(text) => match self.state.pay_text(text.len() * 2, at) {
                    Ok(()) => HclValue::text(to_base64(text.as_bytes()), at).marked(argument.sensitive),
                    Err(unknown) => unknown,
                },
                None => unknown(argument, at),
            },
            ("ToJsonString", _) => match as_json_text(&self.state, argument, at) {
                Ok(Some(json)) => HclValue::text(json, at).marked(argument.any_sensitive()),
                Ok(None) => unknown(argument, at),
                Err(unknown) => unknown,
            },
            ("Cidr", [block, count, ..]) => {
                let bits = argument.items().get(2).and_then(HclValue::as_number).and_then(|it| it.as_i64());
                cidr(block, count, bits, at).unwrap_or_else(|| unknown(argument, at))
            }
            _ => HclValue::refused(format!("`Fn::{name}` is not supported, or its arguments are invalid"), at),
        }
    }

    /// Evaluates `Resource.Attribute`, or a list of both.
    fn get_attribute(&self, argument: &Node, at: Span, names: &LoopNames) -> HclValue {
        let (resource, attribute) = match (argument.items(), argument.text()) {
            ([resource, attribute], _) => {
                let name = resource.text().map(|it| self.filled(it, at, names));
                (name, self.value(attribute, names).as_text().map(|it| it.into_owned()))
            }
            (_, Some(text)) => match text.split_once('.') {
                Some((resource, attribute)) => {
                    (Some(self.filled(&resource.into(), at, names)), Some(attribute.to_owned()))
                }
                None => (None, None),
            },
            _ => (None, None),
        };
        match (resource, attribute) {
            (Some(resource), Some(attribute)) => self.attribute(&resource, &attribute, at),
            _ => HclValue::refused("`Fn::GetAtt` takes a resource and an attribute", at),
        }
    }

    pub(super) fn attribute(&self, resource: &str, attribute: &str, at: Span) -> HclValue {
        if let Some(output) = attribute.strip_prefix("Outputs.")
            && let Some(value) = self.output(resource, output, at)
        {
            return value;
        }
        match self.resource_named(resource) {
            Some((entry, _)) => self.computed(&entry.key, attribute, at),
            None => HclValue::refused(format!("this template has no resource `{resource}`"), at),
        }
    }

    /// Looks up two keys in a map of maps. If a key is unknown, all entries of the map are candidates.
    fn find_in_map(&self, argument: &Node, at: Span, names: &LoopNames) -> HclValue {
        let [map, first, second, rest @ ..] = argument.items() else {
            return HclValue::refused("`Fn::FindInMap` takes a map and two keys", at);
        };
        let default = rest.first().and_then(|it| it.get("DefaultValue")).map(|it| self.value(it, names));
        let keys = [map, first, second].map(|key| self.value(key, names));
        let [map, first, second] = &keys;
        let Some(map) = map.as_text() else { return unknown(map, at) };
        let Some(entry) = self.template.entry("Mappings", &map) else {
            return default.unwrap_or_else(|| HclValue::refused(format!("this template has no map `{map}`"), at));
        };
        if let Err(unknown) = self.state.pay_steps((entry.value.entries().len() / 8) as u64, at) {
            return unknown;
        }
        let rows = matching(&entry.value, first);
        let cells = rows.iter().flat_map(|row| matching(row, second));
        let found: Vec<HclValue> = cells.take(MOST_CANDIDATES + 1).map(|cell| self.value(cell, names)).collect();
        match (first.cause().or(second.cause()), found.as_slice()) {
            (None, [only]) => only.clone(),
            (None, _) => default.unwrap_or_else(|| HclValue::refused(format!("the map `{map}` has no such keys"), at)),
            (Some(cause), _) => {
                let mut candidates = if found.len() > MOST_CANDIDATES { Vec::new() } else { found };
                candidates.dedup_by(|a, b| a.as_text().is_some() && a.as_text() == b.as_text());
                if !candidates.is_empty() {
                    candidates.extend(default);
                }
                HclValue::because(&Arc::new(Cause { candidates, ..Cause::clone(cause) }), at)
            }
        }
    }
}

/// Returns the values at a key; all values if the key is unknown.
fn matching<'n>(map: &'n Node, key: &HclValue) -> Vec<&'n Node> {
    let Some(cause) = key.cause() else { return key.as_text().and_then(|key| map.get(&key)).into_iter().collect() };
    let among: Option<Vec<_>> = cause.candidates.iter().map(HclValue::as_text).collect();
    match among.filter(|it| !it.is_empty()) {
        Some(keys) => keys.iter().filter_map(|key| map.get(key)).collect(),
        None => map.entries().iter().map(|entry| &entry.value).collect(),
    }
}

fn answer(holds: ConditionResult, at: Span) -> HclValue {
    match holds {
        Ok(holds) => HclValue::bool(holds, at),
        Err(cause) => HclValue::because(&cause, at),
    }
}

/// Returns the cause that makes the result unknown.
fn unknown(value: &HclValue, at: Span) -> HclValue {
    match value.any_cause() {
        Some(cause) => HclValue::because(&Arc::new(Cause { candidates: Vec::new(), ..Cause::clone(cause) }), at),
        None => HclValue::refused("the arguments of this function are invalid", at),
    }
}

/// Returns one member of a list. If the list has candidates, the member has a candidate for each.
fn select(index: &HclValue, list: &HclValue, at: Span) -> HclValue {
    let Some(place) = index.as_number().and_then(|it| it.as_usize()) else { return unknown(index, at) };
    let Some(cause) = list.cause() else {
        let member = list.items().get(place).cloned();
        return member.unwrap_or_else(|| HclValue::refused(format!("the list has no member {place}"), at));
    };
    let members = cause.candidates.iter().map(|list| list.items().get(place).cloned());
    let candidates = members.collect::<Option<Vec<_>>>().unwrap_or_default();
    HclValue::because(&Arc::new(Cause { candidates, ..Cause::clone(cause) }), at)
}

/// Returns subnets of an address block, each with this number of host bits.
fn cidr(block: &HclValue, count: &HclValue, bits: Option<i64>, at: Span) -> Option<HclValue> {
    let text = block.as_text()?;
    let (address, _) = text.split_once('/')?;
    let count = u32::try_from(count.as_number()?.as_i64()?).ok().filter(|count| *count <= MOST_BLOCKS)?;
    let bits = u32::try_from(bits.unwrap_or(if address.contains(':') { 64 } else { 8 })).ok()?;
    let blocks = (0..count).map(|number| match address.parse::<Ipv4Addr>() {
        Ok(first) => {
            let start = u32::from(first).checked_add(number.checked_mul(1u32.checked_shl(bits)?)?)?;
            Some(format!("{}/{}", Ipv4Addr::from(start), 32u32.checked_sub(bits)?))
        }
        Err(_) => {
            let first = u128::from(address.parse::<Ipv6Addr>().ok()?);
            let start = first.checked_add(u128::from(number).checked_mul(1u128.checked_shl(bits)?)?)?;
            Some(format!("{}/{}", Ipv6Addr::from(start), 128u32.checked_sub(bits)?))
        }
    });
    let blocks = blocks.map(|text| Some(HclValue::text(text?, at))).collect::<Option<Vec<_>>>()?;
    Some(HclValue::tuple(blocks, at))
}
