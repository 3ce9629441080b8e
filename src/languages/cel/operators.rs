//! Operators, also for unknown values.

use std::cmp::Ordering;
use std::sync::Arc;

use super::address;
use super::budget::{CelBudget, Exhausted};
use super::map::MapKey;
use super::opaque::Thing;
use super::syntax::Operator;
use super::time::{CelDuration, Timestamp};
use super::value::{CelValue, UnknownValue};

/// Error of a computation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    Exhausted,
    Failed(String),
}

impl From<Exhausted> for Fault {
    fn from(_: Exhausted) -> Self {
        Fault::Exhausted
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Fault::Failed(message)
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        Fault::Failed(message.to_owned())
    }
}

pub(super) fn binary(
    operator: Operator,
    left: &CelValue,
    right: &CelValue,
    budget: &mut CelBudget,
) -> Result<CelValue, Fault> {
    if let Some(result) = with_candidates(operator, left, right, budget) {
        return result;
    }
    match operator {
        Operator::Equal => Ok(equal(left, right, budget)?),
        Operator::NotEqual => Ok(negated(equal(left, right, budget)?)),
        Operator::In => contains(right, left, budget),
        _ if matches!(left, CelValue::Absent) || matches!(right, CelValue::Absent) => {
            Ok(if operator.is_comparison() { CelValue::Flag(false) } else { CelValue::Absent })
        }
        Operator::Less => ordered(operator, left, right, budget, Ordering::is_lt),
        Operator::LessOrEqual => ordered(operator, left, right, budget, Ordering::is_le),
        Operator::Greater => ordered(operator, left, right, budget, Ordering::is_gt),
        Operator::GreaterOrEqual => ordered(operator, left, right, budget, Ordering::is_ge),
        _ => arithmetic(operator, left, right, budget),
    }
}

/// Evaluates an operation with an unknown value for each of its candidates. If all results agree, the result is known.
fn with_candidates(
    operator: Operator,
    left: &CelValue,
    right: &CelValue,
    budget: &mut CelBudget,
) -> Option<Result<CelValue, Fault>> {
    let (unknown, on_left) = match (left, right) {
        (CelValue::Unknown(unknown), _) => (unknown, true),
        (_, CelValue::Unknown(unknown)) => (unknown, false),
        _ => return None,
    };
    if !operator.is_comparison() {
        return Some(Ok(with_beginning(operator, left, right, unknown)));
    }
    let other = if on_left { right } else { left };
    // The known beginning of a string may decide the comparison.
    let is_text = matches!((operator, other), (Operator::Equal | Operator::NotEqual, CelValue::Text(_)));
    if unknown.beginning.is_some()
        && (is_text || on_left && matches!((operator, other), (Operator::In, CelValue::List(_))))
    {
        return None;
    }
    let mut agreed = None;
    for candidate in &unknown.candidates {
        let (left, right) = if on_left { (candidate, right) } else { (left, candidate) };
        match binary(operator, left, right, budget) {
            Ok(CelValue::Flag(flag)) if agreed.is_none_or(|agreed| agreed == flag) => agreed = Some(flag),
            Err(Fault::Exhausted) => return Some(Err(Fault::Exhausted)),
            _ => return Some(Ok(CelValue::Unknown(unknown.derived()))),
        }
    }
    Some(Ok(agreed.map_or_else(|| CelValue::Unknown(unknown.derived()), CelValue::Flag)))
}

/// Concatenates strings; a known beginning stays known.
fn with_beginning(operator: Operator, left: &CelValue, right: &CelValue, unknown: &Arc<UnknownValue>) -> CelValue {
    let beginning: Option<Arc<str>> = match (operator, left, right) {
        (Operator::Add, CelValue::Unknown(first), _) => first.beginning.clone(),
        (Operator::Add, CelValue::Text(text), CelValue::Unknown(second)) => {
            let second = second.beginning.as_deref().unwrap_or_default();
            Some([text, second].concat().into()).filter(|it: &Arc<str>| !it.is_empty())
        }
        _ => None,
    };
    match beginning {
        Some(beginning) => {
            let (candidates, beginning) = (Vec::new(), Some(beginning));
            CelValue::Unknown(Arc::new(UnknownValue { candidates, beginning, ..UnknownValue::clone(unknown) }))
        }
        None => CelValue::Unknown(unknown.derived()),
    }
}

