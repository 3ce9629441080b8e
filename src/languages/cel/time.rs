//! Defines durations and timestamps: exact to the nanosecond, without a clock.

use std::fmt;

use crate::languages::go::{Civil, Moment, NANOS, duration, offset};

/// Longest duration of the language: about ten thousand years.
const LONGEST_SECONDS: i64 = 315_576_000_000;

/// The first second of year 1 and the last of year 9999.
const TIMESTAMPS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CelDuration {
    pub(crate) seconds: i64,
    /// Nanoseconds with the same sign as the seconds.
    pub(super) nanos: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp {
    pub(super) seconds: i64,
    pub(super) nanos: u32,
}

impl CelDuration {
    pub(super) fn from_nanos(nanos: i128) -> Option<CelDuration> {
        let seconds = i64::try_from(nanos / NANOS).ok().filter(|s| s.abs() <= LONGEST_SECONDS)?;
        Some(CelDuration { seconds, nanos: (nanos % NANOS) as i32 })
    }

    pub(super) fn total_nanos(self) -> i128 {
        i128::from(self.seconds) * NANOS + i128::from(self.nanos)
    }

    /// Parses durations such as `1h30m`, `-1.5s` and `300ms`.
    pub(super) fn parse(text: &str) -> Option<CelDuration> {
        CelDuration::from_nanos(duration(text)?)
    }
}

impl fmt::Display for CelDuration {
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

impl Timestamp {
    pub(super) fn from_nanos(nanos: i128) -> Option<Timestamp> {
        let seconds = i64::try_from(nanos.div_euclid(NANOS)).ok().filter(|s| TIMESTAMPS.contains(s))?;
        Some(Timestamp { seconds, nanos: nanos.rem_euclid(NANOS) as u32 })
    }

    pub(super) fn total_nanos(self) -> i128 {
        i128::from(self.seconds) * NANOS + i128::from(self.nanos)
    }

    /// Parses `2026-11-21T10:00:00Z`, `2026-11-21T10:00:00.5+01:00`, and `2026-11-21` as midnight.
    pub(crate) fn parse(text: &str) -> Option<Timestamp> {
        let upper = text.to_ascii_uppercase();
        let moment = match upper.len() {
            10 => Moment::read(&format!("{upper}T00:00:00Z")),
            _ => Moment::read(&upper),
        }?;
        Timestamp::from_nanos(i128::from(moment.seconds) * NANOS + i128::from(moment.nanos))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second, .. } = Civil::of(self.seconds, 0);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{}Z", fraction(self.nanos))
    }
}

/// Returns the offset from UTC in seconds for `UTC`, `+02:00`, `-09:30` or `02:00`. Names of places would need a table
/// of time zones.
pub(super) fn offset_seconds(zone: &str) -> Option<i64> {
    if zone == "UTC" {
        return Some(0);
    }
    offset(zone).or_else(|| offset(&format!("+{zone}")))
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
        assert_eq!(Civil::of(Timestamp::parse("2026-11-21").unwrap().seconds, 0).weekday, 6);
    }

    #[test]
    fn durations_are_exact() {
        let nanos = |text| CelDuration::parse(text).map(CelDuration::total_nanos);
        assert_eq!(nanos("1h1.5s"), Some(3_601_500_000_000));
        assert_eq!(nanos("-1.000000001s"), Some(-1_000_000_001));
        for wrong in ["", "-", "1", "1x", "s", "1.2.3s", "9999999999999999999s"] {
            assert_eq!(nanos(wrong), None, "{wrong}");
        }
        assert_eq!(CelDuration::parse("-90m0.25s").unwrap().to_string(), "-5400.25s");
    }
}
