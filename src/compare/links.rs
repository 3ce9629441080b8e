//! Finds links to directories that a change adds or redirects. gpulint reads a directory only at its real path, so the
//! totals do not contain deployments through a link.

use std::collections::BTreeSet;

use super::state::ComparedStates;
use crate::diagnostic::SkipKind;
use crate::inventory::Unjudged;
use crate::source::{is_below, real_path};

const CURE: &str = "name the directory itself on the command line, or check what is deployed through the link; to leave the link out, add it to `exclude` in gpulint.toml";

/// Returns links that lead to another directory than before, if the old or the new target contains accelerators.
pub(super) fn moved(states: &ComparedStates, speaking: &BTreeSet<String>) -> Vec<Unjudged> {
    states.touched.files.iter().filter_map(|path| list_changed_links(path, states, speaking)).collect()
}

fn list_changed_links(path: &str, states: &ComparedStates, speaking: &BTreeSet<String>) -> Option<Unjudged> {
    let (base, head) = (states.base, states.head);
    let (earlier, later) = (base.sources.tree(), head.sources.tree());
    let target = later.link(path)?;
    let was = earlier.link(path);
    if was.as_ref() == Some(&target) {
        return None;
    }
    let speaks = |directory: &str| speaking.iter().any(|it| is_below(it, directory));
    // If a reader followed the link, the report already has its content.
    if speaks(path) && head.files.iter().all(|it| !is_below(it, path)) {
        return None;
    }
    let was_folder = was.is_none() && !earlier.list(path).is_empty();
    let place = real_path(later, path);
    let matters = match &place {
        Some(directory) => !later.list(directory).is_empty() && speaks(directory),
        // The link leads out of the tree.
        None => {
            base.files.iter().any(|it| is_below(it, path) && speaking.contains(it))
                || real_path(earlier, path).is_some_and(|it| it != path && speaks(&it))
        }
    };
    if !matters {
        return None;
    }
    let before = match was {
        Some(was) => format!("before the change it led to `{was}`"),
        None if was_folder => "before the change it was a folder".to_owned(),
        None => "it is new".to_owned(),
    };
    let reason =
        format!("this link leads to `{target}`, and {before}: the totals do not contain what is deployed through it");
    Some(Unjudged::new(SkipKind::Link, path, reason).with_cure(CURE))
}
