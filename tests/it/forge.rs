//! Comments on pull requests, against servers on the loopback address.

mod description;
mod github;
mod gzip;
pub(crate) mod server;
mod stand_in;
mod verb;
