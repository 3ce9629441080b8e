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

/// Wraps the paragraphs and lists of Markdown at this width. Code blocks, tables and headings stay unchanged.
pub fn wrapped_markdown(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut paragraph = String::new();
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let is_prose = !is_code && !is_fence && !line.is_empty() && !line.starts_with(['#', '|', '>', '<']);
        if !is_prose || is_item(line) {
            flush(&mut out, &mut paragraph, columns);
        }
        if is_prose {
            let (gap, words) = if paragraph.is_empty() { ("", line) } else { (" ", line.trim_start()) };
            paragraph.extend([gap, words]);
        } else {
            out.extend([line, "\n"]);
        }
        is_code ^= is_fence;
    }
    flush(&mut out, &mut paragraph, columns);
    out
}

/// Returns true for the first line of a list entry.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || line.starts_with("* ") || number.len() < line.len() && number.starts_with(". ")
}

fn flush(out: &mut String, paragraph: &mut String, columns: usize) {
    if paragraph.is_empty() {
        return;
    }
    let indent = paragraph.len() - paragraph.trim_start().len();
    break_at(out, paragraph, columns, indent + if is_item(paragraph) { 2 } else { 0 });
    out.push('\n');
    paragraph.clear();
}

/// Returns true for a line without columns and drawings.
fn is_sentence(line: &str) -> bool {
    let said = line.trim_start();
    !said.contains("  ") && !said.contains(['│', '╭', '╰', '┬', '─']) && !said.starts_with('·')
}

fn broken(out: &mut String, line: &str, columns: usize) {
    let indent = line.len() - line.trim_start().len();
    break_at(out, line, columns, indent + 2);
}

/// Appends a line, broken between words. The lines after the first one have this indentation.
fn break_at(out: &mut String, line: &str, columns: usize, hanging: usize) {
    let indent = line.len() - line.trim_start().len();
    let mut used = 0;
    for (number, word) in line.split(' ').enumerate() {
        let width = shown(word);
        if number > 0 && used > indent && used + 1 + width > columns {
            used = hanging;
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

    #[test]
    fn paragraphs_of_markdown_are_joined_and_code_is_not() {
        let text = "# one two three\n\none two\nthree four\n\n- one two\n  three\n- four\n\n```sh\none two three\n```\n| one two three |\n";
        let expected = "# one two three\n\none two\nthree\nfour\n\n- one\n  two\n  three\n- four\n\n```sh\none two three\n```\n| one two three |\n";
        assert_eq!(wrapped_markdown(text, 7), expected);
        assert_eq!(wrapped_markdown(expected, 7), expected);
    }
}
