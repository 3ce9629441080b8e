//! Prints fixes as a patch for `git apply`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::Failure;
use crate::cli::edits::fixes::Fixes;
use crate::cli::io::place;
use crate::cli::io::{file_tree, output};
use crate::cli::session::judged::JudgedTree;
use crate::source::git_patch;

/// A patch, and the directories in which `git apply` accepts it, if the current directory is not one of them.
pub(super) struct Patch {
    text: String,
    elsewhere: BTreeSet<PathBuf>,
}

impl Patch {
    /// Returns the patch of all edited files. git reads paths from the root of the repository, and outside of a
    /// repository from the current directory.
    pub(super) fn of(state: &JudgedTree, fixes: &Fixes) -> Patch {
        let root = &state.session.scope.root;
        let here = std::env::current_dir().and_then(|it| it.canonicalize()).unwrap_or_else(|_| root.clone());
        let mut patch = Patch { text: String::new(), elsewhere: BTreeSet::new() };
        for (path, new) in &fixes.texts {
            let old = fixes.originals.get(path).map(Vec::as_slice).unwrap_or_default();
            let file = file_tree::below(root, path);
            let (base, is_applied_here) = base_of(&file, &here, root);
            let name = place::names_of(file.strip_prefix(&base).unwrap_or(&file));
            patch.text.push_str(&git_patch(&name, &String::from_utf8_lossy(old), &String::from_utf8_lossy(new)));
            if !is_applied_here {
                patch.elsewhere.insert(base);
            }
        }
        patch
    }

    pub(super) fn print(&self) -> Result<(), Failure> {
        output::print_exact(&self.text)?;
        for directory in &self.elsewhere {
            let directory = directory.display();
            output::complain(&format!(
                "note: run `git apply` in `{directory}`: the patch changes files outside of the current directory"
            ));
        }
        Ok(())
    }
}

/// Returns the directory from which git reads the path of a file, and whether `git apply` reaches the file from here.
fn base_of(file: &Path, here: &Path, root: &Path) -> (PathBuf, bool) {
    let repository = |directory: &Path| place::repository(directory).map(Path::to_owned);
    match file.parent().and_then(repository) {
        Some(base) => {
            let is_applied_here = file.starts_with(here) && repository(here).as_ref() == Some(&base);
            (base, is_applied_here)
        }
        None if file.starts_with(here) => (here.to_owned(), true),
        None => (root.to_owned(), false),
    }
}
