//! Computes the number of instances from a definition and from `count` and `for_each`.

use crate::inventory::{CountedIn, Fact, FactOrigin, FactValue, KnownFact, Range, UnknownFact};
use crate::languages::hcl::value::HclData;
use crate::source::Span;

use super::fact::WantedType;
use super::language::{CountReading, Spec, Zones};
use super::node::ValueNode;
use super::scope::{RowScope, Truth};
use crate::inventory::row_path::RowPath;

/// The number of zones of a regional node pool in Google Kubernetes Engine without listed zones, by its documentation
/// (2026-11).
const ZONES_OF_A_REGION: f64 = 3.0;

/// Returns the first count of the definition that has a value, times the instances of the block; 1 if the definition
/// has none.
pub(super) fn count(scope: &RowScope<'_>, counts: &[CountReading]) -> (Fact<Range>, CountedIn) {
    let instances = &scope.block.instances;
    if counts.is_empty() {
        return (times(one(scope.span()), instances.clone()), CountedIn::Machines);
    }
    for count in counts {
        let own = match scope.holds(&count.when) {
            Truth::No => continue,
            Truth::Yes(_) => range(scope, count),
            Truth::Unknown { why, span } => match range(scope, count) {
                Fact::Absent => continue,
                _ => Fact::unknown(why, span),
            },
        };
        if !own.is_absent() {
            return (times(own, instances.clone()), count.of.counted_in());
        }
    }
    (Fact::Absent, CountedIn::Machines)
}

fn one(span: Span) -> Fact<Range> {
    Fact::written(Range::exactly(1.0), span)
}

/// Returns the range of one count of the definition.
pub(super) fn range(scope: &RowScope<'_>, count: &CountReading) -> Fact<Range> {
    let number = |spec| number_of(scope.fact(spec, WantedType::NUMBER));
    let desired = sum(number(&count.desired), number(&count.also));
    let (min, max) = (number(&count.min), number(&count.max));
    let is_left = |spec| is_left_to_others(scope, spec);
    let is_open = if max.is_absent() { is_left(&count.desired) } else { is_left(&count.max) };
    let mut fact = match combine(desired, min, max, count.unlimited) {
        Fact::Known(known) if is_open && known.value.ceiling == 0.0 => {
            Fact::Known(KnownFact { value: Range { ceiling: f64::INFINITY, ..known.value }, ..known })
        }
        other => other,
    };
    fact = machines_of(fact, scope, &count.units.0);
    for factor in &count.times.0 {
        fact = match number(factor) {
            Fact::Absent => fact,
            factor => times(fact, factor.map(Range::exactly)),
        };
    }
    match (&count.zones, &fact) {
        (_, Fact::Absent) | (None, _) => fact,
        (Some(zones), _) => {
            let span = fact.span().unwrap_or_else(|| scope.span());
            times(fact, zone_count(scope, zones, span))
        }
    }
}

/// Adds two numbers. An unset number counts as zero, unless both are unset.
fn sum(one: Fact<f64>, other: Fact<f64>) -> Fact<f64> {
    match (one, other) {
        (Fact::Absent, only) | (only, Fact::Absent) => only,
        (Fact::Unknown(unknown), _) | (_, Fact::Unknown(unknown)) => Fact::unknown(unknown.why, unknown.span),
        (Fact::Known(one), Fact::Known(other)) => Fact::Known(KnownFact { value: one.value + other.value, ..one }),
    }
}

/// The capacity units that a machine provides: for the lightest type and for the heaviest.
#[derive(Debug, Clone, Copy)]
pub(super) struct CapacityUnits {
    lightest: f64,
    heaviest: f64,
}

impl CapacityUnits {
    pub(super) const NOT_KNOWN: &str = "the number of capacity units per machine is unknown";

