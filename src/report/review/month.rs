//! Defines a calendar month.

use std::fmt;
use std::str::FromStr;

use crate::source::{Date, civil_from_days, days_in_month};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Month {
    first: Date,
    last: Date,
}

impl Month {
    /// Returns the month that contains a day.
    pub fn of(day: Date) -> Month {
        let (year, month, number) = civil_from_days(day.unix_days());
        let first = day.unix_days() - number + 1;
        let of = |days| Date::from_unix_days(days).unwrap_or(day);
        Month { first: of(first), last: of(first + days_in_month(year, month) - 1) }
    }

    /// Returns the previous month.
    #[must_use]
    pub fn before(self) -> Month {
        Date::from_unix_days(self.first.unix_days() - 1).map_or(self, Month::of)
    }

    pub fn first(self) -> Date {
        self.first
    }

    pub fn last(self) -> Date {
        self.last
    }

    pub fn holds(self, day: Date) -> bool {
        self.first <= day && day <= self.last
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, _) = civil_from_days(self.first.unix_days());
        write!(f, "{year:04}-{month:02}")
    }
}

impl FromStr for Month {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a month; write it as 2027-01");
        let is_written_so = text.len() == 7;
        is_written_so.then(|| format!("{text}-01").parse().ok()).flatten().map(Month::of).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_a_first_and_a_last_day() {
        let month = |text: &str| text.parse::<Month>();
        let february = month("2028-02").unwrap();
        assert_eq!(
            (february.first().to_string(), february.last().to_string()),
            ("2028-02-01".into(), "2028-02-29".into())
        );
        assert_eq!(february.before().before().to_string(), "2027-12");
        assert!(february.holds(february.last()) && !february.holds(february.before().last()));
        for wrong in ["", "2028", "2028-13", "2028-2", "2028-02-01", "２０28-02"] {
            assert!(month(wrong).is_err(), "{wrong}");
        }
    }
}
