//! What a suppression covers.

use super::Grounds;
use crate::inventory::ResourceId;
use crate::rules::Finding;
use crate::source::{FileId, Sources, Span, matches};

pub(super) enum Target {
    File(FileId),
    /// A stretch of text, and everything inside of these module calls.
    Here {
        whole: Span,
        calls: Vec<String>,
    },
    /// What an annotated object is: resources, or an object that rules look at as it is written.
    Annotated {
        resources: Vec<ResourceId>,
        bodies: Vec<Span>,
    },
    Pattern {
        address: Option<String>,
        path: Option<String>,
    },
}

impl Target {
    pub(super) fn covers(&self, finding: &Finding, grounds: &Grounds) -> bool {
        let span = grounds.sources.origin(finding.span);
        let address = finding.address(grounds.inventory);
        let resource = finding.resource.and_then(|id| grounds.inventory.resources.get(id.0));
        let header = resource.map(|it| it.span).or(finding.piece.as_ref().map(|it| it.span));
        match self {
            Target::File(file) => span.file == *file,
            Target::Here { whole, calls } => {
                let holds = |span: Span| span.file == whole.file && whole.range().contains(&(span.start as usize));
                let is_inside = |call: &String| address.is_some_and(|it| is_below(it, call));
                holds(span) || header.is_some_and(|it| holds(grounds.sources.origin(it))) || calls.iter().any(is_inside)
            }
            Target::Annotated { resources, bodies } => {
                finding.resource.is_some_and(|id| resources.contains(&id))
                    || finding.piece.as_ref().is_some_and(|it| bodies.contains(&it.body))
            }
            Target::Pattern { address: pattern, path } => {
                let address = pattern.as_ref().is_none_or(|pattern| address.is_some_and(|it| matches(pattern, it)));
                let path = path.as_ref().is_none_or(|pattern| matches(pattern, &grounds.sources.path(span.file)));
                address && path
            }
        }
    }
}

/// `module.a["x"].aws_instance.b` is below `module.a["x"]` and below `module.a`.
fn is_below(address: &str, call: &str) -> bool {
    address.strip_prefix(call).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// Lines that a comment stands for.
pub(super) struct Lines {
    pub(super) first_line: Span,
    /// With everything that is indented deeper, and the bracket that closes it.
    pub(super) all: Span,
}

/// The line that the comment ends, else the next one that holds more than a comment; with the block that begins there.
pub(super) fn lines(sources: &Sources, comment: Span) -> Lines {
    let text = sources.text(comment.file);
    let line_start = text[..floor(&text, comment.start as usize)].rfind('\n').map_or(0, |at| at + 1);
    let before = text.get(line_start..comment.start as usize).unwrap_or_default();
    let mut at = line_start;
    if is_empty(before) {
        at = next_line(&text, floor(&text, comment.end as usize));
        while at < text.len() && is_empty(line_at(&text, at)) {
            at = next_line(&text, at);
        }
    }
    let first = line_at(&text, at);
    let end = at + first.len();
    let mut all = end;
    let depth = indentation(first);
    let opens_list = first.split('#').next().unwrap_or_default().trim_end().ends_with(':');
    let mut next = next_line(&text, at);
    while next < text.len() {
        let line = line_at(&text, next);
        let content = line.trim_start();
        let deeper = content.is_empty() || indentation(line) > depth;
        let item = opens_list && indentation(line) == depth && content.starts_with("- ");
        let closes = indentation(line) == depth && content.starts_with(['}', ']', ')']);
        if deeper || item || closes {
            all = next + line.len();
            next = next_line(&text, next);
        }
        if closes || !(deeper || item) {
            break;
        }
    }
    Lines { first_line: Span::new(comment.file, at, end), all: Span::new(comment.file, at, all) }
}

/// Whether nothing but comments stands before it.
pub(super) fn is_at_top(sources: &Sources, comment: Span) -> bool {
    let text = sources.text(comment.file);
    text[..floor(&text, comment.start as usize)].lines().all(is_empty)
}

/// Nothing but blanks, a comment or the mark between two documents.
fn is_empty(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    line.is_empty() || line.starts_with(['#', '*']) || line.starts_with("//") || line.starts_with("/*") || line == "---"
}

fn line_at(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    rest.split_once('\n').map_or(rest, |(line, _)| line)
}

fn next_line(text: &str, from: usize) -> usize {
    text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| from + at + 1)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
