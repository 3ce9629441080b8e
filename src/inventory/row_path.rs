//! Paths of resource definitions: through attributes, nested blocks, keys and lists. This module parses them, and each
//! front end walks them.

use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A path in a resource definition, such as `node_config.guest_accelerator[].type`.
///
/// - `a.b` enters an attribute, a nested block or a key, and takes the first of several blocks or elements.
/// - `a[]` enters every block, element or value of a map.
/// - `a[key=text]` enters those whose `key` is `text`.
/// - `a!json` parses a string as JSON, and `a!base64` decodes it.
/// - `a.{b}` enters the key whose name is at `b`, relative to the start of the path.
/// - `a."x.y/z"` enters a key with punctuation, `a.*` enters every value of a mapping of a manifest, and `#key` is the
///   key of the part.
/// - `/a` starts at the block, if the definition describes a part of it (`/` is the block itself). `@link.a` starts at
///   the linked resource, and `$provider.a` at the provider's configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPath {
    pub start: Start,
    pub steps: Vec<PathStep>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    Part,
    Block,
    Provider,
    /// The key of the described part.
    Key,
    Link(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct PathStep {
    pub name: StepName,
    pub into: Into,
    pub read: Option<TextForm>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepName {
    Written(String),
    At(Box<RowPath>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Into {
    First,
    All,
    /// The whole value, with lists and maps unchanged.
    Whole,
    Where(String, String),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TextForm {
    Json,
    Base64,
}

impl<'de> Deserialize<'de> for RowPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl FromStr for RowPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (start, rest) = match text.as_bytes().first() {
            _ if text == "#key" => return Ok(RowPath { start: Start::Key, steps: Vec::new() }),
            Some(b'/') => (Start::Block, &text[1..]),
            Some(b'$') => match text.strip_prefix("$provider.") {
                Some(rest) => (Start::Provider, rest),
                None => {
                    return Err(format!("`{text}` is not a path: a path starts with `/`, `@link.` or `$provider.`"));
                }
            },
            Some(b'@') => {
                let (link, rest) = text[1..].split_once('.').unwrap_or((&text[1..], ""));
                (Start::Link(link.to_owned()), rest)
            }
            _ => (Start::Part, text),
        };
        let steps = split(rest).into_iter().map(step).collect::<Result<Vec<_>, _>>()?;
        if steps.is_empty() && !matches!(start, Start::Link(_) | Start::Block) {
            return Err("the path is empty".to_owned());
        }
        Ok(RowPath { start, steps })
    }
}

impl RowPath {
    /// Returns the path of the collections whose elements this path enters.
    pub fn whole(&self) -> RowPath {
        let mut path = self.clone();
        if let Some(last) = path.steps.last_mut()
            && matches!(last.into, Into::All | Into::First)
        {
            last.into = Into::Whole;
        }
        path
    }

    /// Returns the named steps only: `a.b` for `a[].b`.
    pub fn name(&self) -> String {
        let names = self.steps.iter().map(|step| match &step.name {
            StepName::Written(name) => name.as_str(),
            StepName::At(_) => "*",
        });
        names.collect::<Vec<_>>().join(".")
    }
}

/// Splits at dots outside braces, brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from, mut quoted) = (Vec::new(), 0usize, 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '.' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        parts.push(&text[from..]);
    }
    parts
}

fn step(text: &str) -> Result<PathStep, String> {
    let bad = || format!("`{text}` is not a step of a path");
    let (name, rest) = if let Some(quoted) = text.strip_prefix('"') {
        let (name, rest) = quoted.split_once('"').ok_or_else(bad)?;
        (StepName::Written(name.to_owned()), rest)
    } else if let Some(inner) = text.strip_prefix('{') {
        let (path, rest) = inner.rsplit_once('}').ok_or_else(bad)?;
        (StepName::At(Box::new(path.parse()?)), rest)
    } else {
        let (name, rest) = text.split_at(text.find(['[', '!']).unwrap_or(text.len()));
        if name.is_empty() || name.contains([']', '{', '}', ' ', '"']) {
            return Err(bad());
        }
        (StepName::Written(name.to_owned()), rest)
    };
    let (into, rest) = match rest.strip_prefix('[') {
        None => (Into::First, rest),
        Some(inner) => {
            let (condition, rest) = inner.split_once(']').ok_or_else(bad)?;
            match condition.split_once('=') {
                _ if condition.is_empty() => (Into::All, rest),
                Some((key, value)) => (Into::Where(key.to_owned(), value.to_owned()), rest),
                None => return Err(format!("`[{condition}]` is not a condition of the form `[key=text]`")),
            }
        }
    };
    let read = match rest {
        "" => None,
        "!json" => Some(TextForm::Json),
        "!base64" => Some(TextForm::Base64),
        other => return Err(format!("`{other}` is not supported: use `!json` or `!base64`")),
    };
    Ok(PathStep { name, into, read })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_and_nonsense_is_refused() {
        let path: RowPath = "@template.a[].b[type=GPU]!json.{/name}.c".parse().unwrap();
        assert_eq!(path.start, Start::Link("template".to_owned()));
        assert_eq!(path.steps.len(), 4);
        assert_eq!(path.steps[1].into, Into::Where("type".to_owned(), "GPU".to_owned()));
        assert_eq!(path.steps[1].read, Some(TextForm::Json));
        assert!("a..b".parse::<RowPath>().is_err());
        assert!("a[b]".parse::<RowPath>().is_err());
        assert!("a.\"b.c".parse::<RowPath>().is_err());
        assert_eq!("a.\"b.c/d\"[]".parse::<RowPath>().unwrap().name(), "a.b.c/d");
        assert!("a!yaml".parse::<RowPath>().is_err());
        assert!("$other.x".parse::<RowPath>().is_err());
        assert!("".parse::<RowPath>().is_err());
    }
}
