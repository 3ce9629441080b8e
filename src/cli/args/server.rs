//! Arguments of `gpulint server`, which editors start.

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct ServerOptions {
    /// Use standard input and output. Editors pass this option; the server supports no other transport
    #[arg(long, hide = true)]
    pub(in crate::cli) stdio: bool,
    /// Accept the editor's process id, which some editors pass. The server ends when its input ends
    #[arg(long, hide = true, value_name = "PID", alias = "clientProcessId")]
    pub(in crate::cli) client_process_id: Option<u32>,
}
