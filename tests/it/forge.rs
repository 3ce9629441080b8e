//! Tests comments on pull requests, against servers on the loopback address.

mod description;
mod github;
pub(crate) mod gzip;
mod hosts;
pub(crate) mod server;
pub(crate) mod stand_in;
mod verb;
