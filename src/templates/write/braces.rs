//! Edits documents whose objects have braces: JSON and Bicep. Comments, indentation and line breaks stay.

use crate::languages::yaml::{AddedPiece, Node, without_members};
use crate::source::{Edit, Span, line_start, line_stop};

/// A language with braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BraceSyntax {
    /// Commas between members, double quotes.
    Json,
    /// Line breaks between members, single quotes.
    Bicep,
}

/// A file with its style.
pub(super) struct BraceFile<'t> {
    syntax: BraceSyntax,
    /// The content, with blanks in place of comments.
    text: &'t str,
    line_end: &'static str,
    /// The indentation of a nested object.
    step: String,
}

type Result<T> = std::result::Result<T, &'static str>;

impl<'t> BraceFile<'t> {
    /// `text` has no comments. `resource` shows the indentation of the author.
    pub(super) fn new(syntax: BraceSyntax, text: &'t str, resource: &Node) -> BraceFile<'t> {
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut file = BraceFile { syntax, text, line_end, step: String::new() };
        file.step = file.habit(resource).unwrap_or_else(|| "  ".to_owned());
        file
    }

    /// Returns the indentation of the first nested object or list.
    fn habit(&self, node: &Node) -> Option<String> {
        let outer = self.indent(node.span.start as usize);
        let first = node.entries().iter().map(|it| it.key_span).chain(node.items().iter().map(|it| it.span)).next()?;
        let inner = self.alone(first.start as usize)?;
        let step = inner.strip_prefix(outer).filter(|it| !it.is_empty() && it.len() <= 8)?;
        Some(step.to_owned())
    }

    fn line_start(&self, at: usize) -> usize {
        line_start(self.text, at)
    }

    /// Returns the end of a line, before its line break.
    fn line_stop(&self, at: usize) -> usize {
        line_stop(self.text, at)
    }

    /// Returns the blanks at the start of a line.
    fn indent(&self, at: usize) -> &str {
        let line = self.text.get(self.line_start(at)..).unwrap_or_default();
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        line.get(..blanks).unwrap_or_default()
    }

    /// Returns the indentation of a member that begins its line.
    fn alone(&self, at: usize) -> Option<&str> {
        self.text.get(self.line_start(at)..at).filter(|before| before.chars().all(|c| matches!(c, ' ' | '\t')))
    }

    fn is_blank(&self, from: usize, to: usize) -> bool {
        self.text.get(from..to).is_some_and(|text| text.trim().is_empty())
    }

    /// Returns the position after the comma that follows a member.
    fn comma(&self, after: usize) -> Option<usize> {
        let rest = self.text.get(after..)?;
        let blanks = rest.len() - rest.trim_start().len();
        rest.trim_start().starts_with(',').then_some(after + blanks + 1)
    }

    /// Replaces a scalar.
    pub(super) fn replace(&self, node: &Node, new: &AddedPiece) -> Result<Edit> {
        let old = self.text.get(node.span.range()).unwrap_or_default();
        let quote = if self.syntax == BraceSyntax::Json { '"' } else { '\'' };
        let raw = match new {
            AddedPiece::Number(text) | AddedPiece::Text(text) => text,
            _ => return Err("the value is not an object"),
        };
        if old.contains('\n') || old.is_empty() || old.starts_with(['{', '[']) || old.starts_with("'''") {
            return Err("the value is not a plain value on one line");
        }
        let replacement = match old.starts_with(quote) {
            true => self.quoted(raw),
            false => self.scalar(new),
        };
        Ok(Edit { span: node.span, replacement })
    }

    /// Adds members to an object after one of its members.
    pub(super) fn insert(&self, map: &Node, after: Option<usize>, new: &[(String, AddedPiece)]) -> Result<Vec<Edit>> {
        let member = after.or(map.entries().len().checked_sub(1)).and_then(|at| map.entries().get(at));
        let indent = match member {
            Some(member) => self.alone(member.key_span.start as usize).map(str::to_owned),
            None => Some(format!("{}{}", self.indent(map.span.start as usize), self.step)),
        };
        let write = |(key, value): &(String, AddedPiece)| {
            format!("{}: {}", self.key(key), self.value(value, indent.as_deref()))
        };
        let members: Vec<String> = new.iter().map(write).collect();
        match member {
            Some(member) => Ok(self.between(map, member.span(), indent.as_deref(), &members)),
            None => self.fill_empty(map, &members),
        }
    }

    /// Adds an item to a list after the others.
    pub(super) fn append(&self, list: &Node, new: &AddedPiece) -> Result<Vec<Edit>> {
        let Some(last) = list.items().last() else {
            let indent = format!("{}{}", self.indent(list.span.start as usize), self.step);
            return self.fill_empty(list, &[self.value(new, Some(&indent))]);
        };
        let indent = self.alone(last.span.start as usize).map(str::to_owned);
        Ok(self.between(list, last.span, indent.as_deref(), &[self.value(new, indent.as_deref())]))
    }

    /// Writes members into empty braces or brackets.
    fn fill_empty(&self, node: &Node, members: &[String]) -> Result<Vec<Edit>> {
        let old = self.text.get(node.span.range()).unwrap_or_default();
        let (Some(open), Some(close)) = (old.chars().next(), old.chars().next_back()) else {
            return Err("the value is not an object");
        };
        if old.len() < 2 || !old.get(1..old.len() - 1).is_some_and(|inside| inside.trim().is_empty()) {
            return Err("the value is not an empty object");
        }
        let outer = self.indent(node.span.start as usize);
        let inner = format!("{}{outer}{}", self.line_end, self.step);
        let comma = if self.syntax == BraceSyntax::Json { "," } else { "" };
        let members = members.join(&format!("{comma}{inner}"));
        let replacement = format!("{open}{inner}{members}{}{outer}{close}", self.line_end);
        Ok(vec![Edit { span: node.span, replacement }])
    }

    /// Returns the edits that add members after another one: on lines of their own if the other member is.
    fn between(&self, node: &Node, member: Span, indent: Option<&str>, members: &[String]) -> Vec<Edit> {
        let edit = |at: usize, replacement: String| Edit { span: Span::new(node.span.file, at, at), replacement };
        let end = member.end as usize;
        let comma = self.comma(end);
        let stop = self.line_stop(comma.unwrap_or(end));
        let lines = indent.filter(|_| self.is_blank(comma.unwrap_or(end), stop));
        match (lines, self.syntax) {
            (Some(indent), BraceSyntax::Json) => {
                let gap = format!("{}{indent}", self.line_end);
                let new = format!("{gap}{}", members.join(&format!(",{gap}")));
                match comma {
                    Some(_) => vec![edit(stop, format!("{new},"))],
                    None if stop == end => vec![edit(end, format!(",{new}"))],
                    None => vec![edit(end, ",".to_owned()), edit(stop, new)],
                }
            }
            (Some(indent), BraceSyntax::Bicep) => {
                let gap = format!("{}{indent}", self.line_end);
                vec![edit(stop, format!("{gap}{}", members.join(&gap)))]
            }
            (None, _) => vec![edit(end, format!(", {}", members.join(", ")))],
        }
    }

    /// Removes members of an object or a list, but not all of them.
    pub(super) fn without(&self, members: &[Span], gone: &[usize]) -> Vec<Edit> {
        let is_alone = |at: &usize| {
            let Some(member) = members.get(*at) else { return false };
            let end = self.comma(member.end as usize).unwrap_or(member.end as usize);
            self.alone(member.start as usize).is_some() && self.is_blank(end, self.line_stop(end))
        };
        if !gone.iter().all(is_alone) {
            return without_members(members, gone);
        }
        let cut = |member: &Span, start: usize, end: usize| Edit {
            span: Span::new(member.file, start, end),
            replacement: String::new(),
        };
        let mut edits = Vec::new();
        for member in gone.iter().filter_map(|at| members.get(*at)) {
            let stop = self.line_stop(member.end as usize);
            let rest = self.text.get(stop..).unwrap_or_default();
            let end = stop + rest.find('\n').map_or(rest.len(), |at| at + 1);
            edits.push(cut(member, self.line_start(member.start as usize), end));
        }
        // The last of the other members has no comma.
        let last = (0..members.len()).rev().find(|at| !gone.contains(at)).filter(|last| last + 1 < members.len());
        if let Some(last) = last.and_then(|at| members.get(at)) {
            edits.extend(self.comma(last.end as usize).map(|comma| cut(last, comma - 1, comma)));
        }
        edits
    }

    fn key(&self, key: &str) -> String {
        let is_name = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.syntax == BraceSyntax::Bicep && is_name { key.to_owned() } else { self.quoted(key) }
    }

    /// Formats a value: on several lines if its key is on a line of its own.
    fn value(&self, value: &AddedPiece, indent: Option<&str>) -> String {
        let inner = indent.map(|indent| format!("{indent}{}", self.step));
        let (open, members, close) = match value {
            AddedPiece::Map(map) => {
                let write = |(key, value): &(String, AddedPiece)| {
                    format!("{}: {}", self.key(key), self.value(value, inner.as_deref()))
                };
                ('{', map.iter().map(write).collect::<Vec<_>>(), '}')
            }
            AddedPiece::List(items) => {
                ('[', items.iter().map(|item| self.value(item, inner.as_deref())).collect(), ']')
            }
            scalar => return self.scalar(scalar),
        };
        let comma = if self.syntax == BraceSyntax::Json { "," } else { "" };
        match (indent, &inner) {
            (Some(outer), Some(inner)) => {
                let gap = format!("{}{inner}", self.line_end);
                let members = members.join(&format!("{comma}{gap}"));
                format!("{open}{gap}{members}{}{outer}{close}", self.line_end)
            }
            _ if open == '{' => format!("{open} {} {close}", members.join(", ")),
            _ => format!("{open}{}{close}", members.join(", ")),
        }
    }

    fn scalar(&self, piece: &AddedPiece) -> String {
        match piece {
            AddedPiece::Text(text) => self.quoted(text),
            AddedPiece::Number(text) => text.clone(),
            AddedPiece::Map(_) | AddedPiece::List(_) => String::new(),
        }
    }

    fn quoted(&self, text: &str) -> String {
        match self.syntax {
            BraceSyntax::Json => serde_json::Value::from(text).to_string(),
            BraceSyntax::Bicep => {
                let text = text.replace('\\', "\\\\").replace('\'', "\\'").replace("${", "\\${");
                format!("'{}'", text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t"))
            }
        }
    }
}
