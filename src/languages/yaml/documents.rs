//! Splits a stream into documents.

use std::iter::Peekable;

use memchr::memmem::FindIter;

use crate::source::unusual_breaks;

/// Returns the byte ranges between document markers: lines that start with `---` or `...`. Ranges with only blank lines
/// or directives are omitted.
pub(crate) fn documents(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let bytes = text.as_bytes();
    let mut start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let (mut content, mut comment, mut directive) = (false, false, false);
    let mut markers = Markers::of(bytes);
    let mut at = start;
    while at < bytes.len() {
        if content {
            // From here on, only the end of the document is of interest.
            at = markers.next_line(at);
        }
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n + 1);
        let line = &bytes[at..end];
        let opens = is_marker(line, b"---");
        if opens || is_marker(line, b"...") {
            if content || (comment && !directive) {
                ranges.push(start..at);
            }
            // A marker may be on the first line of its document: `--- # comment`, `--- {a: 1}`.
            start = if opens { at } else { end };
            content = opens && !line[3..].trim_ascii().is_empty();
            (comment, directive) = (false, false);
        } else {
            match line.trim_ascii_start().first() {
                None => {}
                Some(b'#') => comment = true,
                // After an unusual line break, the document may begin on the same line.
                Some(b'%') if !content && line.first() == Some(&b'%') && !breaks_oddly(line) => directive = true,
                Some(_) => content = true,
            }
        }
        at = end;
    }
    if content || (comment && !directive) {
        ranges.push(start..bytes.len());
    }
    ranges
}

/// Lines that look like document markers. Each text is searched once, however many documents it has.
struct Markers<'t> {
    opening: Peekable<FindIter<'t, 'static>>,
    closing: Peekable<FindIter<'t, 'static>>,
    length: usize,
}

impl<'t> Markers<'t> {
    fn of(text: &'t [u8]) -> Self {
        let lines = |start: &'static [u8]| memchr::memmem::find_iter(text, start).peekable();
        Markers { opening: lines(b"\n---"), closing: lines(b"\n..."), length: text.len() }
    }

    /// Returns the first marker from a position on; the end of the text if there is none.
    fn next_line(&mut self, from: usize) -> usize {
        let next = |starts: &mut Peekable<FindIter<'t, 'static>>| {
            while starts.next_if(|at| at + 1 < from).is_some() {}
            starts.peek().map(|at| at + 1)
        };
        let (opening, closing) = (next(&mut self.opening), next(&mut self.closing));
        opening.into_iter().chain(closing).min().unwrap_or(self.length)
    }
}

fn is_marker(line: &[u8], marker: &[u8]) -> bool {
    let ends = |rest: &[u8]| rest.first().is_none_or(u8::is_ascii_whitespace) || unusual_breaks(rest).next() == Some(0);
    line.strip_prefix(marker).is_some_and(ends)
}

fn breaks_oddly(line: &[u8]) -> bool {
    unusual_breaks(line).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_cut_at_markers_only() {
        for (text, count) in [
            ("a: 1\n---\nb: 2\n", 2),
            ("---\n---\na: 1\n...\n", 1),
            ("%YAML 1.1\n---\na: 1\n", 1),
            ("# comment\n---\na: 1\n", 2),
            ("--- {a: 1}\n--- # next\nb: 1\n", 2),
            ("a: |\n  ---\n  text\nb: ---x\n", 1),
            ("---a: 1\n", 1),
            ("\u{feff}a: 1\r\n---\r\nb: 1\r\n", 2),
            ("a: 1\n----\nb: 1\n---", 1),
            ("a: 1\n...x\n... \nb: 1\n---x\n---\n---\nc: 1\n...", 3),
            ("---\na: 1\n---", 1),
            ("a: 1\n---\u{85}\nb: 2\n", 2),
            ("%YAML 1.1\u{2028}---\u{2028}a: 1\n", 1),
            ("", 0),
        ] {
            assert_eq!(documents(text).len(), count, "{text:?}");
        }
    }
}