    /// Returns the units at the paths of the definition, or the place of the first unknown one. Returns `None` if the
    /// number does not count units.
    pub(super) fn of(scope: &RowScope<'_>, each: &[RowPath]) -> Option<Result<CapacityUnits, Span>> {
        let nodes: Vec<ValueNode<'_>> = each.iter().flat_map(|path| scope.find(path)).collect();
        let first = nodes.first()?;
        let said = nodes.iter().filter_map(|node| node.text()?.parse().ok()).filter(|it| *it > 0.0);
        let weights: Vec<f64> = said.collect();
        if weights.len() < nodes.len() {
            return Some(Err(first.span()));
        }
        let lightest = weights.iter().copied().fold(f64::INFINITY, f64::min);
        Some(Ok(CapacityUnits { lightest, heaviest: weights.iter().copied().fold(0.0, f64::max) }))
    }

    /// Returns the highest number of machines that provide this many units.
    pub(super) fn machines(self, units: f64) -> f64 {
        (units / self.lightest).ceil()
    }
}

/// Returns the number of machines that provide this many units. The chosen type is unknown, and the heaviest type needs
/// the fewest machines.
fn machines_of(count: Fact<Range>, scope: &RowScope<'_>, each: &[RowPath]) -> Fact<Range> {
    match CapacityUnits::of(scope, each) {
        None => count,
        Some(Err(_)) if count.is_absent() => count,
        Some(Err(span)) => Fact::unknown(CapacityUnits::NOT_KNOWN, span),
        Some(Ok(units)) => count.map(|range| Range {
            floor: (range.floor / units.heaviest).ceil(),
            expected: units.machines(range.expected),
            ceiling: units.machines(range.ceiling),
        }),
    }
}

/// Returns whether Terraform ignores changes of the expected number.
pub(super) fn is_number_left(scope: &RowScope<'_>, counts: &[CountReading]) -> bool {
    if !scope.block.blocks.iter().any(|it| it.keyword == "lifecycle") {
        return false;
    }
    let is_given = |spec: &Spec| !scope.fact(spec, WantedType::NUMBER).is_absent();
    let said = counts.iter().filter(|it| matches!(scope.holds(&it.when), Truth::Yes(_)));
    let first = said.flat_map(|it| [&it.desired, &it.min]).find(|spec| is_given(spec));
    first.is_some_and(|spec| is_left_to_others(scope, spec))
}

/// Returns whether Terraform ignores changes of the number after creation: `ignore_changes = [node_count]`. This means
/// that another tool changes it.
pub(super) fn is_left_to_others(scope: &RowScope<'_>, number: &Spec) -> bool {
    let lifecycles = scope.block.blocks.iter().filter(|it| it.keyword == "lifecycle");
    let ignored = lifecycles.filter_map(|it| it.attributes.get("ignore_changes"));
    let mut names = ignored.flat_map(|it| std::slice::from_ref(&it.value).iter().chain(it.value.items()));
    let paths: Vec<String> = number.0.iter().filter_map(|it| it.at.as_ref()).map(RowPath::name).collect();
    names.any(|name| {
        let name = name.as_text().unwrap_or_default();
        let end = name.rsplit('.').next().unwrap_or_default();
        let is_within = |path: &String| path.split('.').next() == Some(name.split('[').next().unwrap_or_default());
        name == "all"
            || paths.iter().any(|path| path.rsplit('.').next() == Some(end) || !name.contains('.') && is_within(path))
    })
}

fn number_of(fact: Fact<FactValue>) -> Fact<f64> {
    match fact {
        Fact::Known(KnownFact { value, span, defined, origin }) => match value
            .conform(crate::inventory::ValueType::Number)
        {
            Some(FactValue::Number(value)) if value >= 0.0 => Fact::Known(KnownFact { value, span, defined, origin }),
            _ => Fact::unknown("the value is not a number", span),
        },
        Fact::Unknown(unknown) => Fact::unknown(unknown.why, unknown.span),
        Fact::Absent => Fact::Absent,
    }
}

