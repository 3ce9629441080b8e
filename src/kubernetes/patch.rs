//! Patches: text that only changes an object of another file.

use crate::inventory::{Fact, Key, Origin, Resource};
use crate::source::{Sources, join, parent};

use super::render::KUSTOMIZATIONS;
use super::workload::Found;

/// Directories between a patch and the kustomization that applies it are few.
const FARTHEST: usize = 4;

/// What rules blame an object for not having, and what the object that is changed may have.
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

/// Marks what a kustomization applies to something else: what it does not say stands there.
pub(super) fn mark(sources: &Sources, path: &str, found: &mut [Found]) {
    let mut patches = found.iter_mut().filter(|it| it.is_overlay).peekable();
    if patches.peek().is_some() && is_named(sources, path) {
        patches.for_each(|it| open(&mut it.resource));
    }
}

fn open(resource: &mut Resource) {
    for key in OPEN {
        let is_said = match resource.fact(key) {
            Fact::Known(known) => known.origin != Origin::Default,
            Fact::Unknown(_) => true,
            Fact::Absent => false,
        };
        if !is_said {
            let why = "it only changes another object, and the rest stands there";
            resource.set(key, Fact::unknown(why, resource.span));
        }
    }
}

/// Whether a kustomization beside the file or above it names it.
fn is_named(sources: &Sources, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut directory = parent(path);
    for _ in 0..FARTHEST {
        let files = KUSTOMIZATIONS.iter().filter_map(|file| join(directory, file));
        let mut texts = files.filter_map(|file| sources.tree().read(&file).ok());
        if texts.any(|text| memchr::memmem::find(&text, name.as_bytes()).is_some()) {
            return true;
        }
        if directory.is_empty() {
            break;
        }
        directory = parent(directory);
    }
    false
}
