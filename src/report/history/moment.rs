//! Formats times for programs.

use crate::source::Date;

/// Seconds since 1970 as `2027-01-31T09:05:00Z`.
pub(super) fn moment(time: i64) -> String {
    let (days, seconds) = (time.div_euclid(86_400), time.rem_euclid(86_400));
    let day = Date::from_unix_days(days).unwrap_or_default();
    format!("{day}T{:02}:{:02}:{:02}Z", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
