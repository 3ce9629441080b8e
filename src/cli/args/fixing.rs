//! Options that choose which fixes gpulint writes.

use clap::Args;

/// Options that choose which fixes gpulint writes.
#[derive(Debug, Args)]
pub(in crate::cli) struct FixArguments {
    /// Write safe fixes into the files: they cannot change how a workload runs
    #[arg(long, conflicts_with_all = ["add_ignore", "policy_ref"])]
    pub(in crate::cli) fix: bool,
    /// With --fix or --diff: include fixes that change how a workload runs, such as spot or a smaller machine
    #[arg(long)]
    pub(in crate::cli) unsafe_fixes: bool,
    /// With --fix or --diff: fix only the findings of this rule or group; repeatable
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    pub(in crate::cli) only: Vec<String>,
    /// With --fix or --diff: fix only the findings of the resource with this address, such as aws_instance.train; repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(in crate::cli) address: Vec<String>,
    /// With --fix: show each fix in the terminal, and ask before gpulint writes it
    #[arg(long, requires = "fix", conflicts_with = "diff")]
    pub(in crate::cli) interactive: bool,
    /// Print the edits of --fix as a patch for `git apply`, and write nothing
    #[arg(long, conflicts_with_all = ["add_ignore", "policy_ref", "formats", "outputs"])]
    pub(in crate::cli) diff: bool,
}
