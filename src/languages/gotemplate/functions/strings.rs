//! Implements functions of strings that preserve origins as far as possible.

use crate::languages::go;

use super::super::failure::TemplateFailure;
use super::super::print;
use super::super::text::{Text, TextOrigin, TextWriter};
use super::super::value::{GoKind, GoValue};
use super::How::{Careful, Form, Plain};
use super::{FunctionCall, FunctionOutcome, Row};

/// The limit on the indentation of a line, above any real one.
const WIDEST: i64 = 4_000;

pub(super) const TABLE: &[Row] = &[
    ("quote", "*a", Careful, |c| quoted(c, '"')),
    ("squote", "*a", Careful, |c| quoted(c, '\'')),
    ("toString", "a", Careful, |c| match &c.any(0) {
        value @ GoValue { kind: GoKind::Unknown(_), .. } => Ok(value.clone()),
        value => Ok(print::text(value)?.into()),
    }),
    ("toStrings", "a", Careful, |c| {
        let texts = c.texts(0)?;
        c.heap().texts(texts)
    }),
    ("trim", "s", Careful, |c| {
        let text = c.text(0)?;
        edges(&text, |it| it.trim())
    }),
    ("trimAll", "ss", Careful, trim_all),
    ("trimall", "ss", Careful, trim_all),
    ("trimSuffix", "ss", Careful, |c| {
        let (end, text) = (c.known(0)?.to_owned(), c.text(1)?);
        edges(&text, |it| it.strip_suffix(&*end).unwrap_or(it))
    }),
    ("trimPrefix", "ss", Careful, |c| {
        let (start, text) = (c.known(0)?.to_owned(), c.text(1)?);
        edges(&text, |it| it.strip_prefix(&*start).unwrap_or(it))
    }),
    ("indent", "is", Careful, |c| indented(c, false)),
    ("nindent", "is", Careful, |c| indented(c, true)),
    ("replace", "sss", Careful, |c| {
        let (old, new, text) = (c.known(0)?.to_owned(), c.text(1)?, c.text(2)?);
        replaced(c, &text, &old, &new)
    }),
    ("cat", "*a", Careful, |c| {
        let mut writer = TextWriter::default();
        for (number, value) in c.arguments.iter().filter(|value| !value.is_nil()).enumerate() {
            writer.push(if number > 0 { " " } else { "" }, None);
            print::push(value, &mut writer)?;
        }
        c.text_result(writer.finish())
    }),
    ("join", "sa", Careful, |c| {
        let (between, texts) = (c.text(0)?, c.texts(1)?);
        c.may_make(texts.len().saturating_mul(between.weight()))?;
        let mut writer = TextWriter::default();
        for (number, text) in texts.iter().enumerate() {
            if number > 0 {
                writer.push_text(&between, None);
            }
            writer.push_text(text, None);
        }
        c.text_result(writer.finish())
    }),
    ("trunc", "is", Careful, trunc),
    ("substr", "iis", Careful, substr),
    ("upper", "s", Form, |c| c.text_result(c.str(0).to_uppercase())),
    ("lower", "s", Form, |c| c.text_result(c.str(0).to_lowercase())),
    ("title", "s", Form, |c| c.text_result(titled(c.str(0)))),
    ("untitle", "s", Form, |c| c.text_result(untitled(c.str(0)))),
    ("repeat", "is", Form, |c| {
        let (count, text) = (c.int(0), c.str(1));
        let count = usize::try_from(count).map_err(|_| TemplateFailure::from("strings: negative Repeat count"))?;
        c.may_make(count.saturating_mul(text.len()))?;
        Ok(text.repeat(count).into())
    }),
    ("nospace", "s", Form, |c| c.text_result(c.str(0).chars().filter(|it| !it.is_whitespace()).collect::<String>())),
    ("contains", "ss", Plain, |c| Ok(c.str(1).contains(c.str(0)).into())),
    ("hasPrefix", "ss", Careful, |c| {
        let (start, text) = (c.known(0)?.to_owned(), c.text(1)?);
        match text.holes().first() {
            Some(hole) if hole.start < start.len() => Err(hole.cause.clone().into()),
            _ => Ok(text.as_str().starts_with(&start).into()),
        }
    }),
    ("hasSuffix", "ss", Plain, |c| Ok(c.str(1).ends_with(c.str(0)).into())),
    ("split", "ss", Plain, |c| numbered(c, c.str(1).split(c.str(0)), c.str(0), c.str(1))),
    ("splitn", "sis", Plain, |c| {
        let count = usize::try_from(c.int(1)).unwrap_or(usize::MAX);
        numbered(c, c.str(2).splitn(count, c.str(0)), c.str(0), c.str(2))
    }),
    ("splitList", "ss", Plain, |c| {
        let text = c.text(1)?;
        let between = c.str(0);
        if between.is_empty() {
            return c.heap().texts(text.as_str().chars().map(String::from));
        }
        let mut at = 0;
        c.heap().texts(text.as_str().split(between).map(|part| {
            let start = at;
            at += part.len() + between.len();
            text.slice(start, start + part.len())
        }))
    }),
];

fn edges(text: &Text, cut: impl Fn(&str) -> &str) -> FunctionOutcome {
    let all = text.as_str();
    let kept = cut(all);
    // If an unknown part is at the edge, it decides how much is trimmed.
    let start = kept.as_ptr() as usize - all.as_ptr() as usize;
    Ok(GoValue::from(text.slice(start, start + kept.len())))
}

fn trim_all(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let (signs, text) = (c.known(0)?.to_owned(), c.text(1)?);
    edges(&text, |it| it.trim_matches(|letter| signs.contains(letter)))
}

