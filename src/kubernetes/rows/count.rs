//! Multiplies the factors of a definition to get the number of pods or machines.

use crate::inventory::{Fact, FactOrigin, FactValue, KnownFact, Range};
use crate::languages::yaml::Node;

use super::path::{ManifestPath, PathMatch};
use super::table::Factor;
use crate::kubernetes::rows::amount;

/// The largest 32-bit number, which operators set if they want no limit.
const UNBOUNDED: f64 = i32::MAX as f64;

/// Returns the product of factors for one match of `along`. Paths that begin like `along` follow the same list members
/// as that match.
pub(in crate::kubernetes) fn product(
    factors: &[Factor],
    root: &Node,
    along: &ManifestPath,
    at: &PathMatch<'_>,
    start: Fact<Range>,
) -> Fact<Range> {
    factors.iter().fold(start, |product, factor| times(product, one(factor, root, along, at)))
}

/// Returns whether a controller moves the number of pods between a minimum and a maximum that the object sets.
pub(in crate::kubernetes) fn scales_itself(
    factors: &[Factor],
    root: &Node,
    along: &ManifestPath,
    at: &PathMatch<'_>,
) -> Fact<FactValue> {
    let limits = factors.iter().filter(|factor| factor.max.is_some() || factor.open);
    let mut ranges = limits.map(|factor| one(factor, root, along, at));
    ranges
        .find_map(|range| match range {
            Fact::Known(known) if known.value.ceiling <= known.value.floor => None,
            Fact::Absent => None,
            range => Some(range.map(|_| FactValue::Flag(true))),
        })
        .unwrap_or_default()
}

fn one(factor: &Factor, root: &Node, along: &ManifestPath, at: &PathMatch<'_>) -> Fact<Range> {
    let read = |path: &Option<ManifestPath>| {
        let found = path.as_ref().and_then(|path| path.relative_to(root, along, at).first().copied());
        found.map_or(Fact::Absent, amount::number)
    };
    if let Some(range) =
        factor.at.as_ref().and_then(|path| between(path.relative_to(root, along, at).first().copied()?))
    {
        return range;
    }
    if let Some(why) = &factor.unknown {
        return Fact::unknown(why.as_str(), root.span);
    }
    let is_there =
        |path: &Option<ManifestPath>| path.as_ref().is_some_and(|path| !path.relative_to(root, along, at).is_empty());
    let (less, more) = (is_there(&factor.less_if), is_there(&factor.more_if));
    let first = |path: &Option<ManifestPath>, others: &[ManifestPath]| {
        let other = |path: &ManifestPath| path.relative_to(root, along, at).first().copied().map(amount::number);
        read(path).or(|| others.iter().find_map(other).unwrap_or_default())
    };
    let stated = read(&factor.at);
    let assumed = factor.max_default.map(|max| Fact::known(max, root.span, FactOrigin::Default)).unwrap_or_default();
    let (min, max) = (first(&factor.min, &factor.or_min), first(&factor.max, &factor.or_max).or(|| assumed));
    for fact in [&stated, &min] {
        if let Fact::Unknown(unknown) = fact {
            return Fact::unknown(unknown.why.clone(), unknown.span);
        }
    }
    let default = factor.default.unwrap_or(1.0);
    let span = stated.span().or(max.span()).or(min.span()).unwrap_or(root.span);
    let origins = [&stated, &min, &max].into_iter().filter_map(|it| match it {
        Fact::Known(known) => Some(known.origin.clone()),
        _ => None,
    });
    let origin = match stated.is_absent() && min.is_absent() {
        true => FactOrigin::Default,
        false => origins.reduce(FactOrigin::weakest).unwrap_or(FactOrigin::Written),
    };
    let number = stated.value().copied();
    let expected = number.or(min.value().copied()).unwrap_or(default);
    let floor = min.value().copied().unwrap_or(expected);
    let is_on = |path: &ManifestPath| path.relative_to(root, along, at).first().is_some_and(|node| is_true(node));
    let limit = max.value().map(|max| if factor.max_adds { floor + max } else { *max });
    let range = match limit {
        _ if factor.scaled_if.as_ref().is_some_and(|path| !is_on(path)) => {
            Range::exactly(expected.max(floor).min(max.value().copied().unwrap_or(f64::INFINITY)))
        }
        Some(max) if max < UNBOUNDED => Range::between(floor.min(max), Some(expected), max),
        Some(_) => Range { floor: floor.min(expected), expected, ceiling: f64::INFINITY },
        None if factor.open => Range { floor: floor.min(expected), expected, ceiling: f64::INFINITY },
        None if max.is_unknown() => return Fact::unknown(max.why().unwrap_or_default(), span),
        None => Range::between(floor.min(expected), Some(expected), expected),
    };
    let one = f64::from(less) - f64::from(more);
    let most = read(&factor.most).value().copied().unwrap_or(f64::INFINITY);
    let lowered = |n: f64| (n.min(most) - one).max(0.0);
    let range =
        Range { floor: lowered(range.floor), expected: lowered(range.expected), ceiling: lowered(range.ceiling) };
    Fact::known(range, span, origin)
}

/// Returns whether a node is true. In annotations, this is a string.
fn is_true(node: &Node) -> bool {
    node.flag() == Some(true) || node.text().is_some_and(|text| &**text == "true")
}

/// Reads a range such as `1..4`, which some tools use.
fn between(node: &Node) -> Option<Fact<Range>> {
    let (min, max) = node.text()?.split_once("..")?;
    let (min, max) = (min.trim().parse::<u32>().ok()?, max.trim().parse::<u32>().ok()?);
    let range = Range::between(min.min(max).into(), None, max.into());
    Some(Fact::known(range, node.span, FactOrigin::Written))
}

/// Returns the product of two numbers. Zero times anything is zero. Otherwise, an unknown factor makes the product
/// unknown.
pub(in crate::kubernetes) fn times(a: Fact<Range>, b: Fact<Range>) -> Fact<Range> {
    let zero = |fact: &Fact<Range>| fact.value().is_some_and(|range| range.ceiling == 0.0);
    match (a, b) {
        (a, _) if zero(&a) => a,
        (_, b) if zero(&b) => b,
        (Fact::Known(a), Fact::Known(b)) => {
            let value = a.value.times(b.value);
            // The product has the weaker of both origins, except that a default does not weaken the other one. Reports
            // point to the value that is written in the file.
            let (shown, other) = if a.origin == FactOrigin::Default { (b, a) } else { (a, b) };
            let weakened = other.origin > shown.origin && other.origin != FactOrigin::Default;
            let origin = if weakened { other.origin } else { shown.origin };
            Fact::Known(KnownFact { value, span: shown.span, defined: shown.defined, origin })
        }
        (Fact::Unknown(unknown), _) | (_, Fact::Unknown(unknown)) => Fact::Unknown(unknown),
        (Fact::Absent, other) | (other, Fact::Absent) => other,
    }
}
