//! Builds Markdown so that nothing from a repository can become markup.

use crate::report::escape;

/// A piece of Markdown. Only this program's constants are markup; everything else becomes escaped text, code or an
/// address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::report) struct Markdown(String);

/// The arguments of `markdown!`: gpulint's own markup, numbers, and pieces of Markdown. A string that was read is
/// never `'static`, so it cannot be markup.
pub(in crate::report) trait MarkupPiece {
    fn write(self, out: &mut String);
}

impl MarkupPiece for &'static str {
    fn write(self, out: &mut String) {
        out.push_str(self);
    }
}

impl MarkupPiece for usize {
    fn write(self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}

impl MarkupPiece for Markdown {
    fn write(self, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl<P: MarkupPiece> MarkupPiece for Option<P> {
    fn write(self, out: &mut String) {
        if let Some(piece) = self {
            piece.write(out);
        }
    }
}

/// Appends pieces to Markdown in order.
macro_rules! markdown {
    ($out:expr, $($piece:expr),+ $(,)?) => {{
        $($out.push($piece);)+
    }};
}
pub(in crate::report) use markdown;

impl Markdown {
    pub(in crate::report) fn push(&mut self, piece: impl MarkupPiece) {
        piece.write(&mut self.0);
    }

    /// Removes line ends and blanks from the end.
    pub(in crate::report) fn trim_end(&mut self) {
        self.0.truncate(self.0.trim_end().len());
    }

    pub(in crate::report) fn characters(&self) -> usize {
        self.0.chars().count()
    }

    pub(in crate::report) fn into_string(self) -> String {
        self.0
    }
}

/// Returns escaped text of at most this many characters. Text between backticks becomes code.
pub(in crate::report) fn text(text: &str, most: usize) -> Markdown {
    let text = escape::shortened(text, most);
    let mut shown = String::new();
    let mut rest = text.as_str();
    while let Some((before, (inside, after))) =
        rest.split_once('`').and_then(|(before, behind)| Some((before, behind.split_once('`')?)))
    {
        shown.push_str(&plain(before));
        // Several backticks in a row do not mark code. A code span directly after another one would merge with it.
        if inside.is_empty() || shown.ends_with('`') {
            shown.push_str(&plain(&format!("`{inside}`")));
        } else {
            shown.push_str(&in_ticks(inside));
        }
        rest = after;
    }
    shown.push_str(&plain(rest));
    Markdown(shown)
}

/// Returns code for a table cell. A long address is split into several lines, because no host breaks it.
pub(in crate::report) fn cell_code(text: &str, most: usize) -> Markdown {
    const WIDE: usize = 48;
    let text = escape::shortened(&escape::one_line(text), most);
    let mut lines = vec![String::new()];
    for piece in text.split_inclusive(['.', '/', ',']) {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.chars().count() + piece.chars().count() <= WIDE => {
                line.push_str(piece)
            }
            _ => lines.push(piece.to_owned()),
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| in_ticks(line)).collect();
    Markdown(lines.join("<br>"))
}

/// Returns a string as code, at most this many characters.
pub(in crate::report) fn code(text: &str, most: usize) -> Markdown {
    Markdown(in_ticks(&escape::shortened(text, most)))
}

/// Returns gpulint's own words and figures, which stay readable as plain text. All other characters are escaped.
pub(in crate::report) fn figures(text: &str) -> Markdown {
    // Strings that hosts turn into links are not figures.
    if ["www.", "http", "://"].iter().any(|it| text.to_ascii_lowercase().contains(it)) {
        return Markdown(plain(text));
    }
    let mut shown = String::new();
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let next = letters.peek().copied();
        let is_plain = match c {
            // A dollar sign without a number behind it begins a formula.
            '$' => next.is_some_and(|next| next.is_ascii_digit()),
            ':' => next.is_none_or(|next| next == ' '),
            '(' | ')' | '.' | ',' | ';' | '%' | '+' | '-' | '/' | '\'' | ' ' => true,
            '€' | '£' | '¥' | '→' | '–' | '×' | '·' => true,
            c => c.is_ascii_alphanumeric(),
        };
        if is_plain { shown.push(c) } else { shown.push_str(&plain(c.encode_utf8(&mut [0; 4]))) }
    }
    Markdown(shown)
}

/// Returns a link with Markdown as its text.
pub(in crate::report) fn linked(text: Markdown, address: &Address) -> Markdown {
    Markdown(format!("[{}]({})", text.0, address.0))
}

/// An address without characters that end a link.
pub(in crate::report) struct Address(String);

impl Address {
    /// Encodes all characters that are not valid in an address.
    pub(in crate::report) fn new(address: &str) -> Address {
        let mut shown = String::with_capacity(address.len());
        for byte in address.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => shown.push(char::from(byte)),
                b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'@' | b'+' | b'=' | b',' | b'%' | b'#' | b'?' | b'&' => {
                    shown.push(char::from(byte));
                }
                other => shown.push_str(&format!("%{other:02X}")),
            }
        }
        Address(shown)
    }

