//! Implements functions of lists, also as sets.

use std::cmp::Ordering;

use super::ArgumentForm as T;
use super::Gives as G;
use super::{CelOverload, function, method, wrong};
use crate::languages::cel::budget::CelBudget;
use crate::languages::cel::operators::{self, Fault};
use crate::languages::cel::syntax::Operator;
use crate::languages::cel::value::{CelValue, UnknownValue};

pub(super) fn functions() -> Vec<CelOverload> {
    vec![
        method("sum", &[T::List], G::Member, sum, "sum of the members"),
        method("min", &[T::List], G::Member, |b, v| extreme(b, v, Ordering::Less), "smallest member"),
        method("max", &[T::List], G::Member, |b, v| extreme(b, v, Ordering::Greater), "largest member"),
        method("indexOf", &[T::List, T::Any], G::Integer, index_of, "index of the first member with this value, or -1"),
        method(
            "lastIndexOf",
            &[T::List, T::Any],
            G::Integer,
            last_index_of,
            "index of the last member with this value, or -1",
        ),
        method("isSorted", &[T::List], G::Flag, is_sorted, "true if no member is smaller than the one before it"),
        method("first", &[T::List], G::OptionalMember, |_, v| end(v, true), "the first member, as an optional"),
        method("last", &[T::List], G::OptionalMember, |_, v| end(v, false), "the last member, as an optional"),
        method("distinct", &[T::List], G::Same, distinct, "the list without duplicates"),
        method("reverse", &[T::List], G::Same, reverse, "members or characters in reverse order"),
        method(
            "slice",
            &[T::List, T::Integer, T::Integer],
            G::Same,
            slice,
            "members from the first index up to the second, exclusive",
        ),
        method("sort", &[T::List], G::Same, sort, "members in ascending order"),
        method("flatten", &[T::List], G::Any, flatten, "one list with the members of all inner lists"),
        function(
            "lists.range",
            &[T::Integer],
            G::Integers,
            range,
            "whole numbers from 0 up to the given number, exclusive",
        ),
        function(
            "sets.contains",
            &[T::List, T::List],
            G::Flag,
            sets_contains,
            "true if the first list contains all members of the second",
        ),
        function("sets.intersects", &[T::List, T::List], G::Flag, sets_intersects, "true if the lists share a member"),
        function(
            "sets.equivalent",
            &[T::List, T::List],
            G::Flag,
            sets_equivalent,
            "true if both lists have the same members",
        ),
    ]
}

fn sum(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(items)] = given else { return Err(wrong()) };
    let mut sum: Option<CelValue> = None;
    for item in items.iter() {
        budget.spend(1)?;
        sum = Some(match sum {
            Some(sum) => operators::binary(Operator::Add, &sum, item, budget)?,
            None => item.clone(),
        });
    }
    Ok(sum.unwrap_or(CelValue::Integer(0)))
}

fn extreme(budget: &mut CelBudget, given: &[CelValue], wanted: Ordering) -> Result<CelValue, Fault> {
    let [CelValue::List(items)] = given else { return Err(wrong()) };
    let mut best: Option<&CelValue> = None;
    for item in items.iter() {
        if let CelValue::Unknown(unknown) = item {
            return Ok(CelValue::Unknown(unknown.clone()));
        }
        best = Some(match best {
            Some(best) if operators::compare(item, best, budget)? != Some(wanted) => best,
            _ => item,
        });
    }
    best.cloned().ok_or_else(|| "the list is empty".into())
}

/// Returns the indexes of the members that equal a value.
fn places(budget: &mut CelBudget, given: &[CelValue]) -> Result<Result<Vec<i64>, CelValue>, Fault> {
    let [CelValue::List(items), value] = given else { return Err(wrong()) };
    let mut places = Vec::new();
    for (place, item) in items.iter().enumerate() {
        match operators::equal(item, value, budget)? {
            CelValue::Flag(true) => places.push(place as i64),
            CelValue::Unknown(unknown) => return Ok(Err(CelValue::Unknown(unknown))),
            _ => {}
        }
    }
    Ok(Ok(places))
}

fn index_of(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    Ok(places(budget, given)?
        .map_or_else(|unknown| unknown, |all| CelValue::Integer(all.first().copied().unwrap_or(-1))))
}

