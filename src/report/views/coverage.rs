//! Which of the files that matter were read, and by which run.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::Run;
use crate::report::Report;

/// A file that could hold or change accelerators.
pub(in crate::report) struct Covered<'a> {
    pub(in crate::report) path: String,
    pub(in crate::report) runs: Vec<&'a Run>,
    /// Why it was not read, or not all of it.
    pub(in crate::report) unread: Vec<&'a str>,
}

/// Every file that matters, by its path.
pub(in crate::report) fn files<'a>(report: &Report<'a>) -> Vec<Covered<'a>> {
    let mut files: BTreeMap<&str, (Vec<&Run>, BTreeSet<&str>)> = BTreeMap::new();
    for run in &report.inventory.runs {
        for path in &run.inputs {
            files.entry(path).or_default().0.push(run);
        }
    }
    for it in &report.inventory.skipped {
        files.entry(&it.path).or_default().1.insert(&it.reason);
    }
    let shown = |(path, (runs, unread)): (&str, (Vec<&'a Run>, BTreeSet<&'a str>))| Covered {
        path: report.paths.show(path),
        runs,
        unread: unread.into_iter().collect(),
    };
    files.into_iter().map(shown).collect()
}

/// `read 212 of 219 files that matter; 7 not wholly: 4 variable files, …`; nothing where all were read.
pub(in crate::report) fn line(report: &Report) -> Option<String> {
    let unread: BTreeMap<&str, &str> =
        report.inventory.skipped.iter().map(|it| (it.path.as_str(), it.reason.as_str())).collect();
    if unread.is_empty() {
        return None;
    }
    let read: BTreeSet<&str> = report.inventory.runs.iter().flat_map(|run| &run.inputs).map(|path| &**path).collect();
    let all = read.iter().copied().chain(unread.keys().copied()).collect::<BTreeSet<&str>>().len();
    let mut kinds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (path, reason) in &unread {
        *kinds.entry(kind(path, reason)).or_default() += 1;
    }
    let told = kinds.into_iter().map(|((one, many), n)| format!("{n} {}", if n == 1 { one } else { many }));
    let told: Vec<String> = told.collect();
    let (n, wholly) = (unread.len(), all - unread.len());
    Some(format!(
        "read {wholly} of {all} files that matter; {n} not, or not all of it: {} (`gpulint files`)",
        told.join(", ")
    ))
}

/// What an unread file is called, one and several.
fn kind(path: &str, reason: &str) -> (&'static str, &'static str) {
    let is_variables = path.ends_with(".tfvars") || path.ends_with(".tfvars.json");
    if reason.starts_with("a plan of the configuration") {
        ("plan of configuration that is read", "plans of configuration that is read")
    } else if reason.contains("module") {
        ("module not at hand", "modules not at hand")
    } else if is_variables {
        ("variable file that no run uses", "variable files that no run uses")
    } else if reason.starts_with("built without a part") || reason.starts_with("read without building it") {
        ("overlay that was not wholly built", "overlays that were not wholly built")
    } else if reason.contains("render") || reason.contains("by our own engine") {
        ("template that was not rendered", "templates that were not rendered")
    } else {
        ("file that could not be read", "files that could not be read")
    }
}
