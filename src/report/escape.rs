//! Escapes strings from a repository, so that they cannot move a cursor, reverse a line or break out of a format.

use std::borrow::Cow;

/// Replaces control and direction characters by harmless ones of the same length in bytes, so that places stay valid.
/// Tabs and line feeds stay.
pub fn harmless(text: &str) -> String {
    if text.bytes().all(|byte| byte == b'\t' || byte == b'\n' || (b' '..0x7f).contains(&byte)) {
        return text.to_owned();
    }
    text.chars().map(replaced).collect()
}

/// Does the same, and puts the string on one line.
pub fn one_line(text: &str) -> String {
    harmless(text).replace(['\n', '\t'], " ")
}

/// Strings that CI runners execute as commands anywhere in a log line.
const COMMANDS: [(&str, &str); 2] = [("##[", "["), ("##vso[", "vso[")];

/// Escapes commands to CI runners: `::stop-commands::` at the beginning of a line, or `##[error]` and `##vso[…]`
/// anywhere.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    let text = without_marked(text, "\\#");
    if !text.contains("::") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        if begins_command(bare) {
            out.push_str(line.get(..line.len() - bare.len()).unwrap_or_default());
            out.push('\\');
            out.push_str(bare);
        } else {
            out.push_str(line);
        }
    }
    Cow::Owned(out)
}

/// Does the same for a format whose lines begin with other characters. `hash` replaces the `#`.
pub fn without_marked<'t>(text: &'t str, hash: &str) -> Cow<'t, str> {
    if !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let text =
        COMMANDS.iter().fold(text.to_owned(), |text, (mark, rest)| text.replace(mark, &format!("#{hash}{rest}")));
    Cow::Owned(text)
}

/// Returns true if text would be a command at the beginning of a line.
pub(super) fn begins_command(text: &str) -> bool {
    text.starts_with("::") || COMMANDS.iter().any(|(mark, _)| text.starts_with(mark))
}

fn replaced(c: char) -> char {
    match c {
        '\t' | '\n' => c,
        c if !is_hostile(c) => c,
        '\r' => ' ',
        c => match c.len_utf8() {
            1 => '?',
            2 => '·',
            3 => '\u{fffd}',
            _ => '🚫',
        },
    }
}

/// Returns true for control characters, characters that change the direction of text, and invisible characters.
pub(super) fn is_hostile(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || turns || breaks || is_invisible(c)
}

/// Joiners and separators without width, fillers that look like blanks, and tags and selectors that can hide whole
/// sentences from people, but not from programs. Selectors of emoji and scripts stay.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{3164}'
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Shortens a string to this many characters; an ellipsis marks the cut.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(most.saturating_sub(1)).collect();
            format!("{kept}…")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_a_command_of_a_pipeline() {
        let log = "a\n::stop-commands::x\n  ::error::y\nb ::c\nd ##[error]e ##vso[task.f]g # ## h\n";
        let safe = "a\n\\::stop-commands::x\n  \\::error::y\nb ::c\nd #\\#[error]e #\\#vso[task.f]g # ## h\n";
        assert_eq!(without_commands(log), safe);
        assert_eq!(without_marked("\"##[a]\"", "\\u0023"), "\"#\\u0023[a]\"");
        assert!(matches!(without_commands("a: b # c\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_control_character_is_left_and_no_byte_moves() {
        let hostile = "a\u{1b}[31mb\r\u{7}\u{9b}c\u{202e}d\u{200b}é\tf\u{61c}\u{ad}\u{e0041}";
        let text = harmless(hostile);
        assert_eq!(text.len(), hostile.len());
        assert!(text.chars().all(|c| !is_hostile(c) || c == '\t'));
        assert_eq!(text, "a?[31mb ?·c\u{fffd}d\u{fffd}é\tf··🚫");
        assert_eq!(one_line("a\nb"), "a b");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
