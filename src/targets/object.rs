//! Reads the objects of a file, each with the type that its target gives it.

use crate::languages::azure::AzureTemplate;
use crate::languages::hcl::syntax::{
    Body, Expression, HclKind, NESTING_LIMIT, ObjectItem, TemplatePart, UnaryOperator, parse_body,
};
use crate::languages::yaml::{self, HOLE, Node, NodeData, NodeEntry};
use crate::source::{FileId, Limits, Span};

/// An object that a file declares for its target.
#[derive(Debug)]
pub(super) struct TargetObject {
    /// The name of its type in the tables.
    pub(super) kind: String,
    /// Which one it is in its text.
    pub(super) name: String,
    pub(super) value: Node,
}

/// The languages of files with objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextLanguage {
    Terraform,
    /// YAML and JSON.
    Documents,
    Bicep,
}

impl TextLanguage {
    pub(super) fn of(path: &str) -> Option<TextLanguage> {
        let (_, extension) = path.rsplit_once('.')?;
        match extension {
            "tf" | "tofu" => Some(TextLanguage::Terraform),
            "yaml" | "yml" | "json" => Some(TextLanguage::Documents),
            "bicep" => Some(TextLanguage::Bicep),
            _ => None,
        }
    }

    pub(super) fn objects(self, file: FileId, text: &str) -> Vec<TargetObject> {
        match self {
            TextLanguage::Terraform => of_terraform(file, text),
            TextLanguage::Documents => {
                let stream = yaml::read_tagged(file, text, Limits::DEFAULT);
                stream.documents.iter().flat_map(|document| of_document(&document.root)).collect()
            }
            TextLanguage::Bicep => {
                let declared = AzureTemplate::of_bicep(file, text).0.declared();
                let named = declared.into_iter().enumerate();
                named.map(|(at, (kind, value))| TargetObject { kind, name: at.to_string(), value }).collect()
            }
        }
    }
}

/// Returns whether only another place knows the value: an expression, a reference, a placeholder.
pub(super) fn is_unknown(node: &Node) -> bool {
    match &node.data {
        NodeData::Scalar { text, .. } => {
            let is_arm = text.starts_with('[') && text.ends_with(']') && !text.starts_with("[[");
            text.contains(HOLE) || text.contains("${") || is_arm
        }
        NodeData::Map(entries) => match &**entries {
            [one] => is_function(&one.key),
            _ => false,
        },
        NodeData::List(_) => false,
    }
}

/// Returns whether a mapping with this key is a call of a function: `!Ref`, `Fn::If`, `fn::invoke`, `Ref`.
pub(crate) fn is_function(key: &str) -> bool {
    key.starts_with('!') || key.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("fn::")) || key == "Ref"
}

fn unknown(span: Span) -> Node {
    Node::scalar(span, HOLE.to_string(), false)
}

fn of_terraform(file: FileId, text: &str) -> Vec<TargetObject> {
    let parsed = parse_body(file, text, NESTING_LIMIT);
    let blocks = parsed.body.blocks.iter();
    let declared = blocks.filter_map(|block| {
        let kind = match &*block.keyword.text {
            "resource" => block.label(0),
            "provider" => "provider",
            _ => return None,
        };
        let name = format!("{}.{}", block.label(0), block.label(1));
        Some(TargetObject { kind: kind.to_owned(), name, value: of_body(&block.body) })
    });
    declared.collect()
}

/// Converts a body to a mapping, in which blocks of one name are a list.
fn of_body(body: &Body) -> Node {
    let attributes = body.attributes.iter().map(|it| NodeEntry {
        key: it.name.text.clone(),
        key_span: it.name.span,
        value: of_expression(&it.expression),
    });
    let mut entries: Vec<NodeEntry> = attributes.collect();
    let mut blocks: Vec<(std::sync::Arc<str>, Span, Vec<Node>)> = Vec::new();
    for block in &body.blocks {
        let is_dynamic = &*block.keyword.text == "dynamic";
        let name = if is_dynamic { block.label(0).into() } else { block.keyword.text.clone() };
        let value = if is_dynamic { unknown(block.header) } else { of_body(&block.body) };
        match blocks.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, _, values)) => values.push(value),
            None => blocks.push((name, block.header, vec![value])),
        }
    }
    entries.extend(blocks.into_iter().map(|(key, span, values)| NodeEntry {
        key,
        key_span: span,
        value: Node::list(span, values),
    }));
    Node::map(body.span, entries)
}

fn of_expression(expression: &Expression) -> Node {
    let span = expression.span;
    match &expression.kind {
        HclKind::Null => Node::scalar(span, "null", true),
        HclKind::Bool(flag) => Node::scalar(span, flag.to_string(), true),
        HclKind::Number(number) => Node::scalar(span, number.to_string(), true),
        HclKind::Text(text) => Node::scalar(span, text.clone(), false),
        HclKind::Template(parts) => {
            let literal = |part: &TemplatePart| match part {
                TemplatePart::Literal(text) => Some(text.to_string()),
                _ => None,
            };
            let text: Option<String> = parts.iter().map(literal).collect();
            text.map_or_else(|| unknown(span), |text| Node::scalar(span, text, false))
        }
        HclKind::List(items) => Node::list(span, items.iter().map(of_expression)),
        HclKind::Object(items) => {
            let key = |key: &Expression| match &key.kind {
                HclKind::Name(text) | HclKind::Text(text) => Some(text.clone()),
                _ => None,
            };
            let entry = |(at, item): (usize, &ObjectItem)| NodeEntry {
                key: key(&item.key).unwrap_or_else(|| format!("{HOLE}{at}").into()),
                key_span: item.key.span,
                value: of_expression(&item.value),
            };
            Node::map(span, items.iter().enumerate().map(entry))
        }
        HclKind::Parentheses(inner) => of_expression(inner),
        HclKind::Unary(UnaryOperator::Minus, operand) => match &operand.kind {
            HclKind::Number(number) => Node::scalar(span, format!("-{number}"), true),
            _ => unknown(span),
        },
        _ => unknown(span),
    }
}

