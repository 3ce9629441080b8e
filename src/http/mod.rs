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

/// What the environment says about reaching the network.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    /// For `https://` addresses. May carry a user and a password, so it is a secret.
    pub https: Option<Secret>,
    /// For `http://` addresses.
    pub http: Option<Secret>,
    /// Hosts to reach directly, in the usual comma-separated notation.
    pub except: Option<String>,
}

#[derive(Debug, Clone)]
pub struct HttpSettings {
    pub user_agent: String,
    pub proxies: Proxies,
    pub connect_timeout: Duration,
    /// For one request, from connecting to the last byte of the answer.
    pub timeout: Duration,
    /// Of an answer that is kept, after decompression.
    pub max_reply_bytes: u64,
    /// Of an answer that is read while it arrives, after decompression.
    pub max_stream_bytes: u64,
    /// Of all answers that are kept together, so that no list is endless, however many pages it has.
    pub max_total_bytes: u64,
    /// How often a request is sent at most.
    pub attempts: u32,
    /// How long all waiting between attempts of one request may take together.
    pub patience: Duration,
    /// When all that is asked must be over, in seconds after 1970: of a list of many pages each may be slow.
    pub deadline: Option<u64>,
    /// Whether a credential may travel over plain `http://` to another machine.
    pub allow_plain_http: bool,
    /// Sent with every request, such as the tenant of a server that many use.
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
