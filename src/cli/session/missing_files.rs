//! Finds files that the repository has and the work tree lacks: files outside a sparse checkout, and submodules that
//! are not checked out. Reports must not treat them as if they did not exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::cli::io::file_tree::read_limited;
use crate::cli::io::{git_files, git_index, git_program, serving};
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::SkippedFile;
use crate::source::normalize;

/// The file with the list of submodules.
pub(super) const LIST: &str = ".gitmodules";
/// The longest list of submodules that is read.
const LONGEST_LIST_BYTES: u64 = 1 << 20;

/// Returns the missing parts of a repository, by paths from its root. It starts git only for a sparse checkout.
pub(super) fn not_checked_out(repository: &Path) -> Vec<SkippedFile> {
    let list = read_limited(&repository.join(LIST), LONGEST_LIST_BYTES).unwrap_or_default();
    not_here(repository, &list, &|_| true)
}

/// Returns the missing parts of another commit.
pub(super) fn not_here(repository: &Path, list: &[u8], is_in_it: &dyn Fn(&str) -> bool) -> Vec<SkippedFile> {
    let mut absent = submodules(repository, list);
    match left_out(repository) {
        Ok(files) => {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for file in files.iter().filter(|file| is_in_it(file)) {
                *counts.entry(missing_part(repository, file)).or_default() += 1;
            }
            absent.extend(counts.into_iter().map(|(path, count)| {
                let files = if count == 1 { "1 file is".to_owned() } else { format!("{count} files are") };
                SkippedFile::new(SkipKind::Sparse, path, format!("{files} left out by the sparse checkout"))
            }));
        }
        Err(why) => {
            let reason = format!("gpulint cannot determine which files the sparse checkout leaves out: {why}");
            absent.push(SkippedFile::new(SkipKind::Sparse, ".", reason));
        }
    }
    absent
}

/// Returns files of supported kinds that a sparse checkout leaves out.
pub(super) fn left_out(repository: &Path) -> Result<Vec<String>, String> {
    let is_sparse = git_files::directory(repository).is_some_and(|it| it.join("info/sparse-checkout").exists());
    if !is_sparse {
        return Ok(Vec::new());
    }
    let listed =
        git_program::answer(repository, &["ls-files", "-t", "-z"]).map_err(|failure| failure.message().to_owned())?;
    let listed = listed.ok_or_else(|| "git cannot list it".to_owned())?;
    let matters =
        |file: &&str| files::is_terraform(file) || (files::is_candidate(Path::new(file)) && !file.ends_with(".json"));
    let lines = listed.split(|byte| *byte == 0).filter_map(|line| std::str::from_utf8(line).ok());
    let files = lines.filter_map(|line| line.strip_prefix("S ")).filter(matters);
    Ok(files.filter(|file| repository.join(file).symlink_metadata().is_err()).map(str::to_owned).collect())
}

/// Returns the first missing directory in a file's path, or the file itself if all of its directories exist.
fn missing_part(repository: &Path, file: &str) -> String {
    let ends = file.match_indices('/').map(|(at, _)| at);
    let mut directories = ends.filter_map(|end| file.get(..end));
    directories.find(|it| !repository.join(it).is_dir()).unwrap_or(file).to_owned()
}

/// Returns the directories of submodules, from .gitmodules.
pub(super) fn listed(list: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(list);
    let named = text.lines().filter_map(|line| {
        let (key, path) = line.split_once('=')?;
        let path = path.trim().trim_matches('"');
        key.trim().eq_ignore_ascii_case("path").then(|| normalize(path)).flatten()
    });
    named.collect()
}

/// Returns submodules that .gitmodules does not list, so that they cannot be checked out.
pub(super) fn unlisted(repository: &Path) -> Vec<SkippedFile> {
    let list = read_limited(&repository.join(LIST), LONGEST_LIST_BYTES).unwrap_or_default();
    let listed = listed(&list);
    let is_open = |path: &String| !listed.contains(path) && !has_files(repository, path);
    let reason = "this is a submodule, and .gitmodules does not name its repository";
    let links = git_index::links(repository).into_iter().filter(is_open);
    links.map(|path| SkippedFile::new(SkipKind::Submodule, path, reason)).collect()
}

fn submodules(repository: &Path, list: &[u8]) -> Vec<SkippedFile> {
    let absent = listed(list).into_iter().filter(|path| !has_files(repository, path));
    absent.map(|path| SkippedFile::new(SkipKind::Submodule, path, "the submodule is not checked out")).collect()
}

/// Whether a directory contains anything.
fn has_files(repository: &Path, path: &str) -> bool {
    let directory = repository.join(path);
    serving::may_read(&directory) && fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some())
}
