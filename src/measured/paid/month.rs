//! Defines a month of a bill, in UTC.

use std::fmt;
use std::str::FromStr;

use crate::source::{Date, civil_from_days, days_from_civil, days_in_month};

/// A month, counted from the year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BillMonth(i64);

impl BillMonth {
    /// Returns the month that contains a day, given in days since 1970.
    pub fn of_unix_days(days: i64) -> BillMonth {
        let (year, month, _) = civil_from_days(days);
        BillMonth(year * 12 + month - 1)
    }

    pub fn of(day: Date) -> BillMonth {
        BillMonth::of_unix_days(day.unix_days())
    }

    /// Returns the first day, in days since 1970.
    pub fn first_day(self) -> i64 {
        days_from_civil(self.0.div_euclid(12), self.0.rem_euclid(12) + 1, 1)
    }

    #[must_use]
    pub fn next(self) -> BillMonth {
        BillMonth(self.0 + 1)
    }

    #[must_use]
    pub fn before(self) -> BillMonth {
        BillMonth(self.0 - 1)
    }

    pub fn days(self) -> f64 {
        days_in_month(self.0.div_euclid(12), self.0.rem_euclid(12) + 1) as f64
    }

    pub fn hours(self) -> f64 {
        self.days() * 24.0
    }
}

impl fmt::Display for BillMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }
}

impl FromStr for BillMonth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let text: String = text.chars().take(40).collect();
            format!("`{text}` is not a month; write it as 2027-01")
        };
        let day: Option<Date> = (text.len() == 7).then(|| format!("{text}-01").parse().ok()).flatten();
        day.map(BillMonth::of).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_counted_over_years() {
        let month: BillMonth = "2026-12".parse().unwrap();
        assert_eq!((month.next().to_string(), month.hours()), ("2027-01".to_owned(), 744.0));
        assert_eq!(month.next().before(), month);
        assert_eq!(BillMonth::of_unix_days(month.first_day()), month);
        for wrong in ["", "2026", "2026-13", "2026-1", "2026-01-01"] {
            assert!(wrong.parse::<BillMonth>().is_err(), "{wrong}");
        }
    }
}
