//! Maps the lines of a string in Terraform back to their places in the file.

use crate::source::{Segment, SourceFiles, lines_with_offsets};

use crate::languages::hcl::value::{HclData, HclValue};

/// The maximum number of lines that are skipped to find a line, because template directives leave no line in the
/// result.
const FURTHEST: usize = 200;

/// Returns the text of a value with the place of each line. A computed line has the place of the template line that it
/// probably came from. For a partly known string, returns the known part, or `None` if nothing is known.
pub(super) fn align(sources: &SourceFiles, value: &HclValue) -> Option<(String, Vec<Segment>)> {
    let text = match &value.data {
        HclData::Text(text) if !value.sensitive => text,
        HclData::Unknown(cause) => cause.outline.as_ref()?,
        _ => return None,
    };
    if text.trim().is_empty() {
        return None;
    }
    let written = sources.text(value.span.file);
    let written = written.get(value.span.range()).unwrap_or_default();
    let base = value.span.start as usize;
    let lines: Vec<(usize, &str)> = lines_with_offsets(written).collect();
    // Only files and literal strings have a separate place for each line. The lines of an expression are not lines of
    // its result.
    let is_file = value.span.start == 0;
    let is_text = is_file || written.trim_start().starts_with(['<', '"']);
    let mut next = 0;
    let mut segments = Vec::new();
    for (start, line) in lines_with_offsets(text) {
        let content = line.trim_end();
        if content.trim().is_empty() {
            continue;
        }
        let ahead = lines.iter().enumerate().skip(next).take(FURTHEST);
        let same = ahead.clone().filter_map(|(at, (from, written))| Some((at, from + written.find(content)?))).next();
        let mut filling = ahead.filter(|(_, (_, written))| is_text && fills(written, content));
        let span = |from: usize, length: usize| crate::source::Span::new(value.span.file, from, from + length);
        let (origin, linear) = if let Some((at, from)) = same {
            next = at + 1;
            (span(base + from, content.len()), true)
        } else if let Some((at, (from, written))) = filling.next() {
            next = at + 1;
            (span(base + from, written.trim_end().len()), false)
        } else {
            match lines.get(next) {
                // The text of a heredoc starts below its marker.
                Some((from, written)) if is_text && lines.len() > 1 => {
                    let (from, written) = match lines.get(next + 1) {
                        Some(line) if next == 0 && written.trim_start().starts_with("<<") => *line,
                        _ => (*from, *written),
                    };
                    next += 1;
                    (span(base + from, written.trim_end().len()), false)
                }
                _ => (value.span, false),
            }
        };
        segments.push(Segment { start: start as u32, origin, linear });
    }
    Some((text.to_string(), segments))
}

/// Returns whether a template line may have become this line: both start alike, up to the first placeholder.
fn fills(written: &str, line: &str) -> bool {
    let Some((before, _)) = written.split_once("${") else { return false };
    let before = before.trim_start();
    !before.is_empty() && line.trim_start().starts_with(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, Span};

    #[test]
    fn lines_of_a_heredoc_lead_to_their_own_text() {
        let source = "y = <<-EOT\n  kind: Pod\n  spec:\n    gpu: ${var.n}\n    x: 1\nEOT\n";
        let sources = SourceFiles::new(MemoryTree::new().with("a.tf", source));
        let file = sources.open("a.tf").unwrap();
        let text = "kind: Pod\nspec:\n  gpu: 4\n  x: 1\n";
        let value = HclValue::new(HclData::Text(text.into()), Span::new(file, 4, source.len() - 1));
        let (derived, segments) = align(&sources, &value).unwrap();
        let derived = sources.derive("a.tf", derived, segments);
        for (needle, line) in [("kind", 2), ("Pod", 2), ("gpu", 4), ("4", 4), ("x: 1", 5)] {
            let at = text.find(needle).unwrap();
            assert_eq!(sources.line(Span::new(derived, at, at + 1)), line, "{needle}");
        }
    }
}
