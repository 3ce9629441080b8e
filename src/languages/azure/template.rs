//! Parses JSON templates of Azure Resource Manager.

use std::sync::Arc;

use crate::languages::hcl::value::HclNumber;
use crate::languages::yaml::{Node, NodeData, NodeEntry};

use super::expression::of_text;
use super::model::{AzureTemplate, DeclaredFunction, DeclaredParameter, DeclaredResource, NamedExpr, NestedDeployment};
use super::syntax::{AzureEntry, AzureExpr, AzureKind, AzureLoop};

/// The limit on nested deployments.
const DEEPEST: usize = 12;

/// Resource type of a deployment.
pub(super) const DEPLOYMENT: &str = "Microsoft.Resources/deployments";

impl AzureTemplate {
    /// Parses a JSON template; `None` if the document is not a template.
    pub(crate) fn of_json(root: &Node) -> Option<Self> {
        let schema = at(root, "$schema")?.text()?.to_ascii_lowercase();
        let is_one = schema.trim_end_matches('#').ends_with("deploymenttemplate.json");
        is_one.then(|| template(root, 0))
    }
}

fn at<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    entry(node, name).map(|entry| &entry.value)
}

/// Returns the entry with a name. Azure compares names regardless of case.
fn entry<'n>(node: &'n Node, name: &str) -> Option<&'n NodeEntry> {
    node.entries().iter().find(|entry| entry.key.eq_ignore_ascii_case(name))
}

fn section<'n>(root: &'n Node, name: &str) -> &'n [NodeEntry] {
    at(root, name).map(Node::entries).unwrap_or_default()
}

fn template(root: &Node, depth: usize) -> AzureTemplate {
    let declared = at(root, "resources");
    let listed = declared.map(Node::items).unwrap_or_default().iter().map(|node| resource(None, node, None, depth));
    let named = declared.map(Node::entries).unwrap_or_default().iter();
    let named = named.map(|entry| resource(Some(entry), &entry.value, None, depth));
    AzureTemplate {
        parameters: section(root, "parameters").iter().map(parameter).collect(),
        variables: section(root, "variables").iter().flat_map(variables).collect(),
        functions: at(root, "functions").map(Node::items).unwrap_or_default().iter().flat_map(functions).collect(),
        resources: listed.chain(named).flatten().map(Arc::new).collect(),
        outputs: section(root, "outputs").iter().filter_map(output).collect(),
        span: root.span,
    }
}

fn parameter(entry: &NodeEntry) -> DeclaredParameter {
    let kind = at(&entry.value, "type").and_then(Node::text).map(|it| it.to_ascii_lowercase()).unwrap_or_default();
    DeclaredParameter {
        name: entry.key.clone(),
        default: at(&entry.value, "defaultValue").map(expression),
        allowed: at(&entry.value, "allowedValues").map(expression),
        is_secret: kind.starts_with("secure"),
        is_nullable: at(&entry.value, "nullable").and_then(Node::flag) == Some(true),
    }
}

/// Parses a variable, or those of a loop.
fn variables(entry: &NodeEntry) -> Vec<NamedExpr> {
    if entry.key.eq_ignore_ascii_case("copy") {
        let loops = entry.value.items().iter().filter_map(copied);
        return loops.filter_map(|it| Some(NamedExpr { name: it.key.as_text()?.clone(), value: it.value })).collect();
    }
    vec![NamedExpr { name: entry.key.clone(), value: expression(&entry.value) }]
}

fn output(entry: &NodeEntry) -> Option<NamedExpr> {
    Some(NamedExpr { name: entry.key.clone(), value: expression(at(&entry.value, "value")?) })
}

fn functions(namespace: &Node) -> Vec<DeclaredFunction> {
    let space = at(namespace, "namespace").and_then(Node::text).cloned().unwrap_or_default();
    let members = at(namespace, "members").map(Node::entries).unwrap_or_default().iter();
    let each = members.filter_map(|entry| {
        let parameters = at(&entry.value, "parameters").map(Node::items).unwrap_or_default();
        let output = at(&entry.value, "output")?;
        Some(DeclaredFunction {
            name: format!("{space}.{}", entry.key).to_ascii_lowercase().into(),
            parameters: parameters.iter().filter_map(|it| at(it, "name")?.text().cloned()).collect(),
            body: expression(at(output, "value")?),
        })
    });
    each.collect()
}

/// Parses a value: strings in brackets are expressions, and `copy` creates members.
fn expression(node: &Node) -> AzureExpr {
    let kind = match &node.data {
        NodeData::Scalar { text, plain: false } => return of_text(text, node.span),
        NodeData::Scalar { text, plain: true } => match (node.flag(), HclNumber::parse(text)) {
            (Some(flag), _) => AzureKind::Bool(flag),
            (None, Some(number)) => AzureKind::Number(number),
            (None, None) if node.is_null() => AzureKind::Null,
            (None, None) => AzureKind::Text(text.clone()),
        },
        NodeData::List(items) => AzureKind::List(items.iter().map(expression).collect()),
        NodeData::Map(entries) => AzureKind::Object(entries.iter().flat_map(members).collect()),
    };
    AzureExpr::new(node.span, kind)
}

