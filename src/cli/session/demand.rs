//! Demands that the files to check were read.

use std::collections::BTreeSet;
use std::path::Path;

use super::Session;
use crate::Analysis;
use crate::cli::Failure;
use crate::front_ends::files;
use crate::languages::table::READ;
use crate::source::ReadError;

/// Refuses to pass if a named file was not read, or if no relevant file could
/// be read.
pub(in crate::cli) fn demand_read(session: &Session, analysis: &Analysis) -> Result<(), Failure> {
    let is_file = |path: &str| session.files.binary_search_by(|file| file.as_str().cmp(path)).is_ok();
    // A hook passes all files with certain endings. Files among them that contain only data are ignored.
    let is_asked = |path: &str| is_file(path) && !(session.allows_empty() && path.ends_with(".json"));
    let refused = session.sources.refused().into_iter();
    let refused = refused.filter(|(path, why)| *why != ReadError::Missing && is_file(path));
    let refused: BTreeSet<String> = refused.map(|(path, _)| path).collect();
    demand_named(session, analysis, &refused.iter().filter(|path| is_asked(path)).cloned().collect())?;
    // If only data files were named, they are not ignored.
    let refused = refused.into_iter().filter(|path| is_asked(path) || session.scope.named.contains(path));
    let broken = analysis.inventory.diagnostics.iter().filter(|it| it.unreadable).filter_map(|it| it.span);
    let closed = broken.map(|span| session.sources.path(span.file)).chain(refused);
    let closed: BTreeSet<String> = closed.filter(|path| session.is_named(path)).collect();
    if closed.is_empty() || !analysis.inventory.resources.is_empty() {
        return Ok(());
    }
    let is_plan = |path: &String| analysis.plans.binary_search(path).is_ok();
    let is_read =
        |path: &&String| session.is_named(path) && (is_plan(path) || session.is_terraform_or_kubernetes(path));
    if session.files.iter().filter(|path| !closed.contains(*path)).any(|path| is_read(&path)) {
        return Ok(());
    }
    Err(Failure::new("gpulint could not read any of the files").with_help("see the reason for each file in the report"))
}

fn demand_named(session: &Session, analysis: &Analysis, refused: &BTreeSet<String>) -> Result<(), Failure> {
    let named = session.scope.named.iter().filter(|path| session.scope.root.join(path).is_file());
    let is_foreign = |path: &str| {
        !files::is_candidate(Path::new(path))
            && analysis.plans.binary_search_by(|plan| plan.as_str().cmp(path)).is_err()
    };
    let is_unread = |path: &str| refused.contains(path) || !session.allows_empty() && is_foreign(path);
    let unread: Vec<&str> = named.map(String::as_str).filter(|path| is_unread(path)).collect();
    let Some(first) = unread.first() else { return Ok(()) };
    let more = if unread.len() > 1 { format!(" and {} more", unread.len() - 1) } else { String::new() };
    let message = format!("`{}`{more} could not be read", session.scope.paths.show(first));
    let help =
        format!("pass files of {READ}, or a Terraform plan as JSON; if a file is too large, raise `bounds.file-mib`");
    Err(Failure::new(message).with_help(help))
}