fn negated(value: CelValue) -> CelValue {
    match value {
        CelValue::Flag(flag) => CelValue::Flag(!flag),
        other => other,
    }
}

/// Returns true, false, or unknown if it depends on an unknown member.
pub(super) fn equal(left: &CelValue, right: &CelValue, budget: &mut CelBudget) -> Result<CelValue, Exhausted> {
    budget.spend(1)?;
    let same = match (left, right) {
        (CelValue::Unknown(unknown), other) | (other, CelValue::Unknown(unknown)) => {
            return Ok(match unknown.excludes(other) {
                true => CelValue::Flag(false),
                false => CelValue::Unknown(unknown.derived()),
            });
        }
        (CelValue::Null | CelValue::Absent, CelValue::Null | CelValue::Absent) => true,
        (CelValue::Flag(a), CelValue::Flag(b)) => a == b,
        (CelValue::Text(a), CelValue::Text(b)) => {
            budget.spend(a.len().min(b.len()) / 16)?;
            a == b
        }
        (CelValue::Bytes(a), CelValue::Bytes(b)) => {
            budget.spend(a.len().min(b.len()) / 16)?;
            a == b
        }
        (CelValue::Duration(a), CelValue::Duration(b)) => a == b,
        (CelValue::Timestamp(a), CelValue::Timestamp(b)) => a == b,
        (CelValue::Kind(a), CelValue::Kind(b)) => a == b,
        (CelValue::Record(a), CelValue::Record(b)) => a == b,
        (CelValue::Opaque(a), CelValue::Opaque(b)) => match (&**a, &**b) {
            (Thing::Ip(a), Thing::Ip(b)) => address::same(*a, *b),
            (a, b) => a == b,
        },
        (CelValue::Optional(a), CelValue::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => return equal(a, b, budget),
            (a, b) => a.is_none() && b.is_none(),
        },
        (CelValue::List(a), CelValue::List(b)) => {
            if let Some(why) = left.open_list().or_else(|| right.open_list()) {
                return Ok(CelValue::Unknown(why.derived()));
            }
            let pairs = a.iter().zip(b.iter());
            return if a.len() == b.len() { all_equal(pairs, budget) } else { Ok(CelValue::Flag(false)) };
        }
        (CelValue::Map(a), CelValue::Map(b)) => {
            if let Some(open) = a.open.as_ref().or(b.open.as_ref()) {
                return Ok(CelValue::Unknown(open.clone()));
            }
            if a.len() != b.len() || !a.entries().keys().eq(b.entries().keys()) {
                return Ok(CelValue::Flag(false));
            }
            return all_equal(a.entries().values().zip(b.entries().values()).map(|((_, a), (_, b))| (a, b)), budget);
        }
        (a, b) => number_order(a, b) == Some(Ordering::Equal),
    };
    Ok(CelValue::Flag(same))
}

fn all_equal<'a>(
    pairs: impl Iterator<Item = (&'a CelValue, &'a CelValue)>,
    budget: &mut CelBudget,
) -> Result<CelValue, Exhausted> {
    let mut unknown = None;
    for (a, b) in pairs {
        match equal(a, b, budget)? {
            CelValue::Flag(false) => return Ok(CelValue::Flag(false)),
            CelValue::Unknown(why) => unknown = Some(UnknownValue::or_weightier(unknown, why)),
            _ => {}
        }
    }
    Ok(unknown.map_or(CelValue::Flag(true), CelValue::Unknown))
}

