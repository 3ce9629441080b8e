//! Handles manifests and values in files that Terraform loads. The Terraform root determines their number and
//! variables, so the file itself does not count a second time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::inventory::{Key, Resource};
use crate::source::{FileId, SourceFiles, Span};

use crate::kubernetes::pods::workload::FoundResource;

/// Removes resources from the parts of files that one of the `embedded` texts came from.
pub(in crate::kubernetes) fn leave_out(
    sources: &SourceFiles,
    embedded: &[(FileId, String)],
    found: &mut Vec<(Arc<str>, FoundResource)>,
) {
    let mut loaded: HashMap<FileId, Vec<Range<u32>>> = HashMap::new();
    for (file, _) in embedded {
        if let Some((origin, part)) = part(sources, *file) {
            loaded.entry(origin).or_default().push(part);
        }
    }
    let embedded: HashSet<FileId> = embedded.iter().map(|(file, _)| *file).collect();
    let of_terraform = |it: &FoundResource| it.carrier.is_some() || embedded.contains(&it.resource.span.file);
    let decoded = Decoded::of(sources, found.iter().map(|(_, it)| it).filter(|it| of_terraform(it)));
    if loaded.is_empty() && decoded.by_place.is_empty() {
        return;
    }
    let written = found.iter().map(|(_, it)| it).filter(|it| !of_terraform(it));
    let twins = decoded.asked_of_several(written);
    let is_loaded = |resource: &Resource| {
        let parts = loaded.get(&resource.span.file).map(Vec::as_slice).unwrap_or_default();
        parts.iter().any(|part| part.contains(&resource.span.start)) || decoded.holds(resource, &twins)
    };
    found.retain(|(_, it)| of_terraform(it) || !is_loaded(&it.resource));
}

/// A decoded and re-encoded manifest has no single part of a file, but each of its values has a place. The place of its
/// accelerator request distinguishes it from neighbors, possibly in the same line.
struct Decoded {
    /// The end of each place and the addresses of its resources, by the file and the start of the place.
    by_place: BTreeMap<(FileId, u32), (u32, HashSet<String>)>,
}

impl Decoded {
    fn of<'f>(sources: &SourceFiles, carried: impl Iterator<Item = &'f FoundResource>) -> Self {
        let mut by_place: BTreeMap<(FileId, u32), (u32, HashSet<String>)> = BTreeMap::new();
        for it in carried {
            let Some(place) = asks(&it.resource).map(|span| sources.origin(span)) else { continue };
            let (end, askers) = by_place.entry((place.file, place.start)).or_default();
            *end = place.end.max(*end);
            askers.insert(it.resource.address.clone());
        }
        Decoded { by_place }
    }

    /// Returns the place of a resource's request, if it was decoded from there.
    fn place(&self, resource: &Resource) -> Option<(&(FileId, u32), &HashSet<String>)> {
        let asked = asks(resource)?;
        let before = self.by_place.range(..(asked.file, asked.end.max(asked.start + 1)));
        let (place, (end, askers)) = before.last()?;
        (place.0 == asked.file && *end > asked.start).then_some((place, askers))
    }

    /// Returns the places of requests that several resources share through an alias.
    fn asked_of_several<'f>(&self, written: impl Iterator<Item = &'f FoundResource>) -> HashSet<(FileId, u32)> {
        let (mut once, mut several) = (HashSet::new(), HashSet::new());
        for (place, _) in written.filter_map(|it| self.place(&it.resource)) {
            if !once.insert(*place) {
                several.insert(*place);
            }
        }
        several
    }

    /// Returns whether Terraform loads this resource. If several resources share a place, only the one with the name
    /// of the loaded manifest is the same.
    fn holds(&self, resource: &Resource, twins: &HashSet<(FileId, u32)>) -> bool {
        let Some((place, askers)) = self.place(resource) else { return false };
        !twins.contains(place) || askers.contains(&resource.address)
    }
}

/// Returns the place at which a resource requests accelerators or names a machine.
fn asks(resource: &Resource) -> Option<Span> {
    [Key::AcceleratorCount, Key::Machine].iter().find_map(|key| resource.fact(*key).span())
}

/// Returns the part of a file that a text came from, if it came from one part.
fn part(sources: &SourceFiles, text: FileId) -> Option<(FileId, Range<u32>)> {
    let length = sources.text(text).trim_end().len();
    let first = sources.origin(Span::new(text, 0, length.min(1)));
    let last = sources.origin(Span::new(text, length.saturating_sub(1), length));
    (first.file == last.file && first.file != text).then(|| (first.file, first.start..last.end.max(first.end)))
}
