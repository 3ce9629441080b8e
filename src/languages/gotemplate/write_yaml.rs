//! Values as YAML, byte for byte as `sigs.k8s.io/yaml` writes them: checksums of what charts write depend on it.

use crate::languages::go;
use crate::languages::yaml::scalar::{boolean, is_null, number};

use super::failure::TemplateFailure;
use super::numbers;
use super::text::{Text, TextOrigin, TextWriter};
use super::value::{GoValue, Heap, Kind};

const DEEPEST: usize = 64;
/// Behind this column a line is folded.
const WIDTH: usize = 80;
/// Longer keys are written with a question mark.
const LONGEST_KEY: usize = 128;

pub(crate) fn write(value: &GoValue, heap: &Heap) -> Result<Text, TemplateFailure> {
    let mut emitter = Emitter { writer: TextWriter::default(), heap };
    let value = &emitter.simple(value);
    match &value.kind {
        Kind::Map(map) if !map.is_empty() => emitter.map(value, 0, true, 0)?,
        Kind::List(list) if !list.items().is_empty() => emitter.list(value, 0, true, 0)?,
        _ => emitter.scalar(value, 0, false)?,
    }
    Ok(emitter.writer.finish())
}

struct Emitter<'h> {
    writer: TextWriter,
    heap: &'h Heap,
}