/// Combines minimum, expected number and maximum into a range. An unknown value widens the range. If the minimum is
/// unknown, too, the whole range is unknown.
fn combine(desired: Fact<f64>, min: Fact<f64>, max: Fact<f64>, unlimited: bool) -> Fact<Range> {
    let scaled = !min.is_absent() || !max.is_absent() || unlimited;
    if !scaled {
        return desired.map(Range::exactly);
    }
    let origin = [&desired, &min, &max].into_iter().filter_map(|fact| fact.origin().cloned()).max();
    let stated = desired.value().copied();
    let floor = match (&min, stated) {
        (Fact::Known(min), _) => min.value,
        // A minimum that is not set is zero.
        (Fact::Absent, _) => 0.0,
        (Fact::Unknown(unknown), _) => return Fact::unknown(unknown.why.clone(), unknown.span),
    };
    let ceiling = match &max {
        Fact::Known(max) => max.value,
        Fact::Unknown(_) => f64::INFINITY,
        Fact::Absent if unlimited => f64::INFINITY,
        Fact::Absent => stated.unwrap_or(floor),
    };
    let said = [&desired, &min, &max].into_iter().find(|fact| !fact.is_absent());
    let Some(span) = said.and_then(|fact| fact.span()) else { return Fact::Absent };
    let defined = said.and_then(|fact| fact.defined()).filter(|defined| *defined != span);
    let value = Range::between(floor, stated, ceiling);
    Fact::Known(KnownFact { value, span, defined, origin: origin.unwrap_or(FactOrigin::Written) })
}

/// Multiplies two counts. The result is unknown if one of them is unknown, unless the other one is zero.
pub(super) fn times(one: Fact<Range>, other: Fact<Range>) -> Fact<Range> {
    match (one, other) {
        (Fact::Absent, _) | (_, Fact::Absent) => Fact::Absent,
        (Fact::Known(none), _) if none.value.ceiling == 0.0 => Fact::Known(none),
        (_, Fact::Known(none)) if none.value.ceiling == 0.0 => Fact::Known(none),
        (Fact::Unknown(unknown), Fact::Known(known)) | (Fact::Known(known), Fact::Unknown(unknown)) => {
            let candidates = unknown.candidates.iter().map(|range| range.times(known.value)).collect();
            Fact::Unknown(UnknownFact { candidates, ..unknown })
        }
        (Fact::Unknown(unknown), _) => Fact::unknown(unknown.why, unknown.span),
        (Fact::Known(one), Fact::Known(other)) => Fact::Known(KnownFact {
            value: one.value.times(other.value),
            origin: one.origin.weakest(other.origin),
            ..one
        }),
    }
}

fn zone_count(scope: &RowScope<'_>, zones: &Zones, span: Span) -> Fact<Range> {
    let mut open = false;
    for path in &zones.listed.0 {
        let nodes = scope.find(path);
        let Some(ValueNode::Value(first)) = nodes.first() else { continue };
        let listed = match &first.value.data {
            HclData::Unknown(_) => {
                open = true;
                continue;
            }
            // A list in a string: `us-central1-a,us-central1-b`.
            HclData::Text(text) => text.split(',').filter(|zone| !zone.trim().is_empty()).count(),
            _ => nodes.iter().cloned().flat_map(ValueNode::keyed_elements).count(),
        };
        if listed > 0 {
            return Fact::known(Range::exactly(listed as f64), first.said, FactOrigin::Resolved);
        }
    }
    let location = zones.location.0.iter().find_map(|path| scope.find(path).into_iter().next());
    let span = location.as_ref().map_or(span, ValueNode::span);
    match location.and_then(|node| node.text()) {
        Some(zone) if is_zone(&zone) => Fact::known(Range::exactly(1.0), span, FactOrigin::Resolved),
        Some(_) => {
            let floor = if open { 1.0 } else { ZONES_OF_A_REGION };
            let range = Range { floor, expected: ZONES_OF_A_REGION, ceiling: ZONES_OF_A_REGION };
            Fact::known(range, span, FactOrigin::Default)
        }
        // The location may be a zone or a region.
        None => {
            let range = Range { floor: 1.0, expected: 1.0, ceiling: ZONES_OF_A_REGION };
            Fact::known(range, span, FactOrigin::Default)
        }
    }
}

/// Returns whether a location is a zone: `us-central1-a` is one, `us-central1` is a region.
fn is_zone(location: &str) -> bool {
    location.rsplit_once('-').is_some_and(|(_, last)| last.len() == 1 && last.bytes().all(|c| c.is_ascii_lowercase()))
}
