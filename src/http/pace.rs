//! Calculates the pause before a request is repeated.

use std::time::Duration;

use super::reply::Reply;

/// Access to time and random numbers. Only the command line implements it with a real clock.
pub trait Clock {
    /// Returns the seconds since 1970.
    fn now(&self) -> u64;
    fn sleep(&self, time: Duration);
    /// Returns a random number from 0 up to 1, so that processes that failed together do not retry together.
    fn chance(&self) -> f64;
}

const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// GitHub asks for a delay of at least a minute after a secondary limit without a time (REST documentation, 2026-11).
const UNNAMED_LIMIT_DELAY: Duration = Duration::from_secs(60);

/// Returns a delay that doubles with each attempt. Its upper half is random.
pub(super) fn backoff(attempt: u32, clock: &dyn Clock) -> Duration {
    let full = FIRST_DELAY.saturating_mul(1 << attempt.min(10)).min(LONGEST_DELAY);
    full.mul_f64(0.5 + clock.chance().clamp(0.0, 1.0) / 2.0)
}

/// Returns the delay that a server asks for. `None` if it refuses the request for another reason than the rate.
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

/// Returns the delay in the headers of an answer, whatever its status.
pub(super) fn named_delay(reply: &Reply, clock: &dyn Clock) -> Option<Duration> {
    if let Some(seconds) = reply.number("retry-after") {
        return Some(Duration::from_secs(seconds.max(1)));
    }
    let exhausted = ["x-ratelimit-remaining", "ratelimit-remaining"].iter().any(|name| reply.number(name) == Some(0));
    let reset = reply.number("x-ratelimit-reset").or_else(|| reply.number("ratelimit-reset"))?;
    // The extra second allows for differing clocks, and for a limit that resets a moment later.
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
