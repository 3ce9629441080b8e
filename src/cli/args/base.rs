//! Arguments of `gpulint base`.

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct BaseCommit {
    /// Branch, tag or commit, such as main or refs/heads/main [default: the target branch of this build's pull request]
    #[arg(value_name = "REF", allow_hyphen_values = true)]
    pub(in crate::cli) reference: Option<String>,
    /// Print the commit for --policy-ref instead: the tip of the target branch, which the author of a change cannot select
    #[arg(long)]
    pub(in crate::cli) policy: bool,
    /// Head commit of the pull request, to recognize the merge commit that the code host created from it
    #[arg(long, value_name = "SHA", hide = true)]
    pub(in crate::cli) head: Option<String>,
    /// Tip of the target branch, if the build does not name the branch
    #[arg(long, value_name = "SHA", hide = true)]
    pub(in crate::cli) tip: Option<String>,
}
