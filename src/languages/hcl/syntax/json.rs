//! Parses JSON with spans, and HCL in JSON syntax: `.tf.json`, `.tfvars.json`.

use std::sync::Arc;

use crate::languages::hcl::number::HclNumber;
use crate::source::{FileId, Span};

use super::cursor::{CursorPlace, MOST_NODES, Parser};
use super::{
    Attribute, BlockNode, Body, Expression, HclKind, HclName, NESTING_LIMIT, ObjectItem, ParsedFile, SyntaxError,
};

/// A value with its place.
#[derive(Debug, Clone)]
pub(crate) struct Json {
    pub(crate) kind: JsonKind,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum JsonKind {
    Null,
    Bool(bool),
    Number(HclNumber),
    /// String, and whether the file contains it byte for byte.
    Text(Arc<str>, bool),
    List(Vec<Json>),
    Object(Vec<(HclName, Json)>),
}

impl Json {
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.entries().iter().rev().find(|(name, _)| &*name.text == key).map(|(_, value)| value)
    }

    pub(crate) fn entries(&self) -> &[(HclName, Json)] {
        match &self.kind {
            JsonKind::Object(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Json] {
        match &self.kind {
            JsonKind::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            JsonKind::Text(text, _) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match &self.kind {
            JsonKind::Bool(flag) => Some(*flag),
            _ => None,
        }
    }
}

pub(crate) fn parse_json(file: FileId, text: &str) -> Result<Json, SyntaxError> {
    parse_json_within(file, text, NESTING_LIMIT)
}

/// Parses with another limit on nesting.
pub(crate) fn parse_json_within(file: FileId, text: &str, nesting: u32) -> Result<Json, SyntaxError> {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { text, at, file, depth: 0, deepest: nesting.min(NESTING_LIMIT), nodes: 0 };
    let value = reader.value()?;
    reader.skip_blank();
    if reader.at < text.len() {
        return Err(reader.error("expected the end of the JSON text"));
    }
    Ok(value)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    file: FileId,
    depth: u32,
    deepest: u32,
    nodes: u32,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn skip_blank(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// Returns an error at the next letter, or at the end.
    fn error(&self, message: &str) -> SyntaxError {
        let width = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        SyntaxError { message: message.into(), span: Span::new(self.file, self.at, self.at + width) }
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at)
    }

    fn value(&mut self) -> Result<Json, SyntaxError> {
        self.skip_blank();
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.error(&format!("this file contains more than {MOST_NODES} values")));
        }
        let start = self.at;
        let kind = match self.peek() {
            b'{' | b'[' if self.depth >= self.deepest => {
                return Err(self.error(&super::cursor::too_deep(self.deepest)));
            }
            b'{' => self.object()?,
            b'[' => self.list()?,
            b'"' => {
                let (text, verbatim) = self.string()?;
                JsonKind::Text(text, verbatim)
            }
            b'-' | b'0'..=b'9' => self.number()?,
            _ => {
                let word = [("true", JsonKind::Bool(true)), ("false", JsonKind::Bool(false)), ("null", JsonKind::Null)]
                    .into_iter()
                    .find(|(word, _)| self.text[self.at..].starts_with(word));
                let Some((word, kind)) = word else { return Err(self.error("expected a JSON value")) };
                self.at += word.len();
                kind
            }
        };
        Ok(Json { kind, span: self.span(start) })
    }

    fn object(&mut self) -> Result<JsonKind, SyntaxError> {
        self.at += 1;
        self.depth += 1;
        let mut entries = Vec::new();
        loop {
            self.skip_blank();
            if self.peek() == b'}' {
                break;
            }
            if !entries.is_empty() {
                self.separator()?;
                self.skip_blank();
            }
            if self.peek() != b'"' {
                return Err(self.error("expected a property name in quotes"));
            }
            let start = self.at;
            let (text, _) = self.string()?;
            let name = HclName { text, span: self.span(start) };
            self.skip_blank();
            if self.peek() != b':' {
                return Err(self.error("expected `:` after a property name"));
            }
            self.at += 1;
            entries.push((name, self.value()?));
        }
        self.at += 1;
        self.depth -= 1;
        Ok(JsonKind::Object(entries))
    }

    fn list(&mut self) -> Result<JsonKind, SyntaxError> {
        self.at += 1;
        self.depth += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            if self.peek() == b']' {
                break;
            }
            if !items.is_empty() {
                self.separator()?;
            }
            items.push(self.value()?);
        }
        self.at += 1;
        self.depth -= 1;
        Ok(JsonKind::List(items))
    }

