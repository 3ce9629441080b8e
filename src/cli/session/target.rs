//! Finds the base of a pull request, and the commit whose settings apply to it. The author of the change cannot choose
//! either.
//!
//! A build checks out either the merge of the pull request, which the code host made, or its head. The first parent of
//! that merge is the current target branch. If the head is checked out, only the code host knows the target: its
//! variables name the branch, and origin has its tip. The history of the head cannot be used, because the author
//! writes that history.

use std::path::{Path, PathBuf};

use crate::cli::Failure;
use crate::cli::io::ci::{self, CiVariables};
use crate::cli::io::git::Base;
use crate::cli::io::git_log::is_shallow;
use crate::cli::io::git_origin;
use crate::cli::io::git_program::{answer, ask, is_commit};
use crate::cli::io::reference::split;

/// The pull request of a build, from its environment.
#[derive(Debug, Default)]
pub(in crate::cli) struct Build {
    /// The commit that the code host made of the pull request and its target.
    pub(in crate::cli) merge: Option<String>,
    /// The head of the pull request.
    pub(in crate::cli) head: Option<String>,
    /// The target branch.
    pub(in crate::cli) branch: Option<String>,
    /// The tip of the target branch when the event happened.
    pub(in crate::cli) tip: Option<String>,
}

impl Build {
    pub(in crate::cli) fn of(environment: CiVariables) -> Build {
        let is_merge =
            environment("GITHUB_REF").is_some_and(|it| it.starts_with("refs/pull/") && it.ends_with("/merge"));
        let merge = environment("GITHUB_SHA").filter(|_| is_merge);
        Build { merge, branch: ci::target_branch(environment), ..Build::default() }
    }
}

/// Resolves commits, and fetches those that the clone lacks.
pub(in crate::cli) struct CommitTarget<'a> {
    pub(in crate::cli) repository: &'a Path,
    pub(in crate::cli) build: &'a Build,
}