    /// Returns the address of a line of a file; the path can contain anything.
    pub(in crate::report) fn of_line(base: &str, path: &str, line: usize) -> Address {
        let path: String = path
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
                other => format!("%{other:02X}"),
            })
            .collect();
        let Address(base) = Address::new(base);
        Address(format!("{base}/{path}#L{line}"))
    }

    pub(in crate::report) fn as_str(&self) -> &str {
        &self.0
    }
}

fn plain(text: &str) -> String {
    let mut shown = String::new();
    let mut previous = ' ';
    let text = escape::one_line(text);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            // Hosts search the rendered text for mentions and issue numbers, where an entity is a letter again.
            '@' | '#' => shown.extend([c, '\u{200b}']),
            // `https://…` and `www.…` would become links, on some hosts even in the rendered text.
            ':' if letters.peek() == Some(&'/') => shown.push_str("&#58;\u{200b}"),
            ':' => shown.push_str("&#58;"),
            '.' if previous == 'w' || previous == 'W' => shown.push_str("&#46;\u{200b}"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '|' | '~' | '!' | '$' | '^' => {
                shown.push('\\');
                shown.push(c);
            }
            c => shown.push(c),
        }
        previous = c;
    }
    shown
}

/// Returns text as code, in more backticks than any sequence of backticks in the text. Removes characters that split a
/// table.
fn in_ticks(text: &str) -> String {
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
        let hostile =
            "@everyone </details> [x](javascript:alert(1)) www.evil.example https://evil ```\u{1b}[31m #1 $a$";
        for shown in [text(hostile, 500), figures(hostile)] {
            let Markdown(shown) = shown;
            let rendered = shown.replace("&#58;", ":").replace("&#46;", ".");
            assert!(!rendered.contains("://") && !rendered.contains("www.e"), "{rendered}");
            for markup in ["@e", "<", "](", "www.", "://", "``", "\u{1b}", "#1", " $a"] {
                assert!(!shown.contains(markup), "{markup} in {shown}");
            }
        }
        let code = |it: &str| code(it, 100).into_string();
        assert_eq!(
            (code("a`b"), code("`x`"), code("a|b\nc")),
            ("``a`b``".into(), "`` `x` ``".into(), "`a¦b c`".into())
        );
    }

    #[test]
    fn commands_and_names_become_code() {
        let shown = |it: &str| text(it, 100).into_string();
        assert_eq!(shown("set `a_b`, then `c|d`"), "set `a_b`, then `c¦d`");
        assert_eq!(shown("`` is none, ` neither, `a``b`"), "\\`\\` is none, ` neither, `a\\`\\`b\\`");
        let wide = "module.clusters[\"eu\"].module.pools.google_container_node_pool.this[\"gpu\"]";
        let lines = cell_code(wide, 200).into_string();
        assert_eq!(lines, "`module.clusters[\"eu\"].module.pools.`<br>`google_container_node_pool.this[\"gpu\"]`");
    }

    #[test]
    fn figures_stay_readable() {
        let shown = "at least $80,742 a month (+$281,254, +70%); 3 findings are new: see below";
        assert_eq!(figures(shown).into_string(), shown);
        assert_eq!(figures("~$5 of `a`: x:y").into_string(), "\\~$5 of \\`a\\`: x&#58;y");
    }

    #[test]
    fn no_path_ends_a_link() {
        let Address(address) = Address::of_line("https://h/o/r/blob/1", "d/[A](http:/evil) x/main.tf", 3);
        assert_eq!(address, "https://h/o/r/blob/1/d/%5BA%5D%28http%3A/evil%29%20x/main.tf#L3");
        let Address(address) = Address::new("https://h/a b)c");
        assert_eq!(address, "https://h/a%20b%29c");
    }
}
