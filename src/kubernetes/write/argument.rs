//! Changes, removes and adds arguments of programs, in lists of words and in scripts.

use std::ops::Range;

use crate::inventory::programs::{DeclaringWords, chooses, declaring_words, flag};
use crate::inventory::{FactValue, Key, Part, Resource, accelerators};
use crate::languages::yaml::{AddedPiece, Node, NodeData};
use crate::source::{Edit, Span};

use super::Document;
use super::declining::{Result, inexpressible, left_alone};
use super::paper::EditedDocument;
use super::pod::around;

const DEEPEST: usize = 40;

/// The argument that sets a fact, with its value.
struct Argument<'a> {
    key: Key,
    program: &'a str,
    current: &'a FactValue,
    place: Span,
}

impl<'a> Argument<'a> {
    fn of(resource: &'a Resource, key: Key) -> Option<Argument<'a>> {
        let known = resource.fact(key);
        let program = resource.text(Key::Program)?;
        Some(Argument { key, program, current: known.value()?, place: known.span()? })
    }

    fn matching_words(&self, words: &[&str]) -> Vec<DeclaringWords> {
        declaring_words(self.program, self.key, self.current, words)
    }
}

/// Removes the argument that sets a fact, if the program's default is good.
pub(super) fn without(
    document: &Document,
    paper: &EditedDocument<'_>,
    resource: &Resource,
    key: Key,
) -> Result<Vec<Edit>> {
    let Some(argument) = Argument::of(resource, key) else { return inexpressible(resource, Part::Fact(key)) };
    if resource.text(Key::Vendor).is_some_and(accelerators::are_compiled_for) {
        return left_alone("the model is compiled with this value for these accelerators");
    }
    if !chooses(argument.program, key) {
        return left_alone(format!("the default of {} is unknown", argument.program));
    }
    let found = find(document, &argument)?;
    document.is_own(found.node)?;
    match found.within {
        Within::List(told) if told.last - told.first + 1 == found.node.items().len() => {
            left_alone("it is the only argument")
        }
        Within::List(told) => paper.without_items(found.node, told.first..told.last + 1),
        Within::Script(range, _) => {
            let script = found.node.span;
            let text = paper.text_of(script);
            let Some(range) = shell_removal(text, range) else { return left_alone("there is nothing else in it") };
            Ok(vec![Edit { span: part_of(script, range), replacement: String::new() }])
        }
    }
}

/// Replaces the value of an argument; `None` if no argument sets the fact.
pub(super) fn replaced(
    document: &Document,
    paper: &EditedDocument<'_>,
    resource: &Resource,
    key: Key,
    value: &FactValue,
) -> Result<Option<Vec<Edit>>> {
    let Some(argument) = Argument::of(resource, key) else { return Ok(None) };
    let Ok(found) = find(document, &argument) else { return Ok(None) };
    let (Within::List(DeclaringWords { value: Some(_), .. }) | Within::Script(_, Some(_))) = &found.within else {
        return Ok(None);
    };
    document.is_own(found.node)?;
    let Some(word) = word_for(key, value) else {
        return left_alone(format!("the program's name for {value} is unknown"));
    };
    match found.within {
        Within::List(DeclaringWords { last, value: Some(at), .. }) => {
            let Some(item) = found.node.items().get(last) else { return Ok(None) };
            let text = item.text().and_then(|text| text.get(..at)).unwrap_or_default();
            paper.replace(item, &AddedPiece::Text(format!("{text}{word}"))).map(|edit| Some(vec![edit]))
        }
        Within::Script(_, Some(range)) => {
            Ok(Some(vec![Edit { span: part_of(found.node.span, range), replacement: word }]))
        }
        _ => Ok(None),
    }
}

/// Adds an argument to the list that contains the model.
pub(super) fn added(
    document: &Document,
    paper: &EditedDocument<'_>,
    resource: &Resource,
    key: Key,
    value: &FactValue,
) -> Result<Vec<Edit>> {
    let flag = resource.text(Key::Program).and_then(|program| flag(program, key));
    let (Some(flag), Some(word)) = (flag, word_for(key, value)) else {
        return inexpressible(resource, Part::Fact(key));
    };
    let model = Argument::of(resource, Key::Model).map(|argument| find(document, &argument));
    let Some(Ok(Found { node: list, within: Within::List(told) })) = model else {
        return left_alone("the place of its arguments is unknown");
    };
    if around(&document.root, list.span, "image").is_none() {
        return left_alone("the place of its arguments is unknown");
    }
    document.is_own(list)?;
    // The new argument has the same form as the argument of the model.
    if told.first == told.last {
        return paper.append(list, &AddedPiece::Text(format!("{flag}={word}"))).map(|edit| vec![edit]);
    }
    let edits = [AddedPiece::text(flag), AddedPiece::Text(word)].map(|piece| paper.append(list, &piece));
    edits.into_iter().collect()
}

/// Returns the word that programs use for a value.
fn word_for(key: Key, value: &FactValue) -> Option<String> {
    const PRECISIONS: [(&str, &str); 4] =
        [("bf16", "bfloat16"), ("fp16", "float16"), ("fp32", "float32"), ("fp8", "fp8")];
    match (key, value) {
        (Key::Precision, FactValue::Text(text)) => {
            PRECISIONS.iter().find(|(name, _)| **text == **name).map(|(_, word)| (*word).to_owned())
        }
        (_, FactValue::Integer(n)) => Some(n.to_string()),
        (_, FactValue::Number(n)) if n.fract() == 0.0 && n.abs() < 1e15 => Some(format!("{n:.0}")),
        _ => None,
    }
}

/// The place of an argument: items of a list, or bytes of a script. The second range is that of the value.
enum Within {
    List(DeclaringWords),
    Script(Range<usize>, Option<Range<usize>>),
}

struct Found<'d> {
    /// The list or the script.
    node: &'d Node,
    within: Within,
}

