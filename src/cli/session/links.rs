//! Checks symbolic links in the named paths. A change must not redirect a path of the workflow to another directory.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::cli::Failure;
use crate::cli::io::git::GitTree;
use crate::cli::io::place::WorkingTree;
use crate::source::{Tree, named};

use crate::cli::io::place::names_of;

/// The longest chain of links.
const MOST_LINKS: usize = 40;

/// Refuses a path through a link that the change added or redirected.
pub(super) fn demand_old(written: &[PathBuf], root: &Path, base: &GitTree) -> Result<(), Failure> {
    for path in written {
        for Link { path: link, target } in links(path) {
            let Ok(inside) = link.strip_prefix(root) else { continue };
            let inside = names_of(inside);
            let target = named(target.as_os_str().as_encoded_bytes()).into_owned();
            if base.link(&inside).as_ref() != Some(&target) {
                return Err(Failure::new(format!(
                    "this change adds the link `{inside}` to `{target}`, and a given path leads through the link"
                ))
                .with_help("pass the directory itself, or change the link in another pull request"));
            }
        }
    }
    Ok(())
}

/// Returns the named paths as they were written.
pub(super) fn written(paths: &[PathBuf], place: &WorkingTree) -> Vec<PathBuf> {
    let here = here(place);
    let paths = paths.iter().filter(|it| it.as_os_str() != "-").map(|it| here.join(it));
    let all: Vec<PathBuf> = paths.collect();
    if all.is_empty() { vec![here] } else { all }
}

/// Returns the current directory as the shell has it, with links not followed.
fn here(place: &WorkingTree) -> PathBuf {
    let told = std::env::var_os("PWD").map(PathBuf::from).filter(|it| it.is_absolute());
    told.filter(|it| it.canonicalize().is_ok_and(|real| real == place.here)).unwrap_or_else(|| place.here.clone())
}

/// A link, at a path that contains no other link.
struct Link {
    path: PathBuf,
    target: PathBuf,
}

/// Returns the directory links in an absolute path, and in the targets of these links.
fn links(path: &Path) -> Vec<Link> {
    let mut found = Vec::new();
    let mut real = PathBuf::new();
    let mut open: Vec<PathBuf> = parts(path);
    open.reverse();
    while let Some(part) = open.pop() {
        match part.components().next() {
            Some(Component::ParentDir) => drop(real.pop()),
            Some(Component::CurDir) | None => {}
            Some(Component::Normal(_)) => {
                let next = real.join(&part);
                match fs::read_link(&next).ok().filter(|_| found.len() < MOST_LINKS && next.is_dir()) {
                    Some(target) => {
                        open.extend(parts(&target).into_iter().rev());
                        found.push(Link { path: next, target });
                    }
                    None => real = next,
                }
            }
            Some(Component::RootDir | Component::Prefix(_)) => real = part,
        }
    }
    found
}

fn parts(path: &Path) -> Vec<PathBuf> {
    let mut parts = Vec::new();
    let mut root = PathBuf::new();
    for part in path.components() {
        match part {
            Component::RootDir | Component::Prefix(_) => root.push(part),
            _ => parts.push(PathBuf::from(part.as_os_str())),
        }
    }
    if !root.as_os_str().is_empty() {
        parts.insert(0, root);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_behind_links_are_found() {
        use std::os::unix::fs::symlink;

        let directory = std::env::temp_dir()
            .canonicalize()
            .unwrap_or_default()
            .join(format!("gpulint-links-{}", std::process::id()));
        fs::create_dir_all(directory.join("a/b")).unwrap_or_default();
        symlink("a", directory.join("one")).unwrap_or_default();
        symlink(directory.join("one/b"), directory.join("two")).unwrap_or_default();
        let found: Vec<PathBuf> = links(&directory.join("two/../b")).into_iter().map(|it| it.path).collect();
        assert_eq!(found, [directory.join("two"), directory.join("one")]);
        fs::remove_dir_all(directory).unwrap_or_default();
    }
}
