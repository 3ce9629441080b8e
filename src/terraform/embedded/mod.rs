//! Extracts Kubernetes manifests from Terraform for the Kubernetes front end.
//!
//! Terraform contains manifests as strings, as objects, or as blocks with provider-specific names. Each manifest
//! becomes a derived file whose positions lead back to the code that a user can edit. This reader knows only the forms
//! in `kubernetes.toml`, not the meaning of a manifest.

mod blocks;
mod calls;
mod lines;
mod release;
mod yaml;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use crate::inventory::{Fact, FactValue, RunId};
use crate::languages::hcl::value::{HclData, HclValue};
use crate::source::{FileId, Segment, SourceFiles, Span};

use super::block::{EvaluatedAttribute, EvaluatedBlock};
use yaml::{ManifestTree, YamlWriter};

/// A Kubernetes manifest in a Terraform resource.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The address of the Terraform resource.
    pub address: String,
    pub kind: String,
    pub span: Span,
    /// The directory of its root; `None` for a plan.
    pub root: Option<Arc<str>>,
    pub run: RunId,
    /// The derived text, whose positions lead back into the Terraform file.
    pub file: FileId,
    /// The place that sets its number to zero, if any.
    pub none: Option<Span>,
    /// The region that the root's configuration of each cloud sets.
    pub regions: Arc<BTreeMap<&'static str, Fact<FactValue>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    texts: BTreeMap<String, String>,
    objects: BTreeMap<String, String>,
    charts: BTreeMap<String, Chart>,
    kinds: BTreeMap<String, String>,
    lists: BTreeMap<String, String>,
    names: BTreeMap<String, String>,
    workloads: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chart {
    chart: String,
    values: String,
    set: String,
}

/// Returns the embedded table, parsed once. A unit test checks that it can be parsed.
fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/embedded.json")))
            .unwrap_or_else(|why| unreachable!("the embedded Kubernetes resource types: {why}"))
    })
}

/// Returns the manifests in blocks, in the order of the blocks. Workloads with a `count` of 0 come last.
pub(super) fn manifests(
    sources: &SourceFiles,
    (blocks, switched_off): (&[EvaluatedBlock], &[EvaluatedBlock]),
    regions: BTreeMap<&'static str, Fact<FactValue>>,
    root: Option<&str>,
    run: &RunId,
) -> Vec<Embedded> {
    let mut found = Vec::new();
    let regions = Arc::new(regions);
    let expanded = calls::expanded(blocks);
    let is_call = |it: &EvaluatedBlock| it.keyword == "module" && !expanded.contains(it.address.as_str());
    for block in blocks.iter().chain(switched_off).filter(|it| it.keyword == "resource" || is_call(it)) {
        let kind = if block.keyword == "module" { Some(&block.keyword) } else { block.labels.first() };
        let Some(kind) = kind else { continue };
        let none = block.is_none().then(|| block.instances.span()).flatten();
        for (text, segments) in carried(sources, block, kind, root) {
            // An object that is switched off does not control others, for example their number.
            if none.is_some() && !is_workload(&text) {
                continue;
            }
            let file = sources.derive(&sources.path(block.span.file), text, segments);
            let (address, kind) = (block.address.clone(), kind.clone());
            let (span, root, run) = (block.span, root.map(Into::into), run.clone());
            let regions = regions.clone();
            found.push(Embedded { address, kind, span, root, run, file, none, regions });
        }
    }
    found
}

/// Returns whether resources of the type are Kubernetes objects or contain some.
pub(super) fn carries_manifests(kind: &str) -> bool {
    let table = table();
    table.texts.contains_key(kind)
        || table.objects.contains_key(kind)
        || table.charts.contains_key(kind)
        || blocks::is_object(kind, table)
}

