//! Lists limits that a change removes or relaxes: quotas, queues and pools of the files, and runs of gpulint.

use std::collections::BTreeMap;

use regex::Regex;

use super::own_runs::changed_runs;
use super::state::{Touched, TreeState};
use crate::kubernetes::{self, ObjectLimit};
use crate::source::{Span, static_regex};

/// Returns a note for each limit that is gone or higher in the later state, whichever of the changed files has it.
/// `show` makes a place of a state readable: its path and line.
pub(crate) fn removed_limits(
    base: &TreeState,
    head: &TreeState,
    touched: &Touched,
    show: impl Fn(&TreeState, Span) -> String,
) -> Vec<String> {
    let mut notes = changed_runs(base, head, touched);
    notes.extend(removed_protections(base, head, touched, &show));
    let is_manifest = |path: &&String| [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    let files: Vec<&String> = touched.files.iter().filter(is_manifest).collect();
    let (before, after) = (limits(base, &files), limits(head, &files));
    for (name, was) in &before {
        let is = after.get(name).map_or(&[][..], Vec::as_slice);
        // Equal names in several files are matched by size.
        for (place, limit) in was.iter().enumerate() {
            match is.get(place) {
                None if limit.is_quota || has_object(&after, name) => {
                    notes.push(format!("the change removes a limit: {name} ({}), {}", limit, show(base, limit.span)));
                }
                Some(now) if now.most > limit.most => {
                    notes.push(format!("the change raises a limit: {name} ({limit} → {now}), {}", show(head, now.span)))
                }
                _ => {}
            }
        }
    }
    for (name, is) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        let set = is.iter().filter(|it| it.is_quota && it.most > 0.0);
        notes.extend(set.map(|it| format!("the change sets a limit: {name} ({it}), {}", show(head, it.span))));
    }
    notes
}

/// Types of Terraform that limit or stop what others rent.
const PROTECTING: [&str; 8] = [
    "aws_budgets_budget",
    "aws_budgets_budget_action",
    "aws_servicequotas_service_quota",
    "azurerm_consumption_budget_resource_group",
    "azurerm_consumption_budget_subscription",
    "azurerm_dev_test_global_vm_shutdown_schedule",
    "google_billing_budget",
    "google_compute_resource_policy",
];

static_regex!(
/// The type and the name of a resource block.
static RESOURCE: Regex = r#"(?m)^[ \t]*resource[ \t]+"(\w+)"[ \t]+"([\w-]+)""#);

/// Returns a note for each Terraform resource with a limit or a stop that no changed file has any more.
fn removed_protections(
    base: &TreeState,
    head: &TreeState,
    touched: &Touched,
    show: &impl Fn(&TreeState, Span) -> String,
) -> Vec<String> {
    let files: Vec<&String> = touched.files.iter().filter(|path| path.ends_with(".tf")).collect();
    let found = |state: &TreeState| {
        let mut found: BTreeMap<String, Span> = BTreeMap::new();
        for path in &files {
            let Ok(file) = state.sources.open(path) else { continue };
            for block in RESOURCE.captures_iter(&state.sources.text(file)) {
                let (Some(kind), Some(name), Some(all)) = (block.get(1), block.get(2), block.get(0)) else { continue };
                if PROTECTING.contains(&kind.as_str()) {
                    let span = Span::new(file, all.start(), all.end());
                    found.insert(format!("{}.{}", kind.as_str(), name.as_str()), span);
                }
            }
        }
        found
    };
    let (before, after) = (found(base), found(head));
    let removed = before.iter().filter(|(name, _)| !after.contains_key(*name));
    removed.map(|(name, span)| format!("the change removes a limit: {name}, {}", show(base, *span))).collect()
}

/// Returns true if the object of a limit still has limits.
fn has_object(limits: &BTreeMap<String, Vec<ObjectLimit>>, name: &str) -> bool {
    let object = name.split(": ").next().unwrap_or(name);
    limits.keys().any(|it| it.split(": ").next() == Some(object))
}

fn limits(state: &TreeState, files: &[&String]) -> BTreeMap<String, Vec<ObjectLimit>> {
    let mut found: BTreeMap<String, Vec<ObjectLimit>> = BTreeMap::new();
    for path in files {
        let Ok(file) = state.sources.open(path) else { continue };
        for (name, limit) in kubernetes::limits(file, &state.sources.text(file)) {
            found.entry(name).or_default().push(limit);
        }
    }
    found.values_mut().for_each(|limits| limits.sort_by(|a, b| a.most.total_cmp(&b.most)));
    found
}
