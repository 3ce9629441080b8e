//! Generates objects from a template, one for each member that a generator finds.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex::Regex;

use super::members::{Finder, MOST};
use super::row;
use crate::kubernetes::Parsed;
use crate::kubernetes::rows::table::Generates;
use crate::kubernetes::text::expression::{TemplateScope, evaluate};
use crate::languages::yaml::{HoleMeaning, Node, NodeData, NodeEntry, YamlDocument};
use crate::source::{SourceFiles, Span, static_regex};

const DEEPEST: usize = 64;

/// Adds the generated objects to the written ones, and returns the directories that generators exclude.
pub(super) fn apply(sources: &SourceFiles, paths: &[String], parsed: &mut [Parsed]) -> BTreeSet<String> {
    let mut finder = Finder::new(sources, paths);
    for file in parsed.iter_mut() {
        let mut made: Vec<YamlDocument> = Vec::new();
        for (number, document) in file.stream.documents.iter().enumerate() {
            let Some(generates) = row(&document.root).and_then(|(_, row)| row.generates.as_ref()) else { continue };
            let Some(objects) = objects(&mut finder, &document.root, generates) else { continue };
            file.stood_for.insert(number);
            made.extend(objects.into_iter().map(|root| YamlDocument { root, span: document.span }));
        }
        file.stream.documents.extend(made);
    }
    finder.excluded
}

/// Returns the generated objects; `None` if something outside this tree determines their number.
fn objects(finder: &mut Finder<'_>, root: &Node, generates: &Generates) -> Option<Vec<Node>> {
    let template = generates.template.first(root).filter(|_| generates.unless.first(root).is_none())?;
    let is_go = generates.go.first(root).and_then(Node::flag) == Some(true);
    let mut members: Vec<Node> = Vec::new();
    let sources = generates.each.all(root);
    for source in &sources {
        members.extend(finder.members(source.node, generates, is_go)?);
    }
    if sources.is_empty() || members.len() > MOST {
        return None;
    }
    Some(members.iter().map(|member| framed(root, &filled(template, member, 0), generates)).collect())
}

/// Returns the object for a template with the values of a member filled in.
fn framed(root: &Node, template: &Node, generates: &Generates) -> Node {
    let head = root.entries().first();
    let span = head.map_or(root.span, |entry| entry.key_span);
    let entry = |key: &str, value: Node| NodeEntry { key: key.into(), key_span: span, value };
    let says = [("apiVersion", &generates.version), ("kind", &generates.kind)];
    let says = says.map(|(key, text)| entry(key, Node::scalar(span, text.as_str(), false)));
    Node::map(root.span, says.into_iter().chain(template.entries().iter().cloned()))
}

pub(super) fn filled(node: &Node, member: &Node, depth: usize) -> Node {
    if depth > DEEPEST {
        return node.clone();
    }
    match &node.data {
        NodeData::Scalar { text, plain } => match fill(text, member) {
            // If the value comes only from the member, it has the member's position.
            Some((text, at)) => Node::scalar(at.unwrap_or(node.span), text, *plain),
            None => node.clone(),
        },
        NodeData::List(items) => Node::list(node.span, items.iter().map(|item| filled(item, member, depth + 1))),
        NodeData::Map(entries) => Node::map(
            node.span,
            entries.iter().map(|entry| NodeEntry { value: filled(&entry.value, member, depth + 1), ..entry.clone() }),
        ),
    }
}

/// Fills in `{{name}}`, `{{values.name}}`, `{{ .name | default 1 }}`. Unknown names stay unchanged. If one name is the
/// whole string, returns the position of its value, too.
fn fill(text: &str, member: &Node) -> Option<(Arc<str>, Option<Span>)> {
    if !text.contains("{{") {
        return None;
    }
    let scope = TemplateScope { dot: Some(Some(member.clone())), ..TemplateScope::default() };
    let mut alone = None;
    let replaced = DIRECTIVES.replace_all(text, |found: &regex::Captures<'_>| {
        let whole = found.get(0).map_or("", |all| all.as_str());
        let meaning = meaning(found.get(1).map_or("", |inside| inside.as_str().trim()), member, &scope);
        if let HoleMeaning::Node(node) = &meaning
            && whole.len() == text.trim().len()
        {
            alone = Some(node.span);
        }
        meaning.text().unwrap_or_else(|| whole.to_owned())
    });
    Some((replaced.into(), alone))
}

fn meaning(inside: &str, member: &Node, scope: &TemplateScope) -> HoleMeaning {
    // A member stores `path.basename` and similar names as separate keys.
    if let Some(own) = member.get(inside).filter(|own| own.text().is_some()) {
        return HoleMeaning::Node(own.clone());
    }
    let is_name = inside.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let named = if is_name && !inside.starts_with('.') { format!(".{inside}") } else { inside.to_owned() };
    evaluate(&named, scope)
}

static_regex!(static DIRECTIVES: Regex = r"\{\{-?([^{}]*?)-?\}\}");
