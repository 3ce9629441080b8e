//! Implements functions for parts of timestamps and durations.

use super::ArgumentForm as T;
use super::Gives as G;
use super::{CelOverload, method, wrong};
use crate::languages::cel::budget::CelBudget;
use crate::languages::cel::operators::Fault;
use crate::languages::cel::time::{Timestamp, offset_seconds};
use crate::languages::cel::value::CelValue;
use crate::languages::go::Civil;

macro_rules! parts {
    ($($name:literal $meaning:literal $part:expr;)+) => {
        vec![$(
            method($name, &[T::Timestamp], G::Integer, |_, v| civil(v, $part), $meaning),
            method($name, &[T::Timestamp, T::Text], G::Integer, |_, v| civil(v, $part), $meaning),
        )+]
    };
}

pub(super) fn functions() -> Vec<CelOverload> {
    let mut all = parts! {
        "getFullYear" "year" |time| time.year;
        "getMonth" "month, from 0" |time| time.month - 1;
        "getDate" "day of the month, from 1" |time| time.day;
        "getDayOfMonth" "day of the month, from 0" |time| time.day - 1;
        "getDayOfWeek" "day of the week; Sunday is 0" |time| time.weekday;
        "getDayOfYear" "day of the year, from 0" |time| time.day_of_year;
    };
    all.extend(parts! {
        "getHours" "hour of the day" |time| time.hour;
        "getMinutes" "minute of the hour" |time| time.minute;
        "getSeconds" "second of the minute" |time| time.second;
    });
    all.extend([
        method("getMilliseconds", &[T::Timestamp], G::Integer, milliseconds, "milliseconds within the second"),
        method("getMilliseconds", &[T::Timestamp, T::Text], G::Integer, milliseconds, "milliseconds within the second"),
        method(
            "getHours",
            &[T::Duration],
            G::Integer,
            |_, v| total(v, 3_600_000_000_000),
            "whole hours of the duration",
        ),
        method(
            "getMinutes",
            &[T::Duration],
            G::Integer,
            |_, v| total(v, 60_000_000_000),
            "whole minutes of the duration",
        ),
        method(
            "getSeconds",
            &[T::Duration],
            G::Integer,
            |_, v| total(v, 1_000_000_000),
            "whole seconds of the duration",
        ),
        method("getMilliseconds", &[T::Duration], G::Integer, milliseconds, "milliseconds beyond the whole seconds"),
    ]);
    all
}

fn civil(given: &[CelValue], part: fn(Civil) -> i64) -> Result<CelValue, Fault> {
    let (time, offset): (&Timestamp, i64) = match given {
        [CelValue::Timestamp(time)] => (time, 0),
        [CelValue::Timestamp(time), CelValue::Text(zone)] => match offset_seconds(zone) {
            Some(offset) => (time, offset),
            None => return Err(format!("`{zone}` is not an offset from UTC, such as +01:00").into()),
        },
        _ => return Err(wrong()),
    };
    Ok(CelValue::Integer(part(Civil::of(time.seconds, offset))))
}

fn milliseconds(_: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Timestamp(time), ..] => Ok(CelValue::Integer(i64::from(time.nanos / 1_000_000))),
        [CelValue::Duration(time)] => Ok(CelValue::Integer(i64::from(time.nanos / 1_000_000))),
        _ => Err(wrong()),
    }
}

fn total(given: &[CelValue], unit: i128) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Duration(time)] => Ok(CelValue::Integer((time.total_nanos() / unit) as i64)),
        _ => Err(wrong()),
    }
}
