//! Parses YAML front matter to a tree with byte ranges. Only this module knows the parser.
//!
//! Aliases are refused: rule files do not need them, and they let a small text become a large tree. The build script
//! parses the built-in rule files with this module and writes the trees as constants, so that start-up parses nothing.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle};

#[derive(Debug, Clone)]
pub(super) struct PageNode {
    pub(super) value: PageValue,
    /// The byte range in the parsed text.
    pub(super) at: Range<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum PageValue {
    Null,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(Cow<'static, str>),
    List(Cow<'static, [PageNode]>),
    Map(Cow<'static, [(PageName, PageNode)]>),
}

impl PageNode {
    /// Returns every string in it.
    pub(super) fn texts<'n>(&'n self, into: &mut Vec<&'n str>) {
        match &self.value {
            PageValue::Text(text) => into.push(text),
            PageValue::List(items) => items.iter().for_each(|item| item.texts(into)),
            PageValue::Map(entries) => entries.iter().for_each(|(_, node)| node.texts(into)),
            _ => {}
        }
    }

    /// Sets the place of this node and of all nodes in it.
    pub(super) fn move_to(&mut self, at: &Range<usize>) {
        self.at = at.clone();
        match &mut self.value {
            PageValue::List(items) => items.to_mut().iter_mut().for_each(|item| item.move_to(at)),
            PageValue::Map(entries) => {
                for (name, node) in entries.to_mut() {
                    name.at = at.clone();
                    node.move_to(at);
                }
            }
            _ => {}
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct PageName {
    pub(super) text: Cow<'static, str>,
    pub(super) at: Range<usize>,
}

/// A YAML error and its place.
#[derive(Debug)]
pub(super) struct YamlError {
    pub(super) message: String,
    pub(super) at: Range<usize>,
}

/// Real front matter is not nested deeper.
const NESTING_LIMIT: usize = 64;

pub(super) fn parse(text: &str) -> Result<PageNode, YamlError> {
    let options = granit_parser::options! {
        block_nesting_limit: NESTING_LIMIT,
        flow_nesting_limit: NESTING_LIMIT,
    };
    let mut builder = Builder::default();
    for step in Parser::new_from_str_with_options(text, options) {
        let (event, span) = step.map_err(|error| {
            let at = error.marker().byte_offset().unwrap_or(0).min(text.len());
            let message = match error.info() {
                info if info.contains("mapping values are not allowed") => {
                    "a colon and a space begin a mapping here: put the value in quotes".to_owned()
                }
                info => info.to_owned(),
            };
            YamlError { message, at: at..at }
        })?;
        let at = span.byte_range().map_or(0..0, |range| range.start..range.end);
        if has_tag(&event) {
            // A tag's value begins after the tag, but an error must point at the tag itself.
            let tag = text.get(..at.end).and_then(|before| before.rfind('!')).unwrap_or(at.start);
            let message = "a value that begins with `!` is a YAML tag: put it in quotes".to_owned();
            return Err(YamlError { message, at: tag..at.end.max(tag) });
        }
        builder.take(event, at)?;
    }
    Ok(builder.root.unwrap_or(PageNode { value: PageValue::Null, at: 0..0 }))
}

fn has_tag(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(.., Some(_)) | Event::SequenceStart(.., Some(_)) | Event::MappingStart(.., Some(_)))
}

/// Builds a tree from parser events without recursion.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<PageNode>,
}

enum Open {
    List { start: usize, items: Vec<PageNode> },
    Map { start: usize, entries: Vec<(PageName, PageNode)>, key: Option<PageName> },
}

impl Builder {
    fn take(&mut self, event: Event<'_>, at: Range<usize>) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, style, ..) => match self.open.last_mut() {
                Some(Open::Map { entries, key: key @ None, .. }) => {
                    if entries.iter().any(|(known, _)| known.text == text) {
                        return Err(YamlError { message: format!("the key `{text}` is set twice"), at });
                    }
                    *key = Some(PageName { text: text.into_owned().into(), at });
                }
                _ => {
                    let value = match style {
                        ScalarStyle::Plain => plain(&text).map_err(|message| YamlError { message, at: at.clone() })?,
                        _ => PageValue::Text(text.into_owned().into()),
                    };
                    self.finish(PageNode { value, at });
                }
            },
            Event::SequenceStart(..) | Event::MappingStart(..) if self.wants_key() => {
                return Err(YamlError { message: "a key must be a string".to_owned(), at });
            }
            Event::SequenceStart(..) => self.open.push(Open::List { start: at.start, items: Vec::new() }),
            Event::MappingStart(..) => {
                self.open.push(Open::Map { start: at.start, entries: Vec::new(), key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(at.end),
            Event::Alias(_) => {
                return Err(YamlError {
                    message: "aliases are not supported here: write the value itself".to_owned(),
                    at,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open::Map { key: None, .. }))
    }

    fn close(&mut self, end: usize) {
        let node = match self.open.pop() {
            Some(Open::List { start, items }) => {
                let end = items.last().map_or(end, |last| last.at.end.max(end));
                PageNode { value: PageValue::List(items.into()), at: start..end }
            }
            Some(Open::Map { start, entries, .. }) => {
                let end = entries.last().map_or(end, |(_, last)| last.at.end.max(end));
                PageNode { value: PageValue::Map(entries.into()), at: start..end }
            }
            None => return,
        };
        self.finish(node);
    }

    fn finish(&mut self, node: PageNode) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, key, .. }) => entries.extend(key.take().map(|name| (name, node))),
        }
    }
}

/// Returns the value of an unquoted scalar, by the core schema of YAML 1.2.
fn plain(text: &str) -> Result<PageValue, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => PageValue::Null,
        "true" | "True" | "TRUE" => PageValue::Flag(true),
        "false" | "False" | "FALSE" => PageValue::Flag(false),
        _ => match text.parse::<i64>() {
            Ok(n) => PageValue::Integer(n),
            Err(_) if is_digits(text) => return Err("the number does not fit 64 bits".to_owned()),
            Err(_) => number(text).map_or_else(|| PageValue::Text(text.to_owned().into()), PageValue::Number),
        },
    })
}