fn of_document(root: &Node) -> Vec<TargetObject> {
    let text = |key: &str| root.text_at(key).map(|text| &**text);
    if let (Some(version), Some(kind)) = (text("apiVersion"), text("kind")) {
        if kind == "List" {
            let items = root.get("items").map(Node::items).unwrap_or_default().iter().enumerate();
            let renamed = items.flat_map(|(at, item)| {
                of_document(item).into_iter().map(move |it| TargetObject { name: format!("{at} {}", it.name), ..it })
            });
            return renamed.collect();
        }
        return of_manifest(version, kind, root);
    }
    let resources = root.get("Resources").or_else(|| root.get("resources"));
    if let Some(resources) = resources.filter(|it| it.is_map() && it.entries().iter().any(|it| is_typed(&it.value))) {
        let named = resources.entries().iter().map(|entry| (entry.key.to_string(), &entry.value));
        return named.filter_map(|(name, value)| of_template(name, value)).collect();
    }
    if let Some(resources) = resources.filter(|it| it.items().iter().any(is_typed)) {
        let mut found = Vec::new();
        of_arm(resources.items(), "", "", &mut found);
        return found;
    }
    if ["resources", "run", "setup"].iter().any(|key| root.get(key).is_some()) {
        let whole = ("skypilot task", Some(root));
        let parts = [("skypilot resources", root.get("resources")), ("skypilot service", root.get("service"))];
        let declared = [whole].into_iter().chain(parts).filter_map(|(kind, value)| Some((kind, value?.clone())));
        let object = |(kind, value): (&str, Node)| TargetObject { kind: kind.into(), name: kind.into(), value };
        return declared.map(object).collect();
    }
    Vec::new()
}

fn is_typed(node: &Node) -> bool {
    node.text_at("Type").or_else(|| node.text_at("type")).is_some_and(|it| it.contains([':', '/']))
}

/// Returns a resource of CloudFormation, Pulumi, or an Azure template with symbolic names.
fn of_template(name: String, value: &Node) -> Option<TargetObject> {
    if let Some(kind) = value.text_at("Type") {
        let value = value.get("Properties").cloned().unwrap_or_else(|| Node::map(value.span, Vec::new()));
        return Some(TargetObject { kind: kind.to_string(), name, value });
    }
    let kind = value.text_at("type")?;
    if kind.contains('/') && !kind.contains(':') {
        return Some(TargetObject { kind: kind.to_string(), name, value: value.clone() });
    }
    let value = value.get("properties").cloned().unwrap_or_else(|| Node::map(value.span, Vec::new()));
    Some(TargetObject { kind: token(kind), name, value })
}

/// Returns the full token of a Pulumi type: `aws:batch:Job` is `aws:batch/job:Job`.
fn token(name: &str) -> String {
    let parts: Vec<&str> = name.split(':').collect();
    match parts[..] {
        [package, module, kind] if !module.contains('/') => {
            let mut letters = kind.chars();
            let first = letters.next().map(|it| it.to_ascii_lowercase()).into_iter();
            format!("{package}:{module}/{}:{kind}", first.chain(letters).collect::<String>())
        }
        _ => name.to_owned(),
    }
}

/// Adds the resources of an Azure template, with those inside them.
fn of_arm(resources: &[Node], above: &str, place: &str, found: &mut Vec<TargetObject>) {
    for (at, value) in resources.iter().enumerate() {
        let Some(kind) = value.text_at("type") else { continue };
        let kind = if above.is_empty() || kind.contains('.') { kind.to_string() } else { format!("{above}/{kind}") };
        let name = format!("{place}{at}");
        of_arm(value.get("resources").map(Node::items).unwrap_or_default(), &kind, &format!("{name}."), found);
        found.push(TargetObject { kind, name, value: value.clone() });
    }
}

/// Returns a Kubernetes object and the pods in it.
fn of_manifest(version: &str, kind: &str, root: &Node) -> Vec<TargetObject> {
    let group = if version.contains('/') { version.to_owned() } else { format!("core/{version}") };
    let mut found = vec![TargetObject { kind: format!("{group} {kind}"), name: kind.to_owned(), value: root.clone() }];
    // A revision of Knative is a pod with fields of its own.
    if !version.starts_with("serving.knative.dev") {
        pods(root, "", &mut found);
    }
    found
}

fn pods(node: &Node, place: &str, found: &mut Vec<TargetObject>) {
    let is_pod = node.get("containers").is_some_and(|it| matches!(it.data, NodeData::List(_)));
    if is_pod && node.get("minReplicas").is_none() {
        found.push(TargetObject { kind: POD.to_owned(), name: place.to_owned(), value: node.clone() });
    }
    for entry in node.entries() {
        pods(&entry.value, &format!("{place}.{}", entry.key), found);
    }
    for (at, item) in node.items().iter().enumerate() {
        pods(item, &format!("{place}[{at}]"), found);
    }
}

/// The name of a pod's type in the tables.
pub(super) const POD: &str = "core/v1 PodSpec";
