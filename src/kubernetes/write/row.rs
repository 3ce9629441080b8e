//! Applies definitions of `kinds.toml` in reverse: finds where and how to write a fact.

use crate::inventory::{FactValue, Key, Resource};
use crate::kubernetes::pods::workload;
use crate::kubernetes::rows::path::ManifestPath;
use crate::kubernetes::rows::table::{AmountUnit, FieldSource, KINDS, KindRow, Scales};
use crate::languages::yaml::{AddedPiece, Node};
use crate::source::{Edit, Span};

use super::declining::{Result, left_alone};
use super::paper::EditedDocument;
use super::{Document, beside, piece, set};

const DEEPEST: usize = 6;

/// Writes a fact to the place where a definition reads it, and the fields that must be set with it; `None` if no
/// definition reads it.
pub(super) fn write(
    document: &Document,
    paper: &EditedDocument<'_>,
    resource: &Resource,
    key: Key,
    value: &FactValue,
) -> Result<Option<Vec<Edit>>> {
    let near = resource.fact(Key::AcceleratorCount).span();
    let object = document.object();
    let Some((_, Some(row))) = workload::identify(object) else { return Ok(None) };
    let Some(found) = find(object, row, key, near, false, 0) else { return Ok(None) };
    let page = Page { document, paper };
    let mut edits = beside::written(&page, resource, &found, key, value)?;
    let Some(text) = inverse(found.source, value) else {
        return left_alone(format!("the field for {} is unknown", key.name()));
    };
    let spot_field = beside::spot_field(resource, &found, key, value);
    if let Some(field) = spot_field {
        edits.extend(beside::on_spot(&page, &found, field, key, value)?.into_iter().flatten());
    }
    // The field of the fact may be part of that field.
    if key != Key::IdleMinutes || spot_field.is_none() {
        match in_place(&page, &found, key, &text)? {
            Some(own) => edits.extend(own),
            None => return Ok(None),
        }
    }
    Ok(Some(edits))
}

/// Writes the fact alone.
fn in_place(page: &Page<'_>, found: &Place<'_>, key: Key, text: &AddedPiece) -> Result<Option<Vec<Edit>>> {
    let ways = of_version(found.source, page.document.object());
    let there = ways.iter().copied().find(|path| !path.below_frame(found.root, found.framed).is_empty());
    if let Some(path) = there.filter(|path| path.visits_members()) {
        let nodes = path.below_frame(found.root, found.framed);
        let members = path.parent().below_frame(found.root, found.framed).len();
        if nodes.len() != members || (nodes.len() > 1 && key != Key::Purchase) {
            return left_alone(format!("only some of its alternatives set {}", key.name()));
        }
        let replaced = nodes.into_iter().map(|node| {
            page.document.is_own(node)?;
            page.paper.replace(node, text)
        });
        return replaced.collect::<Result<Vec<Edit>>>().map(Some);
    }
    let ways = there.into_iter().chain(ways);
    let Some(keys) = ways.filter(|path| !path.visits_members()).filter_map(ManifestPath::keys).next() else {
        return Ok(None);
    };
    let keys = if found.framed { keys.strip_prefix(&["spec"]) } else { Some(keys.as_slice()) };
    let Some(keys) = keys else { return left_alone(format!("the field for {} is unknown", key.name())) };
    set(page.document, page.paper, found.root, keys, text).map(|edit| Some(vec![edit]))
}

/// The document of an object, before and after its edits.
pub(super) struct Page<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) paper: &'d EditedDocument<'d>,
}

/// The mapping in which a definition reads a fact.
pub(super) struct Place<'n> {
    pub(super) root: &'n Node,
    pub(super) row: &'static KindRow,
    source: &'static FieldSource,
    /// True if its paths start with a frame that does not exist.
    pub(super) framed: bool,
}

/// Returns the mapping in which the first matching definition reads the fact, preferring the inner object that requests
/// the accelerators.
fn find<'n>(
    root: &'n Node,
    row: &'static KindRow,
    key: Key,
    near: Option<Span>,
    framed: bool,
    depth: usize,
) -> Option<Place<'n>> {
    // Several groups of machines cannot be distinguished here. Stopping needs more than one key: a Karpenter pool with
    // a fixed size never shrinks.
    let is_whole = |key: Key| matches!(key, Key::Purchase) || row.writes.contains_key(key.name());
    let whole = row.machines.iter().filter(|machines| machines.each.is_none() && is_whole(key));
    let inner = whole.map(|machines| &machines.facts).chain(row.pods.iter().map(|pods| &pods.facts));
    let mut sources = [&row.facts].into_iter().chain(inner).filter_map(|facts| facts.get(key.name()));
    if let Some(source) = sources.find_map(|sources| sources.0.iter().find(|source| is_reversible(source))) {
        return Some(Place { root, row, source, framed });
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

/// Returns the paths of a source in the object's API version.
fn of_version<'s>(source: &'s FieldSource, root: &Node) -> Vec<&'s ManifestPath> {
    source.of_version(root.get("apiVersion").and_then(Node::text).map(|version| &**version))
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
    Some(if is_duration { AddedPiece::Text(duration(number)) } else { AddedPiece::Number(format!("{number:.0}")) })
}

/// Formats seconds in the largest unit without a fraction: `5m`.
fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds > 0.0 && seconds % 3600.0 == 0.0 => format!("{:.0}h", seconds / 3600.0),
        seconds if seconds > 0.0 && seconds % 60.0 == 0.0 => format!("{:.0}m", seconds / 60.0),
        seconds => format!("{seconds:.0}s"),
    }
}

/// Returns the autoscaler that names its target at a position, its definition, and the path of its minimum.
pub(super) fn scaler_around(root: &Node, name: Span) -> Option<(&Node, &'static KindRow, &'static Scales)> {
    fn search(node: &Node, name: Span, depth: usize) -> Option<(&Node, &'static KindRow, &'static Scales)> {
        if let Some((object, Some(row))) = workload::identify(node)
            && let Some(scales) = &row.scales
            && scales.target.first(object.root).is_some_and(|it| it.span.contains(name))
        {
            return Some((node, row, scales));
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
        let known = |path: &&ManifestPath| path.first(object).is_some();
        let (at, ranged) = match (&factor.min, &factor.at) {
            (Some(min), _) => (factor.or_min.iter().find(known).filter(|_| !known(&min)).unwrap_or(min), true),
            (None, Some(at)) => (at, false),
            (None, None) => return None,
        };
        return Some((object, at.keys()?.into_iter().map(str::to_owned).collect(), ranged));
    }
    None
}
