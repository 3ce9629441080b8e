//! Finds lines and columns quickly, because programs write megabytes on one line, and reports refer to it thousands of
//! times.
use std::cmp::Ordering;
use std::sync::OnceLock;

/// Returns the lines of a text with their ends, each with its start offset.
pub fn lines_with_offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |next, line| {
        let start = *next;
        *next += line.len();
        Some((start, line))
    })
}

/// Returns the start of the line that contains a position.
pub fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// Returns the end of the line that contains a position, before its `\n`.
pub fn line_end(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |length| at + length)
}

/// Returns the end of the line that contains a position, before its line break.
pub fn line_stop(text: &str, at: usize) -> usize {
    let end = line_end(text, at);
    match text.get(at.min(end)..end).is_some_and(|line| line.ends_with('\r')) {
        true => end - 1,
        false => end,
    }
}

/// Returns the value of a key in lines of a key, a tab and a value that are sorted by key. Tables of the program have this
/// form, because text needs no relocation at the start and no parsing.
pub fn value_of<'t>(lines: &'t str, key: &str) -> Option<&'t str> {
    let bytes = lines.as_bytes();
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let before = bytes.get(low..low + (high - low) / 2)?;
        let begin = low + memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let tab = begin + memchr::memchr(b'\t', bytes.get(begin..)?)?;
        match bytes.get(begin..tab)?.cmp(key.as_bytes()) {
            Ordering::Equal => return lines.get(tab + 1..line_end(lines, tab)),
            Ordering::Less => low = line_end(lines, tab) + 1,
            Ordering::Greater => high = begin,
        }
    }
    None
}

/// The distance in bytes between two cached character counts.
const STRIDE: usize = 4096;

#[derive(Debug)]
pub(super) struct LineIndex {
    starts: Vec<u32>,
    /// The number of characters before each multiple of `STRIDE`; computed for the first long line.
    characters: OnceLock<Vec<u32>>,
}

impl LineIndex {
    pub(super) fn of(text: &str) -> Self {
        let mut starts = vec![0u32];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at as u32 + 1));
        LineIndex { starts, characters: OnceLock::new() }
    }

    /// Returns line and column of a position, from 1. A position within a character belongs to that character.
    pub(super) fn position(&self, text: &str, offset: usize) -> (usize, usize) {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let line = self.starts.partition_point(|&start| start as usize <= end);
        let start = self.starts[line - 1] as usize;
        let bytes = text.as_bytes();
        let column = if end - start <= STRIDE {
            characters(&bytes[start..end])
        } else {
            self.before(bytes, end) - self.before(bytes, start)
        };
        (line, column + 1)
    }

    fn before(&self, bytes: &[u8], offset: usize) -> usize {
        let kept = self.characters.get_or_init(|| {
            let sums = bytes.chunks(STRIDE).scan(0, |sum, chunk| {
                let before = *sum;
                *sum += characters(chunk) as u32;
                Some(before)
            });
            sums.collect()
        });
        // The last position has no chunk of its own.
        let nearest = (offset / STRIDE).min(kept.len().saturating_sub(1));
        kept.get(nearest).map_or(0, |&sum| sum as usize) + characters(&bytes[nearest * STRIDE..offset])
    }
}

/// Returns the number of characters. Every byte that is not a UTF-8 continuation byte begins a character.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_long_lines_are_those_that_counting_finds() {
        for length in [0, 1, STRIDE - 1, STRIDE, STRIDE + 1, 3 * STRIDE] {
            let text = format!("a\n{}\nz{}", "aé€😀".repeat(length / 10 + 1), "é".repeat(length / 2));
            let lines = LineIndex::of(&text);
            for offset in (0..text.len() + 3).step_by(7).chain([text.len()]) {
                let before: String =
                    text.char_indices().take_while(|(at, it)| at + it.len_utf8() <= offset).map(|(_, it)| it).collect();
                let line = before.rsplit('\n').next().unwrap_or_default();
                let expected = (before.matches('\n').count() + 1, line.chars().count() + 1);
                assert_eq!(lines.position(&text, offset), expected, "{offset} of {}", text.len());
            }
        }
    }

    #[test]
    fn a_long_line_is_not_read_again_for_each_place_in_it() {
        let text = "é".repeat(4 << 20);
        let lines = LineIndex::of(&text);
        // Counting from the start of the line each time would read 400 GB.
        for offset in (0..text.len()).step_by(80) {
            assert_eq!(lines.position(&text, offset), (1, offset / 2 + 1));
        }
    }

    #[test]
    fn keys_are_found_in_sorted_lines() {
        let lines = "a\tone\nab\t\nb é\ttwo words\nz\tlast\n";
        for (key, value) in [("a", Some("one")), ("ab", Some("")), ("b é", Some("two words")), ("z", Some("last"))] {
            assert_eq!(value_of(lines, key), value, "{key}");
            assert_eq!(value_of(lines.trim_end(), key), value, "{key}");
        }
        for key in ["", "A", "aa", "b", "y", "zz"] {
            assert_eq!(value_of(lines, key), None, "{key}");
        }
        assert_eq!(value_of("", "a"), None);
    }
}