/// Returns the manifests in a block, each with its origin.
fn carried(
    sources: &SourceFiles,
    block: &EvaluatedBlock,
    kind: &str,
    root: Option<&str>,
) -> Vec<(String, Vec<Segment>)> {
    let aligned = |values: &[HclValue]| values.iter().filter_map(|value| lines::align(sources, value)).collect();
    let texts_at = |name: &str| block.attributes.get(name).into_iter().flat_map(texts).collect::<Vec<_>>();
    if block.keyword == "module" {
        return aligned(&calls::values(block));
    }
    if let Some(name) = table().texts.get(kind) {
        return aligned(&texts_at(name));
    }
    if let Some(name) = table().objects.get(kind) {
        let Some(attribute) = block.attributes.get(name) else { return Vec::new() };
        if is_object(&attribute.value) {
            let tree = yaml::tree_of(sources, &attribute.value, 0);
            return vec![YamlWriter::document(block.span, &tree)];
        }
        // `yamldecode` of a partly known string.
        return lines::align(sources, &attribute.value).into_iter().collect();
    }
    if let Some(chart) = table().charts.get(kind) {
        if let Some(object) = release::object(sources, block, chart, root) {
            return vec![object];
        }
        if let Some(object) = release::object_with(sources, block, chart, None) {
            return vec![object];
        }
        let mut found: Vec<_> = aligned(&texts_at(&chart.values));
        let set: Vec<(String, Span, ManifestTree)> = settings(sources, block, &chart.set);
        if !set.is_empty() {
            found.push(YamlWriter::document(block.span, &ManifestTree::nested(set)));
        }
        return found;
    }
    let manifest = blocks::manifest(sources, block, table());
    manifest.map(|tree| YamlWriter::document(block.span, &tree)).into_iter().collect()
}

/// Returns the block's name for the chart that it installs with its own values, if the chart cannot be read with these
/// values.
pub(crate) fn installed<'b>(sources: &SourceFiles, block: &'b EvaluatedBlock, root: &str) -> Option<&'b str> {
    let kind = block.labels.first().filter(|_| block.keyword == "resource" && !block.is_none())?;
    let names = table().charts.get(kind)?;
    let has_values = [&names.values, &names.set].into_iter().any(|name| {
        block.attributes.get(name).is_some_and(|it| !it.value.is_null())
            || block.blocks.iter().any(|it| it.keyword == *name)
    });
    if release::object(sources, block, names, Some(root)).is_some() {
        return None;
    }
    match &block.attributes.get(&names.chart).filter(|_| has_values)?.value.data {
        HclData::Text(chart) => Some(chart),
        _ => None,
    }
}

/// Returns whether all documents of a string are workloads.
fn is_workload(text: &str) -> bool {
    let kind = |line: &str| {
        let value = line.strip_prefix("kind:").or_else(|| line.strip_prefix("\"kind\":"))?;
        Some(value.trim().trim_matches(['"', '\'']).to_owned())
    };
    let mut kinds = text.lines().filter_map(kind).peekable();
    kinds.peek().is_some() && kinds.all(|kind| table().workloads.contains(&kind))
}

fn is_object(value: &HclValue) -> bool {
    matches!(value.data, HclData::Map(_) | HclData::Object(_))
}

/// Returns a string, or each string of a list.
fn texts(attribute: &EvaluatedAttribute) -> Vec<HclValue> {
    texts_of(&attribute.value)
}

fn texts_of(value: &HclValue) -> Vec<HclValue> {
    match &value.data {
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => items.to_vec(),
        _ => vec![value.clone()],
    }
}

/// Reads `set { name = "a.b" value = … }`, also as a list of objects.
fn settings(sources: &SourceFiles, block: &EvaluatedBlock, name: &str) -> Vec<(String, Span, ManifestTree)> {
    let mut settings = Vec::new();
    for set in block.blocks.iter().filter(|it| it.keyword == name) {
        if let (Some(name), Some(value)) = (set.attributes.get("name"), set.attributes.get("value"))
            && let HclData::Text(path) = &name.value.data
        {
            settings.push((path.to_string(), set.span, yaml::tree_of(sources, &value.value, 0)));
        }
    }
    for set in block.attributes.get(name).into_iter().flat_map(texts) {
        let (HclData::Map(entries) | HclData::Object(entries)) = &set.data else { continue };
        if let (Some(name), Some(value)) = (entries.get("name"), entries.get("value"))
            && let HclData::Text(path) = &name.data
        {
            settings.push((path.to_string(), value.span, yaml::tree_of(sources, value, 0)));
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_is_read() {
        assert_eq!(table().kinds["kubernetes_pod"], "v1 Pod");
    }
}
