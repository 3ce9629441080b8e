//! What each target accepts: judges a file before and after an edit by the tables of `schema/targets`.
//!
//! The tables say which properties a type has, which kinds and words they accept, which are written together, and which
//! combinations have no effect. A judgement compares the objects of a file before and after its edits, so that a mistake
//! of the author does not count against the edit. Values that other places compute are unknown, and violate nothing.

mod condition;
mod judge;
mod object;
mod table;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use crate::languages::hcl::syntax::{NESTING_LIMIT, parse_body};
use crate::languages::yaml::{self, Node, NodeData};
use crate::source::{Edit, FileId, SourceFiles};

pub(crate) use object::is_function;
use object::{POD, TargetObject, TextLanguage, is_unknown};
#[cfg(test)]
pub(crate) use table::names;
pub(crate) use table::{ListedProperty, listed};

use table::{Property, TypeSchema};

/// The judgement about the edits of a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetVerdict {
    Accepted,
    /// The target refuses the result, or ignores it: the reason.
    Refused(String),
    /// The tables do not have what is written: the reason.
    Unjudged(String),
}

/// The objects of each piece, by its file and start.
type ObjectsByPlace = HashMap<(FileId, usize), Rc<Vec<TargetObject>>>;

/// Judges the edits of one tree.
pub(crate) struct TargetJudge<'a> {
    sources: &'a SourceFiles,
    /// The top-level blocks of each Terraform file.
    blocks: RefCell<HashMap<FileId, Rc<[Range<usize>]>>>,
    types: RefCell<HashMap<String, Option<Rc<TypeSchema>>>>,
    /// The objects of pieces before any edit, by file and start.
    objects: RefCell<ObjectsByPlace>,
}

/// A part of a file, before and after its edits.
struct Piece {
    /// Where it starts in its file.
    start: usize,
    before: String,
    after: String,
}

impl<'a> TargetJudge<'a> {
    pub(crate) fn new(sources: &'a SourceFiles) -> Self {
        TargetJudge { sources, blocks: RefCell::default(), types: RefCell::default(), objects: RefCell::default() }
    }

    /// Judges edits that are applied together. Each is a span of a source file.
    pub(crate) fn judge(&self, edits: &[Edit]) -> TargetVerdict {
        let mut by_file: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
        for edit in edits {
            by_file.entry(edit.span.file).or_default().push(edit);
        }
        let mut verdict = TargetVerdict::Accepted;
        for (file, edits) in by_file {
            let path = self.sources.path(file);
            let Some(language) = TextLanguage::of(&path) else {
                verdict = TargetVerdict::Unjudged(format!("no schema describes {}", name_of(&path)));
                continue;
            };
            let Some(pieces) = self.pieces(file, language, &edits) else {
                verdict = TargetVerdict::Unjudged("its file has too many changes to judge each".to_owned());
                continue;
            };
            for piece in pieces {
                match self.judge_piece(file, language, &piece) {
                    TargetVerdict::Accepted => {}
                    refused @ TargetVerdict::Refused(_) => return refused,
                    unjudged => verdict = unjudged,
                }
            }
        }
        verdict
    }

    /// Returns the blocks or documents that the edits change; `None` if the file was read too often.
    fn pieces(&self, file: FileId, language: TextLanguage, edits: &[&Edit]) -> Option<Vec<Piece>> {
        let text = self.sources.text(file);
        let ranges: Rc<[Range<usize>]> = match language {
            TextLanguage::Terraform => self.blocks_of(file, &text),
            TextLanguage::Documents => self.sources.pieces(file, yaml::documents).iter().cloned().collect(),
            TextLanguage::Bicep => std::iter::once(0..text.len()).collect(),
        };
        let mut changed: BTreeMap<usize, Vec<&Edit>> = BTreeMap::new();
        let mut pieces = Vec::new();
        for edit in edits {
            let (start, end) = (edit.span.start as usize, edit.span.end as usize);
            let inside = |range: &Range<usize>| match language {
                TextLanguage::Terraform => range.start <= start && end < range.end,
                _ => range.start <= start && end <= range.end,
            };
            match ranges.iter().position(inside) {
                Some(at) => changed.entry(at).or_default().push(edit),
                // A new block.
                None => pieces.push(Piece { start, before: String::new(), after: edit.replacement.clone() }),
            }
        }
        for (at, edits) in changed {
            let range = ranges.get(at)?.clone();
            let before = text.get(range.clone())?.to_owned();
            if !self.sources.again(file, before.len()) {
                return None;
            }
            let mut after = before.clone();
            for edit in edits.into_iter().rev() {
                let (start, end) = (edit.span.start as usize - range.start, edit.span.end as usize - range.start);
                after.get(start..end)?;
                after.replace_range(start..end, &edit.replacement);
            }
            pieces.push(Piece { start: range.start, before, after });
        }
        Some(pieces)
    }

    fn blocks_of(&self, file: FileId, text: &str) -> Rc<[Range<usize>]> {
        let read = || {
            let parsed = parse_body(file, text, NESTING_LIMIT);
            parsed.body.blocks.iter().map(|block| block.span().range()).collect()
        };
        self.blocks.borrow_mut().entry(file).or_insert_with(read).clone()
    }

