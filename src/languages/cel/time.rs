//! Durations and timestamps: exact to the nanosecond, without a clock.

use std::fmt;

use crate::source::{civil_from_days, days_from_civil, days_in_month};

const NANOS: i128 = 1_000_000_000;

/// The longest that the language allows: about ten thousand years.
const LONGEST_SECONDS: i64 = 315_576_000_000;

/// The first second of year 1 and the last of year 9999.
const TIMESTAMPS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Duration {
    pub(crate) seconds: i64,
    /// Of the same sign as the seconds.
    pub(super) nanos: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp {
    pub(super) seconds: i64,
    pub(super) nanos: u32,
}

impl Duration {
    pub(super) fn from_nanos(nanos: i128) -> Option<Duration> {
        let seconds = i64::try_from(nanos / NANOS).ok().filter(|s| s.abs() <= LONGEST_SECONDS)?;
        Some(Duration { seconds, nanos: (nanos % NANOS) as i32 })
    }

    pub(super) fn total_nanos(self) -> i128 {
        i128::from(self.seconds) * NANOS + i128::from(self.nanos)
    }

    /// `1h30m`, `-1.5s`, `300ms`.
    pub(super) fn parse(text: &str) -> Option<Duration> {
        let (negative, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Duration::from_nanos(0);
        }
        let mut nanos = 0i128;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let (number, tail) = rest.split_at(digits);
            let letters = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(letters);
            let unit: i128 = match unit {
                "ns" => 1,
                "us" | "µs" | "μs" => 1_000,
                "ms" => 1_000_000,
                "s" => NANOS,
                "m" => 60 * NANOS,
                "h" => 3600 * NANOS,
                _ => return None,
            };
            nanos = nanos.checked_add(scaled(number, unit)?)?;
            rest = tail;
        }
        (text.len() > 1).then_some(())?;
        Duration::from_nanos(if negative { -nanos } else { nanos })
    }
}

/// A decimal number times a unit, exactly.
fn scaled(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: i128 = match whole.len() {
        0 => 0,
        1..=18 => whole.parse().ok()?,
        _ => return None,
    };
    let mut total = whole.checked_mul(unit)?;
    let mut part = unit;
    for digit in fraction.bytes().take(18) {
        part /= 10;
        total += i128::from(digit - b'0') * part;
    }
    Some(total)
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.total_nanos() < 0 { "-" } else { "" };
        write!(f, "{sign}{}{}s", self.seconds.unsigned_abs(), fraction(self.nanos.unsigned_abs()))
    }
}

fn fraction(nanos: u32) -> String {
    match nanos {
        0 => String::new(),
        _ => format!(".{}", format!("{nanos:09}").trim_end_matches('0')),
    }
}

/// The date and time of day of a timestamp somewhere.
pub(super) struct Civil {
    pub(super) year: i64,
    /// 1 to 12.
    pub(super) month: i64,
    /// 1 to 31.
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    /// From Sunday, which is 0.
    pub(super) weekday: i64,
    /// From the first of January, which is 0.
    pub(super) day_of_year: i64,
}

impl Timestamp {
    pub(super) fn from_nanos(nanos: i128) -> Option<Timestamp> {
        let seconds = i64::try_from(nanos.div_euclid(NANOS)).ok().filter(|s| TIMESTAMPS.contains(s))?;
        Some(Timestamp { seconds, nanos: nanos.rem_euclid(NANOS) as u32 })
    }

    pub(super) fn total_nanos(self) -> i128 {
        i128::from(self.seconds) * NANOS + i128::from(self.nanos)
    }

    /// `2026-11-21T10:00:00Z`, `2026-11-21T10:00:00.5+01:00`, and `2026-11-21` for midnight.
    pub(crate) fn parse(text: &str) -> Option<Timestamp> {
        let date = text.get(..10)?;
        let (year, month, day) = (digits(date, 0, 4)?, digits(date, 5, 7)?, digits(date, 8, 10)?);
        if &date[4..5] != "-" || &date[7..8] != "-" || !(1..=12).contains(&month) {
            return None;
        }
        if !(1..=days_in_month(year, month)).contains(&day) {
            return None;
        }
        let days = days_from_civil(year, month, day);
        let rest = text.get(10..)?;
        if rest.is_empty() {
            return Timestamp::from_nanos(i128::from(days) * 86_400 * NANOS);
        }
        let time = rest.strip_prefix(['T', 't'])?;
        let (hour, minute, second) = (digits(time, 0, 2)?, digits(time, 3, 5)?, digits(time, 6, 8)?);
        if time.get(2..3)? != ":" || time.get(5..6)? != ":" || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let zone_at = 8 + time[8..].find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let nanos = match time[8..zone_at].strip_prefix('.') {
            Some(fraction) if !fraction.is_empty() => scaled(&format!("0.{fraction}"), NANOS)?,
            Some(_) => return None,
            None if zone_at == 8 => 0,
            None => return None,
        };
        let offset = match &time[zone_at..] {
            "Z" | "z" => 0,
            zone => offset_seconds(zone)?,
        };
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset;
        Timestamp::from_nanos(i128::from(seconds) * NANOS + nanos)
    }

    pub(super) fn civil(self, offset: i64) -> Civil {
        let local = self.seconds + offset;
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

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second, .. } = self.civil(0);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{}Z", fraction(self.nanos))
    }
}

/// Seconds east of Greenwich of `UTC`, `+02:00`, `-09:30` or `02:00`; places by name would need a table of zones.
pub(super) fn offset_seconds(zone: &str) -> Option<i64> {
    if zone == "UTC" {
        return Some(0);
    }
    let (sign, rest) = match zone.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, zone.strip_prefix('+').unwrap_or(zone)),
    };
    if rest.len() != 5 || rest.get(2..3)? != ":" {
        return None;
    }
    let (hours, minutes) = (digits(rest, 0, 2)?, digits(rest, 3, 5)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

fn digits(text: &str, from: usize, to: usize) -> Option<i64> {
    let part = text.get(from..to)?;
    part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_there_and_back() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-11-21T13:46:40Z", 1_795_268_800),
            ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            let timestamp = Timestamp::parse(text).unwrap();
            assert_eq!((timestamp.seconds, timestamp.to_string().as_str()), (seconds, text));
        }
        assert_eq!(Timestamp::parse("2026-02-29"), None);
        assert_eq!(Timestamp::parse("2026-11-21T14:46:40+01:00"), Timestamp::parse("2026-11-21T13:46:40Z"));
        assert_eq!(Timestamp::parse("2026-11-21").unwrap().civil(0).weekday, 6);
    }

    #[test]
    fn durations_are_exact() {
        let nanos = |text| Duration::parse(text).map(Duration::total_nanos);
        assert_eq!(nanos("1h1.5s"), Some(3_601_500_000_000));
        assert_eq!(nanos("-1.000000001s"), Some(-1_000_000_001));
        for wrong in ["", "-", "1", "1x", "s", "1.2.3s", "9999999999999999999s"] {
            assert_eq!(nanos(wrong), None, "{wrong}");
        }
        assert_eq!(Duration::parse("-90m0.25s").unwrap().to_string(), "-5400.25s");
    }
}
