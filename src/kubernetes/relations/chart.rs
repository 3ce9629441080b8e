//! Handles resources in charts: their places, their confidence, and duplicates between values and templates.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, Link, LinkKind, ReadBy, Resource};
use crate::kubernetes::objects::chart::VALUES;
use crate::kubernetes::pods::workload::FoundResource;
use crate::kubernetes::rows::table::{self, KINDS};
use crate::kubernetes::text::trail::{RendererKind, Trail};
use crate::source::{FileId, SourceFiles, Span};

/// Values files, each with the files that are read with them.
pub(in crate::kubernetes) type Used = BTreeMap<FileId, BTreeSet<FileId>>;

/// Marks facts as inferred for a template without rendering, or for values without their chart. Reports point to the
/// accelerator request in the values.
pub(in crate::kubernetes) fn infer(resource: &mut Resource, why: &Arc<str>, of_chart: bool) {
    if of_chart {
        resource.front_end = ReadBy::Chart;
    }
    let asked = resource.fact(Key::AcceleratorCount).span();
    if resource.kind == VALUES {
        resource.span = asked.unwrap_or(resource.span);
    } else if let Some(asked) = asked.filter(|asked| of_chart && asked.file != resource.span.file) {
        let template = Link::named(LinkKind::Settings, resource.address.clone(), resource.span);
        resource.links.push(template);
        resource.span = asked;
    }
    let facts: Vec<(Key, Fact<FactValue>)> = resource.facts().map(|(key, fact)| (key, fact.clone())).collect();
    for (key, fact) in facts {
        resource.set(key, weakened(fact, why));
    }
    // The templates set the volumes, and they were not read.
    if let (VALUES, Fact::Known(KnownFact { span, origin: FactOrigin::Inferred(_), .. })) =
        (resource.kind.as_str(), resource.fact(Key::SharedMemory).clone())
    {
        resource.set(Key::SharedMemory, Fact::unknown("the chart's template sets the volumes", span));
    }
    resource.count = weakened(std::mem::take(&mut resource.count), why);
}

/// Points a rendered resource to its accelerator request in the values or in the patch of an overlay, and records the
/// command that rendered it.
pub(in crate::kubernetes) fn rendered(sources: &SourceFiles, resource: &mut Resource, trail: &Trail) {
    if trail.by == RendererKind::Helm {
        resource.front_end = ReadBy::Chart;
    }
    let asked = resource.fact(Key::AcceleratorCount).span();
    let elsewhere = |asked: &Span| sources.origin(*asked).file != sources.origin(resource.span).file;
    if let Some(asked) = asked.filter(elsewhere) {
        let template = Link::named(LinkKind::Settings, resource.address.clone(), resource.span);
        resource.links.push(template);
        resource.span = asked;
    }
    resource.links.push(trail.link());
}

fn weakened<T>(fact: Fact<T>, why: &Arc<str>) -> Fact<T> {
    match fact {
        Fact::Known(known) => {
            let origin = known.origin.weakest(FactOrigin::Inferred(why.clone()));
            Fact::Known(KnownFact { origin, ..known })
        }
        other => other,
    }
}

/// Returns the position of a scalar without quotes, because the rendered text may have other quotes.
fn bare(sources: &SourceFiles, span: Span) -> Span {
    let span = sources.origin(span);
    let text = sources.text(span.file);
    let written = text.get(span.range()).unwrap_or_default();
    let (before, after) = (written.trim_start_matches(['"', '\'']), written.trim_end_matches(['"', '\'']));
    let range = span.range();
    let start = range.end - before.len();
    Span::new(span.file, start, (range.start + after.len()).max(start))
}

/// Removes values that a template of their chart or another object already uses.
pub(in crate::kubernetes) fn drop_repeated_values(
    sources: &SourceFiles,
    found: &mut Vec<(Arc<str>, FoundResource)>,
    used: &Used,
) {
    if !found.iter().any(|(_, it)| is_values(it) || it.from_values) {
        return;
    }
    // The number in a claim is in its definition, which several pods may use.
    let claims = |found: &FoundResource| found.resource.links.iter().any(|link| link.kind == LinkKind::Claim);
    // Compares source positions, because rendered text has other positions.
    let asked = |found: &FoundResource| {
        let span = found.resource.fact(Key::AcceleratorCount).span().filter(|_| !claims(found));
        span.map(|span| bare(sources, span))
    };
    let told = |by: fn(&FoundResource) -> bool| -> HashSet<Span> {
        found.iter().filter(|(_, it)| by(it)).filter_map(|(_, it)| asked(it)).collect()
    };
    let by_templates = told(|it| !it.from_values);
    let by_others = told(|it| !is_values(it));
    let files: BTreeSet<FileId> =
        found.iter().filter(|(_, it)| !is_values(it)).map(|(_, it)| it.resource.body.file).collect();
    let is_told = |it: &FoundResource| {
        let taken = used.get(&it.resource.body.file).is_some_and(|by| !by.is_disjoint(&files));
        let told = if is_values(it) { &by_others } else { &by_templates };
        (is_values(it) && taken) || asked(it).is_some_and(|span| told.contains(&span))
    };
    found.retain(|(_, it)| !((is_values(it) || it.from_values) && is_told(it)));
}

/// Returns whether the resource comes from values alone.
fn is_values(found: &FoundResource) -> bool {
    found.kind == VALUES || KINDS.find(table::VALUES, &found.kind).is_some()
}
