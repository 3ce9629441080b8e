//! Decides which findings a suppression covers.

use std::collections::HashMap;
use std::sync::Arc;

use super::SuppressionContext;
use crate::inventory::ResourceId;
use crate::rules::Finding;
use crate::source::{FileId, SourceFiles, Span, matches};

pub(super) enum CoverTarget {
    File(FileId),
    /// The suppression covers a range of a file, and everything inside these module calls.
    Here {
        whole: Span,
        calls: Vec<String>,
    },
    /// The suppression covers everything that an annotated object creates: resources, or an object that rules check
    /// directly.
    Annotated {
        resources: Vec<ResourceId>,
        bodies: Vec<Span>,
    },
    Pattern {
        address: Option<String>,
        path: Option<String>,
    },
}

impl CoverTarget {
    pub(super) fn covers(&self, finding: &Finding, grounds: &SuppressionContext) -> bool {
        let span = grounds.sources.origin(finding.span);
        let address = finding.address(grounds.inventory);
        match self {
            CoverTarget::File(file) => span.file == *file,
            CoverTarget::Here { whole, calls } => {
                let holds = |span: Span| span.file == whole.file && whole.range().contains(&(span.start as usize));
                let is_inside = |call: &String| address.is_some_and(|it| is_below(it, call));
                places(finding, grounds).any(|it| holds(grounds.sources.origin(it))) || calls.iter().any(is_inside)
            }
            CoverTarget::Annotated { resources, bodies } => {
                finding.resource.is_some_and(|id| resources.contains(&id))
                    || finding.piece.as_ref().is_some_and(|it| bodies.contains(&it.body))
            }
            CoverTarget::Pattern { address: pattern, path } => {
                let address = pattern.as_ref().is_none_or(|pattern| address.is_some_and(|it| matches(pattern, it)));
                let path = path.as_ref().is_none_or(|pattern| matches(pattern, &grounds.sources.path(span.file)));
                address && path
            }
        }
    }
}

/// Returns the places where a comment can suppress a finding: its place, the header of its block, and every fact of
/// the rule. The line that a change points at is one of these.
pub(super) fn places(finding: &Finding, grounds: &SuppressionContext) -> impl Iterator<Item = Span> {
    let resource = finding.resource.and_then(|id| grounds.inventory.resources.get(id.0));
    let header = resource.map(|it| it.span).or(finding.piece.as_ref().map(|it| it.span));
    let facts = finding.evidence.iter().flat_map(|it| [it.span, it.defined]).flatten();
    [Some(finding.span), header].into_iter().flatten().chain(facts)
}

/// Returns true if an address is below a call: `module.a["x"].aws_instance.b` is below `module.a["x"]` and below
/// `module.a`.
fn is_below(address: &str, call: &str) -> bool {
    address.strip_prefix(call).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// The lines that a comment covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct CoveredLines {
    pub(super) first_line: Span,
    /// Extends a line to its block: all lines with a deeper indentation, and the closing bracket.
    pub(super) all: Span,
}

/// The non-empty lines of a file. A file can have many comments, and each needs the block below it.
pub(super) struct Layout {
    text: Arc<str>,
    lines: Vec<Line>,
    /// For each line, the next line that contains more than a comment.
    content: Vec<usize>,
    known: HashMap<usize, CoveredLines>,
}

struct Line {
    start: usize,
    end: usize,
    indentation: usize,
}

impl Layout {
    pub(super) fn new(sources: &SourceFiles, file: FileId) -> Self {
        let text = sources.text(file);
        let mut lines = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let held = line.strip_suffix('\n').unwrap_or(line);
            if !held.trim_start().is_empty() {
                lines.push(Line { start, end: start + held.len(), indentation: held.len() - held.trim_start().len() });
            }
            start += line.len();
        }
        let mut content = vec![lines.len(); lines.len()];
        let mut next = lines.len();
        for (at, (line, content)) in lines.iter().zip(&mut content).enumerate().rev() {
            if !is_empty(text.get(line.start..line.end).unwrap_or_default()) {
                next = at;
            }
            *content = next;
        }
        Layout { text, lines, content, known: HashMap::new() }
    }

    /// Returns the line at whose end the comment is, or the next line that contains more than a comment, with the
    /// block that begins there.
    pub(super) fn lines(&mut self, comment: Span) -> CoveredLines {
        // The line of the comment itself is included.
        let own = self.from(comment.start as usize + 1).saturating_sub(1);
        let start = self.lines.get(own).map_or(0, |line| line.start);
        let before = self.text.get(start..comment.start as usize).unwrap_or_default();
        let first = match is_empty(before) {
            true => {
                let next = self.from(next_line(&self.text, floor(&self.text, comment.end as usize)));
                self.content.get(next).copied().unwrap_or(self.lines.len())
            }
            false => own,
        };
        if let Some(known) = self.known.get(&first) {
            return *known;
        }
        let lines = self.block(comment.file, first);
        self.known.insert(first, lines);
        lines
    }

    /// Returns the first line that begins at or after this place.
    fn from(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.start < at)
    }

    fn block(&self, file: FileId, first: usize) -> CoveredLines {
        let Some(head) = self.lines.get(first) else {
            let end = Span::new(file, self.text.len(), self.text.len());
            return CoveredLines { first_line: end, all: end };
        };
        let opens = self.text_of(head).split('#').next().unwrap_or_default().trim_end().ends_with(':');
        let mut end = None;
        for line in self.lines.iter().skip(first + 1) {
            let content = self.text_of(line).trim_start();
            let item = opens && line.indentation == head.indentation && content.starts_with("- ");
            let closes = line.indentation == head.indentation && content.starts_with(['}', ']', ')']);
            if closes || !(line.indentation > head.indentation || item) {
                // Blank lines belong to the block above them.
                end = Some(if closes { line.end } else { line.start.saturating_sub(1) });
                break;
            }
        }
        let last = self.text.strip_suffix('\n').map_or(self.text.len(), str::len);
        let end = end.unwrap_or(last).max(head.end);
        CoveredLines { first_line: Span::new(file, head.start, head.end), all: Span::new(file, head.start, end) }
    }

    fn text_of(&self, line: &Line) -> &str {
        self.text.get(line.start..line.end).unwrap_or_default()
    }

    /// Returns true if the file has only comments before this one.
    pub(super) fn is_at_top(&self, comment: Span) -> bool {
        let first = self.content.first().and_then(|&first| self.lines.get(first));
        let before = first.and_then(|it| self.text.get(it.start..floor(&self.text, comment.start as usize)));
        before.is_none_or(is_empty)
    }
}

/// Returns true for a blank line, a comment, or a document separator.
fn is_empty(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    line.is_empty() || line.starts_with(['#', '*']) || line.starts_with("//") || line.starts_with("/*") || line == "---"
}

fn next_line(text: &str, from: usize) -> usize {
    text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| from + at + 1)
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
