//! Wraps sentences that are longer than a line of a terminal.

/// Wraps long sentences at this width. Drawings and tables stay unchanged.
pub fn wrapped(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        if shown(bare) > columns && is_sentence(bare) {
            broken(&mut out, bare, columns)
        } else {
            out.push_str(bare)
        }
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

/// Returns true for a line without columns and drawings.
fn is_sentence(line: &str) -> bool {
    let said = line.trim_start();
    !said.contains("  ") && !said.contains(['│', '╭', '╰', '┬', '─']) && !said.starts_with('·')
}

fn broken(out: &mut String, line: &str, columns: usize) {
    let indent = line.len() - line.trim_start().len();
    let mut used = 0;
    for (number, word) in line.split(' ').enumerate() {
        let width = shown(word);
        if number > 0 && used > indent && used + 1 + width > columns {
            used = indent + 2;
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', used));
        } else if number > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width;
    }
}

/// Returns the width of a string that can contain color codes.
fn shown(text: &str) -> usize {
    let mut columns = 0;
    let mut is_color = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => is_color = true,
            'm' if is_color => is_color = false,
            _ if is_color => {}
            _ => columns += 1,
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_between_words_and_columns_do_not() {
        assert_eq!(wrapped("one two three\n", 8), "one two\n  three\n");
        assert_eq!(wrapped("  one two three", 9), "  one two\n    three");
        assert_eq!(wrapped("a  b  c  d  e\n", 4), "a  b  c  d  e\n");
        assert_eq!(wrapped("\u{1b}[1mone two\u{1b}[0m\n", 7), "\u{1b}[1mone two\u{1b}[0m\n");
        assert_eq!(wrapped("unbreakable/path is\n", 5), "unbreakable/path\n  is\n");
    }
}
