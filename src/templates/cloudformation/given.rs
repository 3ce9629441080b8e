//! Finds parameter files and their templates. A parameter file does not name its template, so `located` finds it.

use std::sync::Arc;

use crate::languages::cloudformation::{AccountAndRegion, CloudTemplate};
use crate::languages::document::filled_in;
use crate::languages::hcl::value::HclValue;
use crate::languages::yaml::{self, Node};
use crate::source::{SourceFiles, Span};
use crate::templates::driver::DeploymentSettings;
use crate::templates::located::{parameter_files, parameters_of};
use crate::templates::reading::{ParameterValues, TemplateInput, TemplatesByPath};

/// Every parameter file contains one of these words: the first is for the command line, the second for pipelines.
const MARKS: [&[u8]; 2] = [b"ParameterKey", b"\"Parameters\""];

/// Returns a stack for each parameter file.
pub(super) fn find(
    input: TemplateInput<'_>,
    templates: &TemplatesByPath<CloudTemplate>,
) -> Vec<DeploymentSettings<AccountAndRegion>> {
    let read = parameter_files(input, templates, None, &MARKS).into_iter().filter_map(|path| {
        let values = values(input.sources, path)?;
        let template = parameters_of(path, &values, templates, |it| it.parameters().collect())?;
        Some(DeploymentSettings::with_file(template, path, values))
    });
    read.collect()
}

pub(super) fn values(sources: &SourceFiles, path: &str) -> Option<ParameterValues> {
    let file = sources.open(path).ok()?;
    let stream = yaml::read_within(file, &sources.text(file), sources.limits());
    let root = &stream.documents.first()?.root;
    let values: ParameterValues = match root.get("Parameters") {
        Some(map) => map.entries().iter().map(|entry| (entry.key.clone(), given(&entry.value))).collect(),
        None => root.items().iter().filter_map(pair).collect(),
    };
    (!values.is_empty()).then_some(values)
}

/// Parses `{"ParameterKey": "a", "ParameterValue": "b"}`, or `"a=b"`.
fn pair(item: &Node) -> Option<(Arc<str>, HclValue)> {
    if let Some((name, value)) = item.text().and_then(|text| text.split_once('=')) {
        return Some((name.into(), text_value(value, item.span)));
    }
    let value = item
        .get("ParameterValue")
        .map_or_else(|| HclValue::unknown("the stack keeps its current value", item.span), given);
    Some((item.text_at("ParameterKey")?.clone(), value))
}

fn given(node: &Node) -> HclValue {
    let parts: Option<Vec<&str>> = node.items().iter().map(|item| item.text().map(|text| &**text)).collect();
    match (node.text(), parts.filter(|it| !it.is_empty())) {
        (Some(text), _) => text_value(text, node.span),
        (None, Some(parts)) => text_value(&parts.join(","), node.span),
        (None, None) => HclValue::unknown("gpulint does not support this form of the parameter file", node.span),
    }
}

/// Returns a string, or an unknown value if another program fills it in.
fn text_value(text: &str, at: Span) -> HclValue {
    filled_in(text, at).unwrap_or_else(|| HclValue::text(text, at))
}
