//! Lists which relevant files were read, and by which deployment.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::diagnostic::SkipKind;
use crate::inventory::DeploymentRun;
use crate::report::Report;

/// A file that can contain accelerators or change their number.
pub(in crate::report) struct Covered<'a> {
    pub(in crate::report) path: String,
    pub(in crate::report) runs: Vec<&'a DeploymentRun>,
    /// The reasons why it was not read in full.
    pub(in crate::report) unread: Vec<&'a str>,
}

/// Returns every relevant file, sorted by path.
pub(in crate::report) fn files<'a>(report: &Report<'a>) -> Vec<Covered<'a>> {
    let mut files: BTreeMap<&str, (Vec<&DeploymentRun>, BTreeSet<&str>)> = BTreeMap::new();
    for run in &report.inventory.runs {
        for path in &run.inputs {
            files.entry(path).or_default().0.push(run);
        }
    }
    for (path, reasons) in unread(report) {
        files.entry(path).or_default().1.extend(reasons.into_keys());
    }
    let shown = |(path, (runs, unread)): (&str, (Vec<&'a DeploymentRun>, BTreeSet<&'a str>))| Covered {
        path: report.paths.show(path),
        runs,
        unread: unread.into_iter().collect(),
    };
    files.into_iter().map(shown).collect()
}

/// Returns files and directories that were not read in full, with the reasons: skipped ones, and those that were not
/// evaluated as a whole.
fn unread<'a>(report: &Report<'a>) -> BTreeMap<&'a str, BTreeMap<&'a str, SkipKind>> {
    let inventory = report.inventory;
    let skipped = inventory.skipped.iter().map(|it| (it.path.as_str(), it.reason.as_str(), it.kind));
    let whole = inventory.unjudged.iter().filter(|it| it.span.is_none() && it.address.is_none());
    let mut unread: BTreeMap<&str, BTreeMap<&str, SkipKind>> = BTreeMap::new();
    for (path, reason, kind) in skipped.chain(whole.map(|it| (it.path.as_str(), it.reason.as_str(), it.kind))) {
        unread.entry(path).or_default().insert(reason, kind);
    }
    unread
}

/// The coverage in JSON; `gpulint files` lists every file.
#[derive(Default, Serialize)]
pub(in crate::report) struct Coverage<'a> {
    files_that_matter: usize,
    wholly_read: usize,
    not_read: Vec<Unread<'a>>,
}

#[derive(Serialize)]
struct Unread<'a> {
    path: String,
    /// The ids of the deployments that read a part of it.
    runs: Vec<&'a str>,
    reasons: Vec<&'a str>,
}

pub(in crate::report) fn wire<'a>(report: &Report<'a>) -> Coverage<'a> {
    let files = files(report);
    let matter = files.len();
    let unread = files.into_iter().filter(|it| !it.unread.is_empty());
    let shown = |it: Covered<'a>| Unread {
        path: it.path,
        runs: it.runs.iter().map(|run| run.id.as_str()).collect(),
        reasons: it.unread,
    };
    let not_read: Vec<Unread<'a>> = unread.map(shown).collect();
    Coverage { files_that_matter: matter, wholly_read: matter - not_read.len(), not_read }
}

/// Returns text such as `partly read or not read: 7 of 219 files (4 variable files that no deployment uses, …); …`;
/// nothing if all were read.
pub(in crate::report) fn line(report: &Report) -> Option<String> {
    let unread = unread(report);
    if unread.is_empty() {
        return None;
    }
    let read: BTreeSet<&str> = report.inventory.runs.iter().flat_map(|run| &run.inputs).map(|path| &**path).collect();
    let all = read.iter().copied().chain(unread.keys().copied()).collect::<BTreeSet<&str>>().len();
    let mut kinds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (path, reasons) in &unread {
        let last = reasons.values().last().copied().unwrap_or(SkipKind::Other);
        *kinds.entry(called(path, last)).or_default() += 1;
    }
    let told = kinds.into_iter().map(|((one, many), n)| format!("{n} {}", if n == 1 { one } else { many }));
    let told: Vec<String> = told.collect();
    let n = unread.len();
    let files = if all == 1 { "file" } else { "files" };
    Some(format!("partly read or not read: {n} of {all} {files} ({}); list: `gpulint files`", told.join(", ")))
}

/// Returns the name of a file that was not read in full, singular and plural.
fn called(path: &str, kind: SkipKind) -> (&'static str, &'static str) {
    let is_variables = path.ends_with(".tfvars") || path.ends_with(".tfvars.json");
    match kind {
        SkipKind::PlanBeside => {
            ("plan whose configuration is read instead", "plans whose configuration is read instead")
        }
        SkipKind::UncalledModule => ("module without a caller", "modules without a caller"),
        SkipKind::MissingModule => ("module not downloaded", "modules not downloaded"),
        SkipKind::MissingTemplate => ("stack with a missing template", "stacks with a missing template"),
        _ if is_variables => ("variable file that no deployment uses", "variable files that no deployment uses"),
        SkipKind::Overlay | SkipKind::OverlayPart => {
            ("overlay that was not built in full", "overlays that were not built in full")
        }
        SkipKind::Language | SkipKind::Program => ("file in an unsupported language", "files in unsupported languages"),
        SkipKind::Rendering | SkipKind::Renderer => {
            ("template that was not rendered", "templates that were not rendered")
        }
        SkipKind::MissingValues => ("missing values file", "missing values files"),
        SkipKind::MadeByStack | SkipKind::Terragrunt => {
            ("Terragrunt unit that was not evaluated", "Terragrunt units that were not evaluated")
        }
        _ => ("file that could not be read", "files that could not be read"),
    }
}
