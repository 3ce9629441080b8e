//! Handles patches: manifests that only change an object of another file.

use crate::inventory::{Fact, FactOrigin, Key, Resource};
use crate::source::{SourceFiles, join, parent};

use crate::kubernetes::pods::workload::FoundResource;
use crate::kubernetes::render::{KUSTOMIZATIONS, document};

/// The maximum number of directories between a patch and its kustomization.
const FARTHEST: usize = 4;

/// Facts whose absence rules report, although the patched object may have them.
const OPEN: [Key; 11] = [
    Key::TimeLimit,
    Key::Ttl,
    Key::Autoscaled,
    Key::SharedMemory,
    Key::Checkpoint,
    Key::Retried,
    Key::Queue,
    Key::Priority,
    Key::GroupSize,
    Key::Groups,
    Key::CpuLimit,
];

/// Marks patches of a kustomization. Facts that a patch does not set are in the patched object.
pub(in crate::kubernetes) fn mark(sources: &SourceFiles, path: &str, found: &mut [FoundResource]) {
    let mut patches = found.iter_mut().filter(|it| it.is_overlay).peekable();
    if patches.peek().is_none() {
        return;
    }
    if let Some(kustomization) = naming(sources, path) {
        let is_only_patch = changes(sources, &kustomization) == 1;
        patches.for_each(|it| {
            it.is_only_patch = is_only_patch;
            open(&mut it.resource);
        });
    }
}

fn open(resource: &mut Resource) {
    for key in OPEN {
        let is_said = match resource.fact(key) {
            Fact::Known(known) => known.origin != FactOrigin::Default,
            Fact::Unknown(_) => true,
            Fact::Absent => false,
        };
        if !is_said {
            let why = "it is a patch: the patched object sets the rest";
            resource.set(key, Fact::unknown(why, resource.span));
        }
    }
}

/// Returns the kustomization in the same directory or above that names the file.
fn naming(sources: &SourceFiles, path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut directory = parent(path);
    for _ in 0..FARTHEST {
        let files = KUSTOMIZATIONS.iter().filter_map(|file| join(directory, file));
        let names = |file: &String| {
            let text = sources.tree().read(file).ok();
            text.is_some_and(|text| memchr::memmem::find(&text, name.as_bytes()).is_some())
        };
        if let Some(found) = files.into_iter().find(names) {
            return Some(found);
        }
        if directory.is_empty() {
            break;
        }
        directory = parent(directory);
    }
    None
}

/// Returns how many patches and other changes a kustomization has.
fn changes(sources: &SourceFiles, kustomization: &str) -> usize {
    const FIELDS: [&str; 6] =
        ["patches", "patchesStrategicMerge", "patchesJson6902", "components", "transformers", "replacements"];
    let Some(root) = document(sources, kustomization) else { return 0 };
    FIELDS.iter().filter_map(|field| root.get(field)).map(|list| list.items().len()).sum()
}
