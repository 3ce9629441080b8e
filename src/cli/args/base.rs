//! `gpulint base`.

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct BaseCommit {
    /// A branch, a tag or a commit, for example main or refs/heads/main [default: the target of this build's pull request]
    #[arg(value_name = "REF", allow_hyphen_values = true)]
    pub(in crate::cli) reference: Option<String>,
    /// Print the commit for --policy-ref instead: the tip of the target branch, which the author of a change cannot choose
    #[arg(long)]
    pub(in crate::cli) policy: bool,
    /// The head of the pull request, to recognize the merge that the code host made of it
    #[arg(long, value_name = "SHA", hide = true)]
    pub(in crate::cli) head: Option<String>,
    /// The tip of the target branch, if the build does not name the branch
    #[arg(long, value_name = "SHA", hide = true)]
    pub(in crate::cli) tip: Option<String>,
}
