//! Implements functions for numbers and for the kind of a value.

use super::super::compare::same;
use super::super::failure::TemplateFailure;
use super::super::numbers;
use super::super::print;
use super::super::value::{GoKind, GoValue};
use super::How::{Careful, Form, Plain};
use super::{FunctionCall, FunctionOutcome, Row};

pub(super) const TABLE: &[Row] = &[
    ("int", "a", Form, |c| Ok(GoValue::int(to_int(&c.any(0))))),
    ("int64", "a", Form, |c| Ok(GoValue::int64(to_int(&c.any(0))))),
    ("float64", "a", Form, |c| Ok(to_float(&c.any(0)).into())),
    ("atoi", "s", Form, |c| {
        let text = c.str(0);
        Ok(GoValue::int(text.parse().unwrap_or(0)))
    }),
    ("toDecimal", "a", Form, |c| {
        let text = print::text(&c.any(0))?;
        Ok(GoValue::int64(i64::from_str_radix(text.as_str(), 8).unwrap_or(0)))
    }),
    ("add1", "a", Plain, |c| Ok(GoValue::int64(to_int(&c.any(0)).wrapping_add(1)))),
    ("add", "*a", Plain, |c| Ok(GoValue::int64(ints(c).into_iter().fold(0, i64::wrapping_add)))),
    ("sub", "aa", Plain, |c| Ok(GoValue::int64(to_int(&c.any(0)).wrapping_sub(to_int(&c.any(1)))))),
    ("div", "aa", Plain, |c| divided(c, i64::wrapping_div)),
    ("mod", "aa", Plain, |c| divided(c, i64::wrapping_rem)),
    ("mul", "a*a", Plain, |c| Ok(GoValue::int64(ints(c).into_iter().fold(1, i64::wrapping_mul)))),
    ("max", "a*a", Plain, |c| Ok(GoValue::int64(ints(c).into_iter().max().unwrap_or(0)))),
    ("biggest", "a*a", Plain, |c| Ok(GoValue::int64(ints(c).into_iter().max().unwrap_or(0)))),
    ("min", "a*a", Plain, |c| Ok(GoValue::int64(ints(c).into_iter().min().unwrap_or(0)))),
    ("maxf", "a*a", Plain, |c| Ok(floats(c).into_iter().fold(f64::NEG_INFINITY, f64::max).into())),
    ("minf", "a*a", Plain, |c| Ok(floats(c).into_iter().fold(f64::INFINITY, f64::min).into())),
    ("add1f", "a", Plain, |c| Ok(decimal(to_float(&c.any(0)) + 1.0).into())),
    ("addf", "*a", Plain, |c| Ok(decimal(floats(c).into_iter().sum()).into())),
    ("subf", "a*a", Plain, |c| Ok(folded(c, |a, b| a - b).into())),
    ("mulf", "a*a", Plain, |c| Ok(folded(c, |a, b| a * b).into())),
    ("divf", "a*a", Plain, |c| {
        if floats(c).iter().skip(1).any(|it| *it == 0.0) {
            return Err("decimal division by 0".into());
        }
        let quotient = floats(c).into_iter().reduce(|a, b| a / b).unwrap_or(0.0);
        // The library rounds the result to this many decimals.
        Ok((format!("{quotient:.16}").parse().unwrap_or(quotient) + 0.0).into())
    }),
    ("ceil", "a", Plain, |c| Ok(to_float(&c.any(0)).ceil().into())),
    ("floor", "a", Plain, |c| Ok(to_float(&c.any(0)).floor().into())),
    ("round", "ai*f", Plain, round),
    ("seq", "*i", Plain, seq),
    ("typeOf", "a", Careful, |c| reflected(c, type_of)),
    ("kindOf", "a", Careful, |c| reflected(c, |value| value.kind_name().to_owned())),
    ("typeIs", "sa", Careful, |c| is(c, type_of)),
    ("typeIsLike", "sa", Careful, |c| is(c, |value| type_of(value).trim_start_matches('*').to_owned())),
    ("kindIs", "sa", Careful, |c| is(c, |value| value.kind_name().to_owned())),
    ("deepEqual", "aa", Careful, |c| Ok(same(&c.any(0), &c.any(1))?.into())),
];

