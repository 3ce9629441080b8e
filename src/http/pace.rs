//! Calculates the pause before a request is repeated.

use std::time::Duration;

use super::reply::Reply;

/// Time and chance, handed in so that nothing below the command line reads a clock.
pub trait Clock {
    /// Seconds since 1970.
    fn now(&self) -> u64;
    fn sleep(&self, time: Duration);
    /// A number from 0 up to 1 that differs between runs, so that runs that failed together do not return together.
    fn chance(&self) -> f64;
}

const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// GitHub asks for a minute or more after a secondary limit that names no time (REST documentation, 2026-11).
const UNNAMED_LIMIT_DELAY: Duration = Duration::from_secs(60);

/// Doubles with each attempt; the upper half of it is left to chance.
pub(super) fn backoff(attempt: u32, clock: &dyn Clock) -> Duration {
    let full = FIRST_DELAY.saturating_mul(1 << attempt.min(10)).min(LONGEST_DELAY);
    full.mul_f64(0.5 + clock.chance().clamp(0.0, 1.0) / 2.0)
}

/// How long a server that refuses to work asks us to wait; `None` when it is not about the rate.
pub(super) fn limited(reply: &Reply, attempt: u32, clock: &dyn Clock) -> Option<Duration> {
    let named = named_delay(reply, clock);
    match reply.status {
        429 => Some(named.unwrap_or_else(|| UNNAMED_LIMIT_DELAY + backoff(attempt, clock))),
        403 if named.is_some() => named,
        403 if reply.text().to_ascii_lowercase().contains("rate limit") => {
            Some(UNNAMED_LIMIT_DELAY + backoff(attempt, clock))
        }
        _ => None,
    }
}

/// The delay that the headers of an answer name, whatever its status.
pub(super) fn named_delay(reply: &Reply, clock: &dyn Clock) -> Option<Duration> {
    if let Some(seconds) = reply.number("retry-after") {
        return Some(Duration::from_secs(seconds.max(1)));
    }
    let exhausted = ["x-ratelimit-remaining", "ratelimit-remaining"].iter().any(|name| reply.number(name) == Some(0));
    let reset = reply.number("x-ratelimit-reset").or_else(|| reply.number("ratelimit-reset"))?;
    // One second more than named: clocks differ, and a limit that resets now may reset a moment later.
    exhausted.then(|| Duration::from_secs(reset.saturating_sub(clock.now()) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Frozen;

    impl Clock for Frozen {
        fn now(&self) -> u64 {
            1_000
        }
        fn sleep(&self, _: Duration) {}
        fn chance(&self) -> f64 {
            1.0
        }
    }

    fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> Reply {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Reply { status, headers, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn waits_as_long_as_the_server_names() {
        let named = reply(403, &[("retry-after", "7")], "");
        assert_eq!(limited(&named, 0, &Frozen), Some(Duration::from_secs(7)));
        let reset = reply(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1010")], "");
        assert_eq!(limited(&reset, 0, &Frozen), Some(Duration::from_secs(11)));
    }

    #[test]
    fn a_refusal_for_another_reason_is_not_a_limit() {
        let forbidden = reply(403, &[("x-ratelimit-remaining", "4999"), ("x-ratelimit-reset", "1010")], "no access");
        assert_eq!(limited(&forbidden, 0, &Frozen), None);
    }

    #[test]
    fn a_limit_without_a_time_waits_a_minute() {
        let secondary = reply(403, &[], "You have exceeded a secondary rate limit");
        assert!(limited(&secondary, 0, &Frozen) >= Some(Duration::from_secs(60)));
    }

    #[test]
    fn delays_grow_and_stay_bounded() {
        assert_eq!(backoff(0, &Frozen), Duration::from_millis(500));
        assert_eq!(backoff(1, &Frozen), Duration::from_secs(1));
        assert_eq!(backoff(u32::MAX, &Frozen), LONGEST_DELAY);
    }
}