fn members(entry: &NodeEntry) -> Vec<AzureEntry> {
    if entry.key.eq_ignore_ascii_case("copy") && !entry.value.items().is_empty() {
        return entry.value.items().iter().filter_map(copied).collect();
    }
    vec![AzureEntry { key: of_text(&entry.key, entry.key_span), value: expression(&entry.value) }]
}

/// Parses `{"name": "disks", "count": 2, "input": …}`, which creates a list of that name.
fn copied(node: &Node) -> Option<AzureEntry> {
    let name = at(node, "name")?;
    let header = Arc::new(repeated(node)?);
    let body = Box::new(expression(at(node, "input")?));
    let key = AzureExpr::text(name.span, name.text()?.clone());
    Some(AzureEntry { key, value: AzureExpr::new(node.span, AzureKind::Loop(header, body)) })
}

fn repeated(node: &Node) -> Option<AzureLoop> {
    let name = at(node, "name").and_then(Node::text).cloned();
    Some(AzureLoop { name, item: None, index: None, over: expression(at(node, "count")?), filter: None })
}

/// Keys of a resource that are not its properties.
const AROUND: [&str; 7] = ["type", "apiVersion", "dependsOn", "copy", "condition", "resources", "existing"];

fn resource(
    named: Option<&NodeEntry>,
    node: &Node,
    around: Option<(&str, &AzureExpr)>,
    depth: usize,
) -> Option<DeclaredResource> {
    let own = at(node, "type")?.text()?.clone();
    let is_whole = own.split('/').next().is_some_and(|provider| provider.contains('.'));
    let kind: Arc<str> = match around {
        Some((kind, _)) if !is_whole => format!("{kind}/{own}").into(),
        _ => own,
    };
    let name = at(node, "name").map_or_else(|| AzureExpr::text(node.span, ""), expression);
    let parent = around.filter(|_| !is_whole).map(|(_, name)| name.clone());
    let name = match &parent {
        Some(around) => AzureExpr::new(
            name.span,
            AzureKind::Filled(vec![around.clone(), AzureExpr::text(name.span, "/"), name.clone()]),
        ),
        None => name,
    };
    let head = named.map_or(at(node, "name").unwrap_or(node).span, |entry| entry.key_span);
    Some(DeclaredResource {
        symbol: named.map(|entry| entry.key.clone()),
        head,
        span: named.map_or(node.span, NodeEntry::span),
        body: body(node, &name),
        turns: at(node, "copy").and_then(repeated).map(Arc::new),
        condition: at(node, "condition").map(expression),
        is_existing: at(node, "existing").and_then(Node::flag) == Some(true),
        parent: None,
        inner: inner(node, (&kind, &name), depth),
        deployed: if kind.eq_ignore_ascii_case(DEPLOYMENT) { deployed(node, depth) } else { None },
        kind,
    })
}

fn inner(node: &Node, around: (&str, &AzureExpr), depth: usize) -> Vec<Arc<DeclaredResource>> {
    if depth >= DEEPEST {
        return Vec::new();
    }
    let declared = at(node, "resources");
    let listed = declared.map(Node::items).unwrap_or_default().iter().map(|node| (None, node));
    let named = declared.map(Node::entries).unwrap_or_default().iter().map(|entry| (Some(entry), &entry.value));
    let all = listed.chain(named).filter_map(|(named, node)| resource(named, node, Some(around), depth + 1));
    all.map(Arc::new).collect()
}

fn body(node: &Node, name: &AzureExpr) -> AzureExpr {
    let is_around = |key: &str| AROUND.iter().any(|it| key.eq_ignore_ascii_case(it));
    let said = node.entries().iter().filter(|entry| !is_around(&entry.key));
    let entries = said.flat_map(|entry| match entry.key.eq_ignore_ascii_case("name") {
        true => vec![AzureEntry { key: AzureExpr::text(entry.key_span, "name"), value: name.clone() }],
        false => members(entry),
    });
    let mut entries: Vec<AzureEntry> = entries.collect();
    if let Some(depends) = entry(node, "dependsOn") {
        let key = AzureExpr::text(depends.key_span, "dependsOn");
        entries.push(AzureEntry { key, value: expression(&depends.value) });
    }
    AzureExpr::new(node.span, AzureKind::Object(entries))
}

fn deployed(node: &Node, depth: usize) -> Option<NestedDeployment> {
    let properties = at(node, "properties")?;
    if let Some(link) = at(properties, "templateLink") {
        let place = at(link, "relativePath").or_else(|| at(link, "uri")).or_else(|| at(link, "id"))?;
        return Some(NestedDeployment::Elsewhere(expression(place)));
    }
    let written = at(properties, "template").filter(|it| it.is_map() && depth < DEEPEST)?;
    let scope = at(properties, "expressionEvaluationOptions").and_then(|it| at(it, "scope")).and_then(Node::text);
    let is_apart = scope.is_some_and(|it| it.eq_ignore_ascii_case("inner"));
    let inner = Arc::new(template(written, depth + 1));
    Some(if is_apart { NestedDeployment::Apart(inner) } else { NestedDeployment::AsPart(inner) })
}
