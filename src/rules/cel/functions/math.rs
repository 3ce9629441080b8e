//! Numbers.

use std::cmp::Ordering;

use super::Gives as G;
use super::Takes as T;
use super::{Function, function, wrong};
use crate::rules::cel::budget::Budget;
use crate::rules::cel::operators::{self, Fault};
use crate::rules::cel::value::Value;

pub(super) fn functions() -> Vec<Function> {
    let greatest = "the largest of some numbers";
    let least = "the smallest of some numbers";
    vec![
        function("math.greatest", &[T::Number], G::Any, |b, v| extreme(b, v, Ordering::Greater), greatest),
        function("math.greatest", &[T::List], G::Any, |b, v| extreme(b, v, Ordering::Greater), greatest),
        function("math.greatest", &[T::Number, T::Number], G::Any, |b, v| extreme(b, v, Ordering::Greater), greatest),
        function(
            "math.greatest",
            &[T::Number, T::Number, T::Number],
            G::Any,
            |b, v| extreme(b, v, Ordering::Greater),
            greatest,
        ),
        function("math.least", &[T::Number], G::Any, |b, v| extreme(b, v, Ordering::Less), least),
        function("math.least", &[T::List], G::Any, |b, v| extreme(b, v, Ordering::Less), least),
        function("math.least", &[T::Number, T::Number], G::Any, |b, v| extreme(b, v, Ordering::Less), least),
        function("math.least", &[T::Number, T::Number, T::Number], G::Any, |b, v| extreme(b, v, Ordering::Less), least),
        function("math.ceil", &[T::Double], G::Double, |_, v| rounded(v, f64::ceil), "the next whole number up"),
        function("math.floor", &[T::Double], G::Double, |_, v| rounded(v, f64::floor), "the next whole number down"),
        function("math.round", &[T::Double], G::Double, |_, v| rounded(v, f64::round), "the nearest whole number"),
        function("math.trunc", &[T::Double], G::Double, |_, v| rounded(v, f64::trunc), "without its fraction"),
        function("math.sqrt", &[T::Number], G::Double, |_, v| root(v), "its square root"),
        function("math.abs", &[T::Number], G::Same, |_, v| abs(v), "without its sign"),
        function("math.sign", &[T::Number], G::Same, |_, v| sign(v), "1, 0 or -1"),
        function("math.isNaN", &[T::Double], G::Flag, |_, v| test(v, f64::is_nan), "it is not a number"),
        function("math.isInf", &[T::Double], G::Flag, |_, v| test(v, f64::is_infinite), "it is infinite"),
        function("math.isFinite", &[T::Double], G::Flag, |_, v| test(v, f64::is_finite), "it is neither"),
    ]
}

fn extreme(budget: &mut Budget, given: &[Value], wanted: Ordering) -> Result<Value, Fault> {
    let items = match given {
        [Value::List(items)] => items,
        values => values,
    };
    let mut best: Option<&Value> = None;
    for item in items {
        if item.as_number().is_none() {
            return Err(wrong());
        }
        best = Some(match best {
            Some(best) if operators::compare(item, best, budget)? != Some(wanted) => best,
            _ => item,
        });
    }
    best.cloned().ok_or_else(|| "the list is empty".into())
}

fn rounded(given: &[Value], round: fn(f64) -> f64) -> Result<Value, Fault> {
    match given {
        [Value::Double(n)] => Ok(Value::Double(round(*n))),
        _ => Err(wrong()),
    }
}

fn root(given: &[Value]) -> Result<Value, Fault> {
    let [value] = given else { return Err(wrong()) };
    value.as_number().map(|n| Value::Double(n.sqrt())).ok_or_else(wrong)
}

fn abs(given: &[Value]) -> Result<Value, Fault> {
    match given {
        [Value::Integer(n)] => {
            n.checked_abs().map(Value::Integer).ok_or_else(|| "the result does not fit 64 bits".into())
        }
        [Value::Double(n)] => Ok(Value::Double(n.abs())),
        [Value::Unsigned(n)] => Ok(Value::Unsigned(*n)),
        _ => Err(wrong()),
    }
}

fn sign(given: &[Value]) -> Result<Value, Fault> {
    match given {
        [Value::Integer(n)] => Ok(Value::Integer(n.signum())),
        [Value::Double(n)] if n.is_nan() || *n == 0.0 => Ok(Value::Double(*n)),
        [Value::Double(n)] => Ok(Value::Double(n.signum())),
        [Value::Unsigned(n)] => Ok(Value::Unsigned((*n).min(1))),
        _ => Err(wrong()),
    }
}

fn test(given: &[Value], holds: fn(f64) -> bool) -> Result<Value, Fault> {
    match given {
        [Value::Double(n)] => Ok(Value::Flag(holds(*n))),
        _ => Err(wrong()),
    }
}