impl Emitter<'_> {
    fn simple(&self, value: &GoValue) -> GoValue {
        match &value.kind {
            Kind::Object(object) => object.plain(self.heap),
            _ => value.clone(),
        }
    }

    fn line(&mut self, indent: usize) {
        self.writer.push("\n", None);
        self.writer.push(&" ".repeat(indent), None);
    }

    fn column(&self) -> usize {
        let text = self.writer.as_str();
        let line = text.rfind('\n').map_or(0, |at| at + 1);
        text.get(line..).map_or(0, |line| line.chars().count())
    }

    /// `inline`: its first line begins where the writer stands.
    fn map(&mut self, value: &GoValue, indent: usize, mut inline: bool, depth: usize) -> Result<(), TemplateFailure> {
        let Some(map) = value.map() else { return Ok(()) };
        if depth > DEEPEST {
            return Err(TemplateFailure::Budget("values hold each other deeper than any chart's"));
        }
        let entries = map.borrow();
        let mut keys: Vec<_> = entries.iter().collect();
        keys.sort_by(|a, b| order(a.0, b.0));
        for (key, entry) in keys {
            self.heap.spend(key.len() + indent)?;
            if !std::mem::take(&mut inline) {
                self.line(indent);
            }
            let text = match entry.key {
                Some(origin) => Text::at(key, origin),
                None => Text::from(&**key),
            };
            let is_long = key.len() > LONGEST_KEY || key.contains('\n');
            if is_long {
                self.writer.push("? ", None);
            }
            self.text(&text, indent, !is_long);
            if is_long {
                self.line(indent);
            }
            self.writer.push(":", None);
            self.value(&entry.value, indent, depth)?;
        }
        Ok(())
    }

    /// What stands behind a colon.
    fn value(&mut self, value: &GoValue, indent: usize, depth: usize) -> Result<(), TemplateFailure> {
        let value = &self.simple(value);
        match &value.kind {
            Kind::Map(map) if !map.is_empty() => self.map(value, indent + 2, false, depth + 1),
            Kind::List(list) if !list.items().is_empty() => self.list(value, indent, false, depth + 1),
            _ => {
                self.writer.push(" ", None);
                self.scalar(value, indent, false)
            }
        }
    }

    fn list(&mut self, value: &GoValue, indent: usize, mut inline: bool, depth: usize) -> Result<(), TemplateFailure> {
        if depth > DEEPEST {
            return Err(TemplateFailure::Budget("values hold each other deeper than any chart's"));
        }
        for item in value.items().unwrap_or_default() {
            self.heap.spend(indent + 2)?;
            if !std::mem::take(&mut inline) {
                self.line(indent);
            }
            self.writer.push("- ", None);
            let item = &self.simple(item);
            match &item.kind {
                Kind::Map(map) if !map.is_empty() => self.map(item, indent + 2, true, depth + 1)?,
                Kind::List(list) if !list.items().is_empty() => self.list(item, indent + 2, true, depth + 1)?,
                _ => self.scalar(item, indent, false)?,
            }
        }
        Ok(())
    }

    fn scalar(&mut self, value: &GoValue, indent: usize, is_key: bool) -> Result<(), TemplateFailure> {
        let shown = match &value.kind {
            Kind::Text(_) => {
                let text = value.text().unwrap_or_else(|| "".into());
                self.heap.spend(text.len())?;
                self.text(&text, indent, is_key);
                return Ok(());
            }
            Kind::Unknown(cause) => {
                self.writer.push_hole(cause, value.origin);
                return Ok(());
            }
            Kind::Nil | Kind::NilInside => "null".to_owned(),
            Kind::Flag(flag) => flag.to_string(),
            Kind::Int(number) | Kind::Int64(number) => number.to_string(),
            Kind::Float(number) => float(*number),
            Kind::Map(_) => "{}".to_owned(),
            Kind::List(_) | Kind::Object(_) => "[]".to_owned(),
        };
        let exact = value.origin.filter(|origin| origin.linear && origin.span.range().len() == shown.len());
        let origin = exact.or(value.origin.map(|origin| TextOrigin { linear: false, ..origin }));
        self.writer.push(&shown, origin);
        Ok(())
    }

    fn text(&mut self, text: &Text, indent: usize, is_key: bool) {
        let shape = Shape::of(text.as_str());
        let multiline = text.as_str().contains('\n');
        if !text.holes().is_empty() {
            // What fills a hole decides about the quotes; what is written now only has to hold together.
            return if multiline && !is_key && shape.block {
                self.literal(text, indent)
            } else if shape.plain && !is_key && !multiline {
                self.writer.push_text(text, None)
            } else {
                self.double(text, indent, is_key)
            };
        }
        if multiline {
            return if shape.block && !is_key { self.literal(text, indent) } else { self.double(text, indent, is_key) };
        }
        if !is_string(text.as_str()) {
            return self.double(text, indent, is_key);
        }
        if shape.plain && !(is_key && text.len() == 0) {
            self.folded(text, indent, is_key, '\0');
        } else if shape.single {
            self.writer.push("'", text.origin_of_quotes());
            self.folded(text, indent, is_key, '\'');
            self.writer.push("'", None);
        } else {
            self.double(text, indent, is_key);
        }
    }

    /// Plain text, or text in single quotes, in lines that are not too long.
    fn folded(&mut self, text: &Text, indent: usize, is_key: bool, quote: char) {
        let all = text.as_str();
        let (mut from, mut spaces, mut column) = (0, false, self.column());
        let mut letters = all.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            if letter == ' ' {
                let edge = quote == '\'' && (at == 0 || next.is_none());
                if !is_key && !spaces && column > WIDTH && next != Some(' ') && !edge {
                    self.writer.push_slice(text, from, at, None);
                    self.line(indent + 2);
                    (from, column) = (at + 1, indent + 2);
                } else {
                    column += 1;
                }
                spaces = true;
                continue;
            }
            spaces = false;
            if letter == quote {
                self.writer.push_slice(text, from, at + 1, None);
                self.writer.push("'", None);
                from = at + 1;
                column += 1;
            }
            column += 1;
        }
        self.writer.push_slice(text, from, all.len(), None);
    }

    fn double(&mut self, text: &Text, indent: usize, is_key: bool) {
        self.writer.push("\"", text.origin_of_quotes());
        let all = text.as_str();
        let (mut from, mut spaces, mut column) = (0, false, self.column());
        let mut letters = all.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            if letter == ' ' {
                if !is_key && !spaces && column > WIDTH && at > 0 && next.is_some() {
                    self.writer.push_slice(text, from, at, None);
                    self.line(indent + 2);
                    column = indent + 2;
                    if next == Some(' ') {
                        self.writer.push("\\", None);
                        column += 1;
                    }
                    from = at + 1;
                } else {
                    column += 1;
                }
                spaces = true;
                continue;
            }
            spaces = false;
            match escape(letter) {
                Some(escape) => {
                    self.writer.push_slice(text, from, at, None);
                    self.writer.push(&escape, text.origin_at(at).map(|origin| TextOrigin { linear: false, ..origin }));
                    from = at + letter.len_utf8();
                    column += escape.len();
                }
                None => column += 1,
            }
        }
        self.writer.push_slice(text, from, all.len(), None);
        self.writer.push("\"", None);
    }

    fn literal(&mut self, text: &Text, indent: usize) {
        let all = text.as_str();
        self.writer.push("|", None);
        if all.starts_with([' ', '\n']) {
            self.writer.push("2", None);
        }
        if !all.ends_with('\n') {
            self.writer.push("-", None);
        } else if all.len() == 1 || all.ends_with("\n\n") {
            self.writer.push("+", None);
        }
        let mut at = 0;
        for line in all.split_inclusive('\n') {
            let content = line.trim_end_matches('\n');
            match content.is_empty() {
                true => self.writer.push("\n", None),
                false => self.line(indent + 2),
            }
            self.writer.push_slice(text, at, at + content.len(), None);
            at += line.len();
        }
        // What `+` keeps: all line ends but the one that every line has.
        let kept = all.len() - all.trim_end_matches('\n').len();
        if kept == 1 && all.len() == 1 {
            return;
        }
        let written = all.split_inclusive('\n').rev().take_while(|line| *line == "\n").count();
        if kept > written + 1 {
            self.writer.push(&"\n".repeat(kept - written - 1), None);
        }
    }
}

