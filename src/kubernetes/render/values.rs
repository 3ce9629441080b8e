//! Finds the chart values that a template line uses, and the value that became a rendered scalar.

use std::sync::Arc;

use crate::kubernetes::objects::chart;
use crate::languages::yaml::{Node, NodeData};
use crate::source::{SourceFiles, Span};

use super::align::TemplateLine;
use super::plan::{NamedTemplate, RenderPlan, at, document};

/// The limit on scalars that are compared with one rendered line.
const MOST_SCALARS: usize = 2_000;
const DEEPEST: usize = 32;

/// The values that a template can use, the highest precedence first.
#[derive(Default)]
pub(super) struct Values {
    layers: Vec<Node>,
}

impl Values {
    pub(super) fn of(sources: &SourceFiles, plan: &RenderPlan, template: &NamedTemplate) -> Values {
        let own = at(&plan.directory, "values.yaml");
        let files = plan.values.iter().rev().chain([&own]);
        let mut layers: Vec<Node> = files.filter_map(|file| document(sources, file)).collect();
        let inside = template.called.strip_prefix(plan.directory.as_str()).unwrap_or_default();
        // For `/charts/a/charts/b`, the values of the parent charts are below the subchart's name.
        for name in inside.split("charts/").map(|part| part.trim_matches('/')).filter(|part| !part.is_empty()) {
            let global = |root: &Node| root.entry("global").map(|entry| vec![entry.clone()]);
            layers = layers
                .iter()
                .flat_map(|root| [root.get(name).cloned(), global(root).map(|all| Node::map(root.span, all))])
                .flatten()
                .collect();
        }
        if !inside.is_empty() {
            layers.extend(chart::values(sources, &template.chart));
        }
        Values { layers }
    }

    /// Returns the place of the scalar that became the value `text` of `key`, if it is among the values at `paths`.
    pub(super) fn find(&self, paths: &[Vec<Arc<str>>], key: &str, text: &str) -> Option<Span> {
        let mut under: Option<(Span, usize)> = None;
        for root in &self.layers {
            for path in paths {
                let Some((entry_key, span, node)) = walk(root, path) else { continue };
                if node.text().is_some_and(|own| &**own == text) {
                    return Some(span);
                }
                if matches!(node.data, NodeData::Scalar { .. }) {
                    continue;
                }
                let mut all = Vec::new();
                scalars(node, entry_key, span, 0, &mut all);
                let same: Vec<&(Arc<str>, Arc<str>, Span)> = all.iter().filter(|(_, own, _)| **own == *text).collect();
                if let Some((_, _, span)) = same.iter().find(|(own, _, _)| **own == *key) {
                    return Some(*span);
                }
                if let (Some((_, _, span)), None) = (same.first(), under) {
                    under = Some((*span, same.len()));
                }
            }
        }
        // If the key does not match, only a string that occurs once is certain.
        under.filter(|(_, times)| *times == 1).map(|(span, _)| span)
    }
}

impl Values {
    /// Returns the place of the first scalar at one of these paths that is part of a rendered line.
    pub(super) fn find_inside(&self, paths: &[Vec<Arc<str>>], line: &str) -> Option<Span> {
        // The minimum length of a string, because shorter ones are part of many lines by chance.
        const TELLING: usize = 3;
        let all = self.layers.iter().flat_map(|root| paths.iter().filter_map(|path| walk(root, path)));
        let told = |node: &Node| node.text().is_some_and(|text| text.len() >= TELLING && line.contains(&**text));
        all.filter(|(_, _, node)| told(node)).map(|(_, span, _)| span).next()
    }
}

fn walk<'n>(root: &'n Node, path: &[Arc<str>]) -> Option<(Arc<str>, Span, &'n Node)> {
    let mut found = (Arc::from(""), root.span, root);
    for key in path {
        let entry = found.2.entry(key)?;
        found = (entry.key.clone(), entry.span(), &entry.value);
    }
    Some(found)
}

fn scalars(node: &Node, key: Arc<str>, span: Span, depth: usize, out: &mut Vec<(Arc<str>, Arc<str>, Span)>) {
    if depth > DEEPEST || out.len() > MOST_SCALARS {
        return;
    }
    match &node.data {
        NodeData::Scalar { .. } => out.extend(node.text().map(|text| (key, text.clone(), span))),
        NodeData::List(items) => items.iter().for_each(|item| scalars(item, key.clone(), item.span, depth + 1, out)),
        NodeData::Map(entries) => {
            entries.iter().for_each(|entry| scalars(&entry.value, entry.key.clone(), entry.span(), depth + 1, out))
        }
    }
}

/// Returns the value paths that each line of a template uses, including those of the surrounding `with` and `range`.
pub(super) fn uses(template: &[TemplateLine<'_>]) -> Vec<Vec<Vec<Arc<str>>>> {
    let mut around: Vec<Vec<Vec<Arc<str>>>> = Vec::new();
    let mut all = Vec::new();
    for line in template {
        let mut own = paths(line.text);
        all.push(if line.has_directive {
            own.extend(around.iter().rev().flatten().cloned());
            own
        } else {
            Vec::new()
        });
        for directive in line.text.split("{{").skip(1) {
            let inner = directive.trim_start_matches(['-', ' ']);
            match inner.split(|c: char| !c.is_ascii_alphabetic()).next() {
                Some("with" | "range") => around.push(paths(inner)),
                Some("if" | "define" | "block") => around.push(Vec::new()),
                Some("end") => {
                    around.pop();
                }
                _ => {}
            }
        }
    }
    all
}

/// Returns the paths in a text: `a`, `b` for `.Values.a.b`.
fn paths(text: &str) -> Vec<Vec<Arc<str>>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let ends = text.match_indices(".Values.").map(|(at, word)| text.get(at + word.len()..).unwrap_or_default());
    let named = ends.map(|rest| {
        let end = rest.find(|c: char| !is_name(c) && c != '.').unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default().split('.').filter(|key| !key.is_empty()).map(Arc::from).collect()
    });
    named.filter(|path: &Vec<Arc<str>>| !path.is_empty()).collect()
}
