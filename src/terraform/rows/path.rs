//! Where a row finds something: a path through attributes, nested blocks, maps and lists.

use std::str::FromStr;

/// A path of a row, such as `node_config.guest_accelerator[].type`.
///
/// - `a.b` goes into an attribute, a nested block or a key; of several blocks or elements it takes the first.
/// - `a[]` goes into every block, element or value of a map.
/// - `a[key=text]` goes into those whose `key` is `text`.
/// - `a!json` reads a text as JSON, `a!base64` decodes one.
/// - `a.{b}` goes into the key whose name stands at `b`, as seen from where the path starts.
/// - `a."x.y/z"` goes into a key with punctuation, `#key` is the key of the part.
/// - `/a` starts at the block where the row describes a part of it (`/` is the block itself); `@link.a` starts at what a
///   link leads to; `$provider.a` at the provider's configuration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttributePath {
    pub(super) start: Start,
    pub(super) steps: Vec<PathStep>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Start {
    Part,
    Block,
    Provider,
    /// The key of the part itself.
    Key,
    Link(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PathStep {
    pub(super) name: StepName,
    pub(super) into: Into,
    pub(super) read: Option<TextForm>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum StepName {
    Written(String),
    At(Box<AttributePath>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Into {
    First,
    All,
    /// All of it, lists and maps left as they are.
    Whole,
    Where(String, String),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TextForm {
    Json,
    Base64,
}

impl FromStr for AttributePath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (start, rest) = match text.as_bytes().first() {
            _ if text == "#key" => return Ok(AttributePath { start: Start::Key, steps: Vec::new() }),
            Some(b'/') => (Start::Block, &text[1..]),
            Some(b'$') => match text.strip_prefix("$provider.") {
                Some(rest) => (Start::Provider, rest),
                None => return Err(format!("`{text}`: a path may start with `/`, `@link.` or `$provider.`")),
            },
            Some(b'@') => {
                let (link, rest) = text[1..].split_once('.').unwrap_or((&text[1..], ""));
                (Start::Link(link.to_owned()), rest)
            }
            _ => (Start::Part, text),
        };
        let steps = split(rest).into_iter().map(step).collect::<Result<Vec<_>, _>>()?;
        if steps.is_empty() && !matches!(start, Start::Link(_) | Start::Block) {
            return Err("an empty path".to_owned());
        }
        Ok(AttributePath { start, steps })
    }
}

impl AttributePath {
    /// The path to the collections of which this one leads to elements, or to the first.
    pub(super) fn whole(&self) -> AttributePath {
        let mut path = self.clone();
        if let Some(last) = path.steps.last_mut()
            && matches!(last.into, Into::All | Into::First)
        {
            last.into = Into::Whole;
        }
        path
    }

    /// What it leads to by name: `a.b` of `a[].b`.
    pub(super) fn name(&self) -> String {
        let names = self.steps.iter().map(|step| match &step.name {
            StepName::Written(name) => name.as_str(),
            StepName::At(_) => "*",
        });
        names.collect::<Vec<_>>().join(".")
    }
}

/// The parts between dots that stand outside braces, brackets and quotes.
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
    if let Some(name) = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
        return Ok(PathStep { name: StepName::Written(name.to_owned()), into: Into::First, read: None });
    }
    let (text, read) = match text.split_once('!') {
        None => (text, None),
        Some((name, "json")) => (name, Some(TextForm::Json)),
        Some((name, "base64")) => (name, Some(TextForm::Base64)),
        Some((_, other)) => return Err(format!("`!{other}` is neither `!json` nor `!base64`")),
    };
    let (name, into) = match text.strip_suffix(']').and_then(|it| it.split_once('[')) {
        None => (text, Into::First),
        Some((name, "")) => (name, Into::All),
        Some((name, condition)) => match condition.split_once('=') {
            Some((key, value)) => (name, Into::Where(key.to_owned(), value.to_owned())),
            None => return Err(format!("`[{condition}]` is no `[key=text]`")),
        },
    };
    let name = match name.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
        Some(path) => StepName::At(Box::new(path.parse()?)),
        None if name.is_empty() || name.contains(['[', ']', '{', '}', ' ']) => {
            return Err(format!("`{text}` is no step of a path"));
        }
        None => StepName::Written(name.to_owned()),
    };
    Ok(PathStep { name, into, read })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_and_nonsense_is_refused() {
        let path: AttributePath = "@template.a[].b[type=GPU]!json.{/name}.c".parse().unwrap();
        assert_eq!(path.start, Start::Link("template".to_owned()));
        assert_eq!(path.steps.len(), 4);
        assert_eq!(path.steps[1].into, Into::Where("type".to_owned(), "GPU".to_owned()));
        assert_eq!(path.steps[1].read, Some(TextForm::Json));
        assert!("a..b".parse::<AttributePath>().is_err());
        assert!("a[b]".parse::<AttributePath>().is_err());
        assert!("a!yaml".parse::<AttributePath>().is_err());
        assert!("$other.x".parse::<AttributePath>().is_err());
        assert!("".parse::<AttributePath>().is_err());
    }
}