fn float(number: f64) -> String {
    let json = numbers::json(number);
    match json.parse::<i64>().is_ok() || json.parse::<u64>().is_ok() {
        true => json,
        false => numbers::general(number, 6),
    }
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

/// In which ways a text can be written.
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
            special |= !is_printable(letter) && !is_break;
            break_space |= letter == ' ' && was_break;
            space_break |= is_break && was_space;
            breaks |= is_break;
            // A carriage return is a break, and no block keeps it.
            special |= letter == '\r';
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

/// A plain scalar of this text is a string and nothing else.
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

/// `1:30`: what was once a number with base 60.
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

/// A date, or a date with a time.
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
    // Behind a letter there is a zone, and behind a blank none.
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

/// The order of keys: numbers inside by what they mean, letters behind other signs.
fn order(a: &str, b: &str) -> std::cmp::Ordering {
    use std::cmp::Ordering;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some(at) = a.iter().zip(&b).position(|(a, b)| a != b) else { return a.len().cmp(&b.len()) };
    let (Some(&first), Some(&second)) = (a.get(at), b.get(at)) else { return Ordering::Equal };
    match (first.is_alphabetic(), second.is_alphabetic()) {
        (true, true) => return first.cmp(&second),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let before = a.get(..at).unwrap_or_default().iter().rev().take_while(|letter| letter.is_ascii_digit());
    let inside = (first == '0' || second == '0') && before.into_iter().any(|digit| *digit != '0');
    let digits = |letters: &[char]| {
        let run = letters.get(at..).unwrap_or_default().iter().take_while(|letter| letter.is_ascii_digit());
        let start = i64::from(inside);
        run.fold((start, 0), |(sum, count), digit| {
            (sum.wrapping_mul(10).wrapping_add(i64::from(digit.to_digit(10).unwrap_or(0))), count + 1)
        })
    };
    let (x, y) = (digits(&a), digits(&b));
    x.0.cmp(&y.0).then(x.1.cmp(&y.1)).then(first.cmp(&second))
}

/// Values as JSON; `indent` is that of each level, or nothing for one line.
pub(super) fn json(
    value: &GoValue,
    indent: Option<&str>,
    for_pages: bool,
    heap: &Heap,
) -> Result<Text, TemplateFailure> {
    let mut writer = TextWriter::default();
    let format = Json { indent, for_pages, heap };
    format.value(value, 0, &mut writer)?;
    Ok(writer.finish())
}

struct Json<'f> {
    indent: Option<&'f str>,
    for_pages: bool,
    heap: &'f Heap,
}

impl Json<'_> {
    fn line(&self, depth: usize, writer: &mut TextWriter) {
        if let Some(indent) = self.indent {
            writer.push("\n", None);
            writer.push(&indent.repeat(depth), None);
        }
    }

    fn string(&self, text: &str, origin: Option<TextOrigin>, writer: &mut TextWriter) {
        let mut out = String::new();
        go::json(text, self.for_pages, &mut out);
        writer.push(&out, origin.map(|origin| TextOrigin { linear: false, ..origin }));
    }

    fn value(&self, value: &GoValue, depth: usize, writer: &mut TextWriter) -> Result<(), TemplateFailure> {
        if depth > DEEPEST {
            return Err(TemplateFailure::Budget("values hold each other deeper than any chart's"));
        }
        self.heap.spend(2 * depth + 8)?;
        match &value.kind {
            Kind::Nil | Kind::NilInside => writer.push("null", value.origin),
            Kind::Flag(flag) => writer.push(&flag.to_string(), value.origin),
            Kind::Int(number) | Kind::Int64(number) => writer.push(&number.to_string(), value.origin),
            Kind::Float(number) => writer.push(&numbers::json(*number), value.origin),
            Kind::Text(text) => {
                self.heap.spend(text.len())?;
                let whole = text.holes().iter().any(|hole| hole.start == 0 && hole.end == text.len());
                match (whole, text.hole()) {
                    (true, Some(cause)) => {
                        writer.push("\"", None);
                        writer.push_hole(cause, value.place());
                        writer.push("\"", None);
                    }
                    (false, Some(cause)) => return Err(TemplateFailure::Unknown(cause.clone())),
                    _ => self.string(text.as_str(), value.place(), writer),
                }
            }
            Kind::Unknown(cause) => {
                writer.push("\"", None);
                writer.push_hole(cause, value.origin);
                writer.push("\"", None);
            }
            Kind::Object(object) => self.value(&object.plain(self.heap), depth + 1, writer)?,
            Kind::List(list) if list.items().is_empty() => writer.push("[]", value.origin),
            Kind::List(list) => {
                writer.push("[", None);
                for (number, item) in list.items().iter().enumerate() {
                    writer.push(if number > 0 { "," } else { "" }, None);
                    self.line(depth + 1, writer);
                    self.value(item, depth + 1, writer)?;
                }
                self.line(depth, writer);
                writer.push("]", None);
            }
            Kind::Map(map) if map.is_empty() => writer.push("{}", value.origin),
            Kind::Map(map) => {
                writer.push("{", None);
                for (number, (key, entry)) in map.borrow().iter().enumerate() {
                    writer.push(if number > 0 { "," } else { "" }, None);
                    self.line(depth + 1, writer);
                    self.string(key, entry.key, writer);
                    writer.push(if self.indent.is_some() { ": " } else { ":" }, None);
                    self.value(&entry.value, depth + 1, writer)?;
                }
                self.line(depth, writer);
                writer.push("}", None);
            }
        }
        Ok(())
    }
}
