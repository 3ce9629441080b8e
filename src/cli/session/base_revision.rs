//! The state that a change started from: a commit, a directory, or a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::{discover, place};
use crate::cli::Failure;
use crate::cli::session::Session;
use crate::cli::world::file_tree::{DiskTree, below, read_limited};
use crate::cli::world::git::Base;
use crate::source::{Entry, ReadError, Tree, named};
use crate::terraform;

/// The earlier state, under the same settings. `notes` are what a reader of the comparison must know.
pub(in crate::cli) fn earlier(
    reference: &str,
    head: &mut Session,
    notes: &mut Vec<String>,
) -> Result<Session, Failure> {
    let path = Path::new(reference);
    if path.is_dir() {
        return directory(path, head);
    }
    if path.is_file() {
        return file(path, head);
    }
    commit(reference, head, notes)
}

fn commit(reference: &str, head: &mut Session, notes: &mut Vec<String>) -> Result<Session, Failure> {
    let repository = head.root.clone();
    if place::repository(&repository) != Some(&repository) {
        return Err(Failure::new(format!("`{reference}` is no directory, and there is no git repository here"))
            .with_help("run it in one repository, or compare with a directory: --base DIR"));
    };
    let base = Base::find(&repository, reference)?;
    notes.extend(base.note.clone());
    let tree = base.tree()?.up_to(head.sources.limits().file_bytes);
    let submodules = tree.submodules();
    let inside = |file: &str| submodules.iter().any(|it| is_below(file, it));
    if head.files.iter().any(|file| inside(file)) {
        notes.push(format!("submodules are not compared: {}", submodules.join(", ")));
        head.leave_out("it belongs to a submodule, which git does not show in the base", inside);
    }
    let present: BTreeSet<&str> = head.files.iter().map(String::as_str).collect();
    let wanted = |file: &&str| {
        discover::is_candidate(Path::new(file))
            && is_wanted(head, file)
            // What is on the disk and was not found there is ignored by git's own rules.
            && (present.contains(file) || !below(&repository, file).exists())
    };
    let files: Vec<String> = tree.files().filter(wanted).map(str::to_owned).collect();
    let missing = tree.missing();
    Ok(head
        .at(tree, files)
        .with_missing(move || missing.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()))
}

/// The whole repository is read where files were named; else what was named.
fn is_wanted(head: &Session, file: &str) -> bool {
    head.reads_all() || head.named.iter().any(|it| it.is_empty() || file == it || is_below(file, it))
}

fn is_below(file: &str, directory: &str) -> bool {
    file.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Another directory in the place of the one that was named, or of the running one: paths, settings and patterns mean
/// the same in both states.
fn directory(path: &Path, head: &Session) -> Result<Session, Failure> {
    let there = place::canonical(path)?;
    let here = match head.named.as_slice() {
        [named] if !head.reads_all() => named.clone(),
        _ => head.here.clone(),
    };
    let mut files = Vec::new();
    for found in discover::below(&there).files {
        let Ok(inside) = found.strip_prefix(&there) else { continue };
        let parts: Vec<_> = inside.components().map(|part| named(part.as_os_str().as_encoded_bytes())).collect();
        let file = if here.is_empty() { parts.join("/") } else { format!("{here}/{}", parts.join("/")) };
        files.extend(Some(file).filter(|file| is_wanted(head, file)));
    }
    files.sort();
    let boundary = place::repository(&there).unwrap_or(&there).to_owned();
    Ok(head.at(
        Shifted { here, there: DiskTree::new(there, vec![boundary]).up_to(head.sources.limits().file_bytes) },
        files,
    ))
}

/// One file in the place of the one that was named: two plans, or two manifests.
fn file(path: &Path, head: &Session) -> Result<Session, Failure> {
    let named = match (head.named.as_slice(), head.files.as_slice()) {
        ([named], _) if head.reads_all() && head.root.join(named).is_file() => named,
        // Standard input.
        ([], [piped]) => piped,
        _ => return Err(one_file(path)),
    };
    let text = read_limited(path, head.sources.limits().file_bytes)
        .map_err(|error| Failure::new(format!("the base `{}` cannot be read: {error}", path.display())))?;
    let tree = disk(head).with_given(named.clone(), text);
    Ok(head.at(tree, head.files.clone()))
}

/// What a plan says was there before it.
pub(in crate::cli) fn before_plan(head: &Session) -> Result<Session, Failure> {
    let plan = head.files.iter().find_map(|file| {
        let text = head.sources.tree().read(file).ok()?;
        terraform::is_plan(&text).then_some((file, text))
    });
    let (Some((file, text)), 1) = (plan, head.files.len()) else {
        return Err(Failure::new("nothing is named that the change could be compared with").with_help(
            "name it: gpulint diff --base main; a plan says itself what was there: gpulint diff plan.json",
        ));
    };
    let tree = disk(head).with_given(file.clone(), text);
    let mut base = head.at(tree, head.files.clone());
    base.settings.terraform.plan_side = terraform::PlanSide::Before;
    Ok(base)
}

fn disk(head: &Session) -> DiskTree {
    DiskTree::new(head.root.clone(), head.allowed.clone()).up_to(head.sources.limits().file_bytes)
}

fn one_file(path: &Path) -> Failure {
    Failure::new(format!("the base `{}` is a file, and so must be what it is compared with", path.display()))
        .with_help("name one file: gpulint diff --base OLD NEW")
}

/// A directory that lies where another one is: what is asked for relative to the one is read relative to the other.
struct Shifted {
    /// A path of the tree.
    here: String,
    there: DiskTree,
}

impl Shifted {
    fn relative(&self, path: &str) -> String {
        let (mut here, mut path) = (parts(&self.here).peekable(), parts(path).peekable());
        while here.peek().is_some() && here.peek() == path.peek() {
            here.next();
            path.next();
        }
        let up = here.map(|_| "..");
        let relative: PathBuf = up.chain(path).collect();
        relative.to_string_lossy().replace('\\', "/")
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

impl Tree for Shifted {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.there.read(&self.relative(path))
    }

    fn mentions(&self, path: &str, wanted: &[u8]) -> bool {
        self.there.mentions(&self.relative(path), wanted)
    }

    fn list(&self, directory: &str) -> Vec<Entry> {
        self.there.list(&self.relative(directory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_the_one_directory_as_from_the_other() {
        let shifted = |here: &str| Shifted { here: here.to_owned(), there: DiskTree::new(PathBuf::new(), Vec::new()) };
        assert_eq!(shifted("").relative("a/main.tf"), "a/main.tf");
        assert_eq!(shifted("infra").relative("infra/main.tf"), "main.tf");
        assert_eq!(shifted("infra").relative("modules/x"), "../modules/x");
        assert_eq!(shifted("infra/prod").relative("infra/modules/x"), "../modules/x");
        assert_eq!(shifted("infra").relative("infra"), "");
    }
}
