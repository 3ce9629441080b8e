//! `gpulint server`: findings and prices while text is written, by the protocol that editors share.
//!
//! This thread speaks with the editor and knows what is open; another one reads and judges (`worker`). What is told always
//! names the version of the text that it is about, and what is about an older one than is open is not told.

mod actions;
mod client;
mod documents;
mod editor;
mod hover;
mod pages;
mod place;
mod position;
mod requests;
mod told;
mod worker;

use lsp_server::Connection;

use crate::cli::world::deadline;
use crate::cli::{Failure, Outcome};

pub(in crate::cli) fn run() -> Result<Outcome, Failure> {
    deadline::none();
    let (connection, threads) = Connection::stdio();
    let outcome = editor::serve(&connection);
    drop(connection);
    // The threads end with the input, or with what was said last.
    if outcome.is_ok() {
        let _ = threads.join();
    }
    outcome
}