fn last_index_of(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    Ok(places(budget, given)?
        .map_or_else(|unknown| unknown, |all| CelValue::Integer(all.last().copied().unwrap_or(-1))))
}

fn is_sorted(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(items)] = given else { return Err(wrong()) };
    for pair in items.windows(2) {
        if let [first, second] = pair
            && operators::compare(first, second, budget)?.is_none_or(Ordering::is_gt)
        {
            return Ok(CelValue::Flag(false));
        }
    }
    Ok(CelValue::Flag(true))
}

fn end(given: &[CelValue], is_first: bool) -> Result<CelValue, Fault> {
    let [CelValue::List(items)] = given else { return Err(wrong()) };
    let member = if is_first { items.first() } else { items.last() };
    Ok(CelValue::Optional(member.cloned().map(Into::into)))
}

fn built(budget: &mut CelBudget, items: Vec<CelValue>) -> Result<CelValue, Fault> {
    budget.build(items.len() * size_of::<CelValue>())?;
    Ok(CelValue::List(items.into()))
}

fn distinct(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(items)] = given else { return Err(wrong()) };
    let mut seen: Vec<CelValue> = Vec::new();
    for item in items.iter() {
        let mut is_new = true;
        for other in &seen {
            if matches!(operators::equal(item, other, budget)?, CelValue::Flag(true)) {
                is_new = false;
                break;
            }
        }
        if is_new {
            seen.push(item.clone());
        }
    }
    built(budget, seen)
}

fn reverse(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(items)] = given else { return Err(wrong()) };
    built(budget, items.iter().rev().cloned().collect())
}

fn slice(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(items), CelValue::Integer(from), CelValue::Integer(to)] = given else { return Err(wrong()) };
    let place = |n: i64| usize::try_from(n).ok();
    match place(*from).zip(place(*to)).and_then(|(from, to)| items.get(from..to)) {
        Some(part) => built(budget, part.to_vec()),
        None => Err(format!("index out of bounds: {from} to {to} of {}", items.len()).into()),
    }
}

fn sort(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(items)] = given else { return Err(wrong()) };
    let mut sorted = items.to_vec();
    let mut fault = None;
    sorted.sort_by(|a, b| match operators::compare(a, b, budget) {
        Ok(order) => order.unwrap_or(Ordering::Equal),
        Err(why) => {
            fault.get_or_insert(why);
            Ordering::Equal
        }
    });
    match fault {
        Some(fault) => Err(fault),
        None => built(budget, sorted),
    }
}

fn flatten(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(items)] = given else { return Err(wrong()) };
    let mut flat = Vec::new();
    for item in items.iter() {
        match item {
            CelValue::List(inner) => {
                budget.spend(inner.len())?;
                flat.extend(inner.iter().cloned());
            }
            other => flat.push(other.clone()),
        }
    }
    built(budget, flat)
}

fn range(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Integer(end)] = given else { return Err(wrong()) };
    let length = usize::try_from(*end).unwrap_or(0);
    budget.build(length.saturating_mul(size_of::<CelValue>()))?;
    Ok(CelValue::list((0..*end.max(&0)).map(CelValue::Integer)))
}

/// Returns whether the first list has all, some or none of the second, or the unknown value that decides it.
fn compare(budget: &mut CelBudget, all: &[CelValue], wanted: &[CelValue], for_each: bool) -> Result<CelValue, Fault> {
    let whole = CelValue::List(all.into());
    let mut unknown = None;
    for value in wanted {
        match operators::contains(&whole, value, budget)? {
            CelValue::Flag(found) if found != for_each => return Ok(CelValue::Flag(!for_each)),
            CelValue::Unknown(why) => unknown = Some(UnknownValue::or_weightier(unknown, why)),
            _ => {}
        }
    }
    Ok(unknown.map_or(CelValue::Flag(for_each), CelValue::Unknown))
}

fn sets_contains(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(all), CelValue::List(wanted)] = given else { return Err(wrong()) };
    compare(budget, all, wanted, true)
}

fn sets_intersects(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(all), CelValue::List(wanted)] = given else { return Err(wrong()) };
    compare(budget, all, wanted, false)
}

fn sets_equivalent(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(all), CelValue::List(wanted)] = given else { return Err(wrong()) };
    match compare(budget, all, wanted, true)? {
        CelValue::Flag(true) => compare(budget, wanted, all, true),
        other => Ok(other),
    }
}
