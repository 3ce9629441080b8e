//! The machine's proxies, clock and random numbers, for subcommands that open network connections.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::ci::CiVariables;
use crate::http::{Clock, HttpSettings, Proxies, Secret};

/// Returns the proxies of the usual variables, except `HTTP_PROXY`, which a web server sets from a request header.
pub(in crate::cli) fn settings(environment: CiVariables) -> HttpSettings {
    let first = |names: &[&str]| names.iter().find_map(|name| environment(name)).map(Secret::new);
    let proxies = Proxies {
        https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
        http: first(&["http_proxy", "all_proxy", "ALL_PROXY"]),
        except: environment("no_proxy").or_else(|| environment("NO_PROXY")),
    };
    HttpSettings { proxies, ..HttpSettings::default() }
}

pub(in crate::cli) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    /// Returns a random number from the keys of a hash map, which is random enough here.
    fn chance(&self) -> f64 {
        let drawn = RandomState::new().build_hasher().finish();
        f64::from(u32::try_from(drawn >> 32).unwrap_or(0)) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_a_web_server_sets_from_a_header_is_not_believed() {
        let environment = |name: &str| (name == "HTTP_PROXY").then(|| "http://evil.test".to_owned());
        assert!(settings(&environment).proxies.http.is_none());
    }

    #[test]
    fn chance_is_a_share_and_differs() {
        let drawn: Vec<f64> = (0..32).map(|_| SystemClock.chance()).collect();
        assert!(drawn.iter().all(|share| (0.0..1.0).contains(share)));
        assert!(drawn.iter().any(|share| share != &drawn[0]));
    }
}
