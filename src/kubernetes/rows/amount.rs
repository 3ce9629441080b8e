//! Reads scalars of manifests as facts: numbers, quantities and placeholders.

use crate::inventory::{Fact, FactOrigin};
use crate::languages::yaml::{Node, NodeData, scalar};

use super::quantity;

/// The largest amount, such as the bytes of a data center. Kubernetes itself ends at 2^63.
const MOST: f64 = 1e18;

/// Returns why a string is a placeholder and not a final value: `${VAR}`, `<your-name>`, `{{ .Values.x }}`, `__NAME__`.
pub(in crate::kubernetes) fn placeholder(text: &str) -> Option<String> {
    let name = text.strip_prefix('$');
    let is_variable = name.is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    let is_marked = text.len() > 4 && text.starts_with("__") && text.ends_with("__");
    let is_bracketed = text.len() > 2 && text.starts_with('<') && text.ends_with('>');
    let open = text.contains("${") || text.contains("{{") || text.contains("{%") || text.contains("PLACEHOLDER");
    (is_variable || is_marked || is_bracketed || open).then(|| format!("another program fills in `{}`", shorten(text)))
}

/// Returns the default value in `${VAR:=value}` and similar forms, with its origin.
pub(in crate::kubernetes) fn fallback(text: &str) -> Option<(&str, FactOrigin)> {
    let inside = text.strip_prefix("${")?.strip_suffix('}')?;
    let (name, value) = inside.split_once(['-', '='])?;
    let name = name.strip_suffix(':').unwrap_or(name);
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let value = value.trim_matches(['"', '\'']);
    let is_plain = !value.is_empty() && !value.contains(['$', '{', '}']);
    let why = || format!("the default value of `{}`", shorten(name));
    (is_name && is_plain).then(|| (value, FactOrigin::Inferred(why().into())))
}

pub(in crate::kubernetes) fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads a number or a Kubernetes quantity as a plain number.
pub(in crate::kubernetes) fn number(node: &Node) -> Fact<f64> {
    read(node, |text, plain| plain.or_else(|| quantity::parse(text)))
}

/// Reads a number that cannot be negative.
pub(in crate::kubernetes) fn amount(node: &Node) -> Fact<f64> {
    match number(node) {
        Fact::Known(known) if known.value < 0.0 => Fact::unknown(format!("`{}` is negative", known.value), known.span),
        other => other,
    }
}

pub(in crate::kubernetes) fn gib(node: &Node) -> Fact<f64> {
    read(node, |text, _| quantity::gib(text))
}

/// Reads a scalar with `parse`, which gets the string, and its number if the string is a plain number.
fn read(node: &Node, parse: impl Fn(&str, Option<f64>) -> Option<f64>) -> Fact<f64> {
    match (&node.data, node.text()) {
        (NodeData::Map(_), _) if is_hole(node) => Fact::unknown("a template directive sets this value", node.span),
        (_, None) => Fact::Absent,
        (_, Some(text)) => {
            let (number, origin) = match fallback(text) {
                Some((value, origin)) => (parse(value, scalar::number(value)), origin),
                None => (parse(text, node.number()), FactOrigin::Written),
            };
            match number {
                Some(number) if number.abs() > MOST => {
                    Fact::unknown(format!("`{}` is too large", shorten(text)), node.span)
                }
                Some(number) => Fact::known(number, node.span, origin),
                None => {
                    let why = placeholder(text).unwrap_or_else(|| format!("`{}` is not a number", shorten(text)));
                    Fact::unknown(why, node.span)
                }
            }
        }
    }
}

/// Returns whether a node is the mapping that a YAML parser creates from `{{ … }}` without quotes.
pub(in crate::kubernetes) fn is_hole(node: &Node) -> bool {
    node.entries().first().is_some_and(|entry| &*entry.key == "{{")
}
