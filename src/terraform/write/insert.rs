//! Places new arguments, keys and blocks, in the style of their neighbors.

use std::ops::Range;

use crate::languages::hcl::syntax::{Attribute, Body, Expression, HclKind};
use crate::source::{Span, line_start, line_stop};

use super::super::rows::Literal;
use super::align::TextChange;
use super::literal::{is_name, quoted};

/// One level of indentation of `terraform fmt`.
const STEP: &str = "  ";

/// Arguments that are usually last in a block, so nothing is added after them.
const LAST: [&str; 6] = ["tags", "labels", "depends_on", "provider", "providers", "lifecycle"];

/// The additions to one body.
#[derive(Debug, Default, Clone)]
pub(super) struct Addition {
    /// The names and expressions of arguments.
    pub(super) arguments: Vec<(String, String)>,
    pub(super) blocks: Vec<(String, Addition)>,
    /// Arguments that are maps.
    pub(super) maps: Vec<(String, Vec<(String, Literal)>)>,
    /// True if its blocks are written as objects, because the body is that of a module call.
    pub(super) has_objects: bool,
}

impl Addition {
    /// Adds an argument with this expression, or a key of a map.
    pub(super) fn add(&mut self, path: &[String], value: &Literal) {
        match path {
            [] => {}
            [map, key] if !is_argument(key) => self.add_entry(map, key, value),
            [name] => self.add_argument(name, quoted(value)),
            [name, rest @ ..] => self.block(name).add(rest, value),
        }
    }

    /// Adds an argument that is a list with one element.
    pub(super) fn add_list(&mut self, path: &[String], element: &Literal) {
        match path {
            [] => {}
            [name] => self.add_argument(name, format!("[{}]", quoted(element))),
            [name, rest @ ..] => self.block(name).add_list(rest, element),
        }
    }

    fn add_argument(&mut self, name: &str, expression: String) {
        self.arguments.push((name.to_owned(), expression));
    }

    fn add_entry(&mut self, map: &str, key: &str, value: &Literal) {
        let entry = (key.to_owned(), value.clone());
        match self.maps.iter_mut().find(|(known, _)| known == map) {
            Some((_, entries)) => entries.push(entry),
            None => self.maps.push((map.to_owned(), vec![entry])),
        }
    }

    fn block(&mut self, name: &str) -> &mut Addition {
        let place = self.blocks.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            let block = Addition { has_objects: self.has_objects, ..Addition::default() };
            self.blocks.push((name.to_owned(), block));
            self.blocks.len() - 1
        });
        &mut self.blocks[place].1
    }

    fn lines(&self, indent: &str, into: &mut Vec<String>) {
        let width = self.arguments.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, expression) in &self.arguments {
            into.push(format!("{indent}{name:width$} = {expression}"));
        }
        for (name, entries) in &self.maps {
            let shown: Vec<String> = entries.iter().map(|(key, _)| key_text(key)).collect();
            let width = shown.iter().map(|key| key.chars().count()).max().unwrap_or_default();
            into.push(format!("{indent}{name} = {{"));
            let lines = shown.iter().zip(entries);
            into.extend(lines.map(|(key, (_, value))| format!("{indent}{STEP}{key:width$} = {}", quoted(value))));
            into.push(format!("{indent}}}"));
        }
        for (name, block) in &self.blocks {
            if !into.is_empty() {
                into.push(String::new());
            }
            let sign = if self.has_objects { " =" } else { "" };
            into.push(format!("{indent}{name}{sign} {{"));
            let mut inner = Vec::new();
            block.lines(&format!("{indent}{STEP}"), &mut inner);
            into.append(&mut inner);
            into.push(format!("{indent}}}"));
        }
    }
}

