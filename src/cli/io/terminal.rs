//! The properties of the output: whether it is a terminal, its width, its colors and its characters.

use std::borrow::Cow;
use std::io::{self, IsTerminal};

/// An output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum OutputStream {
    Output,
    Errors,
}

impl OutputStream {
    pub(in crate::cli) fn is_terminal(self) -> bool {
        match self {
            OutputStream::Output => io::stdout().is_terminal(),
            OutputStream::Errors => io::stderr().is_terminal(),
        }
    }

    /// Whether the stream is a terminal that supports colors, and the user wants them (no-color.org).
    pub(in crate::cli) fn has_colors(self) -> bool {
        self.is_able() && set("NO_COLOR").is_none()
    }

    /// Whether the stream is a terminal that can move its cursor.
    pub(in crate::cli) fn is_able(self) -> bool {
        self.is_terminal() && set("TERM").is_none_or(|it| it != "dumb")
    }

    /// Returns the number of columns. `COLUMNS` overrides it, even without a terminal.
    pub(in crate::cli) fn columns(self) -> Option<usize> {
        let said = set("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
        let measured = || match self {
            OutputStream::Output => terminal_size::terminal_size_of(io::stdout()),
            OutputStream::Errors => terminal_size::terminal_size_of(io::stderr()),
        };
        said.or_else(|| measured().map(|(width, _)| usize::from(width.0)).filter(|columns| *columns > 0))
    }

    /// Replaces characters that the terminal does not support. Files and programs get the text unchanged.
    pub(in crate::cli) fn legible(self, text: &str) -> Cow<'_, str> {
        if text.is_ascii() || !self.is_terminal() || knows_unicode(&set) {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(ascii(text))
        }
    }
}

/// Returns an environment variable that is not empty.
fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether the locale uses UTF-8. Without a locale, as in most containers, UTF-8 is assumed.
fn knows_unicode(set: &dyn Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    cfg!(windows) || locale.is_none_or(|it| it.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

/// Replaces gpulint's own drawing characters with ASCII. Foreign text stays unchanged.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '─' | '–' | '—' | '┬' => out.push('-'),
            '│' => out.push('|'),
            '╭' | '╰' | '╮' | '╯' => out.push('+'),
            '·' => out.push('.'),
            '×' => out.push('x'),
            '⚠' | '☞' | '▲' => out.push('!'),
            '≈' => out.push('~'),
            '→' => out.push_str("->"),
            '…' => out.push_str("..."),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            '€' => out.push_str("EUR"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_says_what_a_terminal_knows() {
        for (set, expected) in [
            (&[][..], true),
            (&[("LANG", "C")], cfg!(windows)),
            (&[("LANG", "de_DE.ISO-8859-1")], cfg!(windows)),
            (&[("LANG", "C.UTF-8")], true),
            (&[("LANG", "C"), ("LC_ALL", "en_US.utf8")], true),
            (&[("LANG", "en_US.UTF-8"), ("LC_CTYPE", "POSIX")], cfg!(windows)),
        ] {
            let find = |name: &str| set.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(knows_unicode(&find), expected, "{set:?}");
        }
    }

    #[test]
    fn what_we_draw_has_letters_for_it() {
        assert_eq!(ascii("╭─[a.tf:1:1]\n4 × A10G: $1–2 → …"), "+-[a.tf:1:1]\n4 x A10G: $1-2 -> ...");
        assert_eq!(ascii("modell-ä"), "modell-ä");
    }
}
