//! Lists, and lists as sets.

use std::cmp::Ordering;

use super::Gives as G;
use super::Takes as T;
use super::{Function, function, method, wrong};
use crate::languages::cel::budget::Budget;
use crate::languages::cel::operators::{self, Fault};
use crate::languages::cel::syntax::Operator;
use crate::languages::cel::value::{Unknown, Value};

pub(super) fn functions() -> Vec<Function> {
    vec![
        method("sum", &[T::List], G::Member, sum, "the members added"),
        method("min", &[T::List], G::Member, |b, v| extreme(b, v, Ordering::Less), "the smallest member"),
        method("max", &[T::List], G::Member, |b, v| extreme(b, v, Ordering::Greater), "the largest member"),
        method("indexOf", &[T::List, T::Any], G::Integer, index_of, "where a value first is, or -1"),
        method("lastIndexOf", &[T::List, T::Any], G::Integer, last_index_of, "where a value last is, or -1"),
        method("isSorted", &[T::List], G::Flag, is_sorted, "each member is at least the one before it"),
        method("first", &[T::List], G::OptionalMember, |_, v| end(v, true), "the first member as an optional"),
        method("last", &[T::List], G::OptionalMember, |_, v| end(v, false), "the last member as an optional"),
        method("distinct", &[T::List], G::Same, distinct, "each value once"),
        method("reverse", &[T::List], G::Same, reverse, "backwards"),
        method("slice", &[T::List, T::Integer, T::Integer], G::Same, slice, "the members from a place up to another"),
        method("sort", &[T::List], G::Same, sort, "in order"),
        method("flatten", &[T::List], G::Any, flatten, "the members of the members"),
        function("lists.range", &[T::Integer], G::Integers, range, "0 up to the number, without it"),
        function("sets.contains", &[T::List, T::List], G::Flag, sets_contains, "the first has all that the second has"),
        function("sets.intersects", &[T::List, T::List], G::Flag, sets_intersects, "both have something"),
        function("sets.equivalent", &[T::List, T::List], G::Flag, sets_equivalent, "both have the same"),
    ]
}

fn sum(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(items)] = given else { return Err(wrong()) };
    let mut sum: Option<Value> = None;
    for item in items.iter() {
        budget.spend(1)?;
        sum = Some(match sum {
            Some(sum) => operators::binary(Operator::Add, &sum, item, budget)?,
            None => item.clone(),
        });
    }
    Ok(sum.unwrap_or(Value::Integer(0)))
}

fn extreme(budget: &mut Budget, given: &[Value], wanted: Ordering) -> Result<Value, Fault> {
    let [Value::List(items)] = given else { return Err(wrong()) };
    let mut best: Option<&Value> = None;
    for item in items.iter() {
        if let Value::Unknown(unknown) = item {
            return Ok(Value::Unknown(unknown.clone()));
        }
        best = Some(match best {
            Some(best) if operators::compare(item, best, budget)? != Some(wanted) => best,
            _ => item,
        });
    }
    best.cloned().ok_or_else(|| "the list is empty".into())
}

/// The places of the members that equal a value.
fn places(budget: &mut Budget, given: &[Value]) -> Result<Result<Vec<i64>, Value>, Fault> {
    let [Value::List(items), value] = given else { return Err(wrong()) };
    let mut places = Vec::new();
    for (place, item) in items.iter().enumerate() {
        match operators::equal(item, value, budget)? {
            Value::Flag(true) => places.push(place as i64),
            Value::Unknown(unknown) => return Ok(Err(Value::Unknown(unknown))),
            _ => {}
        }
    }
    Ok(Ok(places))
}

fn index_of(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    Ok(places(budget, given)?.map_or_else(|unknown| unknown, |all| Value::Integer(all.first().copied().unwrap_or(-1))))
}

fn last_index_of(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    Ok(places(budget, given)?.map_or_else(|unknown| unknown, |all| Value::Integer(all.last().copied().unwrap_or(-1))))
}

fn is_sorted(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(items)] = given else { return Err(wrong()) };
    for pair in items.windows(2) {
        if let [first, second] = pair
            && operators::compare(first, second, budget)?.is_none_or(Ordering::is_gt)
        {
            return Ok(Value::Flag(false));
        }
    }
    Ok(Value::Flag(true))
}

fn end(given: &[Value], is_first: bool) -> Result<Value, Fault> {
    let [Value::List(items)] = given else { return Err(wrong()) };
    let member = if is_first { items.first() } else { items.last() };
    Ok(Value::Optional(member.cloned().map(Into::into)))
}

fn built(budget: &mut Budget, items: Vec<Value>) -> Result<Value, Fault> {
    budget.build(items.len() * size_of::<Value>())?;
    Ok(Value::List(items.into()))
}

fn distinct(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(items)] = given else { return Err(wrong()) };
    let mut seen: Vec<Value> = Vec::new();
    for item in items.iter() {
        let mut is_new = true;
        for other in &seen {
            if matches!(operators::equal(item, other, budget)?, Value::Flag(true)) {
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

fn reverse(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(items)] = given else { return Err(wrong()) };
    built(budget, items.iter().rev().cloned().collect())
}

fn slice(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(items), Value::Integer(from), Value::Integer(to)] = given else { return Err(wrong()) };
    let place = |n: i64| usize::try_from(n).ok();
    match place(*from).zip(place(*to)).and_then(|(from, to)| items.get(from..to)) {
        Some(part) => built(budget, part.to_vec()),
        None => Err(format!("index out of bounds: {from} to {to} of {}", items.len()).into()),
    }
}

fn sort(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(items)] = given else { return Err(wrong()) };
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

fn flatten(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(items)] = given else { return Err(wrong()) };
    let mut flat = Vec::new();
    for item in items.iter() {
        match item {
            Value::List(inner) => {
                budget.spend(inner.len())?;
                flat.extend(inner.iter().cloned());
            }
            other => flat.push(other.clone()),
        }
    }
    built(budget, flat)
}

fn range(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::Integer(end)] = given else { return Err(wrong()) };
    let length = usize::try_from(*end).unwrap_or(0);
    budget.build(length.saturating_mul(size_of::<Value>()))?;
    Ok(Value::list((0..*end.max(&0)).map(Value::Integer)))
}

/// How many of the second the first has: all, some, none; or an unknown that it depends on.
fn compare(budget: &mut Budget, all: &[Value], wanted: &[Value], for_each: bool) -> Result<Value, Fault> {
    let whole = Value::List(all.into());
    let mut unknown = None;
    for value in wanted {
        match operators::contains(&whole, value, budget)? {
            Value::Flag(found) if found != for_each => return Ok(Value::Flag(!for_each)),
            Value::Unknown(why) => unknown = Some(Unknown::or_weightier(unknown, why)),
            _ => {}
        }
    }
    Ok(unknown.map_or(Value::Flag(for_each), Value::Unknown))
}

fn sets_contains(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(all), Value::List(wanted)] = given else { return Err(wrong()) };
    compare(budget, all, wanted, true)
}

fn sets_intersects(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(all), Value::List(wanted)] = given else { return Err(wrong()) };
    compare(budget, all, wanted, false)
}

fn sets_equivalent(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(all), Value::List(wanted)] = given else { return Err(wrong()) };
    match compare(budget, all, wanted, true)? {
        Value::Flag(true) => compare(budget, wanted, all, true),
        other => Ok(other),
    }
}
