//! Maps a part of a YAML scalar to its place in the rule file.

use std::ops::Range;

/// Returns the place of the byte `offset` of a scalar's value. Escapes, folding and indentation change spaces and add
/// characters but never reorder the others. Therefore a parallel walk finds the place.
pub(super) fn place_in(text: &str, scalar: &Range<usize>, value: &str, offset: usize) -> usize {
    let raw = text.get(scalar.clone()).unwrap_or_default();
    if let Some(start) = raw.find(value) {
        return scalar.start + start + offset.min(value.len());
    }
    let mut raw = raw.char_indices().peekable();
    let mut last = scalar.start;
    for (at, wanted) in value.char_indices() {
        if at > offset {
            break;
        }
        if wanted.is_whitespace() {
            continue;
        }
        for (place, found) in raw.by_ref() {
            if found == wanted {
                last = scalar.start + place;
                break;
            }
        }
        if at < offset {
            last += wanted.len_utf8();
        }
    }
    last.min(scalar.end)
}

/// Returns the place of the first character of a scalar's value, without a search for the rest of it.
pub(super) fn start_of(text: &str, scalar: &Range<usize>, value: &str) -> usize {
    let raw = text.get(scalar.clone()).unwrap_or_default();
    let first = value.chars().find(|letter| !letter.is_whitespace());
    scalar.start + first.and_then(|first| raw.find(first)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive_folding_and_quotes() {
        let folded = "when: >\n  a &&\n  bcd > 1\nx: y";
        let value = "a && bcd > 1\n";
        let at = place_in(folded, &(8..folded.len() - 5), value, value.find("bcd").unwrap());
        assert!(folded[at..].starts_with("bcd"), "{}", &folded[at..]);
        let quoted = r#"when: "a == \"b\" && cd""#;
        let value = "a == \"b\" && cd";
        let at = place_in(quoted, &(6..quoted.len()), value, value.find("cd").unwrap());
        assert!(quoted[at..].starts_with("cd"));
        assert!(quoted[start_of(quoted, &(6..quoted.len()), value)..].starts_with("a =="));
    }
}
