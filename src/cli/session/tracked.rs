//! What git tracks is part of a change, whatever a list of ignored files or the name of a folder would leave out of a walk:
//! whoever writes a change writes those too.

use std::path::Path;

use super::discover;
use crate::cli::Failure;
use crate::cli::world::file_tree::below;
use crate::cli::world::git;
use crate::source::named;

/// Files of the kinds that are read which git tracks, which are there, and which are not among those that were found.
pub(super) fn left_out(repository: &Path, found: &[String]) -> Result<Vec<String>, Failure> {
    let Some(listed) = git::answer(repository, &["ls-files", "-z", "--cached"])? else {
        return Err(Failure::new("git does not list the files that it tracks"));
    };
    let names = listed.split(|byte| *byte == 0).map(named);
    let is_left_out = |file: &str| {
        discover::is_candidate(Path::new(file))
            && found.binary_search_by(|it| it.as_str().cmp(file)).is_err()
            && below(repository, file).is_file()
    };
    let mut files: Vec<String> = names.filter(|file| is_left_out(file)).map(|file| file.into_owned()).collect();
    // A conflict has a file three times.
    files.dedup();
    Ok(files)
}
