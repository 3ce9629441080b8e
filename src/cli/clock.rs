use std::time::{SystemTime, UNIX_EPOCH};

use super::Failure;
use crate::source::Date;

/// The day of this machine's clock, in universal time.
pub(super) fn today() -> Result<Date, Failure> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let days = i64::try_from(seconds / 86_400).unwrap_or(i64::MAX);
    Date::from_unix_days(days)
        .ok_or_else(|| Failure::new("the clock of this machine is far off").with_help("say the day with --today"))
}
