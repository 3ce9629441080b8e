//! YAML front matter as a tree with byte ranges. The only place that knows which parser reads it.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) value: Value,
    /// Bytes from the start of the text that was parsed.
    pub(super) at: Range<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Name, Node)>),
}

impl Node {
    /// Gives it and everything in it another place.
    pub(super) fn move_to(&mut self, at: &Range<usize>) {
        self.at = at.clone();
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.move_to(at)),
            Value::Map(entries) => {
                for (name, node) in entries {
                    name.at = at.clone();
                    node.move_to(at);
                }
            }
            _ => {}
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) at: Range<usize>,
}

/// Why the text is no YAML, and where.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) message: String,
    pub(super) at: Range<usize>,
}

pub(super) fn parse(text: &str) -> Result<Node, Broken> {
    let parsed: Result<Spanned<Raw>, _> = serde_saphyr::from_str(text);
    match parsed {
        Ok(spanned) => Ok(Reader { text }.node(spanned)),
        Err(error) => {
            let at = error.location().map_or(0, |place| {
                offset(text, usize::try_from(place.line()).unwrap_or(1), usize::try_from(place.column()).unwrap_or(1))
            });
            let shown = error.without_snippet().to_string();
            let first = shown.lines().next().unwrap_or_default();
            // what to configure in the parser is nothing for the author of a page
            let message = first.split(" at line ").next().unwrap_or(first);
            let message = message.split(", set ").next().unwrap_or(message);
            Err(Broken { message: message.trim_end_matches([',', ':', '.']).to_owned(), at: at..at })
        }
    }
}

fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at)
}

/// A value before its places are known.
enum Raw {
    Null,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Raw, E> {
        Ok(Raw::Flag(flag))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Raw, E> {
        Ok(Raw::Integer(n))
    }

    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Raw, E> {
        i64::try_from(n).map(Raw::Integer).map_err(|_| E::custom("the number does not fit 64 bits"))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Raw, E> {
        Ok(Raw::Number(n))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Raw, E> {
        Ok(Raw::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map: Vec<(Spanned<String>, Spanned<Raw>)> = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Spanned<String>, Spanned<Raw>>()? {
            if map.iter().any(|(known, _)| known.value == key.value) {
                return Err(A::Error::custom(format!("`{}` is written twice", key.value)));
            }
            map.push((key, value));
        }
        Ok(Raw::Map(map))
    }
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn range(&self, place: serde_saphyr::Location) -> Range<usize> {
        let span = place.span();
        let bytes = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok()).unwrap_or(0).min(self.text.len());
        let start = bytes(span.byte_offset());
        start..bytes(span.byte_offset().zip(span.byte_len()).map(|(start, length)| start + length)).max(start)
    }

    fn node(&self, spanned: Spanned<Raw>) -> Node {
        let at = self.range(spanned.referenced);
        let value = match spanned.value {
            Raw::Null => Value::Null,
            Raw::Flag(flag) => Value::Flag(flag),
            Raw::Integer(n) => Value::Integer(n),
            Raw::Number(n) => Value::Number(n),
            Raw::Text(text) => Value::Text(text),
            Raw::List(items) => Value::List(items.into_iter().map(|item| self.node(item)).collect()),
            Raw::Map(entries) => Value::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (Name { at: self.range(key.referenced), text: key.value }, self.node(value)))
                    .collect(),
            ),
        };
        Node { value, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_knows_where_it_stands() {
        let text = "name: é\nmatch: { purpose: [a, b] }\nwhen: |\n  x > 1\nat: \"x\"\nn: 3\n";
        let Value::Map(entries) = parse(text).unwrap().value else { panic!() };
        let places: Vec<(&str, &str)> = entries
            .iter()
            .map(|(key, value)| (&text[key.at.clone()], text.get(value.at.clone()).unwrap_or("?")))
            .collect();
        println!("{places:#?}");
        for text in ["a: [1\nb: 2\n", "a: 1\na: 2\n", "\t- x", "a: {b: c", "a: b: c"] {
            println!("{:?}", parse(text).map_err(|b| (text.get(b.at.start..).map(str::to_owned), b)));
        }
    }
}
