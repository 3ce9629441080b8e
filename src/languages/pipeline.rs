//! Finds the commands and steps of scripts, Makefiles and pipelines, with the places of their words, the variables that
//! they get, and the folder in which they run.
//!
//! Follows a POSIX shell, GNU make, and the syntax of GitHub Actions, GitLab CI, Azure Pipelines and similar tools where
//! they set environment variables and folders. No branch is taken and no program is run. A value that only the run
//! determines is a hole.
//!
//! It reads any file. A file in another language has no commands, or commands with unknown values.
//!
//! Its tests are its own and the cases of `tests/templates` and `tests/terraform`.
//!
//! No crate returns the commands of these files with places.

mod call;
mod makefile;
mod script;
mod workflow;

use crate::source::{SourceFiles, file_name};

pub(crate) use call::{CallContext, CalledTool, PipelineCall, PlacedWord};
pub(crate) use script::{entered, words};

/// Returns the commands and steps of a file. Only strings of a pipeline that contain one of the marks are read as
/// scripts.
pub(crate) fn calls(sources: &SourceFiles, path: &str, marks: &[&[u8]]) -> Vec<PipelineCall> {
    let Ok(file) = sources.open(path) else { return Vec::new() };
    let text = sources.text(file);
    match () {
        () if is_document(path) => workflow::calls(sources, file, &text, marks),
        () if is_makefile(path) => makefile::calls(file, &text),
        () => script::calls(file, &text),
    }
}

fn is_document(path: &str) -> bool {
    [".yml", ".yaml", ".json"].iter().any(|ending| path.ends_with(ending))
}

fn is_makefile(path: &str) -> bool {
    path.ends_with(".mk") || ["Makefile", "makefile", "GNUmakefile"].contains(&file_name(path))
}
