//! Values that may be missing.

use std::sync::Arc;

use super::Gives as G;
use super::Takes as T;
use super::{Function, function, method, wrong};
use crate::languages::cel::operators::Fault;
use crate::languages::cel::value::Value;

pub(super) fn functions() -> Vec<Function> {
    vec![
        function("optional.of", &[T::Any], G::OptionalSame, |_, v| of(v), "an optional that holds a value"),
        function("optional.none", &[], G::OptionalAny, |_, _| Ok(Value::Optional(None)), "an optional that is empty"),
        function(
            "optional.ofNonZeroValue",
            &[T::Any],
            G::OptionalSame,
            |_, v| of_non_zero(v),
            "empty for '', 0, [] and the like",
        ),
        function("optional.unwrap", &[T::List], G::Any, |_, v| unwrap(v), "the values of those that are not empty"),
        method("unwrapOpt", &[T::List], G::Any, |_, v| unwrap(v), "the values of those that are not empty"),
        method("hasValue", &[T::Optional], G::Flag, |_, v| has_value(v), "it is not empty"),
        method("value", &[T::Optional], G::Member, |_, v| value(v), "what it holds; an error where it is empty"),
        method("or", &[T::Optional, T::Optional], G::Same, |_, v| or(v), "it, or the other where it is empty"),
        method(
            "orValue",
            &[T::Optional, T::Any],
            G::Member,
            |_, v| or_value(v),
            "what it holds, or a value where it is empty",
        ),
    ]
}

fn of(given: &[Value]) -> Result<Value, Fault> {
    let [value] = given else { return Err(wrong()) };
    Ok(Value::Optional(Some(Arc::new(value.clone()))))
}

fn of_non_zero(given: &[Value]) -> Result<Value, Fault> {
    let is_zero = match given {
        [Value::Null | Value::Absent | Value::Flag(false) | Value::Integer(0) | Value::Unsigned(0)] => true,
        [Value::Double(n)] => *n == 0.0,
        [Value::Text(text)] => text.is_empty(),
        [Value::Bytes(bytes)] => bytes.is_empty(),
        [Value::List(items)] => items.is_empty(),
        [Value::Map(map)] => map.len() == 0,
        [Value::Duration(time)] => time.total_nanos() == 0,
        [Value::Optional(None)] => true,
        _ => false,
    };
    if is_zero { Ok(Value::Optional(None)) } else { of(given) }
}

fn unwrap(given: &[Value]) -> Result<Value, Fault> {
    let [Value::List(items)] = given else { return Err(wrong()) };
    let mut held = Vec::with_capacity(items.len());
    for item in items.iter() {
        match item {
            Value::Optional(Some(value)) => held.push(Value::clone(value)),
            Value::Optional(None) => {}
            _ => return Err(wrong()),
        }
    }
    Ok(Value::List(held.into()))
}

fn has_value(given: &[Value]) -> Result<Value, Fault> {
    match given {
        [Value::Optional(held)] => Ok(Value::Flag(held.is_some())),
        _ => Err(wrong()),
    }
}

fn value(given: &[Value]) -> Result<Value, Fault> {
    match given {
        [Value::Optional(Some(value))] => Ok(Value::clone(value)),
        [Value::Optional(None)] => Err("the optional is empty".into()),
        _ => Err(wrong()),
    }
}

fn or(given: &[Value]) -> Result<Value, Fault> {
    match given {
        [Value::Optional(None), other] => Ok(other.clone()),
        [first, _] => Ok(first.clone()),
        _ => Err(wrong()),
    }
}

fn or_value(given: &[Value]) -> Result<Value, Fault> {
    match given {
        [Value::Optional(Some(value)), _] => Ok(Value::clone(value)),
        [_, other] => Ok(other.clone()),
        _ => Err(wrong()),
    }
}
