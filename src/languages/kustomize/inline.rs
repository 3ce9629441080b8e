//! Handles strings that contain YAML, such as patches in a kustomization. Their places lead to the lines of the outer
//! file.

use std::sync::Arc;

use crate::source::{FileId, Segment, SourceFiles, Span};

use super::value::{ObjectData, ObjectValue};

/// Adds the content of a scalar as a file of its own.
pub(super) fn derive(sources: &SourceFiles, value: &ObjectValue) -> (FileId, Arc<str>) {
    let ObjectData::Scalar { text, .. } = &value.data else { return (value.at.file, "".into()) };
    let segments = lines(sources, value.at, text).unwrap_or_else(|| vec![whole(value.at)]);
    (sources.derive("", text.to_string(), segments), text.clone())
}

fn whole(at: Span) -> Segment {
    Segment { start: 0, origin: at, linear: false }
}

/// Maps each line of a block scalar (`|`) to its line in the outer file.
fn lines(sources: &SourceFiles, at: Span, text: &str) -> Option<Vec<Segment>> {
    let whole = sources.text(at.file);
    let written = whole.get(at.range())?;
    let (head, body) = written.split_once('\n')?;
    if !head.starts_with('|') {
        return None;
    }
    let mut offset = at.start as usize + head.len() + 1;
    let mut source = body.split_inclusive('\n');
    let (mut start, mut segments) = (0, Vec::new());
    for line in text.split_inclusive('\n') {
        let own = line.trim_end_matches(['\n', '\r']);
        let below = source.next()?;
        let bare = below.trim_end_matches(['\n', '\r']);
        let from = offset + bare.len().checked_sub(own.len())?;
        if !bare.ends_with(own) {
            return None;
        }
        let origin = Span::new(at.file, from, from + own.len());
        segments.push(Segment { start: u32::try_from(start).ok()?, origin, linear: true });
        start += line.len();
        offset += below.len();
    }
    (!segments.is_empty()).then_some(segments)
}
