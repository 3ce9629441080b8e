//! How answers of meters become rows of `gpulint-usage.csv`: what to ask a server of metrics, and what its answers, and those
//! of clouds and of other tools, say of each workload and each pool.
//!
//! Everything here is a pure function of saved answers, save `fetch`, which asks a server itself. Nothing that lints imports
//! this room. Names of pods, nodes, instances and accounts come in and never go out.

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
pub use fetch::{Fetched, Metering, fetch};
pub use gather::UsageReport;
pub use import::{Import, import};
pub use request::{UsageRequest, UsageWindow};

/// Every request that `fetch` makes once it knows which metrics there are; of the exporters that are named, or of all.
pub fn queries(window: &UsageWindow, exporters: &[String]) -> Vec<UsageRequest> {
    [request::of_days(window, exporters, None), request::of_owners(window)].concat()
}

/// Requests as lines of name, method, path and body, between tabs.
pub fn as_text(requests: &[UsageRequest]) -> String {
    request::as_text(requests)
}

pub fn as_json(requests: &[UsageRequest]) -> String {
    request::as_json(requests)
}

/// What a request may be restricted to.
pub fn exporters() -> Vec<&'static str> {
    table::EXPORTERS.iter().map(|it| it.name).collect()
}
