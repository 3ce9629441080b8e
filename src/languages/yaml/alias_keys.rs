//! Handles `*name:` as a key. By the specification, the colon is part of the alias. The library of kubectl, kustomize
//! and helm disagrees, and real files use it.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex::Regex;

use crate::source::static_regex;

use super::node::{Node, NodeData, NodeEntry};

/// The names of such keys, by their positions in the file.
pub(super) type AliasKeyNames = BTreeMap<u32, Arc<str>>;

/// Returns the text of a document in which plain keys of the same length replace such keys; `None` if there are none.
/// `base` is the start of the document in the file.
pub(super) fn relaxed(text: &str, base: usize) -> Option<(String, AliasKeyNames)> {
    let mut names = AliasKeyNames::new();
    let mut out = text.to_owned();
    for found in KEYS.captures_iter(text) {
        let name = found.get(1)?;
        let star = name.start() - 1;
        let before = text.get(..star)?;
        let anchors =
            ANCHORS.captures_iter(before).filter(|it| it.get(1).is_some_and(|it| it.as_str() == name.as_str()));
        let value = anchors.last()?.get(2)?.as_str().trim_matches(['"', '\'']);
        names.insert(u32::try_from(base + star).ok()?, value.into());
        out.replace_range(star..=star, "~");
    }
    (!names.is_empty()).then_some((out, names))
}

/// Returns the tree in which these keys have the values of their anchors.
pub(super) fn named(node: &Node, names: &AliasKeyNames) -> Node {
    match &node.data {
        NodeData::Scalar { .. } => node.clone(),
        NodeData::List(items) => Node::list(node.span, items.iter().map(|item| named(item, names))),
        NodeData::Map(entries) => Node::map(
            node.span,
            entries.iter().map(|entry| NodeEntry {
                key: names.get(&entry.key_span.start).unwrap_or(&entry.key).clone(),
                value: named(&entry.value, names),
                ..entry.clone()
            }),
        ),
    }
}

static_regex!(static KEYS: Regex = r"(?m)^[ \t]*(?:-[ \t]+)*\*([\w-]+):(?:[ \t\r]|$)");
static_regex!(static ANCHORS: Regex = r#"&([\w-]+)[ \t]+("[^"\n]*"|'[^'\n]*'|[^\s#,\]}]+)"#);

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::source::{MemoryTree, SourceFiles};

    #[test]
    fn keys_that_are_aliases_have_the_names_of_their_anchors() {
        let sources = SourceFiles::new(MemoryTree::new().with("a.yaml", "name: &app web\nin:\n  *app:\n    gpu: 1\n"));
        let file = sources.open("a.yaml").unwrap();
        let stream = read(file, &sources.text(file));
        assert_eq!(stream.broken(), 0, "{:?}", stream.diagnostics);
        assert_eq!(stream.documents[0].root.text_at("in.web.gpu").map(|it| &**it), Some("1"));
    }
}
