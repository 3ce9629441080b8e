//! Edits a document: replaces scalars, adds keys and items. Everything else stays unchanged: quotes, brackets,
//! indentation, comments, line breaks, and a missing line break at the end of the file.

use std::ops::Range;

use crate::source::{Edit, Span, line_start, line_stop};

use super::{Node, NodeData, NodeEntry, quoted, scalar};

/// An edit, or the reason why there is none.
type Result<T> = std::result::Result<T, &'static str>;

/// A piece to add.
#[derive(Debug, Clone)]
pub(crate) enum AddedPiece {
    Number(String),
    Text(String),
    Map(Vec<(String, AddedPiece)>),
    List(Vec<AddedPiece>),
}

impl AddedPiece {
    pub(crate) fn text(text: &str) -> AddedPiece {
        AddedPiece::Text(text.to_owned())
    }

    /// Returns this piece below keys that do not exist yet.
    pub(crate) fn below(self, keys: &[&str]) -> AddedPiece {
        keys.iter().rev().fold(self, |inner, key| AddedPiece::Map(vec![((*key).to_owned(), inner)]))
    }
}

/// The text of a file, with its style.
pub(crate) struct EditedFile<'t> {
    text: &'t str,
    line_end: &'static str,
    /// The indentation of nested mappings.
    step: usize,
    /// The indentation of list dashes.
    dash: usize,
}

