//! The verb for editors.

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct ServerOptions {
    /// Standard input and output, as editors say it; there is no other way
    #[arg(long, hide = true)]
    pub(in crate::cli) stdio: bool,
    /// The process of the editor, as some say it; the server ends with its input
    #[arg(long, hide = true, value_name = "PID", alias = "clientProcessId")]
    pub(in crate::cli) client_process_id: Option<u32>,
}