/// Returns whether a name can be that of an argument or a block of a provider. Any other name is the key of a map.
pub(super) fn is_argument(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Returns the changes that add arguments and blocks to a body. `near` is a related argument.
pub(super) fn into_body(text: &str, body: &Body, near: Option<Span>, addition: &Addition) -> Vec<TextChange> {
    let span = body.span.range();
    let end_of_line = line_break(text, span.start);
    let close_indent = indent_of(text, span.start);
    let inner = text.get(span.start + 1..span.end.saturating_sub(1)).unwrap_or_default();
    if !inner.contains('\n') {
        return vec![opened(text, &span, inner, addition, end_of_line)];
    }
    let indent = first_item(body).map_or_else(|| format!("{close_indent}{STEP}"), |at| indent_of(text, at).to_owned());
    let mut changes = Vec::new();
    if !addition.arguments.is_empty() || !addition.maps.is_empty() {
        let arguments = Addition { blocks: Vec::new(), ..addition.clone() };
        let at = place_of_arguments(text, body, near);
        let mut lines = Vec::new();
        arguments.lines(&indent, &mut lines);
        let mut new: String = lines.iter().map(|line| format!("{end_of_line}{line}")).collect();
        if body.attributes.is_empty() && starts_with_block(body) {
            new.push_str(end_of_line);
        }
        changes.push(TextChange { at: at..at, text: new });
    }
    if !addition.blocks.is_empty() {
        let (at, is_alone) = place_of_blocks(text, body);
        let mut new = String::new();
        for (name, block) in &addition.blocks {
            let mut lines = Vec::new();
            let has_objects = addition.has_objects;
            let one = Addition { blocks: vec![(name.clone(), block.clone())], has_objects, ..Addition::default() };
            one.lines(&indent, &mut lines);
            if !is_alone || !new.is_empty() {
                new.push_str(end_of_line);
            }
            lines.iter().for_each(|line| new.extend([end_of_line, line.as_str()]));
        }
        let rest = text.get(at..).unwrap_or_default();
        let next = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        let next = next.lines().next().unwrap_or_default().trim();
        if !next.is_empty() && next != "}" {
            new.push_str(end_of_line);
        }
        changes.push(TextChange { at: at..at, text: new });
    }
    changes
}

/// Adds to `{}` or `{ a = 1 }` on one line.
fn opened(text: &str, span: &Range<usize>, inner: &str, addition: &Addition, end_of_line: &str) -> TextChange {
    let close_indent = indent_of(text, span.start);
    let indent = format!("{close_indent}{STEP}");
    let mut lines = Vec::new();
    if !inner.trim().is_empty() {
        lines.push(format!("{indent}{}", inner.trim()));
    }
    let mut new = Vec::new();
    addition.lines(&indent, &mut new);
    lines.append(&mut new);
    let body: String = lines.iter().map(|line| format!("{line}{end_of_line}")).collect();
    TextChange { at: span.clone(), text: format!("{{{end_of_line}{body}{close_indent}}}") }
}

fn first_item(body: &Body) -> Option<usize> {
    let attributes = body.attributes.iter().map(|it| it.name.span.start);
    let blocks = body.blocks.iter().map(|it| it.header.start);
    attributes.chain(blocks).min().map(|at| at as usize)
}

fn first_block(body: &Body) -> Option<u32> {
    body.blocks.iter().map(|it| it.header.start).min()
}

fn starts_with_block(body: &Body) -> bool {
    first_item(body).is_some_and(|at| first_block(body) == Some(at as u32))
}

/// Returns the end of the line before new arguments: after the related argument, or else after the last argument before
/// the first nested block.
fn place_of_arguments(text: &str, body: &Body, near: Option<Span>) -> usize {
    let ours = |it: &&Attribute| body.span.contains(it.span()) && it.span().file == body.span.file;
    if let Some(near) = near
        && let Some(attribute) = body.attributes.iter().filter(ours).find(|it| it.span() == near)
    {
        return end_of_item(text, attribute.span());
    }
    let before_blocks = |it: &&Attribute| first_block(body).is_none_or(|block| it.name.span.start < block);
    let is_last = |it: &&Attribute| !LAST.contains(&&*it.name.text);
    let one_line = |it: &&Attribute| !text.get(it.span().range()).unwrap_or_default().contains('\n');
    let all: Vec<&Attribute> = body.attributes.iter().filter(ours).collect();
    let attributes = || all.iter().copied();
    let wanted = attributes().filter(before_blocks).filter(is_last).rfind(one_line);
    let wanted = wanted.or_else(|| attributes().filter(before_blocks).rfind(is_last));
    let wanted = wanted.or_else(|| attributes().rfind(is_last));
    match wanted {
        Some(attribute) => end_of_item(text, attribute.span()),
        // If the body has no arguments, they are added after the opening brace.
        None => end_of_line(text, body.span.start as usize + 1),
    }
}

/// Returns the end of the line before new blocks, and whether the body is empty up to there.
fn place_of_blocks(text: &str, body: &Body) -> (usize, bool) {
    let before = body.attributes.iter().filter(|it| first_block(body).is_none_or(|block| it.name.span.start < block));
    let last = before.map(|it| it.span().end).max();
    let last = last.or_else(|| body.blocks.iter().map(|it| it.span().end).max());
    match last {
        Some(end) => (end_of_line(text, end as usize), false),
        None => (end_of_line(text, body.span.start as usize + 1), true),
    }
}

fn end_of_item(text: &str, span: Span) -> usize {
    end_of_line(text, span.end as usize)
}

/// Returns the end of the line that contains a position, before its line break. A heredoc ends with its own line.
pub(super) fn end_of_line(text: &str, at: usize) -> usize {
    if text.get(..at).is_some_and(|before| before.ends_with('\n')) {
        return at - if text.get(..at).is_some_and(|before| before.ends_with("\r\n")) { 2 } else { 1 };
    }
    line_stop(text, at)
}

fn indent_of(text: &str, at: usize) -> &str {
    let line = text.get(line_start(text, at)..).unwrap_or_default();
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the line break of the line that contains a position.
pub(super) fn line_break(text: &str, at: usize) -> &'static str {
    let end = text.get(at..).and_then(|rest| rest.find('\n')).map(|length| at + length);
    let windows = end.is_some_and(|end| text.get(..end).is_some_and(|line| line.ends_with('\r')));
    if windows { "\r\n" } else { "\n" }
}

fn key_text(key: &str) -> String {
    if is_name(key) { key.to_owned() } else { quoted(&Literal::Text(key.to_owned())) }
}

/// Returns nested objects on one line: `{ a = { b = 1 } }` for the names `a` and `b`.
pub(super) fn nested(names: &[String], value: &Literal) -> String {
    names.iter().rev().fold(quoted(value), |inner, name| format!("{{ {} = {inner} }}", key_text(name)))
}

/// Returns the change that adds keys with these expressions to `{ … }`; `None` if the expression is not an object.
pub(super) fn into_object(text: &str, object: &Expression, entries: &[(String, String)]) -> Option<TextChange> {
    let HclKind::Object(items) = &object.kind else { return None };
    let span = object.span.range();
    let Some(last) = items.last() else {
        let inside: Vec<String> = entries.iter().map(|(key, value)| format!("{} = {value}", key_text(key))).collect();
        return Some(TextChange { at: span, text: format!("{{ {} }}", inside.join(", ")) });
    };
    let sign = text.get(last.key.span.end as usize..last.value.span.start as usize).unwrap_or_default();
    let sign = if sign.trim() == ":" { ":" } else { " =" };
    let quotes_keys = text.get(last.key.span.range()).is_some_and(|key| key.starts_with('"'));
    let new = entries.iter().map(|(key, value)| {
        let shown = if quotes_keys && is_name(key) { format!("\"{key}\"") } else { key_text(key) };
        format!("{shown}{sign} {value}")
    });
    let end = last.value.span.end as usize;
    let rest = text.get(end..span.end).unwrap_or_default();
    let has_comma = rest.trim_start().starts_with(',');
    let inner = text.get(span.start..last.key.span.start as usize).unwrap_or_default();
    if !inner.contains('\n') && !rest.contains('\n') {
        return Some(TextChange { at: end..end, text: new.map(|new| format!(", {new}")).collect() });
    }
    let end_of_line_text = line_break(text, span.start);
    let indent = indent_of(text, last.key.span.start as usize);
    let comma = if has_comma { "," } else { "" };
    let at = end_of_line(text, end);
    Some(TextChange { at: at..at, text: new.map(|new| format!("{end_of_line_text}{indent}{new}{comma}")).collect() })
}

/// Returns the changes that add an element to `[ … ]`; none if the expression is not a list.
pub(super) fn into_list(text: &str, list: &Expression, element: &Literal) -> Vec<TextChange> {
    let HclKind::List(items) = &list.kind else { return Vec::new() };
    let span = list.span.range();
    let Some(last) = items.last() else {
        return vec![TextChange { at: span, text: format!("[{}]", quoted(element)) }];
    };
    let end = last.span.end as usize;
    let rest = text.get(end..span.end).unwrap_or_default();
    if !rest.contains('\n') {
        return vec![TextChange { at: end..end, text: format!(", {}", quoted(element)) }];
    }
    let indent = indent_of(text, last.span.start as usize);
    let line = format!("{}{indent}{}", line_break(text, span.start), quoted(element));
    if rest.trim_start().starts_with(',') {
        let at = end_of_line(text, end);
        return vec![TextChange { at: at..at, text: format!("{line},") }];
    }
    let at = end_of_line(text, end);
    vec![TextChange { at: end..end, text: ",".to_owned() }, TextChange { at: at..at, text: line }]
}
