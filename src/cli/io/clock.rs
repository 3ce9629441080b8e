//! Reads this machine's clock. No other module reads it.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::Failure;
use crate::source::Date;

/// Returns today's date by this machine's clock, in UTC.
pub(in crate::cli) fn today() -> Result<Date, Failure> {
    // A clock before 1970 counts as 1970, because it is wrong anyway.
    day(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

fn day(unix_seconds: u64) -> Result<Date, Failure> {
    let days = i64::try_from(unix_seconds / 86_400).unwrap_or(i64::MAX);
    Date::from_unix_days(days)
        .ok_or_else(|| Failure::new("the clock of this machine is wrong").with_help("pass the date with --today"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_far_off_is_told_and_never_overflows() {
        assert_eq!(day(0).ok().map(|it| it.to_string()).as_deref(), Some("1970-01-01"));
        assert_eq!(day(1_795_219_200).ok().map(|it| it.to_string()).as_deref(), Some("2026-11-21"));
        for seconds in [1 << 40, 1 << 50, u64::MAX / 2, u64::MAX] {
            let told = day(seconds).map(|it| it.to_string()).map_err(|failure| failure.to_string());
            assert!(told.as_ref().is_err_and(|why| why.contains("--today")), "{seconds}: {told:?}");
        }
    }
}
