//! Parts of timestamps and durations.

use super::Gives as G;
use super::Takes as T;
use super::{Function, method, wrong};
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

pub(super) fn functions() -> Vec<Function> {
    let mut all = parts! {
        "getFullYear" "the year" |time| time.year;
        "getMonth" "the month, from 0" |time| time.month - 1;
        "getDate" "the day of the month, from 1" |time| time.day;
        "getDayOfMonth" "the day of the month, from 0" |time| time.day - 1;
        "getDayOfWeek" "the day of the week, Sunday is 0" |time| time.weekday;
        "getDayOfYear" "the day of the year, from 0" |time| time.day_of_year;
    };
    all.extend(parts! {
        "getHours" "the hour" |time| time.hour;
        "getMinutes" "the minute" |time| time.minute;
        "getSeconds" "the second" |time| time.second;
    });
    all.extend([
        method("getMilliseconds", &[T::Timestamp], G::Integer, milliseconds, "the milliseconds of its second"),
        method("getMilliseconds", &[T::Timestamp, T::Text], G::Integer, milliseconds, "the milliseconds of its second"),
        method("getHours", &[T::Duration], G::Integer, |_, v| total(v, 3_600_000_000_000), "all of it in hours"),
        method("getMinutes", &[T::Duration], G::Integer, |_, v| total(v, 60_000_000_000), "all of it in minutes"),
        method("getSeconds", &[T::Duration], G::Integer, |_, v| total(v, 1_000_000_000), "all of it in seconds"),
        method("getMilliseconds", &[T::Duration], G::Integer, milliseconds, "the milliseconds of its last second"),
    ]);
    all
}

fn civil(given: &[CelValue], part: fn(Civil) -> i64) -> Result<CelValue, Fault> {
    let (time, offset): (&Timestamp, i64) = match given {
        [CelValue::Timestamp(time)] => (time, 0),
        [CelValue::Timestamp(time), CelValue::Text(zone)] => match offset_seconds(zone) {
            Some(offset) => (time, offset),
            None => return Err(format!("`{zone}` is no offset from UTC, such as +01:00").into()),
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
