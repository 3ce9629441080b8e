//! Manifests and values in files that Terraform loads. The file says what is wanted; Terraform says in which root, how
//! often, and what fills it in. So what Terraform loads is not told a second time as a file of its own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::inventory::{Key, Resource};
use crate::source::{FileId, Sources, Span};

use crate::kubernetes::pods::workload::FoundResource;

/// Leaves out what stands in a part of a file that one of the `embedded` texts came from.
pub(in crate::kubernetes) fn leave_out(
    sources: &Sources,
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

/// What was decoded before it became a manifest again has no part of a file, but each of its values has a place: that of
/// what it asks for tells it from its neighbours, which may stand in the same line.
struct Decoded {
    /// By file and beginning of the place: its end, and who asks there.
    by_place: BTreeMap<(FileId, u32), (u32, HashSet<String>)>,
}

impl Decoded {
    fn of<'f>(sources: &Sources, carried: impl Iterator<Item = &'f FoundResource>) -> Self {
        let mut by_place: BTreeMap<(FileId, u32), (u32, HashSet<String>)> = BTreeMap::new();
        for it in carried {
            let Some(place) = asks(&it.resource).map(|span| sources.origin(span)) else { continue };
            let (end, askers) = by_place.entry((place.file, place.start)).or_default();
            *end = place.end.max(*end);
            askers.insert(it.resource.address.clone());
        }
        Decoded { by_place }
    }

    /// The place at which a resource asks, if it was decoded from there.
    fn place(&self, resource: &Resource) -> Option<(&(FileId, u32), &HashSet<String>)> {
        let asked = asks(resource)?;
        let before = self.by_place.range(..(asked.file, asked.end.max(asked.start + 1)));
        let (place, (end, askers)) = before.last()?;
        (place.0 == asked.file && *end > asked.start).then_some((place, askers))
    }

    /// Places that stand for several resources: they share them by an alias.
    fn asked_of_several<'f>(&self, written: impl Iterator<Item = &'f FoundResource>) -> HashSet<(FileId, u32)> {
        let (mut once, mut several) = (HashSet::new(), HashSet::new());
        for (place, _) in written.filter_map(|it| self.place(&it.resource)) {
            if !once.insert(*place) {
                several.insert(*place);
            }
        }
        several
    }

    /// Of several that share a place, only who has the name of what was loaded is it.
    fn holds(&self, resource: &Resource, twins: &HashSet<(FileId, u32)>) -> bool {
        let Some((place, askers)) = self.place(resource) else { return false };
        !twins.contains(place) || askers.contains(&resource.address)
    }
}

/// Where a resource asks for accelerators or for a machine.
fn asks(resource: &Resource) -> Option<Span> {
    [Key::AcceleratorCount, Key::Machine].iter().find_map(|key| resource.fact(*key).span())
}

/// The part of a file that a text came from, where it all came from one.
fn part(sources: &Sources, text: FileId) -> Option<(FileId, Range<u32>)> {
    let length = sources.text(text).trim_end().len();
    let first = sources.origin(Span::new(text, 0, length.min(1)));
    let last = sources.origin(Span::new(text, length.saturating_sub(1), length));
    (first.file == last.file && first.file != text).then(|| (first.file, first.start..last.end.max(first.end)))
}