impl<'t> EditedFile<'t> {
    /// Creates the page. `own` is the document of the file that is edited.
    pub(crate) fn new(text: &'t str, own: &str, root: &Node) -> EditedFile<'t> {
        let line_end = if own.contains("\r\n") { "\r\n" } else { "\n" };
        let mut page = EditedFile { text, line_end, step: 2, dash: 2 };
        let mut seen = (None, None);
        page.habits(root, &mut seen, 0);
        page.step = seen.0.unwrap_or(2);
        page.dash = seen.1.unwrap_or(page.step);
        page
    }

    /// Finds the author's indentation in the first mapping and the first list that show it.
    fn habits(&self, node: &Node, seen: &mut (Option<usize>, Option<usize>), depth: usize) {
        const DEEPEST: usize = 16;
        if depth > DEEPEST || (seen.0.is_some() && seen.1.is_some()) {
            return;
        }
        for entry in node.entries() {
            let below = |column: usize| column.checked_sub(self.column(entry.key_span.start as usize));
            match &entry.value.data {
                NodeData::Map(inner) if !self.is_flow(&entry.value) => {
                    let column = inner.first().map(|inner| self.column(inner.key_span.start as usize));
                    seen.0 = seen.0.or(column.and_then(below).filter(|step| (1..=8).contains(step)));
                }
                NodeData::List(items) if !self.is_flow(&entry.value) => {
                    let dash = items.first().and_then(|item| self.dash_of(item));
                    seen.1 = seen.1.or(dash.and_then(below).filter(|step| *step <= 8));
                }
                _ => {}
            }
            self.habits(&entry.value, seen, depth + 1);
        }
        node.items().iter().for_each(|item| self.habits(item, seen, depth + 1));
    }

    fn line_start(&self, at: usize) -> usize {
        line_start(self.text, at)
    }

    /// Returns the end of a line, before its line break.
    fn line_stop(&self, at: usize) -> usize {
        line_stop(self.text, at)
    }

    fn column(&self, at: usize) -> usize {
        self.text.get(self.line_start(at)..at).map_or(0, |before| before.chars().count())
    }

    fn is_flow(&self, node: &Node) -> bool {
        let text = self.text.get(node.span.range()).unwrap_or_default();
        // A list without brackets starts at its first item.
        let own = |inner: Option<&Node>| inner.is_none_or(|inner| inner.span.start > node.span.start);
        match &node.data {
            NodeData::Map(_) => text.starts_with('{'),
            NodeData::List(items) => text.starts_with('[') && own(items.first()),
            NodeData::Scalar { .. } => false,
        }
    }

    /// Returns the column of the dash before an item.
    fn dash_of(&self, item: &Node) -> Option<usize> {
        let start = item.span.start as usize;
        let before = self.text.get(self.line_start(start)..start)?;
        let dash = before.rfind('-')?;
        before.get(dash + 1..)?.trim().is_empty().then(|| before.get(..dash).map_or(0, |it| it.chars().count()))
    }

    /// Replaces a scalar, and keeps its quotes.
    pub(crate) fn replace(&self, node: &Node, new: &AddedPiece) -> Result<Edit> {
        let old = self.text.get(node.span.range()).unwrap_or_default();
        if old.contains('\n') || old.is_empty() || old.starts_with(['{', '[', '*', '&', '!']) {
            return Err("the value is not a plain value on one line");
        }
        if old.contains("{{") || old.contains("${") {
            return Err("another program fills in the value");
        }
        let raw = match new {
            AddedPiece::Number(text) | AddedPiece::Text(text) => text,
            _ => return Err("the value is not a mapping"),
        };
        let replacement = match old.chars().next() {
            Some('"') => quoted(raw),
            Some('\'') => format!("'{}'", raw.replace('\'', "''")),
            _ => scalar_text(new, false),
        };
        Ok(Edit { span: node.span, replacement })
    }

    /// Replaces a scalar by a mapping in brackets.
    pub(crate) fn exchange(&self, node: &Node, new: &AddedPiece) -> Result<Edit> {
        let old = self.text.get(node.span.range()).unwrap_or_default();
        if old.contains('\n') || old.is_empty() || old.starts_with(['{', '[', '*', '&', '!']) {
            return Err("the value is not a plain value on one line");
        }
        Ok(Edit { span: node.span, replacement: flow(new, old.starts_with('"')) })
    }

    /// Returns keys as the lines of a mapping whose keys are in a column.
    pub(crate) fn lines(&self, new: &[(String, AddedPiece)], column: usize) -> String {
        let mut lines = " ".repeat(column);
        self.block(new, column, false, &mut lines);
        lines + self.line_end
    }

    /// Adds keys after the others.
    pub(crate) fn insert(&self, map: &Node, new: &[(String, AddedPiece)]) -> Result<Edit> {
        self.insert_after(map, map.entries().iter().max_by_key(|entry| entry.key_span.start), new)
    }

    /// Adds keys after one of the others; between brackets, after the last one.
    pub(crate) fn insert_after(
        &self,
        map: &Node,
        last: Option<&NodeEntry>,
        new: &[(String, AddedPiece)],
    ) -> Result<Edit> {
        if self.is_flow(map) {
            return self.add_in_brackets(map, new);
        }
        let Some(last) = last else { return Err("the mapping to add to is empty") };
        let (Some(first), true) =
            (map.entries().first(), map.entries().iter().all(|entry| map.span.contains(entry.key_span)))
        else {
            return Err("a part of the mapping comes from an anchor");
        };
        let column = self.column(first.key_span.start as usize);
        let before = self.text.get(self.line_start(first.key_span.start as usize)..first.key_span.start as usize);
        if before.is_none_or(|before| before.contains(|c| !matches!(c, ' ' | '-'))) {
            return Err("the keys of the mapping are not at the start of their lines");
        }
        let mut lines = String::new();
        self.block(new, column, true, &mut lines);
        Ok(self.after(map, self.end_of(last), lines))
    }

    /// Adds a value to a key without one: `labels:`.
    pub(crate) fn fill(&self, map: &Node, entry: &NodeEntry, value: &AddedPiece) -> Result<Edit> {
        let old = self.text.get(entry.value.span.range()).unwrap_or_default();
        if !old.trim().is_empty() || self.is_flow(map) {
            return Err("the value is not a mapping");
        }
        let column = self.column(entry.key_span.start as usize);
        let mut lines = String::new();
        self.inner(value, column, &mut lines);
        Ok(self.after(map, self.line_stop(entry.key_span.end as usize), lines))
    }

    /// Adds an item after the others.
    pub(crate) fn append(&self, list: &Node, item: &AddedPiece) -> Result<Edit> {
        let Some(last) = list.items().last() else {
            return match self.text.get(list.span.range()) {
                Some("[]") => Ok(Edit { span: list.span, replacement: format!("[{}]", flow(item, false)) }),
                _ => Err("the list to add to is empty"),
            };
        };
        if !list.items().iter().all(|item| list.span.contains(item.span)) {
            return Err("a part of the list comes from an anchor");
        }
        if self.is_flow(list) {
            let json = self.text.get(last.span.range()).is_some_and(|text| text.starts_with('"'));
            return Ok(self.behind(list, last.span.end as usize, last.span.start as usize, flow(item, json)));
        }
        let Some(dash) = self.dash_of(last) else { return Err("the list has an unusual form") };
        let mut lines = String::new();
        self.item(item, dash, &mut lines);
        Ok(self.after(list, self.content_end(last), lines))
    }

    /// Removes keys with their values, but not all keys of the mapping.
    pub(crate) fn without_keys(&self, map: &Node, gone: &[usize]) -> Result<Vec<Edit>> {
        if !map.entries().iter().all(|entry| map.span.contains(entry.key_span)) {
            return Err("a part of the mapping comes from an anchor");
        }
        if self.is_flow(map) {
            let members: Vec<Span> = map.entries().iter().map(NodeEntry::span).collect();
            let places = without_members(&members, gone);
            let crosses = |edit: &Edit| self.text_of(edit.span).contains('#');
            return if places.iter().any(crosses) { Err("it has a comment on the same line") } else { Ok(places) };
        }
        gone.iter().filter_map(|at| Some(self.without_key(map, map.entries().get(*at)?, *at))).collect()
    }

    fn without_key(&self, map: &Node, entry: &NodeEntry, at: usize) -> Result<Edit> {
        let start = entry.key_span.start as usize;
        let line = self.line_start(start);
        let edit =
            |start: usize, end: usize| Edit { span: Span::new(map.span.file, start, end), replacement: String::new() };
        if self.text.get(line..start).is_some_and(|before| before.trim().is_empty()) {
            let stop = self.line_stop(self.end_of(entry));
            let rest = self.text.get(stop..).unwrap_or_default();
            return Ok(match rest.find('\n') {
                Some(more) => edit(line, stop + more + 1),
                None => edit(self.line_stop(line.saturating_sub(1)), stop),
            });
        }
        // The first key after a dash: the next key takes its place.
        let next = map.entries().get(at + 1).map(|next| next.key_span.start as usize);
        let between = next.and_then(|next| self.text.get(self.end_of(entry)..next));
        match (next, between) {
            (Some(next), Some(between)) if between.trim().is_empty() => Ok(edit(start, next)),
            _ => Err("the key is not at the start of its line"),
        }
    }

    /// Removes items: whole lines, or words between brackets.
    pub(crate) fn without_items(&self, list: &Node, gone: Range<usize>) -> Result<Vec<Edit>> {
        let items = list.items();
        let (Some(first), Some(last)) = (items.get(gone.start), items.get(gone.end.saturating_sub(1))) else {
            return Err("the argument was not found");
        };
        if !items.iter().all(|item| list.span.contains(item.span)) {
            return Err("a part of the list comes from an anchor");
        }
        let edit =
            |start: usize, end: usize| Edit { span: Span::new(list.span.file, start, end), replacement: String::new() };
        if self.is_flow(list) {
            let before = gone.start.checked_sub(1).and_then(|at| items.get(at)).map(|it| it.span.end as usize);
            let after = items.get(gone.end).map(|it| it.span.start as usize);
            let (start, end) = match (before, after) {
                (Some(before), _) => (before, last.span.end as usize),
                (None, Some(after)) => (first.span.start as usize, after),
                (None, None) => return Err("it is the only argument"),
            };
            let crosses = self.text.get(start..end).is_none_or(|text| text.contains(" #"));
            return if crosses { Err("it has a comment on the same line") } else { Ok(vec![edit(start, end)]) };
        }
        let mut edits: Vec<Edit> = Vec::new();
        for item in items.get(gone).unwrap_or_default() {
            let (start, stop) = (self.line_start(item.span.start as usize), self.line_stop(item.span.end as usize));
            let dash = self.text.get(start..item.span.start as usize).unwrap_or_default().trim();
            let behind = self.text.get(item.span.end as usize..stop).unwrap_or_default().trim();
            if dash != "-" || !(behind.is_empty() || behind.starts_with('#')) {
                return Err("the list has an unusual form");
            }
            let rest = self.text.get(stop..).unwrap_or_default();
            let end = stop + rest.find('\n').map_or(rest.len(), |at| at + 1);
            match edits.last_mut() {
                Some(before) if before.span.end as usize == start => before.span.end = edit(start, end).span.end,
                _ if end == stop => edits.push(edit(self.line_stop(start.saturating_sub(1)), end)),
                _ => edits.push(edit(start, end)),
            }
        }
        Ok(edits)
    }

    pub(crate) fn text_of(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Adds lines after a line.
    fn after(&self, node: &Node, at: usize, lines: String) -> Edit {
        let stop = self.line_stop(at);
        // Uses the line break of the line before, because a file may have both kinds.
        let end = match self.text.get(stop..) {
            Some(rest) if rest.starts_with("\r\n") => "\r\n",
            Some(rest) if rest.starts_with('\n') => "\n",
            _ => self.line_end,
        };
        let replacement = if end == self.line_end { lines } else { lines.replace(self.line_end, end) };
        Edit { span: Span::new(node.span.file, stop, stop), replacement }
    }

    /// Adds inside brackets, after the last member.
    fn behind(&self, node: &Node, end: usize, start: usize, text: String) -> Edit {
        let rest = self.text.get(end..node.span.end as usize).unwrap_or_default();
        let line = self.line_start(start);
        let alone =
            self.text.get(line..start).filter(|before| before.trim().is_empty() && line > node.span.start as usize);
        let gap = alone.map_or(" ".to_owned(), |indent| format!("{}{indent}", self.line_end));
        let (at, replacement) = match rest.find(',') {
            Some(comma) => (end + comma + 1, format!("{gap}{text},")),
            None => (end, format!(",{gap}{text}")),
        };
        Edit { span: Span::new(node.span.file, at, at), replacement }
    }

    fn add_in_brackets(&self, map: &Node, new: &[(String, AddedPiece)]) -> Result<Edit> {
        let Some(last) = map.entries().iter().max_by_key(|entry| entry.key_span.start) else {
            let inside = flow(&AddedPiece::Map(new.to_vec()), false);
            return Ok(Edit { span: map.span, replacement: inside });
        };
        if !map.entries().iter().all(|entry| map.span.contains(entry.key_span)) {
            return Err("a part of the mapping comes from an anchor");
        }
        let json = self.text.get(last.key_span.range()).is_some_and(|key| key.starts_with('"'));
        let inside = flow(&AddedPiece::Map(new.to_vec()), json);
        let inside = inside.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(&inside).to_owned();
        let end = (last.value.span.end as usize).max(last.key_span.end as usize);
        if self.text.get(end..map.span.end as usize).is_some_and(|rest| rest.contains('#')) {
            return Err("there is a comment before the closing bracket");
        }
        Ok(self.behind(map, end, last.key_span.start as usize, inside))
    }

    /// Returns the end of the text of an entry.
    fn end_of(&self, entry: &NodeEntry) -> usize {
        (entry.key_span.end as usize).max(self.content_end(&entry.value))
    }

    fn content_end(&self, node: &Node) -> usize {
        let text = self.text.get(node.span.range()).unwrap_or_default();
        let own = node.span.start as usize + text.trim_end().len();
        let inner = node.entries().iter().filter(|it| node.span.contains(it.key_span)).map(|it| self.end_of(it)).max();
        let items = node.items().iter().filter(|it| node.span.contains(it.span)).map(|it| self.content_end(it)).max();
        match &node.data {
            NodeData::Scalar { .. } if self.keeps_blank_lines(node) => self.last_blank_line(own),
            NodeData::Scalar { .. } => own,
            _ if self.is_flow(node) => own,
            _ => inner.or(items).unwrap_or(own),
        }
    }

    /// Returns whether the final blank lines are part of the string: `|+` and `>+`.
    fn keeps_blank_lines(&self, node: &Node) -> bool {
        let before = self.text.get(..node.span.start as usize).unwrap_or_default().trim_end();
        let own = self.text_of(node.span).lines().next().unwrap_or_default();
        let heads = [own, before.rsplit('\n').next().unwrap_or_default()];
        let mut words = heads.into_iter().filter_map(|line| line.split_whitespace().next_back());
        words.any(|word| word.starts_with(['|', '>']) && word.contains('+'))
    }

    /// Returns the end of the last blank line after a position.
    fn last_blank_line(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        let kept = rest.get(..blank).and_then(|blank| blank.rfind('\n')).unwrap_or_default();
        let kept = rest.get(..kept).map_or(0, |before| before.strip_suffix('\r').unwrap_or(before).len());
        at + kept
    }

    fn block(&self, map: &[(String, AddedPiece)], column: usize, new_line: bool, out: &mut String) {
        for (place, (key, value)) in map.iter().enumerate() {
            if new_line || place > 0 {
                out.push_str(self.line_end);
                out.push_str(&" ".repeat(column));
            }
            out.push_str(&scalar_text(&AddedPiece::text(key), false));
            out.push(':');
            self.inner(value, column, out);
        }
    }

    /// Writes the value after a key at `column`.
    fn inner(&self, value: &AddedPiece, column: usize, out: &mut String) {
        match value {
            AddedPiece::Map(map) => self.block(map, column + self.step, true, out),
            AddedPiece::List(items) => items.iter().for_each(|item| self.item(item, column + self.dash, out)),
            scalar => {
                out.push(' ');
                out.push_str(&scalar_text(scalar, false));
            }
        }
    }

    fn item(&self, item: &AddedPiece, dash: usize, out: &mut String) {
        out.push_str(self.line_end);
        out.push_str(&" ".repeat(dash));
        out.push_str("- ");
        match item {
            AddedPiece::Map(map) => self.block(map, dash + 2, false, out),
            other => out.push_str(&flow(other, false)),
        }
    }
}

/// Removes members between brackets with their commas, but not all members.
pub(crate) fn without_members(members: &[Span], gone: &[usize]) -> Vec<Edit> {
    let start = |at: usize| members.get(at).map(|it| (it.file, it.start as usize));
    let end = |at: usize| members.get(at).map(|it| (it.file, it.end as usize));
    let mut edits = Vec::new();
    let mut at = 0;
    while at < members.len() {
        let run = (at..members.len()).take_while(|it| gone.contains(it)).count();
        let place = match at.checked_sub(1) {
            Some(before) => end(before).zip(end(at + run.max(1) - 1)),
            None => start(at).zip(start(at + run)),
        };
        if let (Some(((file, start), (_, end))), true) = (place, run > 0) {
            edits.push(Edit { span: Span::new(file, start, end), replacement: String::new() });
        }
        at += run.max(1);
    }
    edits
}

/// Formats a piece in brackets.
fn flow(piece: &AddedPiece, json: bool) -> String {
    let key = |key: &str| if json { quoted(key) } else { scalar_text(&AddedPiece::text(key), false) };
    match piece {
        AddedPiece::Map(map) => {
            let inside: Vec<String> =
                map.iter().map(|(name, it)| format!("{}: {}", key(name), flow(it, json))).collect();
            format!("{{{}}}", inside.join(", "))
        }
        AddedPiece::List(items) => {
            format!("[{}]", items.iter().map(|item| flow(item, json)).collect::<Vec<_>>().join(", "))
        }
        scalar => scalar_text(scalar, json),
    }
}

/// Formats a scalar without quotes if this is unambiguous, otherwise with quotes.
fn scalar_text(piece: &AddedPiece, json: bool) -> String {
    match piece {
        AddedPiece::Text(text) if json || !is_plain(text) => quoted(text),
        AddedPiece::Text(text) | AddedPiece::Number(text) => text.clone(),
        AddedPiece::Map(_) | AddedPiece::List(_) => String::new(),
    }
}

/// Returns whether a string cannot be read as a number, a boolean, null or syntax.
fn is_plain(text: &str) -> bool {
    const UNITS: [&str; 8] = ["s", "m", "h", "d", "Ki", "Mi", "Gi", "Ti"];
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_counted = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    if is_counted && text.get(digits.len()..).is_some_and(|unit| UNITS.contains(&unit)) {
        return true;
    }
    let safe = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '=' | '+' | '@');
    let starts =
        text.starts_with(|c: char| c.is_alphanumeric() || c == '/') || text.starts_with("--") && text.len() > 2;
    let marker = text.starts_with("---");
    let looks_like_number = text.starts_with(|c: char| c.is_ascii_digit());
    starts
        && !marker
        && !looks_like_number
        && text.chars().all(safe)
        && scalar::boolean(text).is_none()
        && scalar::number(text).is_none()
        && !scalar::is_null(text)
}