/// Compares two numbers of any type; `None` if one is not a number.
pub(super) fn number_order(left: &CelValue, right: &CelValue) -> Option<Ordering> {
    let exact = |value: &CelValue| match value {
        CelValue::Integer(n) => Some(i128::from(*n)),
        CelValue::Unsigned(n) => Some(i128::from(*n)),
        _ => None,
    };
    match (left, right) {
        (CelValue::Double(a), CelValue::Double(b)) => a.partial_cmp(b),
        (CelValue::Double(a), b) => mixed_order(*a, exact(b)?),
        (a, CelValue::Double(b)) => mixed_order(*b, exact(a)?).map(Ordering::reverse),
        (a, b) => Some(exact(a)?.cmp(&exact(b)?)),
    }
}

fn mixed_order(double: f64, integer: i128) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    // A double of this size exceeds any 64-bit integer. Smaller ones fit into 128 bits.
    if double.abs() > 1e20 {
        return Some(if double > 0.0 { Ordering::Greater } else { Ordering::Less });
    }
    // A double of this size cannot distinguish neighboring integers, so both count as equal.
    if integer as f64 == double && integer.unsigned_abs() > 1 << 62 {
        return Some(Ordering::Equal);
    }
    let whole = double.floor();
    Some((whole as i128).cmp(&integer).then(if double > whole { Ordering::Greater } else { Ordering::Equal }))
}

pub(super) fn compare(left: &CelValue, right: &CelValue, budget: &mut CelBudget) -> Result<Option<Ordering>, Fault> {
    budget.spend(1)?;
    Ok(match (left, right) {
        (CelValue::Flag(a), CelValue::Flag(b)) => Some(a.cmp(b)),
        (CelValue::Text(a), CelValue::Text(b)) => {
            budget.spend(a.len().min(b.len()) / 16)?;
            Some(a.cmp(b))
        }
        (CelValue::Bytes(a), CelValue::Bytes(b)) => {
            budget.spend(a.len().min(b.len()) / 16)?;
            Some(a.cmp(b))
        }
        (CelValue::Duration(a), CelValue::Duration(b)) => Some(a.cmp(b)),
        (CelValue::Timestamp(a), CelValue::Timestamp(b)) => Some(a.cmp(b)),
        (a, b) if a.as_number().is_some() && b.as_number().is_some() => number_order(a, b),
        (a, b) => return Err(format!("{} and {} cannot be ordered", a.kind(), b.kind()).into()),
    })
}

fn ordered(
    operator: Operator,
    left: &CelValue,
    right: &CelValue,
    budget: &mut CelBudget,
    accepts: fn(Ordering) -> bool,
) -> Result<CelValue, Fault> {
    match compare(left, right, budget) {
        Ok(order) => Ok(CelValue::Flag(order.is_some_and(accepts))),
        Err(Fault::Failed(_)) => Err(no_overload(operator, left, right)),
        Err(exhausted) => Err(exhausted),
    }
}

/// Evaluates `value in container`.
pub(super) fn contains(container: &CelValue, value: &CelValue, budget: &mut CelBudget) -> Result<CelValue, Fault> {
    match container {
        CelValue::Absent => Ok(CelValue::Flag(false)),
        CelValue::List(items) => {
            let mut unknown = None;
            for item in items.iter() {
                let (item, doubt) = item.if_there();
                match equal(item, value, budget)? {
                    CelValue::Flag(true) if doubt.is_some() => unknown = unknown.or(doubt.cloned()),
                    CelValue::Flag(true) => return Ok(CelValue::Flag(true)),
                    CelValue::Unknown(why) => unknown = Some(UnknownValue::or_weightier(unknown, why)),
                    _ => {}
                }
            }
            Ok(unknown.map_or(CelValue::Flag(false), CelValue::Unknown))
        }
        CelValue::Map(map) => {
            budget.spend(1)?;
            let found = MapKey::of(value).is_some_and(|key| map.get(&key).is_some());
            match &map.open {
                Some(open) if !found => Ok(CelValue::Unknown(open.clone())),
                _ => Ok(CelValue::Flag(found)),
            }
        }
        other => Err(no_overload(Operator::In, value, other)),
    }
}

