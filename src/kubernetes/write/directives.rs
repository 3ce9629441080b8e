//! Distinguishes templates of documents from documents with values that another program fills in, such as the workflows
//! of Argo.

use crate::kubernetes::text::template_mask::OPENINGS;
use crate::languages::yaml::{Node, NodeData};
use crate::source::line_start;

/// Returns whether all directives are parts of scalars or comments. `start` is their position in the file.
pub(super) fn are_inside_values(text: &str, start: usize, root: &Node) -> bool {
    let mut scalars: Vec<(usize, usize)> = Vec::new();
    collect(root, &mut scalars);
    scalars.sort_unstable();
    let is_inside = |at: usize| {
        let next = scalars.partition_point(|(from, _)| *from <= start + at);
        let found = next.checked_sub(1).and_then(|place| scalars.get(place));
        found.is_some_and(|(from, to)| start + at < *to && begins_elsewhere(text, at, from.saturating_sub(start)))
    };
    let places = OPENINGS.iter().flat_map(|opening| text.match_indices(opening).map(|(at, _)| at));
    let mut outside = places.filter(|at| !is_inside(*at) && !is_comment(text, *at));
    outside.next().is_none()
}

fn collect(node: &Node, out: &mut Vec<(usize, usize)>) {
    if let NodeData::Scalar { .. } = node.data {
        out.push((node.span.start as usize, node.span.end as usize));
    }
    node.inner().for_each(|inner| collect(inner, out));
}

/// Returns whether a directive continues a scalar. A directive at the start of a line of a plain scalar is one between
/// the lines.
fn begins_elsewhere(text: &str, at: usize, scalar: usize) -> bool {
    let is_first = text.get(line_start(text, at)..at).is_some_and(|before| before.trim_matches([' ', '-']).is_empty());
    let head = text.get(scalar..).unwrap_or_default();
    let own = text.get(..scalar).unwrap_or_default().trim_end().rsplit(' ').next().unwrap_or_default();
    let is_block = |word: &str| word.starts_with(['|', '>']);
    !is_first || head.starts_with(['"', '\'']) || is_block(head) || is_block(own)
}

fn is_comment(text: &str, at: usize) -> bool {
    text.get(line_start(text, at)..at).is_some_and(|before| before.trim_start().starts_with('#'))
}
