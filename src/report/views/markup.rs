//! Text of others inside Markdown.

use crate::report::escape;

/// Text that Markdown shows as it is.
pub(in crate::report) fn plain(text: &str) -> String {
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
pub(in crate::report) fn code(text: &str) -> String {
    let text = escape::one_line(text).replace('|', "¦");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}
