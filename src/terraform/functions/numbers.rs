//! Implements the functions of numbers.

use crate::languages::hcl::value::{HclData, HclNumber, HclValue};

use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult, MANY, items, known};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[
    ("abs", 1..=1, |a| a.number(0).and_then(|n| a.answer_number(Some(if n.is_negative() { n.negated() } else { n })))),
    ("ceil", 1..=1, |a| a.answer_number(Some(a.number(0)?.ceil()))),
    ("floor", 1..=1, |a| a.answer_number(Some(a.number(0)?.floor()))),
    ("log", 2..=2, log),
    ("max", 0..=MANY, |a| extreme(a, |candidate, best| candidate > best)),
    ("min", 0..=MANY, |a| extreme(a, |candidate, best| candidate < best)),
    ("parseint", 2..=2, parse_integer),
    ("pow", 2..=2, |a| a.answer_number(HclNumber::from_f64(a.number(0)?.as_f64().powf(a.number(1)?.as_f64())))),
    ("signum", 1..=1, sign),
    ("sum", 1..=1, sum),
];

fn log(a: &CallArguments<'_>) -> FunctionResult {
    a.answer_number(HclNumber::from_f64(a.number(0)?.as_f64().ln() / a.number(1)?.as_f64().ln()))
}

fn number(value: &HclValue) -> Result<HclNumber, FunctionFailure> {
    known(value)?.as_number().ok_or_else(|| "an argument is not a number".into())
}

fn extreme(a: &CallArguments<'_>, better: fn(&HclNumber, &HclNumber) -> bool) -> FunctionResult {
    let mut best: Option<HclNumber> = None;
    for value in &a.values {
        let candidate = number(value)?;
        if best.as_ref().is_none_or(|best| better(&candidate, best)) {
            best = Some(candidate);
        }
    }
    a.answer_number(best)
}

fn sign(a: &CallArguments<'_>) -> FunctionResult {
    let number = a.number(0)?;
    if !number.is_integer() {
        return Err("the argument is not an integer".into());
    }
    let sign = if number.is_zero() {
        0
    } else if number.is_negative() {
        -1
    } else {
        1
    };
    a.answer_number(Some(HclNumber::integer(sign)))
}

fn sum(a: &CallArguments<'_>) -> FunctionResult {
    let items = items(a.known(0)?)?;
    let mut total: Option<HclNumber> = None;
    for item in items {
        let next = number(item)?;
        total = match total {
            None => Some(next),
            Some(total) => total.plus(&next),
        };
    }
    a.answer_number(total)
}

fn parse_integer(a: &CallArguments<'_>) -> FunctionResult {
    if !matches!(a.known(0)?.data, HclData::Text(_)) {
        return Err("the first argument is not a string".into());
    }
    let (text, base) = (a.text(0)?, a.whole_number(1)?);
    if !(2..=62).contains(&base) {
        return Err("the base is not between 2 and 62".into());
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    if digits.is_empty() || digits.len() > 1000 {
        return Err("this is not a number in that base".into());
    }
    let base_number = HclNumber::integer(base);
    let mut result = HclNumber::integer(0);
    for c in digits.chars() {
        let digit = match c {
            '0'..='9' => c as i64 - '0' as i64,
            'a'..='z' => c as i64 - 'a' as i64 + 10,
            'A'..='Z' if base <= 36 => c as i64 - 'A' as i64 + 10,
            'A'..='Z' => c as i64 - 'A' as i64 + 36,
            _ => base,
        };
        if digit >= base {
            return Err("this is not a number in that base".into());
        }
        let next = result.times(&base_number).and_then(|shifted| shifted.plus(&HclNumber::integer(digit)));
        result = next.ok_or("the number is too large")?;
    }
    a.answer_number(Some(if negative { result.negated() } else { result }))
}
