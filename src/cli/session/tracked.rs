//! What git tracks is part of a change, whatever a list of ignored files or the name of a folder would leave out of a walk:
//! whoever writes a change writes those too.

use std::path::Path;

use super::discover;
use crate::cli::Failure;
use crate::cli::world::git;

/// Files of the kinds that are read which git tracks, which are there, and which are not among those that were found.
pub(super) fn left_out(repository: &Path, found: &[String]) -> Result<Vec<String>, Failure> {
    let Some(listed) = git::answer(repository, &["ls-files", "-z", "--cached"])? else {
        return Err(Failure::new("git does not list the files that it tracks"));
    };
    let lines = listed.split(|byte| *byte == 0).filter_map(|line| std::str::from_utf8(line).ok());
    let is_left_out = |file: &&str| {
        discover::is_candidate(Path::new(file))
            && found.binary_search_by(|it| it.as_str().cmp(file)).is_err()
            && repository.join(file).is_file()
    };
    let mut files: Vec<String> = lines.filter(is_left_out).map(str::to_owned).collect();
    // A conflict has a file three times.
    files.dedup();
    Ok(files)
}
