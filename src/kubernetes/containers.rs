//! Containers as the reader of programs takes them: image, command, arguments and environment, each with its place.

use std::sync::Arc;

use crate::inventory::Fact;
use crate::inventory::programs::{Container, Word};

use super::amount::placeholder;
use super::tree::Node;

pub(super) fn container(node: &Node) -> Container {
    let mut container = Container {
        image: node.get("image").map_or(Fact::Absent, word),
        command: words(node, "command"),
        args: words(node, "args"),
        ..Container::default()
    };
    for variable in node.get("env").map(Node::items).unwrap_or_default() {
        let Some(name) = variable.text_at("name") else { continue };
        let value = match (variable.get("value"), variable.get("valueFrom")) {
            (Some(value), _) => word(value),
            (None, Some(from)) => value_from(from),
            (None, None) => Fact::Absent,
        };
        container.env.insert(name.to_string(), value);
    }
    if let Some(from) = node.get("envFrom").and_then(|list| list.items().first()) {
        let name = from.text_at("configMapRef.name").or(from.text_at("secretRef.name")).map_or("?", |name| name);
        container.open_env = Some(format!("more variables come from `{name}`, which is not in the text").into());
    }
    container
}

/// A scalar as a word; text that is filled in elsewhere stays as it is written where a part of it is known.
pub(super) fn word(node: &Node) -> Word {
    match node.text() {
        Some(text) => match placeholder(text) {
            Some(why) => Fact::unknown(why, node.span),
            None => Fact::written(text.clone(), node.span),
        },
        None => Fact::Absent,
    }
}

/// `command` and `args` are lists; one text is what people write by mistake and some custom resources allow.
fn words(node: &Node, key: &str) -> Vec<Word> {
    match node.get(key) {
        Some(list) if list.text().is_none() => list.items().iter().map(word).collect(),
        Some(text) => text.text().map(|_| word(text)).into_iter().collect(),
        None => Vec::new(),
    }
}

fn value_from(from: &Node) -> Word {
    let reference = |kind: &str| from.get(kind).and_then(|it| Some((it.text_at("name")?, it.text_at("key")?)));
    let why: Arc<str> = if let Some((name, key)) = reference("configMapKeyRef") {
        format!("`{key}` of the ConfigMap `{name}` is not in the text").into()
    } else if let Some((name, key)) = reference("secretKeyRef") {
        format!("`{key}` stands in the Secret `{name}`").into()
    } else {
        "the cluster sets it".into()
    };
    Fact::unknown(why, from.span)
}