    fn separator(&mut self) -> Result<(), SyntaxError> {
        if self.peek() != b',' {
            return Err(self.error("expected `,` or the end of this list or object"));
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self) -> Result<JsonKind, SyntaxError> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
        let Some(number) = HclNumber::parse(&self.text[self.at..self.at + length]) else {
            return Err(self.error("this is not a number"));
        };
        self.at += length;
        Ok(JsonKind::Number(number))
    }

    fn string(&mut self) -> Result<(Arc<str>, bool), SyntaxError> {
        let start = self.at + 1;
        let rest = &self.text.as_bytes()[start..];
        let Some(length) = memchr::memchr2(b'"', b'\\', rest) else {
            return Err(self.error("this string has no closing quote"));
        };
        if rest[length] == b'"' {
            self.at = start + length + 1;
            return Ok((Arc::from(&self.text[start..start + length]), true));
        }
        let mut text = String::new();
        self.at = start;
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = memchr::memchr2(b'"', b'\\', rest.as_bytes()) else {
                return Err(self.error("this string has no closing quote"));
            };
            text.push_str(&rest[..length]);
            self.at += length + 1;
            if rest.as_bytes()[length] == b'"' {
                return Ok((text.into(), false));
            }
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        let one = match self.peek() {
            b'n' => Some('\n'),
            b't' => Some('\t'),
            b'r' => Some('\r'),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            itself @ (b'"' | b'\\' | b'/') => Some(char::from(itself)),
            b'u' => None,
            _ => return Err(self.error("this is not a valid JSON escape")),
        };
        self.at += 1;
        if let Some(one) = one {
            return Ok(one);
        }
        let first = self.hex()?;
        let paired = (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u");
        if !paired {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.at += 2;
        let second = self.hex()?;
        let code = 0x10000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00);
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, SyntaxError> {
        let digits = self.text.get(self.at..self.at + 4).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|hex| u32::from_str_radix(hex, 16).ok()) else {
            return Err(self.error("expected four hexadecimal digits"));
        };
        self.at += 4;
        Ok(code)
    }
}

/// Parses a `.tf.json` file.
pub(crate) fn parse_json_body(file: FileId, text: &str, nesting: u32) -> ParsedFile {
    let mut errors = Vec::new();
    let body = match parse_json_within(file, text, nesting) {
        Ok(json) => top_level(&json, &mut errors),
        Err(error) => {
            errors.push(error);
            Body { incomplete: true, ..Body::empty(Span::new(file, 0, text.len())) }
        }
    };
    ParsedFile { body, errors, notes: Vec::new(), comments: Vec::new() }
}

/// Parses a file of another program. `labels` returns the number of labels of each kind of block.
pub(crate) fn parse_json_as(
    file: FileId,
    text: &str,
    nesting: u32,
    labels: impl Fn(&str) -> Option<usize>,
) -> ParsedFile {
    let mut errors = Vec::new();
    let mut result = Body::empty(Span::new(file, 0, text.len()));
    match parse_json_within(file, text, nesting) {
        Ok(json) => {
            for (name, value) in json.entries() {
                match labels(&name.text) {
                    Some(labels) => blocks(name, value, labels, &mut Vec::new(), &mut result.blocks, &mut errors),
                    None => {
                        let expression = expression(value, &mut errors);
                        result.attributes.push(Attribute { name: name.clone(), expression });
                    }
                }
            }
        }
        Err(error) => {
            result.incomplete = true;
            errors.push(error);
        }
    }
    ParsedFile { body: result, errors, notes: Vec::new(), comments: Vec::new() }
}

/// Returns the number of labels of a Terraform block.
fn label_count(keyword: &str) -> Option<usize> {
    Some(match keyword {
        "resource" | "data" | "ephemeral" => 2,
        "module" | "variable" | "output" | "provider" | "check" => 1,
        "locals" | "terraform" | "moved" | "removed" | "import" => 0,
        _ => return None,
    })
}

fn top_level(json: &Json, errors: &mut Vec<SyntaxError>) -> Body {
    let mut body = Body::empty(json.span);
    // An array contains several bodies of a block.
    let bodies = std::slice::from_ref(json).iter().chain(json.items());
    let is_body = |it: &&Json| matches!(it.kind, JsonKind::Object(_));
    let is_array = matches!(json.kind, JsonKind::List(_));
    for misplaced in bodies.clone().skip(usize::from(is_array)).filter(|it| !is_body(it)) {
        let message = "the file must contain an object or an array of objects".to_owned();
        errors.push(SyntaxError { message, span: misplaced.span });
    }
    for (keyword, value) in bodies.flat_map(Json::entries) {
        match label_count(&keyword.text) {
            Some(labels) => blocks(keyword, value, labels, &mut Vec::new(), &mut body.blocks, errors),
            None if &*keyword.text == "//" => {}
            None => errors.push(SyntaxError {
                message: format!("`{}` is not a Terraform block", keyword.text),
                span: keyword.span,
            }),
        }
    }
    body
}

fn blocks(
    keyword: &HclName,
    value: &Json,
    labels: usize,
    given: &mut Vec<HclName>,
    into: &mut Vec<BlockNode>,
    errors: &mut Vec<SyntaxError>,
) {
    for item in value.items() {
        blocks(keyword, item, labels, given, into, errors);
    }
    if labels > given.len() {
        for (name, inner) in value.entries() {
            given.push(name.clone());
            blocks(keyword, inner, labels, given, into, errors);
            given.pop();
        }
    } else if matches!(value.kind, JsonKind::Object(_)) {
        let header = given.last().map_or(keyword.span, |label| label.span);
        into.push(BlockNode { keyword: keyword.clone(), labels: given.clone(), body: body(value, errors), header });
    }
}

/// Parses the body of a block. JSON does not distinguish a nested block from an argument with an object, so it becomes
/// both.
fn body(json: &Json, errors: &mut Vec<SyntaxError>) -> Body {
    let mut result = Body::empty(json.span);
    for (name, value) in json.entries() {
        if &*name.text == "//" {
            continue;
        }
        if &*name.text == "dynamic" {
            blocks(name, value, 1, &mut Vec::new(), &mut result.blocks, errors);
            continue;
        }
        result.attributes.push(Attribute { name: name.clone(), expression: expression(value, errors) });
        let objects = std::slice::from_ref(value).iter().chain(value.items());
        for object in objects.filter(|object| matches!(object.kind, JsonKind::Object(_))) {
            let body = body(object, errors);
            result.blocks.push(BlockNode { keyword: name.clone(), labels: Vec::new(), body, header: name.span });
        }
    }
    result
}

/// Converts a value to an expression; its strings are templates.
pub(crate) fn expression(json: &Json, errors: &mut Vec<SyntaxError>) -> Expression {
    convert(json, &mut |text, verbatim, span| template(text, verbatim, span, errors))
}

/// Converts a value to an expression; its strings are literals, as in `.tfvars.json`.
pub(crate) fn literal(json: &Json) -> Expression {
    convert(json, &mut |text, _, _| HclKind::Text(text.clone()))
}

fn convert(json: &Json, string: &mut impl FnMut(&Arc<str>, bool, Span) -> HclKind) -> Expression {
    let kind = match &json.kind {
        JsonKind::Null => HclKind::Null,
        JsonKind::Bool(value) => HclKind::Bool(*value),
        JsonKind::Number(value) => HclKind::Number(value.clone()),
        JsonKind::Text(text, verbatim) => string(text, *verbatim, json.span),
        JsonKind::List(items) => HclKind::List(items.iter().map(|item| convert(item, string)).collect()),
        JsonKind::Object(entries) => HclKind::Object(
            entries
                .iter()
                .map(|(name, value)| {
                    let key = Expression { kind: string(&name.text, false, name.span), span: name.span };
                    ObjectItem { key, value: convert(value, string) }
                })
                .collect(),
        ),
    };
    Expression { kind, span: json.span }
}

fn template(text: &Arc<str>, verbatim: bool, span: Span, errors: &mut Vec<SyntaxError>) -> HclKind {
    if !(text.contains("${") || text.contains("%{")) {
        return HclKind::Text(text.clone());
    }
    let place = if verbatim { CursorPlace::file(span.file, span.start as usize + 1) } else { CursorPlace::Whole(span) };
    match Parser::new(text, place).parse_whole_template() {
        Ok(expression) => expression.kind,
        Err(error) => {
            errors.push(error);
            HclKind::Invalid
        }
    }
}