impl CommitTarget<'_> {
    /// Returns the base commit, or `None` if the build has no pull request.
    pub(in crate::cli) fn base(&self) -> Result<Option<String>, Failure> {
        if let Some(parent) = self.parent_of_merge()? {
            return self.held(parent).map(Some);
        }
        let Some(tip) = self.tip()? else { return Ok(None) };
        let merge_base = ask(self.repository, &["merge-base", &tip, "HEAD"])?;
        Ok(Some(merge_base.unwrap_or(tip)))
    }

    /// Returns the commit whose settings, rules and prices apply: the current target branch.
    pub(in crate::cli) fn policy(&self) -> Result<Option<String>, Failure> {
        match self.parent_of_merge()? {
            Some(parent) => self.held(parent).map(Some),
            None => self.tip(),
        }
    }

    /// Returns the first parent of the merge, if the code host's merge commit is checked out.
    fn parent_of_merge(&self) -> Result<Option<String>, Failure> {
        let Some(merge) = self.build.merge.as_ref().filter(|it| is_commit(it)) else { return Ok(None) };
        if ask(self.repository, &["rev-parse", "HEAD"])?.as_ref() != Some(merge) {
            return Ok(None);
        }
        if is_shallow(self.repository)? {
            // After this fetch, git knows the parents of the merge.
            git_origin::fetch(self.repository, merge, 2)?;
        }
        Ok(match self.parents(merge)?.as_slice() {
            [first, second] if self.build.head.as_ref().is_none_or(|head| head == second) => Some(first.clone()),
            _ => None,
        })
    }

    /// Reads the parents from the commit object, because git hides them in a shallow clone.
    fn parents(&self, commit: &str) -> Result<Vec<String>, Failure> {
        let text = answer(self.repository, &["cat-file", "commit", commit])?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let head = text.lines().take_while(|line| !line.is_empty());
        Ok(head.filter_map(|line| line.strip_prefix("parent ")).map(str::to_owned).collect())
    }

    fn tip(&self) -> Result<Option<String>, Failure> {
        if let Some(branch) = &self.build.branch {
            let name = format!("refs/heads/{branch}");
            return self.fetched(&name)?.map(Some).ok_or_else(|| {
                Failure::new(format!("git cannot fetch the target branch `{branch}` from origin")).with_help(
                    "let the checkout keep its credentials, or pass a commit of the clone with --base and --policy-ref",
                )
            });
        }
        self.build.tip.clone().map(|tip| self.held(tip)).transpose()
    }

    /// Resolves a branch, a tag, or an id. A name that is both a branch and a tag is refused,
    /// because a pushed tag could replace the branch.
    pub(in crate::cli) fn named(&self, written: &str) -> Result<String, Failure> {
        let unknown = || {
            Failure::new(format!("`{written}` is not a commit that this clone has or can fetch"))
                .with_help("pass a branch, a tag or a commit of origin, or check out with fetch-depth: 0")
        };
        if written.starts_with('-') || written.contains(char::is_control) {
            return Err(unknown());
        }
        let (name, steps) = split(written);
        if is_commit(name) && steps.is_empty() {
            return self.held(written.to_owned());
        }
        if matches!(name, "" | "@" | "HEAD") || is_commit(name) {
            return Base::tip(self.repository, written).map(|it| it.commit);
        }
        let reference = if name.starts_with("refs/") { Some(name.to_owned()) } else { self.reference(name)? };
        let Some(reference) = reference else {
            // The name is a part of an id.
            return Base::tip(self.repository, written).map(|it| it.commit);
        };
        // Only origin has the current state of a branch.
        let is_named_in_full = name.starts_with("refs/heads/") && steps.is_empty();
        if is_named_in_full && let Some(tip) = self.fetched(&reference)? {
            return Ok(tip);
        }
        let known = if self.has(&reference)? {
            Base::tip(self.repository, &format!("{reference}{steps}")).ok().map(|it| it.commit)
        } else if steps.is_empty() {
            self.fetched(&reference)?
        } else {
            None
        };
        known.ok_or_else(unknown)
    }

    /// Returns the full name of a branch or a tag, in this clone or at origin.
    fn reference(&self, name: &str) -> Result<Option<String>, Failure> {
        let local =
            [format!("refs/heads/{name}"), format!("refs/remotes/{name}"), format!("refs/remotes/origin/{name}")];
        let (of_branch, of_tag) = (format!("refs/heads/{name}"), format!("refs/tags/{name}"));
        let mut branch = None;
        for reference in local {
            if branch.is_none() && self.has(&reference)? {
                branch = Some(reference);
            }
        }
        let mut tag = self.has(&of_tag)?.then(|| of_tag.clone());
        if branch.is_none() {
            match git_origin::references(self.repository, &[&of_branch, &of_tag])? {
                Some(there) => {
                    branch = there.contains(&of_branch).then_some(of_branch);
                    tag = tag.or_else(|| there.contains(&of_tag).then_some(of_tag));
                }
                None if tag.is_some() => {
                    return Err(Failure::new(format!(
                        "`{name}` is a tag, and origin does not answer whether it is also a branch"
                    ))
                    .with_help(format!("if the tag is meant, pass {of_tag}")));
                }
                None => {}
            }
        }
        match (branch, tag) {
            (Some(_), Some(tag)) => Err(Failure::new(format!("`{name}` is a branch and a tag"))
                .with_help(format!("pass refs/heads/{name} or {tag}"))),
            (branch, tag) => Ok(branch.or(tag)),
        }
    }

    fn has(&self, reference: &str) -> Result<bool, Failure> {
        Ok(ask(self.repository, &["show-ref", "--verify", reference])?.is_some())
    }

    /// Returns a commit after making sure that the clone contains it.
    fn held(&self, commit: String) -> Result<String, Failure> {
        let is_here = || {
            Ok(ask(self.repository, &["rev-parse", "--verify", "--quiet", &format!("{commit}^{{commit}}")])?.is_some())
        };
        let is_held =
            || Ok(is_here()? && ask(self.repository, &["cat-file", "-t", &commit])?.as_deref() == Some("commit"));
        if is_commit(&commit) && (is_held()? || git_origin::fetch(self.repository, &commit, 1)? && is_held()?) {
            return Ok(commit);
        }
        Err(Failure::new(format!("the commit {commit} is not in this clone, and git cannot fetch it"))
            .with_help("check out with fetch-depth: 0"))
    }

    fn fetched(&self, reference: &str) -> Result<Option<String>, Failure> {
        match git_origin::fetch(self.repository, reference, 1)? {
            true => ask(self.repository, &["rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}"]),
            false => Ok(None),
        }
    }
}

/// Returns the repository that contains a directory.
pub(in crate::cli) fn repository(here: &Path) -> Result<PathBuf, Failure> {
    crate::cli::io::place::repository(here).map(Path::to_owned).ok_or_else(|| {
        Failure::new("this is not a git repository").with_help("run the command in the checkout of the change")
    })
}