fn find<'d>(document: &'d Document, argument: &Argument<'_>) -> Result<Found<'d>> {
    if !document.root.span.contains(argument.place) {
        return left_alone("another object sets it");
    }
    let (list, scalar) = holders(&document.root, argument.place);
    if let Some(list) = list {
        let words: Vec<&str> = list.items().iter().map(|item| item.text().map_or("", |text| text)).collect();
        let here = |told: &DeclaringWords| {
            let of = |at: usize| list.items().get(at).map(|item| item.span);
            of(told.first).zip(of(told.last)).is_some_and(|(first, last)| argument.place == first.to(last))
        };
        if let Some(told) = argument.matching_words(&words).into_iter().find(here) {
            return Ok(Found { node: list, within: Within::List(told) });
        }
    }
    let Some(script) = scalar else { return left_alone("the argument was not found") };
    let text = document.text.get(script.span.range()).unwrap_or_default();
    let words = shell_words(text);
    let texts: Vec<&str> = words.iter().map(|range| &text[range.clone()]).collect();
    match argument.matching_words(&texts).as_slice() {
        [one] => {
            let whole = words[one.first].start..words[one.last].end;
            let value = one.value.map(|at| words[one.last].start + at..words[one.last].end);
            let bare = |range: &Range<usize>| !text[range.clone()].contains(['\\', '$', '`', '{']);
            if !bare(&whole) {
                return left_alone("the argument is computed");
            }
            Ok(Found { node: script, within: Within::Script(quoted(text, whole), value) })
        }
        [] => left_alone("the argument was not found"),
        _ => left_alone("it is set more than once"),
    }
}

fn part_of(script: Span, range: Range<usize>) -> Span {
    let start = script.start as usize;
    Span::new(script.file, start + range.start, start + range.end)
}

/// Returns the innermost list and the scalar around a position.
fn holders(root: &Node, place: Span) -> (Option<&Node>, Option<&Node>) {
    let (mut here, mut list) = (root, None);
    for _ in 0..DEEPEST {
        if matches!(here.data, NodeData::List(_)) {
            list = Some(here);
        }
        match here.inner().find(|inner| inner.span.contains(place)) {
            Some(inner) => here = inner,
            None => break,
        }
    }
    (list, matches!(here.data, NodeData::Scalar { .. }).then_some(here))
}

/// Returns the words of a script without their quotes. Words that need a real shell contain characters that arguments
/// do not have.
fn shell_words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        let ends = c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '&' | '|' | '(' | ')' | '[' | ']');
        match (start, ends) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                words.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|from| from..text.len()));
    words
}

/// Extends a range by the quotes around the value.
fn quoted(text: &str, whole: Range<usize>) -> Range<usize> {
    let next = text[whole.end..].chars().next().filter(|c| matches!(c, '"' | '\''));
    match next {
        Some(quote) if text[whole.clone()].contains(quote) => whole.start..whole.end + 1,
        _ => whole,
    }
}

/// Returns the range to remove from a script so that an argument disappears and the command stays valid. This is a
/// whole line, the last line with the `\` before it, or the word with the blanks next to it.
fn shell_removal(text: &str, whole: Range<usize>) -> Option<Range<usize>> {
    let line_start = text[..whole.start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[whole.end..].find('\n').map_or(text.len(), |at| whole.end + at);
    let (before, after) = (&text[line_start..whole.start], &text[whole.end..line_end]);
    if before.trim().is_empty() && line_start > 0 {
        if after.trim() == "\\" && line_end < text.len() {
            return Some(line_start..line_end + 1);
        }
        if after.trim().is_empty() {
            let earlier = text[..line_start].trim_end_matches(['\n', '\r']);
            return match earlier.strip_suffix('\\') {
                Some(command) => Some(command.trim_end_matches([' ', '\t']).len()..whole.end),
                // All lines of a folded string are one line.
                None => Some(earlier.len()..whole.end),
            };
        }
        let blanks = after.len() - after.trim_start().len();
        return Some(whole.start..whole.end + blanks);
    }
    let kept = before.trim_end_matches([' ', '\t']);
    if kept.len() < before.len() {
        return Some(line_start + kept.len()..whole.end);
    }
    let blanks = after.len() - after.trim_start_matches([' ', '\t']).len();
    (blanks > 0).then(|| whole.start..whole.end + blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_goes_on_without_an_argument() {
        let after = |text: &str| {
            let at = text.find("--dtype").unwrap();
            let end = text[at..].find("32").unwrap() + at + 2;
            let range = shell_removal(text, quoted(text, at..end)).unwrap();
            format!("{}{}", &text[..range.start], &text[range.end..])
        };
        assert_eq!(after("\"vllm serve x --dtype float32 --port 1\""), "\"vllm serve x --port 1\"");
        assert_eq!(after("\"vllm serve x --dtype float32\""), "\"vllm serve x\"");
        assert_eq!(
            after("|\n  vllm serve x \\\n    --dtype=float32 \\\n    --port 1\n"),
            "|\n  vllm serve x \\\n    --port 1\n"
        );
        assert_eq!(after("|\n  vllm serve x \\\n    --dtype 'float32'\n"), "|\n  vllm serve x\n");
        assert_eq!(after(">-\n  vllm serve x\n  --dtype float32\n  --port 1\n"), ">-\n  vllm serve x\n  --port 1\n");
        assert_eq!(
            after("|\n  vllm serve x \\\n    --dtype float32 --port 1\n"),
            "|\n  vllm serve x \\\n    --port 1\n"
        );
        assert_eq!(shell_removal("--dtype=float32", 0..15), None);
    }
}
