//! What pages about money need and the language does not have.

use super::Gives as G;
use super::Takes as T;
use super::{Function, function, method, pattern, wrong};
use crate::languages::cel::budget::Budget;
use crate::languages::cel::operators::Fault;
use crate::languages::cel::value::Value;
use crate::pricing::HOURS_PER_MONTH;
use crate::rules::format;

pub(super) fn functions() -> Vec<Function> {
    vec![
        function(
            "usd",
            &[T::Number],
            G::Text,
            |_, v| with_number(v, |n| Value::text(format::usd(n))),
            "dollars as text: $1,234",
        ),
        function(
            "month",
            &[T::Number],
            G::Double,
            |_, v| with_number(v, |n| Value::Double(n * HOURS_PER_MONTH)),
            "dollars an hour as dollars a month of 730 hours",
        ),
        method(
            "matches_any",
            &[T::Text, T::Texts],
            G::Flag,
            matches_any,
            "one of some regular expressions is found in it",
        ),
    ]
}

fn with_number(given: &[Value], make: impl Fn(f64) -> Value) -> Result<Value, Fault> {
    match given {
        [number] => number.as_number().map(make).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

fn matches_any(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::Text(text), Value::List(patterns)] = given else { return Err(wrong()) };
    for expression in patterns.iter() {
        let Value::Text(expression) = expression else { return Err(wrong()) };
        budget.spend(2000 + text.len() / 8)?;
        if pattern(expression)?.is_match(text) {
            return Ok(Value::Flag(true));
        }
    }
    Ok(Value::Flag(false))
}