/// Converts like the library `cast`: a value that is not a number is 0.
pub(super) fn to_int(value: &GoValue) -> i64 {
    match &value.kind {
        GoKind::Int(number) | GoKind::Int64(number) => *number,
        GoKind::Float(number) => numbers::truncated(*number),
        GoKind::Flag(flag) => i64::from(*flag),
        GoKind::Text(text) => {
            let text = text.as_str();
            // The library accepts `3.0` as a whole number, and `3.5` not.
            let whole = match text.split_once('.') {
                Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|digit| digit == b'0') => whole,
                _ => text,
            };
            numbers::parse_int(whole).unwrap_or(0)
        }
        _ => 0,
    }
}

pub(super) fn to_float(value: &GoValue) -> f64 {
    match &value.kind {
        GoKind::Int(number) | GoKind::Int64(number) => *number as f64,
        GoKind::Float(number) => *number,
        GoKind::Flag(flag) => f64::from(u8::from(*flag)),
        GoKind::Text(text) => text.as_str().parse().unwrap_or(0.0),
        _ => 0.0,
    }
}

fn ints(c: &FunctionCall<'_, '_>) -> Vec<i64> {
    c.arguments.iter().map(to_int).collect()
}

fn floats(c: &FunctionCall<'_, '_>) -> Vec<f64> {
    c.arguments.iter().map(to_float).collect()
}

/// Removes the rounding errors of binary fractions, because the library adds decimals without such errors.
fn decimal(number: f64) -> f64 {
    // Decimals have no negative zero.
    format!("{number:.14e}").parse().unwrap_or(number) + 0.0
}

fn folded(c: &FunctionCall<'_, '_>, with: fn(f64, f64) -> f64) -> f64 {
    decimal(floats(c).into_iter().reduce(with).unwrap_or(0.0))
}

fn divided(c: &FunctionCall<'_, '_>, with: fn(i64, i64) -> i64) -> FunctionOutcome {
    match to_int(&c.any(1)) {
        0 => Err("runtime error: integer divide by zero".into()),
        divisor => Ok(GoValue::int64(with(to_int(&c.any(0)), divisor))),
    }
}

fn round(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let (number, places) = (to_float(&c.any(0)), c.int(1));
    let on = if c.arguments.len() > 2 { c.float(2) } else { 0.5 };
    let power = 10f64.powi(i32::try_from(places).unwrap_or(0));
    let moved = power * number;
    let rounded = if moved.fract() >= on { moved.ceil() } else { moved.floor() };
    Ok((rounded / power).into())
}

fn seq(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let given: Vec<i64> = (0..c.arguments.len()).map(|number| c.int(number)).collect();
    let (start, step, end) = match given.as_slice() {
        [end] => (1, if *end < 1 { -1 } else { 1 }, *end),
        [start, end] => (*start, if end < start { -1 } else { 1 }, *end),
        [start, step, end] => (*start, *step, *end),
        _ => return Ok("".into()),
    };
    if step == 0 || (end < start) != (step < 0) {
        return Ok(if end == start { start.to_string().into() } else { "".into() });
    }
    let mut out = String::new();
    let mut at = start;
    while if step > 0 { at <= end } else { at >= end } {
        c.evaluator.step(1)?;
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&at.to_string());
        at = at.saturating_add(step);
    }
    c.text_result(out)
}

fn type_of(value: &GoValue) -> String {
    if value.is_nil() { "<nil>".to_owned() } else { value.type_name() }
}

fn reflected(c: &FunctionCall<'_, '_>, name: fn(&GoValue) -> String) -> FunctionOutcome {
    match &c.any(0) {
        GoValue { kind: GoKind::Unknown(cause), .. } => Err(cause.clone().into()),
        value => Ok(name(value).into()),
    }
}

fn is(c: &FunctionCall<'_, '_>, name: fn(&GoValue) -> String) -> FunctionOutcome {
    match &c.any(1) {
        GoValue { kind: GoKind::Unknown(cause), .. } => Err(TemplateFailure::Unknown(cause.clone())),
        value => Ok((name(value) == c.known(0)?).into()),
    }
}
