//! Writes a line of a file with a marked place, even from a large file.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::report::ShownPaths;
use crate::report::escape;
use crate::source::{FilePosition, SourceFiles, Span};

/// The maximum number of bytes of a line around the marked place.
const WIDEST: usize = 160;

/// The line of a place, cut to a readable width. miette would search the whole file for each place.
#[derive(Debug)]
pub(super) struct Snippet {
    path: String,
    text: String,
    first_line: usize,
    /// The marked place, in bytes of `text`.
    pub(super) place: std::ops::Range<usize>,
    line: usize,
    column: usize,
}

impl Snippet {
    pub(super) fn new(sources: &SourceFiles, paths: &ShownPaths, span: Span) -> Snippet {
        let span = sources.origin(span);
        let location = paths.locate(sources, span);
        if let Some(place) = sources.concealed(span) {
            return Snippet::of_place(&place, &location);
        }
        let file = sources.text(span.file);
        let (start, end) = clamped(&file, span);
        let line_start = memchr::memrchr(b'\n', &file.as_bytes()[..start]).map_or(0, |at| at + 1);
        let line_end = line_end(&file, start);
        // A whole block would fill the screen, so only its first line is shown.
        let end = end.min(line_end).max(start);
        let (line, skipped) = cut(file.get(line_start..line_end).unwrap_or_default(), start - line_start, WIDEST);
        let place = (start - line_start - skipped)..(end - line_start - skipped).min(line.len());
        let text = escape::harmless(line);
        let (line, column) = (location.line, location.column);
        Snippet { path: escape::one_line(&location.path), text, first_line: line, place, line, column }
    }

    /// Returns the first line of a place without context.
    fn of_place(place: &str, location: &FilePosition) -> Snippet {
        let line = place.lines().next().unwrap_or_default();
        let text = escape::harmless(cut(line, 0, WIDEST).0);
        let (path, place) = (escape::one_line(&location.path), 0..text.len());
        Snippet { path, text, first_line: location.line, place, line: location.line, column: location.column }
    }
}

impl Snippet {
    /// Returns the place in words, with its line: `main.tf:3: instance_type = "p5.48xlarge"`.
    pub(super) fn place_and_line(&self) -> String {
        let line = self.text.lines().nth(self.line.saturating_sub(self.first_line)).unwrap_or_default();
        format!("{}:{}: {}", self.path, self.line, line.trim())
    }

    /// Returns the place, if the content of the file is unknown.
    pub(super) fn place_of_unknown_text(&self) -> Option<String> {
        let is_blank = self.text.trim().is_empty();
        is_blank.then(|| format!("{}:{}:{}", self.path, self.line, self.column))
    }
}

impl SourceCode for Snippet {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let name = self.path.clone();
        // If no context is requested, only line and column are needed.
        Ok(Box::new(if before == 0 {
            MietteSpanContents::new_named(name, &[], *span, self.line - 1, self.column - 1, 1)
        } else {
            let whole = SourceSpan::new(0.into(), self.text.len());
            let lines = self.text.lines().count();
            MietteSpanContents::new_named(name, self.text.as_bytes(), whole, self.first_line - 1, 0, lines)
        }))
    }
}

fn clamped(text: &str, span: Span) -> (usize, usize) {
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let range = span.range();
    (boundary(range.start.min(text.len())), boundary(range.end.min(text.len())))
}

fn line_end(text: &str, from: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at)
}

/// Returns at most `most` bytes of a line around `at`, and how many bytes before them were left out.
fn cut(line: &str, at: usize, most: usize) -> (&str, usize) {
    if line.len() <= most {
        return (line, 0);
    }
    let mut start = at.saturating_sub(most / 4);
    while !line.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (start + most).min(line.len());
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    (&line[start..end], start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    #[test]
    fn a_snippet_holds_the_line_of_its_place() {
        let long = format!("a = \"{}é\"\nb = 1\nc = {}\n", "x".repeat(100_000), "y".repeat(100_000));
        let sources = SourceFiles::new(MemoryTree::new().with("m.tf", long.clone()));
        let file = sources.open("m.tf").unwrap();
        let at = long.find("b = 1").unwrap();
        let snippet = Snippet::new(&sources, &ShownPaths::default(), Span::new(file, at, long.len()));
        assert_eq!(&snippet.text[snippet.place.clone()], "b = 1");
        assert_eq!((snippet.first_line, snippet.line, snippet.text.lines().count()), (2, 2, 1));
        assert!(snippet.text.len() < 600);
        let middle = Snippet::new(&sources, &ShownPaths::default(), Span::new(file, 50_000, 50_010));
        assert_eq!(&middle.text[middle.place.clone()], "xxxxxxxxxx");
        for start in 0..12 {
            let tail = long.len() - start;
            Snippet::new(&sources, &ShownPaths::default(), Span::new(file, tail, tail + 3));
        }
    }
}
