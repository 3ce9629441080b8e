//! Converts a chart installation in Terraform to an object with its layers of values in order.

use crate::languages::hcl::value::HclData;
use crate::source::{Segment, SourceFiles, join};

use super::super::block::EvaluatedBlock;
use super::yaml::{ManifestTree, YamlWriter, tree_of};
use super::{Chart, lines, settings, texts};

/// An API version for the Kubernetes front end only. No cluster uses it.
const VERSION: &str = "terraform/v1";
const KIND: &str = "HelmRelease";
/// The indentation of each line of a layer.
const INDENT: &str = "    ";

/// Returns the object of a chart in the tree; `None` if a layer cannot be part of an object.
pub(super) fn object(
    sources: &SourceFiles,
    block: &EvaluatedBlock,
    names: &Chart,
    root: Option<&str>,
) -> Option<(String, Vec<Segment>)> {
    let chart = directory(sources, block, names, root?)?;
    object_with(sources, block, names, Some(&chart))
}

/// Returns the object that passes the values to a chart, which may be elsewhere.
pub(super) fn object_with(
    sources: &SourceFiles,
    block: &EvaluatedBlock,
    names: &Chart,
    chart: Option<&str>,
) -> Option<(String, Vec<Segment>)> {
    let layers = layers(sources, block, names)?;
    let said = |name: &str| {
        let attribute = block.attributes.get(name).filter(|it| !it.value.is_null())?;
        Some((name.to_owned(), attribute.span, tree_of(sources, &attribute.value, 0)))
    };
    let entry = |name: &str, tree: ManifestTree| (name.to_owned(), block.span, tree);
    let single = |(name, span, value): (String, _, ManifestTree)| {
        ManifestTree::Map(vec![
            ("name".to_owned(), span, ManifestTree::text(&name, span)),
            ("value".to_owned(), span, value),
        ])
    };
    // The lines of the layers follow this entry.
    let (key, value) = chart.map_or(("elsewhere", "true"), |chart| ("chart", chart));
    let mut spec = vec![entry(key, ManifestTree::text(value, block.span))];
    let set: Vec<ManifestTree> = settings(sources, block, &names.set).into_iter().map(single).collect();
    if chart.is_none() && set.is_empty() && layers.is_empty() {
        return None;
    }
    if !set.is_empty() {
        spec.push(entry("set", ManifestTree::List(set)));
    }
    let object = ManifestTree::Map(vec![
        entry("apiVersion", ManifestTree::text(VERSION, block.span)),
        entry("kind", ManifestTree::text(KIND, block.span)),
        entry("metadata", ManifestTree::Map(["name", "namespace"].into_iter().filter_map(said).collect())),
        entry("spec", ManifestTree::Map(spec)),
    ]);
    let (mut text, mut segments) = YamlWriter::document(block.span, &object);
    if !layers.is_empty() {
        text.push_str("  \"layers\":\n");
    }
    for (layer, lines) in &layers {
        push(&mut text, &mut segments, layer, lines);
    }
    Some((text, segments))
}

/// Returns the directory of the chart, relative to the directory in which Terraform runs, as in the provider.
fn directory(sources: &SourceFiles, block: &EvaluatedBlock, names: &Chart, root: &str) -> Option<String> {
    let is_elsewhere = block.attributes.get("repository").is_some_and(|it| !it.value.is_null());
    let HclData::Text(chart) = &block.attributes.get(&names.chart).filter(|_| !is_elsewhere)?.value.data else {
        return None;
    };
    let directory = join(root, chart).filter(|_| !chart.starts_with('/') && !chart.contains("://"))?;
    sources.tree().read(&join(&directory, "Chart.yaml")?).is_ok().then_some(directory)
}

/// Returns the values strings with the places of their lines; `None` if one is unknown or has more than one document.
fn layers(sources: &SourceFiles, block: &EvaluatedBlock, names: &Chart) -> Option<Vec<(String, Vec<Segment>)>> {
    let mut layers = Vec::new();
    for value in block.attributes.get(&names.values).into_iter().flat_map(texts) {
        let is_empty = match &value.data {
            HclData::Null => true,
            HclData::Text(text) => text.trim().is_empty(),
            _ => false,
        };
        if !is_empty {
            layers.push(lines::align(sources, &value).filter(|(text, _)| is_one_document(text))?);
        }
    }
    Some(layers)
}

/// Returns whether no part of the text must be at the start of a line.
fn is_one_document(text: &str) -> bool {
    !text.lines().any(|line| ["---", "...", "%", "\t"].iter().any(|sign| line.starts_with(sign)))
}

fn push(text: &mut String, segments: &mut Vec<Segment>, layer: &str, lines: &[Segment]) {
    text.push_str("  -\n");
    let mut lines = lines.iter().peekable();
    let mut end = 0;
    for line in layer.split_inclusive('\n') {
        let start = end;
        end += line.len();
        text.push_str(INDENT);
        while let Some(segment) = lines.next_if(|segment| (segment.start as usize) < end) {
            let at = text.len() + (segment.start as usize).saturating_sub(start);
            segments.push(Segment { start: u32::try_from(at).unwrap_or(u32::MAX), ..*segment });
        }
        text.push_str(line);
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
}
