//! `gpulint server`: a language server that shows findings and prices in editors.
//!
//! The main thread talks to the editor and tracks open documents. Another thread reads and checks files (`worker`).
//! Results always contain the version of their document. Results for an older version are dropped.

mod actions;
mod client;
mod diagnostics;
mod documents;
mod editor;
mod hover;
mod messages;
mod pages;
mod place;
mod position;
mod requests;
mod worker;

use crate::cli::io::deadline;
use crate::cli::{ExitStatus, Failure};

pub(in crate::cli) fn run() -> Result<ExitStatus, Failure> {
    deadline::none();
    let (connection, threads) = messages::connect()?;
    let outcome = editor::serve(&connection);
    drop(connection);
    // The threads end with the input, or with the last message.
    if outcome.is_ok() {
        threads.join();
    }
    outcome
}
