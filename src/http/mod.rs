//! The HTTP client for the three modules that can open network connections.
//!
//! It sends credentials to one origin only, follows no redirect to another origin, respects rate limits, repeats
//! requests only if that is safe, limits the size of answers, and never puts a secret into a message. It does not know
//! the content of requests, and callers pass in the environment and the clock.

mod client;
mod error;
mod pace;
mod reply;
mod secret;
mod signature;
mod target;

pub use client::{HttpClient, HttpMethod, HttpRequest, Sink};
pub use error::{Error, HttpErrorKind};
pub use pace::Clock;
pub use reply::Reply;
pub(crate) use reply::has_more_values;
pub use secret::{AwsKeys, Credential, Secret};
pub use target::HttpOrigin;

use std::time::Duration;

/// The proxy settings in the environment.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    /// The proxy for `https://` addresses. It can contain a user and a password, so it is a secret.
    pub https: Option<Secret>,
    /// The proxy for `http://` addresses.
    pub http: Option<Secret>,
    /// Hosts to reach without a proxy, in the usual comma-separated notation.
    pub except: Option<String>,
}

#[derive(Debug, Clone)]
pub struct HttpSettings {
    pub user_agent: String,
    pub proxies: Proxies,
    pub connect_timeout: Duration,
    /// The time limit of one request, from connecting to the last byte of the answer.
    pub timeout: Duration,
    /// The maximum size of a stored answer, after decompression.
    pub max_reply_bytes: u64,
    /// The maximum size of an answer that is read while it arrives, after decompression.
    pub max_stream_bytes: u64,
    /// The maximum size of all stored answers together, so that a list with endless pages ends.
    pub max_total_bytes: u64,
    /// The maximum number of times that a request is sent.
    pub attempts: u32,
    /// The maximum total delay between the attempts of one request.
    pub patience: Duration,
    /// The end of all requests, in seconds after 1970, because every page of a long list can be slow.
    pub deadline: Option<u64>,
    /// Whether to send a credential over plain `http://` to another machine.
    pub allow_plain_http: bool,
    /// Headers of every request, such as the tenant of a shared server.
    pub headers: Vec<(String, Secret)>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            user_agent: concat!("gpulint/", env!("CARGO_PKG_VERSION")).to_owned(),
            proxies: Proxies::default(),
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(30),
            max_reply_bytes: 16 << 20,
            max_stream_bytes: 1 << 30,
            max_total_bytes: 256 << 20,
            attempts: 5,
            patience: Duration::from_secs(180),
            deadline: None,
            allow_plain_http: false,
            headers: Vec::new(),
        }
    }
}
