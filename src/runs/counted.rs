//! Decides by the directory of a deployment whether it counts as deployed.

use std::collections::BTreeSet;

use crate::inventory::CountedAs;
use crate::source::{is_example, matches, parent};

/// The command line and settings about deployments.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Directories on the command line, as paths of the tree: everything below one counts as deployed.
    pub named: Vec<String>,
    /// Files on the command line: each is checked even if no kustomization lists it.
    pub files: Vec<String>,
    /// Patterns of directories that are not deployed.
    pub exclude: Vec<String>,
}

/// Folder names that can mean an example or an environment.
const EITHER: [&str; 2] = ["test", "demo"];

/// Names of environments: if one of them is a sibling, `test` or `demo` is an environment, too.
const ENVIRONMENTS: [&str; 13] = [
    "prod",
    "production",
    "prd",
    "staging",
    "stage",
    "stg",
    "dev",
    "development",
    "qa",
    "uat",
    "preprod",
    "sandbox",
    "nonprod",
];

/// Names of folders that contain environments.
const HOLDERS: [&str; 10] =
    ["env", "envs", "environment", "environments", "live", "clusters", "overlays", "stages", "accounts", "workspaces"];

/// The folders of deployments, and their parents.
pub(super) struct Folders<'r> {
    all: BTreeSet<&'r str>,
}

impl<'r> Folders<'r> {
    pub(super) fn of(folders: impl Iterator<Item = &'r str>) -> Self {
        let around = |folder: &'r str| {
            let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
            ends.filter_map(move |end| folder.get(..end))
        };
        Folders { all: folders.flat_map(around).collect() }
    }

    /// Returns true if a folder named `test` or `demo` is one of several environments.
    fn is_environment(&self, folder: &str) -> bool {
        let around = parent(folder);
        let name = around.rsplit('/').next().unwrap_or(around);
        let beside = |environment: &&str| {
            let path = if around.is_empty() { (*environment).to_owned() } else { format!("{around}/{environment}") };
            self.all.contains(path.as_str())
        };
        HOLDERS.contains(&name) || ENVIRONMENTS.iter().any(beside)
    }
}

/// Returns how a deployment in this folder counts. Only folders below a directory of the command line are relevant:
/// `gpulint check examples/a` checks that example.
pub(super) fn by_place(folder: &str, folders: &Folders<'_>, options: &RunOptions) -> CountedAs {
    if options.exclude.iter().any(|pattern| covers(pattern, folder)) {
        return CountedAs::Excluded;
    }
    if is_copy(folder) && !options.named.iter().any(|named| is_copy(named)) {
        return CountedAs::Copy;
    }
    let named = options.named.iter().filter_map(|named| below(folder, named));
    // The nearest directory from the command line.
    let inside = named.min_by_key(|rest| rest.len()).unwrap_or(folder);
    let before = folder.len() - inside.len();
    let ends = inside.match_indices('/').map(|(at, _)| at).chain([inside.len()]);
    let shows = |end: usize| {
        let Some(path) = folder.get(..before + end) else { return false };
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_either = EITHER.iter().any(|it| it.eq_ignore_ascii_case(name));
        is_example(name) || (is_either && !folders.is_environment(path))
    };
    match !inside.is_empty() && ends.into_iter().any(shows) {
        true => CountedAs::Example,
        false => CountedAs::Deployed,
    }
}

/// Returns true if a path is in the directory where Terraform or Terragrunt stores downloads and copies.
pub(super) fn is_copy(path: &str) -> bool {
    path.split('/').any(|folder| matches!(folder, ".terraform" | ".terragrunt-cache"))
}

/// Returns the part of a path below a directory.
fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    if directory.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns true if a pattern covers a folder or one of its parents. A pattern without a slash, except at its end,
/// matches a directory anywhere.
pub(super) fn covers(pattern: &str, folder: &str) -> bool {
    let pattern = pattern.trim_end_matches("/**").trim_end_matches('/');
    let Some(rooted) = pattern.strip_prefix('/').or_else(|| pattern.contains('/').then_some(pattern)) else {
        return folder.split('/').any(|name| matches(pattern, name));
    };
    let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
    ends.filter_map(|end| folder.get(..end)).any(|part| matches(rooted, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(folder: &str, named: &[&str], exclude: &[&str]) -> CountedAs {
        let owned = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
        let folders = Folders::of(["live/prod", "live/test", folder].into_iter());
        by_place(
            folder,
            &folders,
            &RunOptions { named: owned(named), exclude: owned(exclude), ..RunOptions::default() },
        )
    }

    #[test]
    fn folders_of_examples_count_apart_unless_they_are_named() {
        assert_eq!(counted("infra", &[""], &[]), CountedAs::Deployed);
        assert_eq!(counted("modules/x/examples/full", &[""], &[]), CountedAs::Example);
        assert_eq!(counted("examples/full", &["examples/full"], &[]), CountedAs::Deployed);
        assert_eq!(counted("examples/full/test", &["examples/full"], &[]), CountedAs::Example);
        assert_eq!(counted("examples/full", &["", "examples"], &[]), CountedAs::Deployed);
        assert_eq!(counted("test/unit", &[""], &[]), CountedAs::Example);
        assert_eq!(counted("live/test", &[""], &[]), CountedAs::Deployed);
        assert_eq!(counted("x/envs/demo/gpu", &[""], &[]), CountedAs::Deployed);
        assert_eq!(counted("latest", &[""], &[]), CountedAs::Deployed);
    }

    #[test]
    fn what_is_excluded_is_said_so_wherever_it_is() {
        assert_eq!(counted("a/scratch/b", &[""], &["scratch"]), CountedAs::Excluded);
        assert_eq!(counted("a/b/c", &[""], &["a/b/"]), CountedAs::Excluded);
        assert_eq!(counted("x/a/b", &[""], &["a/b"]), CountedAs::Deployed);
        assert_eq!(counted("a/b-old/c", &[""], &["a/*-old/**"]), CountedAs::Excluded);
        assert_eq!(counted("a", &[""], &["/a"]), CountedAs::Excluded);
        assert_eq!(counted("b/a", &[""], &["/a"]), CountedAs::Deployed);
    }
}
