//! Converts the arguments of a tool call into a command line. Clients are not trusted.

use std::ffi::OsString;
use std::path::{Component, Path};

use clap::{Arg, Command};
use serde_json::{Value, json};

use crate::cli::io::serving;

/// The longest string. Names, addresses and expressions are shorter.
const LONGEST_TEXT_BYTES: usize = 1_000;
const MOST_TEXTS: usize = 100;

#[derive(Debug)]
pub(super) struct ToolParameter {
    pub(super) name: &'static str,
    kind: ParameterKind,
    pub(super) is_required: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ParameterKind {
    Text,
    Number,
    Flag,
    Texts,
    /// Names with values, each written as NAME=VALUE.
    Pairs,
    /// Objects with a name and pairs, each written as NAME:KEY=VALUE,KEY=VALUE.
    Cases,
    /// Files below the served folder.
    Paths,
    /// The positional argument with this id.
    First(&'static str),
    /// The path to check, the last argument of the command line.
    Tree,
}

pub(super) const fn may(name: &'static str, kind: ParameterKind) -> ToolParameter {
    ToolParameter { name, kind, is_required: false }
}

pub(super) const fn must(name: &'static str, kind: ParameterKind) -> ToolParameter {
    ToolParameter { name, kind, is_required: true }
}

/// The parts of a command line.
#[derive(Default)]
pub(super) struct CommandLine {
    pub(super) options: Vec<OsString>,
    pub(super) first: Option<OsString>,
    pub(super) tree: Option<OsString>,
}

impl ToolParameter {
    fn option(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Returns the JSON schema of the parameter, with help and allowed values from the command line.
    pub(super) fn schema(&self, verb: Option<&Command>) -> Value {
        let option = self.option();
        let is_meant = |it: &&Arg| match self.kind {
            ParameterKind::First(id) => it.get_id() == id,
            ParameterKind::Tree => it.get_id() == "paths",
            _ => it.get_long() == Some(&*option),
        };
        let argument = verb.and_then(|verb| verb.get_arguments().find(is_meant));
        let help = argument.and_then(Arg::get_help).map(ToString::to_string).unwrap_or_default();
        let one = json!({ "type": "string" });
        let pairs = json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } });
        let mut schema = match self.kind {
            ParameterKind::Text | ParameterKind::First(_) | ParameterKind::Tree => one,
            ParameterKind::Number => json!({ "type": "number" }),
            ParameterKind::Flag => json!({ "type": "boolean" }),
            ParameterKind::Texts | ParameterKind::Paths => {
                json!({ "type": "array", "items": one, "maxItems": MOST_TEXTS })
            }
            ParameterKind::Pairs => pairs,
            ParameterKind::Cases => json!({
                "type": "array",
                "maxItems": MOST_TEXTS,
                "items": {
                    "type": "object",
                    "properties": { "name": one, "set": pairs },
                    "required": ["name", "set"],
                    "additionalProperties": false,
                },
            }),
        };
        let help = match self.kind {
            ParameterKind::Tree => "File or folder below the served folder [default: the whole folder]".to_owned(),
            _ => help,
        };
        let allowed = argument.map(Arg::get_possible_values).unwrap_or_default();
        let allowed: Vec<String> = allowed.iter().map(|it| it.get_name().to_owned()).collect();
        if let Value::Object(schema) = &mut schema {
            if let (ParameterKind::Text, false) = (self.kind, allowed.is_empty()) {
                schema.insert("enum".to_owned(), json!(allowed));
            }
            schema.insert("description".to_owned(), json!(help));
        }
        schema
    }

    pub(super) fn add_to_line(&self, value: &Value, line: &mut CommandLine) -> Result<(), String> {
        let option = self.option();
        let mut push = |text: String| line.options.push(format!("--{option}={text}").into());
        match self.kind {
            ParameterKind::Text => push(text(value)?.to_owned()),
            ParameterKind::Number => match value {
                Value::Number(number) => push(number.to_string()),
                _ => return Err("expected a number".to_owned()),
            },
            ParameterKind::Flag => match value {
                Value::Bool(true) => line.options.push(format!("--{option}").into()),
                Value::Bool(false) => {}
                _ => return Err("expected true or false".to_owned()),
            },
            ParameterKind::Texts => {
                texts(value)?.into_iter().try_for_each(|it| text(it).map(|it| push(it.to_owned())))?
            }
            ParameterKind::Pairs => pairs(value)?.into_iter().for_each(push),
            ParameterKind::Cases => {
                for case in texts(value)? {
                    let named = case.get("name").zip(case.get("set"));
                    let (name, set) = named.ok_or("each case needs `name` and `set`")?;
                    push(format!("{}:{}", text(name)?, pairs(set)?.join(",")));
                }
            }
            ParameterKind::Paths => texts(value)?.into_iter().try_for_each(|it| inside(it).map(&mut push))?,
            ParameterKind::First(_) => line.first = Some(text(value)?.into()),
            ParameterKind::Tree => line.tree = Some(inside(value)?.into()),
        }
        Ok(())
    }
}

fn text(value: &Value) -> Result<&str, String> {
    let text = value.as_str().ok_or("expected a string")?;
    if text.len() > LONGEST_TEXT_BYTES {
        return Err(format!("the string has more than {LONGEST_TEXT_BYTES} bytes"));
    }
    if text.chars().any(char::is_control) {
        return Err("the string contains control characters".to_owned());
    }
    Ok(text)
}

/// Accepts a single string as a list with one entry.
fn texts(value: &Value) -> Result<Vec<&Value>, String> {
    let texts: Vec<&Value> = match value {
        Value::Array(texts) => texts.iter().collect(),
        Value::String(_) => vec![value],
        _ => return Err("expected a list".to_owned()),
    };
    if texts.len() > MOST_TEXTS { Err(format!("the list has more than {MOST_TEXTS} entries")) } else { Ok(texts) }
}

fn pairs(value: &Value) -> Result<Vec<String>, String> {
    let Value::Object(pairs) = value else { return Err("expected an object of names and values".to_owned()) };
    if pairs.len() > MOST_TEXTS {
        return Err(format!("the list has more than {MOST_TEXTS} entries"));
    }
    let pair = |(name, value): (&String, &Value)| {
        let said = match value {
            Value::String(_) => text(value)?.to_owned(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return Err(format!("`{name}` must be a string, a number, true or false")),
        };
        text(&Value::String(name.clone()))?;
        Ok(format!("{name}={said}"))
    };
    pairs.iter().map(pair).collect()
}

/// Returns a path below the served folder. Refuses paths and symbolic links that lead out of it.
fn inside(value: &Value) -> Result<String, String> {
    const OUTSIDE: &str = "the path is outside the served folder: pass a file or a folder below it, relative to it";
    let said = text(value)?;
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if said.is_empty() || !Path::new(said).components().all(is_below) {
        return Err(OUTSIDE.to_owned());
    }
    let folder = serving::folder().unwrap_or(Path::new("."));
    let whole = folder.join(said);
    let mut parts: Vec<&Path> = whole.ancestors().take_while(|it| *it != folder).collect();
    parts.reverse();
    // Checks from the top, so that nothing behind a link that leads out is accessed. A pattern has no file of its own.
    let there = parts.into_iter().take_while(|it| it.symlink_metadata().is_ok());
    for part in there {
        if !serving::may_read(part) {
            return Err(OUTSIDE.to_owned());
        }
    }
    // The prefix keeps a name from being parsed as an option or as standard input.
    Ok(format!("./{said}"))
}