fn is_digits(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a number. Words such as `inf` are strings, not numbers.
fn number(text: &str) -> Option<f64> {
    let starts = text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|_| starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_knows_where_it_stands() {
        let text = "name: é\nmatch: { purpose: [a, b] }\nwhen: |\n  x > 1\nat: \"x\"\nn: 3\n";
        let PageValue::Map(entries) = parse(text).unwrap().value else { panic!() };
        let text_at = |at: &Range<usize>| text.get(at.clone()).unwrap_or("?").trim_end().to_owned();
        let places: Vec<(String, String)> =
            entries.iter().map(|(key, value)| (text_at(&key.at), text_at(&value.at))).collect();
        let expected =
            [("name", "é"), ("match", "{ purpose: [a, b] }"), ("when", "x > 1"), ("at", "\"x\""), ("n", "3")];
        let places: Vec<(&str, &str)> = places.iter().map(|(key, value)| (&**key, &**value)).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn what_is_broken_is_said_with_its_place() {
        for (text, message, at) in [
            ("a: [1\nb: 2\n", "", None),
            ("a: 1\na: 2\n", "the key `a` is set twice", Some(5)),
            ("a: {b: c", "", None),
            ("a: b: c", "", None),
            ("a: &x 1\nb: *x\n", "aliases are not supported here", Some(11)),
            ("a: 99999999999999999999", "the number does not fit 64 bits", Some(3)),
            ("[a, b]: 1", "a key must be a string", Some(0)),
        ] {
            let broken = parse(text).unwrap_err();
            assert!(broken.message.starts_with(message) && !broken.message.is_empty(), "{text}: {broken:?}");
            assert!(at.is_none_or(|at| broken.at.start == at), "{text}: {broken:?}");
        }
    }

    #[test]
    fn plain_texts_are_what_yaml_says_they_are() {
        let of = |text: &str| format!("{:?}", parse(text).unwrap().value);
        assert_eq!(of("3"), "Integer(3)");
        assert_eq!(of("-0.5"), "Number(-0.5)");
        assert_eq!(of("1e3"), "Number(1000.0)");
        assert_eq!(of("true"), "Flag(true)");
        assert_eq!(of("yes"), "Text(\"yes\")");
        assert_eq!(of("inf"), "Text(\"inf\")");
        assert_eq!(of("'3'"), "Text(\"3\")");
        assert_eq!(of("~"), "Null");
    }
}
