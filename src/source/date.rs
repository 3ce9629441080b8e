//! Defines calendar days, without a clock.

use std::fmt;
use std::str::FromStr;

/// A calendar day. There is no clock here: the caller supplies today's date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Default for Date {
    fn default() -> Self {
        Date { year: 1970, month: 1, day: 1 }
    }
}

impl Date {
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let exists = (1..=days_in_month(i64::from(year), i64::from(month))).contains(&i64::from(day));
        let valid = (1..=9999).contains(&year) && (1..=12).contains(&month) && exists;
        valid.then_some(Date { year, month, day })
    }

    /// Returns the day that is this many days after 1970-01-01.
    pub fn from_unix_days(days: i64) -> Option<Self> {
        let (year, month, day) = civil_from_days(days);
        Date::new(u16::try_from(year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
    }

    /// Returns the days since 1970-01-01.
    pub fn unix_days(self) -> i64 {
        days_from_civil(i64::from(self.year), i64::from(self.month), i64::from(self.day))
    }

    /// Returns the days from the other day to this one.
    pub fn since(self, other: Date) -> i64 {
        self.unix_days() - other.unix_days()
    }
}

/// Returns the days from 1970-01-01 to a day of any year. Years start in March, so that a leap day is the last day of
/// its year; a cycle has 400 years.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (cycle, in_cycle) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let in_year = (153 * from_march + 2) / 5 + day - 1;
    cycle * 146_097 + in_cycle * 365 + in_cycle / 4 - in_cycle / 100 + in_year - 719_468
}

/// Returns year, month and day for a number of days after 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (cycle, in_cycle) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (in_cycle - in_cycle / 1_460 + in_cycle / 36_524 - in_cycle / 146_096) / 365;
    let in_year = in_cycle - (365 * year + year / 4 - year / 100);
    let from_march = (5 * in_year + 2) / 153;
    let day = in_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + cycle * 400 + i64::from(month <= 2), month, day)
}

/// Formats a time in seconds since 1970 as `2026-11-21T09:30:00Z`; `None` after the year 9999.
pub fn moment(unix_seconds: u64) -> Option<String> {
    let day = Date::from_unix_days(i64::try_from(unix_seconds / 86_400).ok()?)?;
    let second = unix_seconds % 86_400;
    Some(format!("{day}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60))
}

/// Returns the number of days in a month of any year.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{}` is not a date; write it as 2027-03-31", text.chars().take(40).collect::<String>());
        let digits = |text: &str, count: usize| {
            (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse::<u16>().ok())?
        };
        let mut parts = text.splitn(3, '-');
        let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong());
        };
        let date = digits(year, 4)
            .zip(digits(month, 2))
            .zip(digits(day, 2))
            .and_then(|((year, month), day)| Date::new(year, u8::try_from(month).ok()?, u8::try_from(day).ok()?));
        date.ok_or_else(wrong)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_agree_over_four_centuries() {
        let mut before = Date::from_unix_days(-1).unwrap();
        assert_eq!(before.to_string(), "1969-12-31");
        for days in 0..146_097 {
            let date = Date::from_unix_days(days).unwrap();
            assert_eq!(date.unix_days(), days);
            assert_eq!(date.since(before), 1);
            assert!(date > before);
            before = date;
        }
        // The expected value is `date -d 2026-11-21 +%s` / 86400.
        assert_eq!("2026-11-21".parse::<Date>().unwrap().unix_days(), 20_778);
    }

    #[test]
    fn only_days_that_exist_are_dates() {
        assert!("2028-02-29".parse::<Date>().is_ok());
        for wrong in ["2027-02-29", "2027-13-01", "2027-00-10", "27-01-01", "2027-1-1", "2027-01-011", "+027-01-01", ""]
        {
            assert!(wrong.parse::<Date>().is_err(), "{wrong}");
        }
    }
}