fn no_overload(operator: Operator, left: &CelValue, right: &CelValue) -> Fault {
    format!("no matching overload: {} {} {}", left.kind(), operator.sign(), right.kind()).into()
}

fn arithmetic(
    operator: Operator,
    left: &CelValue,
    right: &CelValue,
    budget: &mut CelBudget,
) -> Result<CelValue, Fault> {
    match (left, right) {
        (CelValue::Integer(a), CelValue::Integer(b)) => integers(operator, *a, *b),
        (CelValue::Unsigned(a), CelValue::Unsigned(b)) => unsigned(operator, *a, *b),
        (CelValue::Double(a), CelValue::Double(b)) => {
            doubles(operator, *a, *b).ok_or(no_overload(operator, left, right))
        }
        (CelValue::Text(a), CelValue::Text(b)) if operator == Operator::Add => {
            budget.build(a.len() + b.len())?;
            Ok(CelValue::Text([&**a, &**b].concat().into()))
        }
        (CelValue::Bytes(a), CelValue::Bytes(b)) if operator == Operator::Add => {
            budget.build(a.len() + b.len())?;
            Ok(CelValue::Bytes([&**a, &**b].concat().into()))
        }
        (CelValue::List(a), CelValue::List(b)) if operator == Operator::Add => {
            let length = a.len() + b.len();
            budget.build(length * size_of::<CelValue>())?;
            Ok(CelValue::List(a.iter().chain(b.iter()).cloned().collect::<Arc<[CelValue]>>()))
        }
        _ => times(operator, left, right).unwrap_or_else(|| Err(no_overload(operator, left, right))),
    }
}

fn integers(operator: Operator, a: i64, b: i64) -> Result<CelValue, Fault> {
    let result = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide if b == 0 => return Err("division by zero".into()),
        Operator::Divide => a.checked_div(b),
        _ if b == 0 => return Err("modulus by zero".into()),
        _ => a.checked_rem(b),
    };
    result.map(CelValue::Integer).ok_or_else(|| "the result does not fit 64 bits".into())
}

fn unsigned(operator: Operator, a: u64, b: u64) -> Result<CelValue, Fault> {
    let result = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    match result {
        Some(result) => Ok(CelValue::Unsigned(result)),
        None if operator == Operator::Divide => Err("division by zero".into()),
        None if operator == Operator::Remainder => Err("modulus by zero".into()),
        None => Err("the result does not fit 64 bits".into()),
    }
}

fn doubles(operator: Operator, a: f64, b: f64) -> Option<CelValue> {
    Some(CelValue::Double(match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        _ => return None,
    }))
}

fn times(operator: Operator, left: &CelValue, right: &CelValue) -> Option<Result<CelValue, Fault>> {
    let add = operator == Operator::Add;
    if !add && operator != Operator::Subtract {
        return None;
    }
    let sign = if add { 1 } else { -1 };
    let result = match (left, right) {
        (CelValue::Duration(a), CelValue::Duration(b)) => {
            CelDuration::from_nanos(a.total_nanos() + sign * b.total_nanos()).map(CelValue::Duration)
        }
        (CelValue::Timestamp(a), CelValue::Duration(b)) => {
            Timestamp::from_nanos(a.total_nanos() + sign * b.total_nanos()).map(CelValue::Timestamp)
        }
        (CelValue::Duration(a), CelValue::Timestamp(b)) if add => {
            Timestamp::from_nanos(a.total_nanos() + b.total_nanos()).map(CelValue::Timestamp)
        }
        (CelValue::Timestamp(a), CelValue::Timestamp(b)) if !add => {
            // The longest duration that 64 bits of nanoseconds can hold.
            let nanos = a.total_nanos() - b.total_nanos();
            i64::try_from(nanos).ok().and_then(|_| CelDuration::from_nanos(nanos)).map(CelValue::Duration)
        }
        _ => return None,
    };
    Some(result.ok_or_else(|| "the result is out of range for a time".into()))
}
