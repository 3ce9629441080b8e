//! Finds plans, and decides which of them are read.

use std::collections::HashMap;

use crate::source::{SourceFiles, normalize, parent, those};

use super::options::TerraformOptions;
use super::roots::is_variable_file;
use crate::terraform::code::module::is_configuration;
use crate::terraform::plan;
use crate::terraform::plan::TerraformPlan;

/// Returns the plans and states among these files, sorted.
pub(in crate::terraform) fn find(sources: &SourceFiles, paths: &[String]) -> Vec<String> {
    let mut files: Vec<String> = paths.iter().filter_map(|path| normalize(path)).filter(|it| may_be_plan(it)).collect();
    files.sort();
    files.dedup();
    let is_plan = |path: &String| sources.glance(path, plan::is_plan).unwrap_or(false);
    those(files, is_plan)
}

/// Passes each plan to `found`, without a content if the configuration is in the same directory. Ignores files that are
/// something else.
pub(in crate::terraform) fn read(
    sources: &SourceFiles,
    plans: Vec<String>,
    options: &TerraformOptions,
    mut found: impl FnMut(String, Option<TerraformPlan>),
) {
    let mut configured = HashMap::new();
    for path in plans {
        // The configuration has the same resources, and they must count only once.
        if !options.named_plans.contains(&path) && stands_in_configuration(sources, parent(&path), &mut configured) {
            found(path, None);
            continue;
        }
        let Ok(file) = sources.open(&path) else { continue };
        let Some(plan) = plan::read(sources, file, options.plan_side) else { continue };
        sources.conceal(file, &plan.secrets);
        found(path, Some(plan));
    }
}

/// Returns whether a file may be a plan: JSON that is not configuration. A plan that the command line names may have
/// any name.
fn may_be_plan(path: &str) -> bool {
    const OTHER: [&str; 9] = [".yaml", ".yml", ".tpl", ".tmpl", ".j2", ".jinja", ".jinja2", ".gotmpl", ".template"];
    let name = path.rsplit('/').next().unwrap_or(path);
    !is_configuration(name) && !is_variable_file(name) && !OTHER.iter().any(|ending| name.ends_with(ending))
}

/// Returns whether this directory or one above it has configuration. Each directory is listed only once.
fn stands_in_configuration<'p>(
    sources: &SourceFiles,
    mut directory: &'p str,
    known: &mut HashMap<String, bool>,
) -> bool {
    let mut passed: Vec<&'p str> = Vec::new();
    let answer = loop {
        if let Some(known) = known.get(directory) {
            break *known;
        }
        passed.push(directory);
        let entries = sources.tree().list(directory);
        if entries.iter().any(|entry| !entry.is_directory && is_configuration(&entry.name)) {
            break true;
        }
        if directory.is_empty() {
            break false;
        }
        directory = parent(directory);
    };
    known.extend(passed.into_iter().map(|directory| (directory.to_owned(), answer)));
    answer
}
