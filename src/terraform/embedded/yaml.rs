//! Writes values as YAML, and records the place of each value.

use crate::languages::hcl::value::{HclData, HclValue};
use crate::languages::yaml;
use crate::source::{Segment, SourceFiles, Span};
use crate::terraform::code::outline;

/// The tree of a manifest, between its Terraform form and YAML.
#[derive(Debug, Clone)]
pub(super) enum ManifestTree {
    /// A scalar in YAML syntax.
    Scalar(String, Span),
    Map(Vec<(String, Span, ManifestTree)>),
    List(Vec<ManifestTree>),
}

/// The maximum depth of values. Manifests are less deep, so deeper values are cut.
const DEEPEST: usize = 64;

impl ManifestTree {
    pub(super) fn text(text: &str, span: Span) -> ManifestTree {
        ManifestTree::Scalar(yaml::quoted(text), span)
    }

    /// Converts dotted names to nested maps: `a.b` is b in a.
    pub(super) fn nested(settings: Vec<(String, Span, ManifestTree)>) -> ManifestTree {
        let mut root = Vec::new();
        for (path, span, tree) in settings {
            insert(&mut root, &parts(&path), span, tree);
        }
        ManifestTree::Map(root)
    }

    fn first_span(&self) -> Option<Span> {
        match self {
            ManifestTree::Scalar(_, span) => Some(*span),
            ManifestTree::Map(entries) => entries.first().map(|(_, span, _)| *span),
            ManifestTree::List(items) => items.first()?.first_span(),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            ManifestTree::Scalar(..) => false,
            ManifestTree::Map(entries) => entries.is_empty(),
            ManifestTree::List(items) => items.is_empty(),
        }
    }
}

/// Splits a name at its dots. A dot after a backslash is part of a name: `limits.nvidia\.com/gpu`.
fn parts(path: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut letters = path.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '.' if parts.len() < DEEPEST => parts.push(std::mem::take(&mut part)),
            '\\' => part.extend(letters.next()),
            letter => part.push(letter),
        }
    }
    parts.push(part);
    parts
}

fn insert(entries: &mut Vec<(String, Span, ManifestTree)>, path: &[String], span: Span, tree: ManifestTree) {
    match path {
        [] => {}
        [name] => {
            entries.retain(|(key, ..)| key != name);
            entries.push((name.clone(), span, tree));
        }
        [name, rest @ ..] => {
            let at =
                match entries.iter().position(|(key, _, below)| key == name && matches!(below, ManifestTree::Map(_))) {
                    Some(at) => at,
                    None => {
                        entries.push((name.clone(), span, ManifestTree::Map(Vec::new())));
                        entries.len() - 1
                    }
                };
            if let Some((_, _, ManifestTree::Map(below))) = entries.get_mut(at) {
                insert(below, rest, span, tree);
            }
        }
    }
}

/// Converts a value to a tree. An unknown value becomes a placeholder, which the Kubernetes front end keeps unknown.
pub(super) fn tree_of(sources: &SourceFiles, value: &HclValue, depth: usize) -> ManifestTree {
    let placeholder = |span: Span| ManifestTree::text(&outline::placeholder(sources, span), value.span);
    match &value.data {
        _ if value.sensitive => ManifestTree::Scalar(yaml::quoted("${sensitive}"), value.span),
        _ if depth > DEEPEST => ManifestTree::Scalar("null".to_owned(), value.span),
        HclData::Null => ManifestTree::Scalar("null".to_owned(), value.span),
        HclData::Bool(flag) => ManifestTree::Scalar(flag.to_string(), value.span),
        HclData::Number(number) => ManifestTree::Scalar(number.to_string(), value.span),
        HclData::Text(text) => ManifestTree::text(text, value.span),
        HclData::Unknown(cause) => placeholder(cause.span),
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            ManifestTree::List(items.iter().map(|item| tree_of(sources, item, depth + 1)).collect())
        }
        HclData::Map(entries) | HclData::Object(entries) => {
            let present = entries.iter().filter(|(_, item)| !matches!(item.data, HclData::Null));
            ManifestTree::Map(
                present.map(|(key, item)| (key.to_string(), item.span, tree_of(sources, item, depth + 1))).collect(),
            )
        }
    }
}

/// Writes YAML, and records the origin of each part.
pub(super) struct YamlWriter {
    text: String,
    segments: Vec<Segment>,
}

impl YamlWriter {
    /// Returns one document. Its start has the place `head`.
    pub(super) fn document(head: Span, tree: &ManifestTree) -> (String, Vec<Segment>) {
        let mut writer = YamlWriter { text: String::new(), segments: Vec::new() };
        match tree {
            ManifestTree::Map(entries) => {
                for (at, (key, span, below)) in entries.iter().enumerate() {
                    writer.entry(key, if at == 0 { head } else { *span }, below, 0);
                }
            }
            other => writer.value(other, 0),
        }
        (writer.text, writer.segments)
    }

    fn mark(&mut self, origin: Span) {
        let start = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        self.segments.push(Segment { start, origin, linear: false });
    }

    fn entry(&mut self, key: &str, span: Span, below: &ManifestTree, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.mark(span);
        self.text.push_str(&yaml::quoted(key));
        self.text.push(':');
        self.value(below, indent);
    }

    /// Writes the value after a key or a dash.
    fn value(&mut self, tree: &ManifestTree, indent: usize) {
        match tree {
            ManifestTree::Scalar(text, span) => {
                self.text.push(' ');
                self.mark(*span);
                self.text.push_str(text);
                self.text.push('\n');
            }
            ManifestTree::Map(_) if tree.is_empty() => self.text.push_str(" {}\n"),
            ManifestTree::List(_) if tree.is_empty() => self.text.push_str(" []\n"),
            ManifestTree::Map(entries) => {
                self.text.push('\n');
                for (key, span, below) in entries {
                    self.entry(key, *span, below, indent + 2);
                }
            }
            ManifestTree::List(items) => {
                self.text.push('\n');
                for item in items {
                    self.text.extend(std::iter::repeat_n(' ', indent + 2));
                    if let Some(span) = item.first_span() {
                        self.mark(span);
                    }
                    self.text.push('-');
                    self.value(item, indent + 2);
                }
            }
        }
    }
}
