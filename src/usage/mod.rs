//! Converts usage metrics into rows of `gpulint-usage.csv`. It contains the queries for metrics servers, and the
//! parsers for the answers of these servers, of clouds and of other tools.
//!
//! All functions depend only on saved answers, except `fetch`, which queries a server. Checks of repositories never use
//! this module. Names of pods, nodes, instances and accounts are never written.

mod answer;
mod bill;
mod clouds;
mod fetch;
mod fold;
mod gather;
mod holder;
mod import;
mod meter;
mod observer;
mod owners;
mod peers;
mod points;
mod request;
mod server;
mod table;

pub use bill::{BillImport, BillReport, BillSum, Warehouse, bill_query};
pub use fetch::{FetchedMetrics, Metering, fetch};
pub use gather::UsageReport;
pub use import::{ImportedAnswers, import};
pub use request::{UsageRequest, UsageWindow};

/// Returns the requests that `fetch` makes after it knows the available metrics, for the named exporters or for all.
pub fn queries(window: &UsageWindow, exporters: &[String]) -> Vec<UsageRequest> {
    [request::of_days(window, exporters, None), request::of_owners(window)].concat()
}

/// Formats each request as one line: name, method, path and body, separated by tabs.
pub fn as_text(requests: &[UsageRequest]) -> String {
    request::as_text(requests)
}

pub fn as_json(requests: &[UsageRequest]) -> String {
    request::as_json(requests)
}

/// Returns the names of the exporters that a user can select.
pub fn exporters() -> Vec<&'static str> {
    table::EXPORTERS.iter().map(|it| it.name).collect()
}
