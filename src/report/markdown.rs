//! Words of a repository inside Markdown: no mention, no link, no HTML, no broken fence, no table cell too many.

use super::escape;

/// Text that Markdown shows as it is.
pub(super) fn plain(text: &str) -> String {
    let mut shown = String::new();
    let mut previous = ' ';
    for c in escape::one_line(text).chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            // Hosts look for mentions and issue numbers in the rendered text, where an entity is a letter again.
            '@' | '#' => shown.extend([c, '\u{200b}']),
            // `https://…` and `www.…` would become links.
            ':' => shown.push_str("&#58;"),
            '.' if previous == 'w' || previous == 'W' => shown.push_str("&#46;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '|' | '~' | '!' | '$' => {
                shown.push('\\');
                shown.push(c);
            }
            c => shown.push(c),
        }
        previous = c;
    }
    shown
}

/// Text as code: in a fence longer than any run of backticks inside, without a character that splits a table.
pub(super) fn code(text: &str) -> String {
    let text = escape::one_line(text).replace('|', "¦");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_a_repository_becomes_markup() {
        let shown = plain("@everyone </details> [x](javascript:alert(1)) www.evil.example https://evil ```\u{1b}[31m #1");
        for markup in ["@e", "<", "](", "www.", "://", "``", "\u{1b}", "#1"] {
            assert!(!shown.contains(markup), "{markup} in {shown}");
        }
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert_eq!(code("a|b\nc"), "`a¦b c`");
    }
}
