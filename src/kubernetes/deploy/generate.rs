//! Objects made of a template, one for each member of lists in the same text.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::row;
use crate::kubernetes::Parsed;
use crate::kubernetes::rows::table::Generates;
use crate::kubernetes::text::expression::{Scope, evaluate};
use crate::yaml::{Data, Document, Entry, Node};

/// More members than these are a list that nobody wrote.
const MOST: usize = 200;
const DEEPEST: usize = 64;

pub(super) fn apply(parsed: &mut [Parsed]) {
    for file in parsed.iter_mut() {
        let mut made: Vec<Document> = Vec::new();
        for (number, document) in file.stream.documents.iter().enumerate() {
            let Some(generates) = row(&document.root).and_then(|(_, row)| row.generates.as_ref()) else { continue };
            let Some(objects) = objects(&document.root, generates) else { continue };
            file.stood_for.insert(number);
            made.extend(objects.into_iter().map(|root| Document { root, span: document.span }));
        }
        file.stream.documents.extend(made);
    }
}

/// `None` where something else than lists says how many there are.
fn objects(root: &Node, generates: &Generates) -> Option<Vec<Node>> {
    let template = generates.template.first(root)?;
    let mut members: Vec<&Node> = Vec::new();
    let sources = generates.each.all(root);
    for source in &sources {
        let [only] = source.node.entries() else { return None };
        let list = Node::map(source.node.span, [only.clone()]);
        // Nothing but the list may say anything.
        (generates.list.first(&list).is_some() && only.value.entries().len() == 1).then_some(())?;
        members.extend(generates.list.first(source.node)?.items());
    }
    if sources.is_empty() || members.len() > MOST || !members.iter().all(|member| member.is_map()) {
        return None;
    }
    Some(members.into_iter().map(|member| framed(root, &filled(template, member, 0), generates)).collect())
}

/// The object that a template with a member filled in is.
fn framed(root: &Node, template: &Node, generates: &Generates) -> Node {
    let head = root.entries().first();
    let span = head.map_or(root.span, |entry| entry.key_span);
    let entry = |key: &str, value: Node| Entry { key: key.into(), key_span: span, value };
    let says = [("apiVersion", &generates.version), ("kind", &generates.kind)];
    let says = says.map(|(key, text)| entry(key, Node::scalar(span, text.as_str(), false)));
    Node::map(root.span, says.into_iter().chain(template.entries().iter().cloned()))
}

fn filled(node: &Node, member: &Node, depth: usize) -> Node {
    if depth > DEEPEST {
        return node.clone();
    }
    match &node.data {
        Data::Scalar { text, plain } => match fill(text, member) {
            Some(text) => Node::scalar(node.span, text, *plain),
            None => node.clone(),
        },
        Data::List(items) => Node::list(node.span, items.iter().map(|item| filled(item, member, depth + 1))),
        Data::Map(entries) => Node::map(
            node.span,
            entries.iter().map(|entry| Entry { value: filled(&entry.value, member, depth + 1), ..entry.clone() }),
        ),
    }
}

/// `{{name}}`, `{{values.name}}`, `{{ .name | default 1 }}`; what the member does not say stays as it is written.
fn fill(text: &str, member: &Node) -> Option<Arc<str>> {
    if !text.contains("{{") {
        return None;
    }
    let scope = Scope { dot: Some(Some(member.clone())), ..Scope::default() };
    let replaced = DIRECTIVES.as_ref()?.replace_all(text, |found: &regex::Captures<'_>| {
        let inside = found.get(1).map_or("", |inside| inside.as_str().trim());
        let is_name = inside.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let named = if is_name && !inside.starts_with('.') { format!(".{inside}") } else { inside.to_owned() };
        evaluate(&named, &scope).text().unwrap_or_else(|| found.get(0).map_or("", |all| all.as_str()).to_owned())
    });
    Some(replaced.into())
}

static DIRECTIVES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\{\{-?([^{}]*?)-?\}\}").ok());
