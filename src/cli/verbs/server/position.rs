//! Positions as editors count them: lines from 0, and columns in bytes, UTF-16 units or characters.

use std::sync::Arc;

use gen_lsp_types::{Position, PositionEncodingKind, Range};

/// The unit in which an editor counts columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    /// Selects an encoding that the client supports. The protocol's default is UTF-16.
    pub(super) fn chosen(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        let offers = |kind: &PositionEncodingKind| offered.is_some_and(|it| it.contains(kind));
        if offers(&PositionEncodingKind::UTF8) {
            Encoding::Utf8
        } else if offers(&PositionEncodingKind::UTF32) && !offers(&PositionEncodingKind::UTF16) {
            Encoding::Utf32
        } else {
            Encoding::Utf16
        }
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, letter: char) -> usize {
        match self {
            Encoding::Utf8 => letter.len_utf8(),
            Encoding::Utf16 => letter.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

/// A text with the positions of its lines.
pub(super) struct TextLines<'t> {
    text: &'t str,
    starts: Arc<[usize]>,
    encoding: Encoding,
}

impl<'t> TextLines<'t> {
    pub(super) fn of(text: &'t str, encoding: Encoding) -> TextLines<'t> {
        TextLines { text, starts: Self::starts(text), encoding }
    }

    /// Returns the text with known line positions.
    pub(super) fn with(text: &'t str, starts: Arc<[usize]>, encoding: Encoding) -> TextLines<'t> {
        TextLines { text, starts, encoding }
    }

    pub(super) fn starts(text: &str) -> Arc<[usize]> {
        let bytes = text.as_bytes();
        let is_end = |at: &usize| match bytes.get(*at) {
            Some(b'\n') => true,
            // A single carriage return also ends a line.
            Some(b'\r') => bytes.get(*at + 1) != Some(&b'\n'),
            _ => false,
        };
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes).filter(is_end);
        std::iter::once(0).chain(ends.map(|at| at + 1)).collect()
    }

    pub(super) fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        let character = before.chars().map(|letter| self.encoding.width(letter)).sum();
        Position { line: whole(line), character: whole(character) }
    }

    pub(super) fn range(&self, place: std::ops::Range<usize>) -> Range {
        Range { start: self.position(place.start), end: self.position(place.end) }
    }

    /// Returns the byte offset of a position. A position beyond a line or the text is moved to its end.
    pub(super) fn offset(&self, at: Position) -> usize {
        let line = at.line as usize;
        let Some(start) = self.starts.get(line).copied() else { return self.text.len() };
        let mut passed = 0;
        for (offset, letter) in self.line(line).char_indices() {
            if passed >= at.character as usize {
                return start + offset;
            }
            passed += self.encoding.width(letter);
        }
        start + self.line(line).len()
    }

    /// Returns a line without its line end.
    pub(super) fn line(&self, line: usize) -> &'t str {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text.get(start..end).unwrap_or_default().trim_end_matches(['\r', '\n'])
    }

    /// Returns the position after the last character of the line that contains a byte.
    pub(super) fn end_of_line(&self, offset: usize) -> Position {
        let line = self.position(offset).line;
        let character = self.line(line as usize).chars().map(|letter| self.encoding.width(letter)).sum();
        Position { line, character: whole(character) }
    }
}

fn whole(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_a_text_leads_back_to_its_byte() {
        let text = "a = \"é𝛼\"\r\n\tb\rc\n\u{feff}d";
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let lines = TextLines::of(text, encoding);
            for (offset, letter) in text.char_indices() {
                let back = lines.offset(lines.position(offset));
                // The position at a line's end is before a carriage return.
                let is_end = letter == '\n' && text.as_bytes().get(offset - 1) == Some(&b'\r');
                assert_eq!(back, if is_end { offset - 1 } else { offset }, "{offset} {encoding:?}");
            }
        }
    }

    #[test]
    fn columns_are_counted_as_the_client_wants() {
        let text = "x\né𝛼!";
        let at = |encoding| TextLines::of(text, encoding).position(text.len()).character;
        assert_eq!([at(Encoding::Utf8), at(Encoding::Utf16), at(Encoding::Utf32)], [7, 4, 3]);
    }

    #[test]
    fn a_place_outside_is_the_nearest_inside() {
        let lines = TextLines::of("ab\ncd", Encoding::Utf16);
        assert_eq!(lines.offset(Position { line: 0, character: 99 }), 2);
        assert_eq!(lines.offset(Position { line: 9, character: 0 }), 5);
        // A position inside a character of two UTF-16 units moves behind it.
        assert_eq!(TextLines::of("𝛼b", Encoding::Utf16).offset(Position { line: 0, character: 1 }), 4);
    }
}
