//! Writes strings as Go's YAML library does: plain, in quotes, or as a block. helm and Terraform each contain a copy of
//! this library.

use super::scalar::{boolean, is_null, number};

/// The column after which a line is folded.
const WIDTH: usize = 80;
/// The length of keys after which they need a question mark.
const LONGEST_KEY: usize = 128;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum TextStyle {
    Plain,
    Single,
    Double,
    Literal,
}

/// A piece of the output.
pub(crate) enum Written<'w> {
    /// A range of bytes of the text.
    Slice(usize, usize),
    /// Escape for the character at a position.
    Escape(usize, &'w str),
    /// Spaces and line breaks that the text does not contain.
    Made(&'w str),
}

pub(crate) fn is_long_key(key: &str) -> bool {
    key.len() > LONGEST_KEY || key.contains('\n')
}

impl TextStyle {
    /// Returns the style for a string. If `bare` is true, unambiguous strings get no quotes.
    pub(crate) fn of(text: &str, is_key: bool, bare: bool) -> TextStyle {
        let shape = Shape::of(text);
        match () {
            () if text.contains('\n') => {
                if shape.block && !is_key {
                    TextStyle::Literal
                } else {
                    TextStyle::Double
                }
            }
            () if !bare || !is_string(text) => TextStyle::Double,
            () if shape.plain && !(is_key && text.is_empty()) => TextStyle::Plain,
            () if shape.single => TextStyle::Single,
            () => TextStyle::Double,
        }
    }

    /// Returns the style of a partly unknown string. Its unknown part decides the final quotes, so this style only has
    /// to be valid.
    pub(crate) fn with_holes(text: &str, is_key: bool) -> TextStyle {
        let shape = Shape::of(text);
        match text.contains('\n') {
            true if shape.block && !is_key => TextStyle::Literal,
            false if shape.plain && !is_key => TextStyle::Plain,
            _ => TextStyle::Double,
        }
    }

    pub(crate) fn quote(self) -> &'static str {
        match self {
            TextStyle::Single => "'",
            TextStyle::Double => "\"",
            TextStyle::Plain | TextStyle::Literal => "",
        }
    }

    /// Writes the content between the quotes from a column on. Later lines have an `indent`; without one, there is only
    /// one line.
    pub(crate) fn write(self, text: &str, column: usize, indent: Option<usize>, put: &mut dyn FnMut(Written<'_>)) {
        match self {
            TextStyle::Literal => literal(text, indent.unwrap_or(2), put),
            _ => self.flow(text, column, indent, put),
        }
    }

    fn flow(self, text: &str, mut column: usize, indent: Option<usize>, put: &mut dyn FnMut(Written<'_>)) {
        let (mut from, mut spaces) = (0, false);
        let mut letters = text.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            column += 1;
            if letter == ' ' {
                let folds = !spaces && column > WIDTH + 1 && at > 0 && next.is_some();
                spaces = true;
                if let Some(indent) = indent.filter(|_| folds && (self == TextStyle::Double || next != Some(' '))) {
                    put(Written::Slice(from, at));
                    line(indent, put);
                    (from, column) = (at + 1, indent);
                    if next == Some(' ') {
                        put(Written::Made("\\"));
                        column += 1;
                    }
                }
                continue;
            }
            spaces = false;
            if self == TextStyle::Single && letter == '\'' {
                put(Written::Slice(from, at + 1));
                put(Written::Made("'"));
                (from, column) = (at + 1, column + 1);
            } else if let Some(escape) = escape(letter).filter(|_| self == TextStyle::Double) {
                put(Written::Slice(from, at));
                put(Written::Escape(at, &escape));
                (from, column) = (at + letter.len_utf8(), column + escape.len() - 1);
            }
        }
        put(Written::Slice(from, text.len()));
    }
}

fn line(indent: usize, put: &mut dyn FnMut(Written<'_>)) {
    put(Written::Made("\n"));
    put(Written::Made(&" ".repeat(indent)));
}

/// Writes without the line break at the end.
fn literal(text: &str, indent: usize, put: &mut dyn FnMut(Written<'_>)) {
    put(Written::Made("|"));
    if text.starts_with([' ', '\n']) {
        put(Written::Made("2"));
    }
    if !text.ends_with('\n') {
        put(Written::Made("-"));
    } else if text.len() == 1 || text.ends_with("\n\n") {
        put(Written::Made("+"));
    }
    let mut at = 0;
    for full in text.split_inclusive('\n') {
        let content = full.trim_end_matches('\n');
        match content.is_empty() {
            true => put(Written::Made("\n")),
            false => line(indent, put),
        }
        put(Written::Slice(at, at + content.len()));
        at += full.len();
    }
}

/// Writes double quotes on one line, which every reader parses to the same string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn escape(letter: char) -> Option<String> {
    if is_printable(letter) && !matches!(letter, '"' | '\\' | '\n') {
        return None;
    }
    let simple = match letter {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        other => {
            let code = u32::from(other);
            return Some(match code {
                0..=0xff => format!("\\x{code:02X}"),
                0x100..=0xffff => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            });
        }
    };
    Some(format!("\\{simple}"))
}

fn is_printable(letter: char) -> bool {
    match u32::from(letter) {
        0x0a | 0x20..=0x7e => true,
        0xa0..=0xd7ff => !matches!(letter, '\u{2028}' | '\u{2029}'),
        0xe000..=0xfffd => letter != '\u{feff}',
        _ => false,
    }
}

/// The possible styles of a string.
struct Shape {
    plain: bool,
    single: bool,
    block: bool,
}

impl Shape {
    fn of(text: &str) -> Shape {
        let mut shape = Shape { plain: true, single: true, block: true };
        if text.is_empty() {
            return Shape { block: false, ..shape };
        }
        let (mut blank_before, mut was_space, mut was_break) = (true, false, false);
        let mut letters = text.chars().peekable();
        let mut first = true;
        let is_blank = |letter: Option<char>| letter.is_none_or(|it| matches!(it, ' ' | '\t' | '\n' | '\r'));
        let is_marked = text.starts_with("---") || text.starts_with("...");
        let (mut breaks, mut special, mut space_break, mut break_space) = (false, false, false, false);
        while let Some(letter) = letters.next() {
            let blank_after = is_blank(letters.peek().copied());
            let indicates = match letter {
                '#' if first || blank_before => true,
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => first,
                '?' => first && blank_after,
                '-' => first && blank_after,
                ':' => blank_after,
                _ => false,
            };
            shape.plain &= !indicates;
            let is_break = matches!(letter, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
            special |= !is_printable(letter) && !matches!(letter, '\u{2028}' | '\u{2029}');
            break_space |= letter == ' ' && was_break;
            space_break |= is_break && was_space;
            breaks |= is_break;
            (was_space, was_break) = (letter == ' ', is_break);
            blank_before = is_blank(Some(letter));
            first = false;
        }
        let edges = text.starts_with([' ', '\n', '\r']) || text.ends_with([' ', '\n', '\r']);
        shape.plain &= !(edges || breaks || is_marked || space_break || special || break_space);
        shape.single &= !(space_break || special || break_space);
        shape.block &= !(text.ends_with(' ') || space_break || special);
        shape
    }
}

/// Returns true if a plain scalar with this text is a string.
fn is_string(text: &str) -> bool {
    const NUMBERS: [&str; 12] =
        [".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"];
    if is_null(text) || boolean(text).is_some() || NUMBERS.contains(&text) {
        return false;
    }
    let Some(first) = text.chars().next() else { return false };
    if !(first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return true;
    }
    !(number(text).is_some() || is_sixty(text) || is_time(text))
}

/// Returns true if it is a number with base 60 in old YAML: `1:30`.
fn is_sixty(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = digits.split(':');
    let first = parts.next().unwrap_or_default();
    let head = first.starts_with(|c: char| c.is_ascii_digit()) && first.chars().all(|c| c.is_ascii_digit() || c == '_');
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else { return false };
    let sixty = |part: &str| {
        matches!(part.len(), 1 | 2)
            && part.chars().all(|c| c.is_ascii_digit())
            && (part.len() == 1 || part.starts_with(|c: char| ('0'..='5').contains(&c)))
    };
    let (whole, fraction) = last.split_once('.').unwrap_or((last, ""));
    head && middle.iter().all(|part| sixty(part))
        && sixty(whole)
        && fraction.chars().all(|c| c.is_ascii_digit() || c == '_')
}

/// Returns true if it is a date, with or without a time.
fn is_time(text: &str) -> bool {
    let Some((year, rest)) = text.split_once('-') else { return false };
    let Some((month, rest)) = rest.split_once('-') else { return false };
    let number = |text: &str, most: u32| {
        matches!(text.len(), 1 | 2) && text.parse::<u32>().is_ok_and(|number| number <= most) && !text.starts_with('+')
    };
    if year.len() != 4 || !year.chars().all(|c| c.is_ascii_digit()) || !number(month, 12) {
        return false;
    }
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (day, time) = rest.split_at(end);
    if !number(day, 31) || number(day, 0) || number(month, 0) {
        return false;
    }
    let is_bare = time.starts_with(' ');
    let Some(time) = time.strip_prefix(['T', 't', ' ']) else { return time.is_empty() };
    let (clock, zone) = time.split_at(time.find(['Z', '+', '-']).unwrap_or(time.len()));
    // A time zone follows only if a letter, and not a space, separates date and time.
    let is_zone = match zone.strip_prefix(['+', '-']) {
        Some(hours) => {
            hours.split_once(':').is_some_and(|(h, m)| h.len() == 2 && number(h, 24) && m.len() == 2 && number(m, 60))
        }
        None => zone == "Z",
    };
    if if is_bare { !zone.is_empty() } else { !is_zone } {
        return false;
    }
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts.as_slice() else { return false };
    let second = second.split_once('.').map_or(*second, |(whole, _)| whole);
    number(hour, 23) && number(minute, 59) && number(second, 59)
}
