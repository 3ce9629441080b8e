//! Implements functions of optional values.

use std::sync::Arc;

use super::ArgumentForm as T;
use super::Gives as G;
use super::{CelOverload, function, method, wrong};
use crate::languages::cel::operators::Fault;
use crate::languages::cel::value::CelValue;

pub(super) fn functions() -> Vec<CelOverload> {
    vec![
        function("optional.of", &[T::Any], G::OptionalSame, |_, v| of(v), "optional that contains the value"),
        function("optional.none", &[], G::OptionalAny, |_, _| Ok(CelValue::Optional(None)), "empty optional"),
        function(
            "optional.ofNonZeroValue",
            &[T::Any],
            G::OptionalSame,
            |_, v| of_non_zero(v),
            "empty optional if the value is '', 0, [] or similar",
        ),
        function("optional.unwrap", &[T::List], G::Any, |_, v| unwrap(v), "values of the optionals that are not empty"),
        method("unwrapOpt", &[T::List], G::Any, |_, v| unwrap(v), "values of the optionals that are not empty"),
        method("hasValue", &[T::Optional], G::Flag, |_, v| has_value(v), "true if the optional is not empty"),
        method("value", &[T::Optional], G::Member, |_, v| value(v), "value of the optional; an error if it is empty"),
        method(
            "or",
            &[T::Optional, T::Optional],
            G::Same,
            |_, v| or(v),
            "the optional, or the other one if it is empty",
        ),
        method(
            "orValue",
            &[T::Optional, T::Any],
            G::Member,
            |_, v| or_value(v),
            "value of the optional, or the given value if it is empty",
        ),
    ]
}

fn of(given: &[CelValue]) -> Result<CelValue, Fault> {
    let [value] = given else { return Err(wrong()) };
    Ok(CelValue::Optional(Some(Arc::new(value.clone()))))
}

fn of_non_zero(given: &[CelValue]) -> Result<CelValue, Fault> {
    let is_zero = match given {
        [CelValue::Null | CelValue::Absent | CelValue::Flag(false) | CelValue::Integer(0) | CelValue::Unsigned(0)] => {
            true
        }
        [CelValue::Double(n)] => *n == 0.0,
        [CelValue::Text(text)] => text.is_empty(),
        [CelValue::Bytes(bytes)] => bytes.is_empty(),
        [CelValue::List(items)] => items.is_empty(),
        [CelValue::Map(map)] => map.len() == 0,
        [CelValue::Duration(time)] => time.total_nanos() == 0,
        [CelValue::Optional(None)] => true,
        _ => false,
    };
    if is_zero { Ok(CelValue::Optional(None)) } else { of(given) }
}

fn unwrap(given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(items)] = given else { return Err(wrong()) };
    let mut held = Vec::with_capacity(items.len());
    for item in items.iter() {
        match item {
            CelValue::Optional(Some(value)) => held.push(CelValue::clone(value)),
            CelValue::Optional(None) => {}
            _ => return Err(wrong()),
        }
    }
    Ok(CelValue::List(held.into()))
}

fn has_value(given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Optional(held)] => Ok(CelValue::Flag(held.is_some())),
        _ => Err(wrong()),
    }
}

fn value(given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Optional(Some(value))] => Ok(CelValue::clone(value)),
        [CelValue::Optional(None)] => Err("the optional is empty".into()),
        _ => Err(wrong()),
    }
}

fn or(given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Optional(None), other] => Ok(other.clone()),
        [first, _] => Ok(first.clone()),
        _ => Err(wrong()),
    }
}

fn or_value(given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Optional(Some(value)), _] => Ok(CelValue::clone(value)),
        [_, other] => Ok(other.clone()),
        _ => Err(wrong()),
    }
}
