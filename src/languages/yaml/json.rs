//! Handles JSON of programs that is not YAML: with comments, with control characters in strings, or with several values
//! in one text.

use std::ops::Range;

/// Returns an equivalent YAML text of the same length, and the ranges of its values; `None` if it is not such JSON.
pub(super) fn values(text: &str) -> Option<(String, Vec<Range<usize>>)> {
    let mut out = text.as_bytes().to_vec();
    let mut ranges = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    while let Some(&byte) = out.get(at) {
        let rest = out.get(at..).unwrap_or_default();
        let mut end = at + 1;
        match byte {
            b'"' if depth > 0 => end = string(&mut out, end)?,
            b'/' if rest.starts_with(b"//") => {
                end = at + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                blank(&mut out, at..end);
            }
            b'/' if rest.starts_with(b"/*") => {
                end = at + memchr::memmem::find(rest, b"*/")? + 2;
                blank(&mut out, at..end);
            }
            b'{' | b'[' => {
                start = if depth == 0 { at } else { start };
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    ranges.push(start..end);
                }
            }
            _ if depth > 0 || byte.is_ascii_whitespace() => {}
            _ => return None,
        }
        at = end;
    }
    (depth == 0 && !ranges.is_empty()).then_some(())?;
    Some((String::from_utf8(out).ok()?, ranges))
}

/// Returns the end of a string. Control characters, which YAML refuses, become spaces.
fn string(out: &mut [u8], mut at: usize) -> Option<usize> {
    loop {
        match *out.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 1,
            byte if byte.is_ascii_control() && !byte.is_ascii_whitespace() => *out.get_mut(at)? = b' ',
            0xc2 => {
                let next = out.get_mut(at + 1)?;
                *next = (*next).max(0xa0);
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
}

fn blank(out: &mut [u8], range: Range<usize>) {
    let bytes = out.get_mut(range).unwrap_or_default().iter_mut();
    bytes.filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_control_characters_are_blanks_and_values_are_apart() {
        let text = "// é\n{\"a//\": \"\\\"\u{80}\"} /* b */\n[1]\n";
        let (plain, ranges) = values(text).unwrap();
        assert_eq!(plain, "     \n{\"a//\": \"\\\"\u{a0}\"}        \n[1]\n");
        assert_eq!(ranges.iter().map(|it| &plain[it.clone()]).collect::<Vec<_>>()[1], "[1]");
        for text in ["", "curl -d {}", "{", "}", "{\"a", "/* {}", "{} x"] {
            assert_eq!(values(text), None, "{text}");
        }
    }
}
