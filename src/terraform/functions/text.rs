//! Implements the functions of strings.

use std::sync::Arc;

use crate::languages::hcl::value::HclValue;

use super::{Arity, CallArguments, Function, FunctionResult, MANY, items, known, text};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[
    ("chomp", 1..=1, |a| a.answer(a.text(0)?.trim_end_matches(['\n', '\r']))),
    ("endswith", 2..=2, |a| a.answer_bool(a.text(0)?.ends_with(&*a.text(1)?))),
    ("indent", 2..=2, indent),
    ("join", 1..=MANY, join),
    ("lower", 1..=1, |a| a.answer(a.text(0)?.chars().map(lower_one).collect::<String>())),
    ("replace", 3..=3, replace),
    ("split", 2..=2, split),
    ("startswith", 2..=2, |a| a.answer_bool(a.text(0)?.starts_with(&*a.text(1)?))),
    ("strcontains", 2..=2, |a| a.answer_bool(a.text(0)?.contains(&*a.text(1)?))),
    ("strrev", 1..=1, |a| a.answer(graphemes(&a.text(0)?).rev().collect::<String>())),
    ("substr", 3..=3, substring),
    ("title", 1..=1, title),
    ("trim", 2..=2, trim),
    ("trimprefix", 2..=2, |a| trim_affix(a, |text, affix| text.strip_prefix(affix))),
    ("trimspace", 1..=1, |a| a.answer(a.text(0)?.trim())),
    ("trimsuffix", 2..=2, |a| trim_affix(a, |text, affix| text.strip_suffix(affix))),
    ("upper", 1..=1, |a| a.answer(a.text(0)?.chars().map(upper_one).collect::<String>())),
];

/// Iterates over characters as a reader sees them: combining marks belong to the letter before them.
pub(super) fn graphemes(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let mut starts: Vec<usize> = Vec::new();
    let mut joined = false;
    let mut before = '\0';
    let mut regions = 0;
    for (at, c) in text.char_indices() {
        let extends = matches!(u32::from(c), 0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff
            | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f | 0x1f3fb..=0x1f3ff | 0xe0100..=0xe01ef | 0x200d);
        // Two regional indicators form one flag.
        let regional = matches!(u32::from(c), 0x1f1e6..=0x1f1ff);
        regions = if regional { regions + 1 } else { 0 };
        let follows = extends || joined || (regions > 0 && regions % 2 == 0) || (before == '\r' && c == '\n');
        if !follows || at == 0 {
            starts.push(at);
        }
        joined = c == '\u{200d}';
        before = c;
    }
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &text[start..end]).collect::<Vec<_>>().into_iter()
}

/// Converts one character to one character, like Go: `ß` does not become `SS`.
fn upper_one(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

fn lower_one(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

fn indent(a: &CallArguments<'_>) -> FunctionResult {
    let blanks = usize::try_from(a.whole_number(0)?).map_err(|_| "the number of blanks is negative")?;
    let text = a.text(1)?;
    a.evaluator.budget.spend_bytes(blanks.saturating_mul(text.matches('\n').count()))?;
    a.answer(text.replace('\n', &format!("\n{}", " ".repeat(blanks))))
}

fn join(a: &CallArguments<'_>) -> FunctionResult {
    let separator = a.text(0)?;
    let mut texts: Vec<Arc<str>> = Vec::new();
    for list in a.values.get(1..).unwrap_or_default() {
        for item in items(known(list)?)? {
            texts.push(text(item)?);
        }
    }
    if a.len() < 2 {
        return Err("takes a separator and lists".into());
    }
    let bytes = texts.iter().map(|text| text.len() + separator.len()).sum();
    a.evaluator.budget.spend_bytes(bytes)?;
    Ok(HclValue::text(texts.join(&*separator), a.span))
}

fn replace(a: &CallArguments<'_>) -> FunctionResult {
    let (text, from, to) = (a.text(0)?, a.text(1)?, a.text(2)?);
    let slashed = from.len() > 1 && from.starts_with('/') && from.ends_with('/');
    if !slashed {
        let found = if from.is_empty() { text.chars().count() + 1 } else { text.matches(&*from).count() };
        a.evaluator.budget.spend_bytes(text.len() + found.saturating_mul(to.len()))?;
        return Ok(HclValue::text(text.replace(&*from, &to), a.span));
    }
    super::patterns::replace(a, &text, &from[1..from.len() - 1], &to)
}

fn split(a: &CallArguments<'_>) -> FunctionResult {
    let (separator, text) = (a.text(0)?, a.text(1)?);
    a.evaluator.budget.spend_bytes(text.len())?;
    let parts: Vec<&str> = match &*separator {
        "" => text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]).collect(),
        separator => text.split(separator).collect(),
    };
    a.evaluator.budget.spend(parts.len() as u64)?;
    a.answer_list(parts.into_iter().map(|part| HclValue::text(part, a.span)).collect())
}

fn substring(a: &CallArguments<'_>) -> FunctionResult {
    let text = a.text(0)?;
    let parts: Vec<&str> = graphemes(&text).collect();
    let size = i64::try_from(parts.len()).unwrap_or(i64::MAX);
    let offset = a.whole_number(1)?;
    let start = if offset < 0 { offset.saturating_add(size).max(0) } else { offset };
    let length = a.whole_number(2)?;
    let end = if length < 0 { size } else { start.saturating_add(length).min(size) };
    if start >= end {
        return a.answer("");
    }
    let range = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
    a.answer(parts.get(range).unwrap_or_default().concat())
}

fn title(a: &CallArguments<'_>) -> FunctionResult {
    let mut result = String::new();
    let mut inside = false;
    for c in a.text(0)?.chars() {
        if inside {
            result.push(c);
        } else {
            result.push(upper_one(c));
        }
        inside = if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { !c.is_whitespace() };
    }
    a.answer(result)
}

fn trim(a: &CallArguments<'_>) -> FunctionResult {
    let cut: Vec<char> = a.text(1)?.chars().collect();
    a.answer(a.text(0)?.trim_matches(cut.as_slice()))
}

fn trim_affix(a: &CallArguments<'_>, strip: for<'t> fn(&'t str, &str) -> Option<&'t str>) -> FunctionResult {
    let (text, affix) = (a.text(0)?, a.text(1)?);
    a.answer(strip(&text, &affix).unwrap_or(&text))
}
