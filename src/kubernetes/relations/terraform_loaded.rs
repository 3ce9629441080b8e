//! Manifests and values in files that Terraform loads. The file says what is wanted; Terraform says in which root, how
//! often, and what fills it in. So what Terraform loads is not told a second time as a file of its own.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::inventory::{Key, Resource};
use crate::source::{FileId, Sources, Span};

use crate::kubernetes::pods::workload::Found;

/// Leaves out what stands in a part of a file that one of the `embedded` texts came from.
pub(in crate::kubernetes) fn leave_out(
    sources: &Sources,
    embedded: &[(FileId, String)],
    found: &mut Vec<(Arc<str>, Found)>,
) {
    let mut loaded: HashMap<FileId, Vec<Range<u32>>> = HashMap::new();
    for (file, _) in embedded {
        if let Some((origin, part)) = part(sources, *file) {
            loaded.entry(origin).or_default().push(part);
        }
    }
    let embedded: HashSet<FileId> = embedded.iter().map(|(file, _)| *file).collect();
    // What was decoded before it became a manifest again has no part of a file, but each of its values has a place.
    let line = |span: Span| (span.file, sources.line(span));
    let carried = found.iter().filter(|(_, it)| embedded.contains(&it.resource.span.file));
    let decoded: HashSet<(FileId, usize)> =
        carried.filter_map(|(_, it)| asks(&it.resource)).map(|span| line(sources.origin(span))).collect();
    if loaded.is_empty() && decoded.is_empty() {
        return;
    }
    let is_loaded = |resource: &Resource| {
        let parts = loaded.get(&resource.span.file).map(Vec::as_slice).unwrap_or_default();
        let is_decoded = || asks(resource).is_some_and(|span| decoded.contains(&line(span)));
        parts.iter().any(|part| part.contains(&resource.span.start)) || is_decoded()
    };
    found.retain(|(_, it)| embedded.contains(&it.resource.span.file) || !is_loaded(&it.resource));
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
