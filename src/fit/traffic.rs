//! The required speed of a server, and the cost of its tokens.

use super::speed::{ServerSpeed, SpeedRange};
use crate::catalog::Catalog;
use crate::inventory::{Key, Resource};

/// The required speed of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ServerGoal {
    /// The maximum mean time from a request to the first token of its answer.
    pub ms_to_first_token: Option<f64>,
    /// The maximum time between two tokens of an answer.
    pub ms_per_token: Option<f64>,
    /// The load on all replicas together, which is not a mean of the day: no peak is added.
    pub load: Option<PromisedLoad>,
    /// The tokens that all replicas generate together on a usual day.
    pub tokens_per_day: Option<f64>,
    /// The requests at a time, by default as many as the server accepts.
    pub concurrency: Option<f64>,
    /// The ratio of peak traffic to the daily mean.
    pub peak: f64,
    /// Whether a requirement exists but is unknown, so that no server surely meets it.
    pub is_unknown: bool,
}

/// The facts that declare a required speed.
const DECLARED: [Key; 4] = [Key::MsToFirstToken, Key::MsPerToken, Key::RequestsPerSecond, Key::TokensPerDay];

/// The load that a server must hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PromisedLoad {
    RequestsPerSecond(f64),
    /// Generated tokens per second.
    TokensPerSecond(f64),
}

impl ServerGoal {
    pub fn new(catalog: &Catalog) -> ServerGoal {
        ServerGoal { peak: catalog.throughput("peak", "*").unwrap_or(1.0), ..ServerGoal::default() }
    }

    /// Returns the requirements of a resource from labels, settings or usage metrics.
    pub fn of(resource: &Resource, catalog: &Catalog) -> ServerGoal {
        let is_set = |number: &f64| *number > 0.0;
        ServerGoal {
            ms_to_first_token: resource.number(Key::MsToFirstToken).filter(is_set),
            ms_per_token: resource.number(Key::MsPerToken).filter(is_set),
            load: resource.number(Key::RequestsPerSecond).filter(is_set).map(PromisedLoad::RequestsPerSecond),
            tokens_per_day: tokens_per_day(resource),
            is_unknown: DECLARED.iter().any(|key| resource.fact(*key).is_unknown()),
            ..ServerGoal::new(catalog)
        }
    }

    /// Returns the requests per second of the load, for answers of this many tokens.
    pub fn requests_per_second(&self, answer: f64) -> Option<f64> {
        Some(match self.load? {
            PromisedLoad::RequestsPerSecond(rate) => rate,
            PromisedLoad::TokensPerSecond(rate) => rate / answer,
        })
    }

    /// Returns the limits for messages, such as `20 requests/s, TTFT ≤ 500 ms`, for answers of this many tokens.
    pub fn format_limits(&self, answer: f64) -> String {
        let short = |number: f64| (number * 1e3).round() / 1e3;
        let parts = [
            self.requests_per_second(answer).map(format_rate),
            self.ms_to_first_token.map(|ms| format!("TTFT ≤ {} ms", short(ms))),
            self.ms_per_token.map(|ms| format!("TPOT ≤ {} ms", short(ms))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    pub fn asks_nothing(&self) -> bool {
        let asks_speed = self.ms_per_token.is_some() || self.tokens_per_day.is_some();
        !asks_speed && !self.is_promise() && !self.is_unknown
    }

    /// Whether the goal depends on the requests at a time, so that the speed at full load does not decide.
    pub fn is_promise(&self) -> bool {
        self.ms_to_first_token.is_some() || self.load.is_some()
    }

    /// Whether a speed is surely sufficient. The time per token is estimated within a factor of two.
    pub fn is_met(&self, speed: &ServerSpeed, copies: f64) -> bool {
        let slowest = speed.slowest_ms_per_token();
        let most = speed.tokens_per_second.floor * copies * 86_400.0 / self.peak;
        !self.is_unknown
            && self.ms_per_token.is_none_or(|limit| slowest <= limit)
            && self.tokens_per_day.is_none_or(|least| most >= least)
    }
}

/// Returns a rate for messages, such as `20 requests/s`.
pub fn format_rate(rate: f64) -> String {
    let rounded = (rate * 100.0).round() / 100.0;
    if rounded == 1.0 { "1 request/s".to_owned() } else { format!("{rounded} requests/s") }
}

/// A measurement is more accurate than a declaration.
pub fn tokens_per_day(resource: &Resource) -> Option<f64> {
    let measured = resource.number(Key::MeasuredTokens).map(|rate| rate * 86_400.0);
    measured.or_else(|| resource.number(Key::TokensPerDay)).filter(|tokens| *tokens > 0.0)
}

/// Returns the dollars per million generated tokens at this rate and hourly price.
pub fn cost_of_tokens(per_second: SpeedRange, floor: f64, expected: f64, ceiling: f64) -> SpeedRange {
    let each = per_second.times(3600.0 / 1e6);
    SpeedRange { floor: floor / each.ceiling, expected: expected / each.expected, ceiling: ceiling / each.floor }
}
