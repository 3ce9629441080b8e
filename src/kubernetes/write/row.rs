//! Applies definitions of `kinds.toml` in reverse: finds where and how to write a fact.

use crate::inventory::{FactValue, Key, Resource};
use crate::kubernetes::pods::workload;
use crate::kubernetes::rows::path::ManifestPath;
use crate::kubernetes::rows::table::{AmountUnit, FieldSource, KINDS, KindRow};
use crate::languages::yaml::{AddedPiece, EditedFile, Node};
use crate::source::{Edit, Span};

use super::{Document, Result, left_alone, piece, set};

const DEEPEST: usize = 6;

/// Writes a fact to the place where a definition reads it; `None` if no definition does.
pub(super) fn write(
    document: &Document,
    paper: &EditedFile<'_>,
    resource: &Resource,
    key: Key,
    value: &FactValue,
) -> Result<Option<Edit>> {
    let near = resource.fact(Key::AcceleratorCount).span();
    let object = document.object();
    let Some((_, Some(row))) = workload::identify(object) else { return Ok(None) };
    let Some((root, source, skip)) = find(object, row, key, near, false, 0) else { return Ok(None) };
    let there = source.at.0.iter().find(|path| !skip && path.first(root).is_some());
    let ways = there.into_iter().chain(of_version(source, root));
    let Some(keys) = ways.filter_map(ManifestPath::keys).next() else { return Ok(None) };
    let keys = if skip { keys.strip_prefix(&["spec"]) } else { Some(keys.as_slice()) };
    let (Some(keys), Some(text)) = (keys, inverse(source, value)) else {
        return left_alone(format!("the field for {} is unknown", key.name()));
    };
    set(document, paper, root, keys, &text).map(Some)
}

/// Returns the mapping in which the first matching definition reads the fact, preferring the inner object that requests
/// the accelerators. The last value is true if its paths start with a frame that does not exist.
fn find<'n>(
    root: &'n Node,
    row: &'static KindRow,
    key: Key,
    near: Option<Span>,
    framed: bool,
    depth: usize,
) -> Option<(&'n Node, &'static FieldSource, bool)> {
    // Several groups of machines cannot be distinguished here. Stopping needs more than one key: a Karpenter pool with
    // a fixed size never shrinks.
    let whole = row.machines.iter().filter(|machines| machines.each.is_none() && key == Key::Purchase);
    let machines = whole.map(|machines| &machines.facts);
    let mut sources = [&row.facts].into_iter().chain(machines).filter_map(|facts| facts.get(key.name()));
    if let Some(source) = sources.find_map(|sources| sources.0.iter().find(|source| is_reversible(source))) {
        return Some((root, source, framed));
    }
    if depth >= DEEPEST || framed {
        return None;
    }
    for holds in row.holds.iter().filter(|holds| !holds.apart) {
        let Some(path) = holds.at.as_ref().or(holds.spec.as_ref()) else { continue };
        let Some(inner) = holds.kind.as_ref().and_then(|kind| KINDS.named(kind)) else { continue };
        let all = path.all(root);
        let only = all.len() == 1;
        let chosen = all.iter().find(|at| only || near.is_some_and(|near| at.node.span.contains(near)));
        let Some(chosen) = chosen else { continue };
        if let Some(found) = find(chosen.node, inner, key, near, holds.at.is_none(), depth + 1) {
            return Some(found);
        }
    }
    None
}

/// Returns the paths of a source, those of the object's API version first.
fn of_version<'s>(source: &'s FieldSource, root: &Node) -> Vec<&'s ManifestPath> {
    let written = root.get("apiVersion").and_then(Node::text);
    let version = written.and_then(|it| it.rsplit('/').next());
    let is_listed =
        version.is_none_or(|it| source.versions.is_empty() || source.versions.iter().any(|known| known == it));
    let paths = source.at.0.iter();
    if is_listed { paths.collect() } else { paths.rev().collect() }
}

fn is_reversible(source: &FieldSource) -> bool {
    let is_constant = source.is.is_some() || source.present.is_some();
    let is_plain = source.pattern.is_none() && !matches!(source.unit, Some(AmountUnit::Gib | AmountUnit::Plain));
    !is_constant && is_plain && !source.keys && !source.member && !source.zone && !source.at.0.is_empty()
}

/// Returns the value to write so that it is read as this value.
fn inverse(source: &FieldSource, value: &FactValue) -> Option<AddedPiece> {
    if !source.map.is_empty() {
        let wanted = value.to_string();
        let (written, _) = source.map.iter().find(|(written, meant)| **meant == wanted && *written != "*")?;
        let is_flag = matches!(written.as_str(), "true" | "false");
        return Some(if is_flag { AddedPiece::Number(written.clone()) } else { AddedPiece::text(written) });
    }
    let Some(number) = value.as_number() else { return Some(piece(value)) };
    let number = (number - source.plus) / source.times.unwrap_or(1.0);
    if number.fract() != 0.0 || number < 0.0 {
        return None;
    }
    let is_duration = source.unit == Some(AmountUnit::Seconds);
    Some(if is_duration {
        AddedPiece::Text(format!("{number:.0}s"))
    } else {
        AddedPiece::Number(format!("{number:.0}"))
    })
}

/// Returns the autoscaler that names its target at a position, the path of its minimum, and the lowest allowed minimum.
pub(super) fn scaler_around(root: &Node, name: Span) -> Option<(&Node, &'static ManifestPath, f64)> {
    fn search(node: &Node, name: Span, depth: usize) -> Option<(&Node, &'static ManifestPath, f64)> {
        if let Some((object, Some(row))) = workload::identify(node)
            && let Some(scales) = &row.scales
            && scales.target.first(object.root).is_some_and(|it| it.span.contains(name))
        {
            return Some((node, scales.min.as_ref()?, scales.floor));
        }
        let mut near = node.inner().filter(|inner| depth < DEEPEST && inner.span.contains(name));
        near.find_map(|inner| search(inner, name, depth + 1))
    }
    search(root, name, 0)
}

/// Returns the place of the minimum number of pods, and whether it is part of a range.
pub(super) fn floor(object: &Node, near: Option<Span>) -> Option<(&Node, Vec<String>, bool)> {
    let (_, row) = workload::identify(object)?;
    for pods in &row?.pods {
        let path = pods.template.as_ref().or(pods.spec.as_ref())?;
        let mut all = path.all(object).into_iter();
        if !all.any(|at| near.is_none_or(|near| at.node.span.contains(near))) {
            continue;
        }
        let factor = pods.count.iter().find(|factor| factor.at.is_some() || factor.min.is_some())?;
        let (at, ranged) = match (&factor.min, &factor.at) {
            (Some(min), _) => (min, true),
            (None, Some(at)) => (at, false),
            (None, None) => return None,
        };
        return Some((object, at.keys()?.into_iter().map(str::to_owned).collect(), ranged));
    }
    None
}
