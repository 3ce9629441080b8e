//! Finds parameter files and their templates. A parameter file does not name its template, so `located` finds it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::languages::hcl::value::HclValue;
use crate::languages::yaml::{self, Node};
use crate::source::{SourceFiles, is_below, parent, those};
use crate::templates::located::parameters_of;

use super::files::TemplatesByPath;

/// Values for the parameters of a template.
pub(super) struct StackParameters {
    pub(super) path: String,
    pub(super) template: String,
    pub(super) values: BTreeMap<Arc<str>, HclValue>,
}

/// Every parameter file contains one of these words: the first is for the command line, the second for pipelines.
const MARKS: [&[u8]; 2] = [b"ParameterKey", b"\"Parameters\""];

/// Returns the parameter files in the folders of templates and their parents, sorted.
pub(super) fn find(sources: &SourceFiles, paths: &[String], templates: &TemplatesByPath) -> Vec<StackParameters> {
    let folders: BTreeSet<&str> = templates.keys().map(|path| parent(parent(path))).collect();
    let is_near = |path: &str| folders.iter().any(|folder| folder.is_empty() || is_below(path, folder));
    let mut files: Vec<&String> = paths
        .iter()
        .filter(|path| path.ends_with(".json") && !templates.contains_key(*path) && is_near(path))
        .collect();
    files.sort();
    files.dedup();
    let marked = |path: &&String| {
        let has = |text: &[u8]| MARKS.iter().any(|mark| memchr::memmem::find(text, mark).is_some());
        sources.glance(path, has).unwrap_or(false)
    };
    let read = those(files, marked).into_iter().filter_map(|path| {
        let values = values(sources, path)?;
        let template = template_of(path, &values, templates)?.to_owned();
        Some(StackParameters { path: path.clone(), template, values })
    });
    read.collect()
}

fn values(sources: &SourceFiles, path: &str) -> Option<BTreeMap<Arc<str>, HclValue>> {
    let file = sources.open(path).ok()?;
    let stream = yaml::read_within(file, &sources.text(file), sources.limits());
    let root = &stream.documents.first()?.root;
    let values: BTreeMap<Arc<str>, HclValue> = match root.get("Parameters") {
        Some(map) => map.entries().iter().map(|entry| (entry.key.clone(), given(&entry.value))).collect(),
        None => root.items().iter().filter_map(pair).collect(),
    };
    (!values.is_empty()).then_some(values)
}

/// Parses `{"ParameterKey": "a", "ParameterValue": "b"}`, or `"a=b"`.
fn pair(item: &Node) -> Option<(Arc<str>, HclValue)> {
    if let Some((name, value)) = item.text().and_then(|text| text.split_once('=')) {
        return Some((name.into(), HclValue::text(value, item.span)));
    }
    let value = item
        .get("ParameterValue")
        .map_or_else(|| HclValue::unknown("the stack keeps its current value", item.span), given);
    Some((item.text_at("ParameterKey")?.clone(), value))
}

fn given(node: &Node) -> HclValue {
    let parts: Option<Vec<&str>> = node.items().iter().map(|item| item.text().map(|text| &**text)).collect();
    match (node.text(), parts.filter(|it| !it.is_empty())) {
        (Some(text), _) => HclValue::text(text.clone(), node.span),
        (None, Some(parts)) => HclValue::text(parts.join(","), node.span),
        (None, None) => HclValue::unknown("gpulint does not support this form of the parameter file", node.span),
    }
}

fn template_of<'t>(
    path: &str,
    values: &BTreeMap<Arc<str>, HclValue>,
    templates: &'t TemplatesByPath,
) -> Option<&'t str> {
    let given = values.keys().map(|name| &**name).collect();
    let declared = templates.iter().map(|(path, template)| (path.as_str(), template.parameters().collect()));
    parameters_of(path, &given, declared)
}
