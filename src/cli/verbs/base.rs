//! `gpulint base`: the commit that a pull request is compared with, and the commit whose settings apply to it.

use crate::cli::args::BaseCommit;
use crate::cli::io::{ci, output};
use crate::cli::session::target::{Build, CommitTarget, repository};
use crate::cli::{ExitStatus, Failure};

pub(in crate::cli) fn run(arguments: &BaseCommit) -> Result<ExitStatus, Failure> {
    let here = std::env::current_dir()
        .and_then(|it| it.canonicalize())
        .map_err(|error| Failure::new(format!("the current directory cannot be read: {error}")))?;
    let repository = repository(&here)?;
    let known = |text: &Option<String>| text.clone().filter(|it| !it.is_empty());
    let (head, tip) = (known(&arguments.head), known(&arguments.tip));
    let build = Build { head, tip, ..Build::of(&ci::process_variable) };
    let target = CommitTarget { repository: &repository, build: &build };
    let commit = match (known(&arguments.reference), arguments.policy) {
        (Some(written), _) => Some(target.named(&written)?),
        (None, true) => target.policy()?,
        (None, false) => target.base()?,
    };
    match commit {
        Some(commit) => output::print(&format!("{commit}\n")).map(|()| ExitStatus::Passed),
        None => {
            output::complain("this build has no pull request: pass a branch, such as `gpulint base refs/heads/main`");
            Ok(ExitStatus::Empty)
        }
    }
}
