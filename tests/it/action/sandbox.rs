//! Creates a repository with a pull request, checked out like GitHub: one commit deep, at the merge commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The prefix that marks a file's text as the target of a symbolic link.
pub(crate) const LINK: &str = "-> ";

/// Files of a tree: path and text. An empty text deletes the file.
pub(super) type Files<'a> = &'a [(&'a str, &'a str)];

pub(crate) struct Sandbox {
    pub(crate) directory: PathBuf,
}

/// The commits of the pull request.
pub(super) struct Change {
    /// The base in the event: the tip of the base branch when the pull request was opened.
    pub(super) event_base: String,
    pub(super) head: String,
    pub(super) merge: String,
}

impl Sandbox {
    pub(crate) fn new(name: &str) -> Self {
        Self::below(Path::new(env!("CARGO_TARGET_TMPDIR")), name)
    }

    /// Creates it outside this project's repository, like a cache.
    pub(crate) fn outside(name: &str) -> Self {
        Self::below(&std::env::temp_dir(), &format!("gpulint-{name}"))
    }

    fn below(parent: &Path, name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("{name}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let directory = parent.join(name);
        fs::create_dir_all(&directory).unwrap();
        Sandbox { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// `later` contains commits to the base branch after the change.
    pub(super) fn pull_request(&self, base: Files, change: Files, later: Files) -> Change {
        let author = self.path("author");
        fs::create_dir_all(&author).unwrap();
        git(&author, &["init", "--quiet", "--initial-branch=main"]);
        let commit = |files: Files, message: &str| {
            write(&author, files);
            git(&author, &["add", "--all"]);
            git(&author, &["commit", "--quiet", "--allow-empty", "--message", message]);
            git(&author, &["rev-parse", "HEAD"])
        };
        let event_base = commit(base, "base");
        git(&author, &["checkout", "--quiet", "-b", "change"]);
        let head = commit(change, "change");
        git(&author, &["checkout", "--quiet", "main"]);
        if !later.is_empty() {
            commit(later, "later");
        }
        git(&author, &["checkout", "--quiet", "--detach"]);
        git(&author, &["merge", "--quiet", "--no-ff", "--message", "merge", "change"]);
        let merge = git(&author, &["rev-parse", "HEAD"]);
        git(&author, &["update-ref", "refs/pull/7/merge", "HEAD"]);
        git(&author, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        Change { event_base, head, merge }
    }

    /// Creates the state that `actions/checkout` leaves.
    pub(super) fn checkout(&self, reference: &str) -> PathBuf {
        let workspace = self.path("workspace");
        fs::create_dir_all(&workspace).unwrap();
        git(&workspace, &["init", "--quiet", "--initial-branch=main"]);
        git(&workspace, &["remote", "add", "origin", &format!("file://{}", self.path("author").display())]);
        git(&workspace, &["fetch", "--quiet", "--no-tags", "--depth=1", "origin", reference]);
        git(&workspace, &["checkout", "--quiet", "--detach", "FETCH_HEAD"]);
        workspace
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

pub(crate) fn write(directory: &Path, files: Files) {
    for (path, text) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        match text.strip_prefix(LINK) {
            Some(target) => {
                // A link may replace a folder, too.
                let _ = fs::remove_dir_all(&path);
                std::os::unix::fs::symlink(target, path).unwrap();
            }
            None if text.is_empty() => {}
            None => fs::write(path, text).unwrap(),
        }
    }
}

/// The git settings of the user who runs the tests have no effect.
pub(crate) const GIT_ENVIRONMENT: [(&str, &str); 6] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "test"),
    ("GIT_AUTHOR_EMAIL", "test@example.org"),
    ("GIT_COMMITTER_NAME", "test"),
    ("GIT_COMMITTER_EMAIL", "test@example.org"),
];

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(directory).envs(GIT_ENVIRONMENT).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