    fn judge_piece(&self, file: FileId, language: TextLanguage, piece: &Piece) -> TargetVerdict {
        let before = match piece.before.is_empty() {
            true => Rc::default(),
            false => {
                let read = || Rc::new(language.objects(file, &piece.before));
                self.objects.borrow_mut().entry((file, piece.start)).or_insert_with(read).clone()
            }
        };
        let after = language.objects(file, &piece.after);
        if after.is_empty() {
            return TargetVerdict::Unjudged("the value is not in the resource itself".to_owned());
        }
        let pods = after.iter().filter(|it| it.kind == POD).map(|it| plain(&it.name));
        let parts: Vec<String> = match language {
            TextLanguage::Terraform => META_ARGUMENTS.iter().map(|name| format!("{name}.")).collect(),
            _ => pods.collect(),
        };
        let mut verdict = TargetVerdict::Accepted;
        for object in &after {
            let old = before.iter().find(|it| it.kind == object.kind && it.name == object.name);
            let parts: &[String] = if object.kind == POD { &[] } else { &parts };
            match self.judge_object(old, object, parts) {
                TargetVerdict::Accepted => {}
                refused @ TargetVerdict::Refused(_) => return refused,
                unjudged => verdict = unjudged,
            }
        }
        verdict
    }

    /// The schema of the type does not describe `parts`: objects inside it, and arguments of Terraform itself.
    fn judge_object(&self, before: Option<&TargetObject>, after: &TargetObject, parts: &[String]) -> TargetVerdict {
        let old = before.map(|it| leaves(&it.value)).unwrap_or_default();
        let mut added = leaves(&after.value);
        for (leaf, count) in &old {
            if let Some(left) = added.get_mut(leaf) {
                *left = left.saturating_sub(*count);
            }
        }
        added.retain(|_, count| *count > 0);
        let unchanged = added.is_empty() && before.is_some_and(|it| leaves(&it.value) == leaves(&after.value));
        if unchanged {
            return TargetVerdict::Accepted;
        }
        let is_part = |path: &str| {
            parts.iter().any(|part| {
                path.strip_prefix(part.trim_end_matches('.'))
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        let Some(kind) = self.kind(&after.kind) else {
            if added.keys().all(|(path, _)| is_part(path) || is_label(path)) && !added.is_empty() {
                return TargetVerdict::Accepted;
            }
            return TargetVerdict::Unjudged(format!("no schema describes `{}`", after.kind));
        };
        if let Some((path, _)) = added.keys().find(|(path, text)| is_label(path) && is_no_text(text)) {
            return TargetVerdict::Refused(format!("`{path}` must be a string"));
        }
        let known = before.map(|it| judge::complaints(&kind, &it.value)).unwrap_or_default();
        // A condition that the author's text already breaks counts if the edit touches it.
        let is_new = |it: &judge::Complaint| !known.contains(it) || added.keys().any(|(path, _)| it.is_about(path));
        if let Some(new) = judge::complaints(&kind, &after.value).into_iter().find(is_new) {
            return TargetVerdict::Refused(format!("`{}` does not accept the fix: {}", after.kind, new.text));
        }
        let is_known = |path: &str| is_label(path) || is_part(path) || has_schema(&kind, path);
        match added.keys().find(|(path, _)| !is_known(path)) {
            Some((path, _)) => TargetVerdict::Unjudged(format!("no schema describes `{path}` of `{}`", after.kind)),
            None => TargetVerdict::Accepted,
        }
    }

    fn kind(&self, name: &str) -> Option<Rc<TypeSchema>> {
        let find = || TypeSchema::named(name).map(Rc::new);
        self.types.borrow_mut().entry(name.to_owned()).or_insert_with(find).clone()
    }
}

/// Returns whether the tables have the property, or one above it whose values are free.
fn has_schema(kind: &TypeSchema, path: &str) -> bool {
    if kind.property(path).is_some() {
        return true;
    }
    let mut here = path;
    while let Some((above, _)) = here.rsplit_once('.') {
        here = above;
        if kind.property(here).is_some_and(Property::is_free) {
            return true;
        }
    }
    false
}

/// Returns the place of a pod, `.spec.tasks[0].template`, as the start of paths.
fn plain(place: &str) -> String {
    let steps = place.trim_start_matches('.').split('[');
    let plain = steps.map(|step| step.split_once(']').map_or(step, |(_, rest)| rest)).collect::<String>();
    format!("{plain}.")
}

fn is_label(path: &str) -> bool {
    ["metadata.labels.", "metadata.annotations."].iter().any(|start| path.starts_with(start))
}

/// Returns whether a plain scalar of YAML is another value than a string.
fn is_no_text(leaf: &str) -> bool {
    leaf.strip_prefix(PLAIN).is_some_and(|text| text.parse::<f64>().is_ok() || matches!(text, "true" | "false"))
}

/// The mark of scalars without quotes.
const PLAIN: char = '=';

/// Returns the scalars of an object with their paths, each with its number.
fn leaves(root: &Node) -> BTreeMap<(String, String), usize> {
    fn walk(node: &Node, path: &str, found: &mut BTreeMap<(String, String), usize>) {
        match &node.data {
            NodeData::List(items) => items.iter().for_each(|item| walk(item, path, found)),
            NodeData::Map(entries) if !is_unknown(node) => {
                for entry in entries.iter() {
                    let below = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
                    walk(&entry.value, &below, found);
                }
            }
            NodeData::Map(_) => *found.entry((path.to_owned(), "?".to_owned())).or_default() += 1,
            NodeData::Scalar { text, plain } => {
                let mark = if *plain { PLAIN.to_string() } else { String::new() };
                *found.entry((path.to_owned(), format!("{mark}{text}"))).or_default() += 1;
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, "", &mut found);
    found
}

/// Arguments that Terraform reads in each resource.
const META_ARGUMENTS: [&str; 5] = ["count", "for_each", "provider", "lifecycle", "depends_on"];

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