fn quoted(c: &mut FunctionCall<'_, '_>, sign: char) -> FunctionOutcome {
    let mut writer = TextWriter::default();
    let mut encoded = [0; 4];
    for value in c.arguments.iter().filter(|value| !value.is_nil()) {
        writer.push(if writer.len() > 0 { " " } else { "" }, None);
        let mut own = TextWriter::default();
        print::push(value, &mut own)?;
        let text = own.finish();
        writer.push(sign.encode_utf8(&mut encoded), text.origin_of_quotes());
        match sign {
            '"' => escape(&text, &mut writer),
            _ => writer.push_text(&text, None),
        }
        writer.push(sign.encode_utf8(&mut encoded), None);
    }
    c.text_result(writer.finish())
}

fn escape(text: &Text, writer: &mut TextWriter) {
    let mut from = 0;
    for (at, letter) in text.as_str().char_indices() {
        if let Some(escaped) = go::escape(letter, '"') {
            writer.push_slice(text, from, at, None);
            writer.push(&escaped, text.origin_at(at).map(|origin| TextOrigin { linear: false, ..origin }));
            from = at + letter.len_utf8();
        }
    }
    writer.push_slice(text, from, text.len(), None);
}

fn indented(c: &mut FunctionCall<'_, '_>, line: bool) -> FunctionOutcome {
    let count = c.known_int(0)?;
    if !(0..=WIDEST).contains(&count) {
        return Err("strings: negative Repeat count".into());
    }
    let value = c.any(1);
    let text = match &value.kind {
        GoKind::Unknown(cause) => {
            let mut writer = TextWriter::default();
            writer.push_hole(cause, value.origin);
            writer.finish()
        }
        _ => c.text(1)?,
    };
    let pad = " ".repeat(usize::try_from(count).unwrap_or(0));
    let lines = text.as_str().matches('\n').count() + 1;
    c.may_make(text.len() + lines * pad.len())?;
    let mut writer = TextWriter::default();
    writer.push(if line { "\n" } else { "" }, None);
    let mut at = 0;
    for part in text.as_str().split_inclusive('\n') {
        writer.push(&pad, None);
        writer.push_slice(&text, at, at + part.len(), None);
        at += part.len();
    }
    if text.as_str().is_empty() || text.as_str().ends_with('\n') {
        writer.push(&pad, None);
    }
    Ok(GoValue::from(writer.finish()))
}

fn replaced(c: &FunctionCall<'_, '_>, text: &Text, old: &str, new: &Text) -> FunctionOutcome {
    let mut writer = TextWriter::default();
    let mut at = 0;
    c.may_make(text.as_str().matches(old).count().saturating_mul(new.weight()))?;
    for (found, part) in text.as_str().match_indices(old) {
        writer.push_slice(text, at, found, None);
        writer.push_text(new, None);
        at = found + part.len();
    }
    writer.push_slice(text, at, text.len(), None);
    c.text_result(writer.finish())
}

/// Returns a valid index in a string. Go counts bytes, so an index may be within a character; it moves to the start of
/// that character.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn trunc(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let (count, text) = (c.known_int(0)?, c.text(1)?);
    let length = text.len() as i64;
    let hole = text.hole().filter(|_| count < 0 || length > count).cloned();
    if let Some(cause) = hole {
        return Err(cause.into());
    }
    let all = text.as_str();
    if count < 0 && length + count > 0 {
        let start = floor(all, usize::try_from(length + count).unwrap_or(0));
        return Ok(GoValue::from(text.slice(start, text.len())));
    }
    match usize::try_from(count) {
        Ok(most) if most < text.len() => Ok(GoValue::from(text.slice(0, floor(all, most)))),
        _ => Ok(GoValue::from(text)),
    }
}

fn substr(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let (start, end, text) = (c.known_int(0)?, c.known_int(1)?, c.text(2)?);
    if let Some(cause) = text.hole() {
        return Err(cause.clone().into());
    }
    let length = text.len() as i64;
    let (from, to) = match (start, end) {
        (start, end) if start < 0 => (0, end),
        (start, end) if end < 0 || end > length => (start, length),
        both => both,
    };
    if from > to || to > length || from < 0 || to < 0 {
        return Err("slice bounds out of range".into());
    }
    let all = text.as_str();
    let (from, to) = (floor(all, from as usize), floor(all, to as usize));
    Ok(GoValue::from(text.slice(from, to)))
}

/// Changes the first letter of each word to lower case.
fn untitled(text: &str) -> String {
    let mut begins = true;
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match begins {
            true => out.extend(letter.to_lowercase()),
            false => out.push(letter),
        }
        begins = letter.is_whitespace();
    }
    out
}

fn titled(text: &str) -> String {
    let mut inside = false;
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if inside {
            out.push(letter);
        } else {
            out.extend(letter.to_uppercase());
        }
        inside = letter.is_alphanumeric() || letter == '_' || letter == '\'';
        // An apostrophe ends a word, like other punctuation.
        inside &= letter != '\'';
    }
    out
}

fn numbered<'t>(
    c: &FunctionCall<'_, '_>,
    parts: impl Iterator<Item = &'t str>,
    between: &str,
    all: &str,
) -> FunctionOutcome {
    const EACH: usize = 128;
    let mut pairs = Vec::new();
    let mut add = |part: GoValue| {
        c.spend(EACH)?;
        pairs.push((format!("_{}", pairs.len()), part));
        Ok::<(), TemplateFailure>(())
    };
    match between.is_empty() {
        true => all.chars().try_for_each(|letter| add(String::from(letter).into()))?,
        false => parts.map(GoValue::from).try_for_each(&mut add)?,
    }
    Ok(c.heap().map(super::super::evaluate::entries(pairs)))
}
