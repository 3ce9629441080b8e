//! Evaluates data sources whose result follows from the configuration: from their arguments, their provider or a file
//! of the tree. Terraform reads all others from another place, so their results are unknown.

use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers};
use crate::source::Span;
use crate::terraform::block::{EvaluatedAttributes, EvaluatedBlock};

use super::RootEvaluator;

type Results = Vec<(&'static str, HclValue)>;

type Known = fn(&RootEvaluator<'_>, &EvaluatedBlock) -> Results;

const TABLE: &[(&str, Known)] = &[
    ("aws_default_tags", |_, block| vec![("tags", default_tags(block))]),
    ("aws_partition", |_, block| aws_partition(block)),
    ("aws_region", |_, block| {
        ["id", "name", "region"].map(|name| (name, own_or_given(block, &["region", "name"], "region"))).to_vec()
    }),
    ("google_client_config", |_, block| {
        ["project", "region", "zone"].map(|name| (name, own_or_given(block, &[], name))).to_vec()
    }),
    ("google_project", |_, block| vec![("project_id", own_or_given(block, &["project_id"], "project"))]),
    ("kubectl_file_documents", |evaluator, block| evaluator.kubectl_documents(block)),
    ("local_file", |evaluator, block| evaluator.local_file(block)),
    ("local_sensitive_file", |evaluator, block| marked(evaluator.local_file(block))),
    ("null_data_source", |_, block| vec![("outputs", argument(block, "inputs"))]),
    ("template_file", |evaluator, block| vec![("rendered", evaluator.template_data(block))]),
];

impl RootEvaluator<'_> {
    /// Returns the known results of a data source besides its arguments.
    pub(super) fn data_results(&self, block: &EvaluatedBlock) -> Results {
        let kind = block.labels.first().map_or("", String::as_str);
        let Some((_, results)) = TABLE.iter().find(|(name, _)| *name == kind && block.keyword == "data") else {
            return Vec::new();
        };
        // An error here occurs in Terraform when it reads the data source, and `try` does not catch it.
        let fails = |value: &HclValue| value.is_null() || value.any_refused();
        results(self, block).into_iter().filter(|(_, value)| !fails(value)).collect()
    }

    fn local_file(&self, block: &EvaluatedBlock) -> Results {
        let content = self.call_by_name("file", vec![argument(block, "filename")], block.span);
        let encoded = self.call_by_name("base64encode", vec![content.clone()], block.span);
        vec![("content", content), ("content_base64", encoded)]
    }

    /// Evaluates `template` with `vars`.
    fn template_data(&self, block: &EvaluatedBlock) -> HclValue {
        let variables = match argument(block, "vars") {
            value if value.is_null() => HclValue::object(ObjectMembers::default(), block.span),
            value => value,
        };
        self.render_text(&argument(block, "template"), &variables, block.span)
    }

    /// Returns the documents of a string, as a list and by their address in the Kubernetes API.
    fn kubectl_documents(&self, block: &EvaluatedBlock) -> Results {
        let content = argument(block, "content");
        let Some(text) = content.as_text() else { return Vec::new() };
        let place = self.stands_at(&content);
        let mut documents = Vec::new();
        let mut manifests = ObjectMembers::default();
        for range in documents_of(&text) {
            let span =
                place.map_or(block.span, |(file, start)| Span::new(file, start + range.start, start + range.end));
            let document = HclValue::text(text.get(range).unwrap_or_default(), span).marked(content.sensitive);
            let decoded = self.call_by_name("yamldecode", vec![document.clone()], block.span);
            match self_link(&decoded) {
                Some(link) => drop(manifests.known.insert(link.into(), document.clone())),
                None => {
                    let cause = Cause::new("a document has no readable kind or name", span);
                    manifests.rest = Some(Arc::new(cause));
                }
            }
            documents.push(document);
        }
        vec![("documents", HclValue::list(documents, block.span)), ("manifests", HclValue::map(manifests, block.span))]
    }
}

fn argument(block: &EvaluatedBlock, name: &str) -> HclValue {
    attribute(&block.attributes, name).unwrap_or_else(|| HclValue::null(block.span))
}

fn attribute(attributes: &EvaluatedAttributes, name: &str) -> Option<HclValue> {
    attributes.get(name).map(|attribute| attribute.value.clone()).filter(|value| !value.is_null())
}

/// Returns an argument of the data source, under one of several names, or else an argument of its provider.
fn own_or_given(block: &EvaluatedBlock, own: &[&str], given: &str) -> HclValue {
    let own = own.iter().find_map(|name| attribute(&block.attributes, name));
    let given = || attribute(&block.provider.as_ref()?.attributes, given);
    own.or_else(given).unwrap_or_else(|| HclValue::null(block.span))
}

fn marked(results: Results) -> Results {
    results.into_iter().map(|(name, value)| (name, value.marked(true))).collect()
}

fn default_tags(block: &EvaluatedBlock) -> HclValue {
    let provider = block.provider.as_ref();
    let blocks = provider.iter().flat_map(|provider| &provider.blocks);
    let tags =
        blocks.filter(|inner| inner.keyword == "default_tags").find_map(|inner| attribute(&inner.attributes, "tags"));
    tags.unwrap_or_else(|| HclValue::null(block.span))
}

/// Returns the AWS partition of a region, by the start of its name (documentation of AWS, 2026-11).
fn aws_partition(block: &EvaluatedBlock) -> Results {
    const PARTITIONS: [(&str, &str, &str); 5] = [
        ("cn-", "aws-cn", "amazonaws.com.cn"),
        ("us-gov-", "aws-us-gov", "amazonaws.com"),
        ("us-iso-", "aws-iso", "c2s.ic.gov"),
        ("us-isob-", "aws-iso-b", "sc2s.sgov.gov"),
        ("", "aws", "amazonaws.com"),
    ];
    let region = own_or_given(block, &["region"], "region");
    let HclData::Text(name) = &region.data else {
        return ["id", "partition", "dns_suffix"].map(|name| (name, region.clone())).to_vec();
    };
    let partition = PARTITIONS.iter().find(|(beginning, ..)| name.starts_with(beginning));
    let results = partition.map(|(_, partition, suffix)| {
        let value = |text: &str| HclValue::text(text, region.span);
        vec![("id", value(partition)), ("partition", value(partition)), ("dns_suffix", value(suffix))]
    });
    results.unwrap_or_default()
}

/// Returns the byte ranges between lines that start with `---`, without empty ones.
fn documents_of(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with("---") {
            ranges.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    ranges.push(start..at);
    let written = |range: &std::ops::Range<usize>| {
        let lines = text.get(range.clone()).unwrap_or_default().lines();
        lines.map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#'))
    };
    ranges.into_iter().filter(written).collect()
}

/// Returns the address of an object in the Kubernetes API: `/apis/apps/v1/namespaces/a/deployments/b`.
fn self_link(document: &HclValue) -> Option<String> {
    let text = |path: &[&str]| Some(document.find(path).value()?.as_text()?.into_owned());
    let (version, kind, name) = (text(&["apiVersion"])?, text(&["kind"])?, text(&["metadata", "name"])?);
    let api = if version.contains('/') { "apis" } else { "api" };
    let namespace = text(&["metadata", "namespace"]).map_or(String::new(), |it| format!("/namespaces/{it}"));
    Some(format!("/{api}/{version}{namespace}/{}s/{name}", kind.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_divided_where_a_line_begins_with_dashes() {
        let text = "# first\n---\na: 1\n--- # next\n\n---\nb: '---'\n";
        let documents: Vec<&str> = documents_of(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(documents, ["a: 1\n", "b: '---'\n"]);
    }
}
