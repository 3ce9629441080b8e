//! Parses times in the formats of bills: `2026-10-01T00:00:00Z`, `2026-10-01 00:00:00`, `2026-10-01`.

use crate::measured::paid::{BillMonth, BilledAmount};
use crate::source::{days_from_civil, days_in_month};

const MINUTES_PER_DAY: i64 = 1440;

/// A time in minutes since 1970, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Minutes(pub(super) i64);

impl Minutes {
    pub(super) fn of_day(unix_days: i64) -> Minutes {
        Minutes(unix_days * MINUTES_PER_DAY)
    }

    pub(super) fn parse(text: &[u8]) -> Option<Minutes> {
        let (day, rest) = text.split_at_checked(10)?;
        let number = |from: usize, to: usize, of: &[u8]| -> Option<i64> {
            let digits = of.get(from..to)?;
            digits.iter().try_fold(0i64, |sum, it| it.is_ascii_digit().then(|| sum * 10 + i64::from(it - b'0')))
        };
        let (year, month, date) = (number(0, 4, day)?, number(5, 7, day)?, number(8, 10, day)?);
        let is_date = day.get(4) == Some(&b'-') && day.get(7) == Some(&b'-');
        if !is_date || !(1970..=2200).contains(&year) || !(1..=12).contains(&month) {
            return None;
        }
        if !(1..=days_in_month(year, month)).contains(&date) {
            return None;
        }
        let midnight = days_from_civil(year, month, date) * MINUTES_PER_DAY;
        if rest.is_empty() {
            return Some(Minutes(midnight));
        }
        let is_clock = matches!(rest.first(), Some(b'T' | b't' | b' ')) && rest.get(3) == Some(&b':');
        let (hour, minute) = (number(1, 3, rest)?, number(4, 6, rest)?);
        if !is_clock || hour > 24 || minute > 59 {
            return None;
        }
        let back = zone(rest.get(6..)?)?;
        Some(Minutes(midnight + hour * 60 + minute - back))
    }

    pub(super) fn month(self) -> BillMonth {
        BillMonth::of_unix_days(self.0.div_euclid(MINUTES_PER_DAY))
    }

    /// Returns the end of a month.
    pub(super) fn end_of(month: BillMonth) -> Minutes {
        Minutes::of_day(month.next().first_day())
    }

    /// Returns the days of a month before this time, or zero if the month begins later.
    pub(super) fn days_of(self, month: BillMonth) -> BilledAmount {
        let minutes = self.0 - Minutes::of_day(month.first_day()).0;
        BilledAmount::of_ratio(minutes.max(0), MINUTES_PER_DAY)
    }
}

/// Parses the seconds and the zone, such as `:00Z`, `:00.000+02:00`, `:00` or ` UTC`. Returns the minutes ahead of
/// UTC.
fn zone(text: &[u8]) -> Option<i64> {
    let digits = |text: &[u8]| text.iter().take_while(|it| it.is_ascii_digit()).count();
    let mut rest = text;
    if let Some(seconds) = rest.strip_prefix(b":") {
        rest = (digits(seconds) == 2).then(|| seconds.get(2..))??;
        if let Some(fraction) = rest.strip_prefix(b".") {
            rest = fraction.get(digits(fraction)..)?;
        }
    }
    match rest {
        b"" | b"Z" | b"z" | b" UTC" => Some(0),
        [sign @ (b'+' | b'-'), zone @ ..] => {
            let zone: Vec<i64> = zone.iter().filter(|it| **it != b':').map(|it| i64::from(*it) - 48).collect();
            let [a, b, c, d] = zone.as_slice() else { return None };
            let all = [a, b, c, d];
            let back = (a * 10 + b) * 60 + c * 10 + d;
            let is_zone = all.iter().all(|it| (0..=9).contains(*it)) && back <= 14 * 60;
            is_zone.then_some(if *sign == b'-' { -back } else { back })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_bills_write_them() {
        let month = |text: &str| Minutes::parse(text.as_bytes()).map(|it| it.month().to_string());
        for text in [
            "2026-10-31T23:00:00Z",
            "2026-10-31 23:00:00",
            "2026-10-31",
            "2026-10-31T23:59:59.999999Z",
            "2026-11-01T00:30:00+02:00",
            "2026-10-31 23:00:00 UTC",
            "2026-10-31T23:00",
        ] {
            assert_eq!(month(text).as_deref(), Some("2026-10"), "{text}");
        }
        assert_eq!(month("2026-12-31T23:00:00-05:00").as_deref(), Some("2027-01"));
        let december = Minutes::parse(b"2026-12-01").unwrap();
        assert_eq!(Minutes::end_of(december.month()), Minutes::parse(b"2027-01-01").unwrap());
        for text in [
            "",
            "2026-02-30",
            "31/10/2026",
            "2026-10-31T25:00:00Z",
            "2026-10-31Tx",
            "2026-10-31T23:00:00+99:00",
            "46326",
        ] {
            assert_eq!(month(text), None, "{text}");
        }
    }
}
