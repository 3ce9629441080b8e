//! Times in RFC 3339 format and durations such as `1h30m`. They are exact to the nanosecond and need no clock.

use crate::source::{civil_from_days, days_from_civil, days_in_month};

/// Nanoseconds per second.
pub(crate) const NANOS: i128 = 1_000_000_000;

/// Seconds since 1970 in UTC, and the offset of its zone in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) seconds: i64,
    pub(crate) nanos: i64,
    pub(crate) ahead: i64,
}

/// Date and time of day in a time zone.
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// Month from 1 to 12.
    pub(crate) month: i64,
    /// Day from 1 to 31.
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    /// Day of the week; Sunday is 0.
    pub(crate) weekday: i64,
    /// Day of the year; January 1 is 0.
    pub(crate) day_of_year: i64,
}

impl Civil {
    /// Returns the date and time of day. `ahead` is the offset from UTC in seconds.
    pub(crate) fn of(seconds: i64, ahead: i64) -> Civil {
        let local = seconds + ahead;
        let (days, rest) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        let (year, month, day) = civil_from_days(days);
        Civil {
            year,
            month,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: (days + 4).rem_euclid(7),
            day_of_year: days - days_from_civil(year, 1, 1),
        }
    }
}

impl Moment {
    /// Parses `2018-05-13T07:44:12Z` and `2018-05-13T07:44:12.5+01:00`.
    pub(crate) fn read(text: &str) -> Option<Moment> {
        let (year, month, day) = (number(text, 0, 4)?, number(text, 5, 7)?, number(text, 8, 10)?);
        let (hour, minute, second) = (number(text, 11, 13)?, number(text, 14, 16)?, number(text, 17, 19)?);
        let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        let is_split = separators.iter().all(|(at, separator)| text.as_bytes().get(*at) == Some(separator));
        let is_date = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        if !is_split || !is_date || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let mut rest = text.get(19..)?;
        let mut nanos = 0;
        if let Some(fraction) = rest.strip_prefix('.') {
            let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
            let digits: String = fraction.get(..length)?.chars().chain("000000000".chars()).take(9).collect();
            nanos = digits.parse().ok().filter(|_| length > 0)?;
            rest = fraction.get(length..)?;
        }
        let ahead = if rest == "Z" { 0 } else { offset(rest)? };
        let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - ahead;
        Some(Moment { seconds, nanos, ahead })
    }
}

/// Returns the offset from UTC in seconds for `+02:00` or `-09:30`.
pub(crate) fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = (number(zone, 1, 3)?, number(zone, 4, 6)?);
    let is_zone = zone.len() == 6 && zone.get(3..4) == Some(":");
    (is_zone && hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

fn number(text: &str, from: usize, to: usize) -> Option<i64> {
    let digits = text.get(from..to)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Returns the nanoseconds of `1h30m`, `-1.5h` or `10ms`.
pub(crate) fn duration(text: &str) -> Option<i128> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest.is_empty() || rest == "0" {
        return (rest == "0").then_some(0);
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let unit: i128 = match &after[..end] {
            "h" => 3600 * NANOS,
            "m" => 60 * NANOS,
            "s" => NANOS,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1_000,
            "ns" => 1,
            _ => return None,
        };
        total = total.checked_add(scaled(number, unit)?)?;
        rest = &after[end..];
    }
    Some(sign * total)
}

/// Multiplies a decimal number with a unit. Numbers with more than 18 digits are refused, because they are not
/// realistic and could overflow.
fn scaled(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.len() + fraction.len() == 0 || whole.len() > 18 {
        return None;
    }
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
    let fraction = fraction.get(..fraction.len().min(18))?;
    Some(digits(whole)? * unit + digits(fraction)? * unit / 10i128.pow(fraction.len() as u32))
}
