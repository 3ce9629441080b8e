//! Reads settings, rules and prices from another commit (--policy-ref), so that a change cannot relax the gate that
//! checks it.

use crate::cli::Failure;
use crate::cli::args::InputArguments;
use crate::cli::io::file_tree::DiskTree;
use crate::cli::io::git::{Base, GitTree};
use crate::cli::io::place::{self, WorkingTree};
use crate::config;
use crate::source::{BESIDE, ReadError, Tree, TreeEntry};

/// The work tree and the policy's commit, in a directory that no path of the work tree can reach. gpulint finds files
/// that settings name relative to themselves there, too, and messages show the commit.
pub(in crate::cli) struct PolicyTree {
    here: DiskTree,
    policy: Option<(String, GitTree)>,
}

impl PolicyTree {
    pub(in crate::cli) fn open(
        input: &InputArguments,
        place: &WorkingTree,
        here: DiskTree,
    ) -> Result<PolicyTree, Failure> {
        let Some(reference) = &input.policy_ref else { return Ok(PolicyTree { here, policy: None }) };
        if place::repository(&place.root) != Some(&place.root) {
            return Err(Failure::new("with --policy-ref, all given paths must be in one git repository"));
        }
        let base = Base::tip(&place.root, reference)?;
        let short = base.commit.get(..12).unwrap_or(&base.commit);
        Ok(PolicyTree { here, policy: Some((format!("{BESIDE}{short}:"), base.tree()?)) })
    }

    /// Returns the nearest settings file above a directory, in the policy's commit.
    pub(in crate::cli) fn nearest(&self, directory: &str) -> Option<String> {
        let (prefix, tree) = self.policy.as_ref()?;
        let mut directory = directory;
        loop {
            let file = if directory.is_empty() {
                config::FILE_NAME.to_owned()
            } else {
                format!("{directory}/{}", config::FILE_NAME)
            };
            if tree.files().any(|known| known == file) {
                return Some(format!("{prefix}/{file}"));
            }
            if directory.is_empty() {
                return None;
            }
            directory = directory.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }

    /// Returns the path of a file in the policy's commit.
    pub(in crate::cli) fn file(&self, path: String) -> String {
        match &self.policy {
            Some((prefix, _)) => format!("{prefix}/{path}"),
            None => path,
        }
    }

    pub(in crate::cli) fn is_elsewhere(&self) -> bool {
        self.policy.is_some()
    }

    pub(in crate::cli) fn with_given(self, name: String, text: Vec<u8>) -> PolicyTree {
        PolicyTree { here: self.here.with_given(name, text), ..self }
    }

    fn policy_path<'a>(&'a self, path: &'a str) -> Option<(&'a GitTree, &'a str)> {
        let (prefix, tree) = self.policy.as_ref()?;
        let rest = path.strip_prefix(prefix.as_str())?;
        Some((tree, rest.strip_prefix('/').or_else(|| rest.is_empty().then_some(""))?))
    }
}

impl Tree for PolicyTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        match self.policy_path(path) {
            Some((tree, path)) => tree.read(path),
            None => self.here.read(path),
        }
    }

    fn mentions(&self, path: &str, wanted: &[u8]) -> bool {
        self.policy_path(path).is_some() || self.here.mentions(path, wanted)
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        match self.policy_path(directory) {
            Some((tree, directory)) => tree.list(directory),
            None => self.here.list(directory),
        }
    }

    fn link(&self, path: &str) -> Option<String> {
        match self.policy_path(path) {
            Some((tree, path)) => tree.link(path),
            None => self.here.link(path),
        }
    }
}
