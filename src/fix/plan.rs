//! Plans the edits of each finding's fix.

use std::collections::HashMap;

use crate::inventory::{CountedAs, Declined, FactEdit, FactValue, Inventory, Key, Part, Resource, ResourceId};
use crate::rules::{Finding, Fix, Safety};
use crate::source::{Edit, SourceFiles};
use crate::targets::{TargetJudge, TargetVerdict};

use super::FactWriter;
use super::generated_files::MadeFiles;
use super::pools::PoolMachines;
use super::reach::Reach;

/// Gives every finding the edits that its rule file requests, or the reason why there are none.
pub fn plan(findings: &mut [Finding], inventory: &Inventory, sources: &SourceFiles, writer: &dyn FactWriter) {
    if findings.iter().all(|it| it.fix.is_none()) {
        return;
    }
    let mut made = MadeFiles::default();
    let judge = TargetJudge::new(sources);
    let pools = PoolMachines::new(findings, inventory);
    for finding in findings.iter_mut() {
        let Some(resource) = finding.resource.and_then(|id| inventory.resources.get(id.0)) else { continue };
        let Some(fix) = finding.fix.as_mut().filter(|fix| fix.declined.is_none()) else { continue };
        let edits = match pools.refusal(&fix.wishes, resource) {
            Some((pool, why)) => {
                finding.related.push((pool, why.clone()));
                Err(why)
            }
            None => edits_or_others(fix, resource, sources, writer),
        };
        match edits.and_then(|edits| made.demand_an_author(&edits, sources).map(|()| edits)) {
            Ok(edits) => match judge.judge(&edits) {
                TargetVerdict::Refused(why) => fix.declined = Some(why),
                TargetVerdict::Accepted => finding.edits = edits,
                TargetVerdict::Unjudged(why) => {
                    fix.safety = fix.safety.max(Safety::Unsafe);
                    fix.unjudged = Some(why);
                    finding.edits = edits;
                }
            },
            Err(why) => fix.declined = Some(why),
        }
    }
    demand_own_text(findings, inventory, sources);
}

/// Returns all edits of a fix. If they cannot be written, the fix requests its alternative instead.
fn edits_or_others(
    fix: &mut Fix,
    resource: &Resource,
    sources: &SourceFiles,
    writer: &dyn FactWriter,
) -> Result<Vec<Edit>, String> {
    let mut reason = match edits(fix, resource, sources, writer) {
        Ok(edits) => return Ok(edits),
        Err(declined) => declined,
    };
    for wish in std::mem::take(&mut fix.otherwise) {
        let other = Fix { wishes: vec![wish], otherwise: Vec::new(), ..fix.clone() };
        match edits(&other, resource, sources, writer) {
            Ok(edits) => {
                *fix = other;
                return Ok(edits);
            }
            // The reason that an author can change counts more than a missing argument.
            Err(why @ Declined::LeftAlone(_)) if matches!(reason, Declined::Inexpressible(_)) => reason = why,
            Err(_) => {}
        }
    }
    Err(reason.why().to_owned())
}

/// Returns all edits of a fix, or an error.
fn edits(
    fix: &Fix,
    resource: &Resource,
    sources: &SourceFiles,
    writer: &dyn FactWriter,
) -> Result<Vec<Edit>, Declined> {
    let left_alone = |why: &str| Declined::LeftAlone(why.to_owned());
    let mut edits: Vec<Edit> = Vec::new();
    let mut labels = Vec::new();
    let said = |wish: &&FactEdit| matches!(&wish.part, Part::Fact(key) if !resource.fact(*key).is_absent());
    let wishes = fix.wishes.iter().chain(fix.follows.iter().filter(said));
    for wish in wishes.filter(|wish| !is_granted(resource, wish)) {
        if let FactEdit { part: Part::Label(key), value: Some(value) } = wish {
            labels.push((key.clone(), value.clone()));
            continue;
        }
        match writer.write(resource, wish) {
            Ok(more) => edits.extend(more),
            Err(Declined::Inexpressible(_)) if follows(wish, &fix.wishes) => {}
            Err(declined) => return Err(declined),
        }
    }
    if !labels.is_empty() {
        edits.extend(writer.label(resource, &labels)?);
    }
    if edits.is_empty() {
        return Err(left_alone("the file contains no value to change"));
    }
    for edit in &mut edits {
        let span = sources.editable(edit.span).ok_or_else(|| left_alone("the value is in generated content"))?;
        // Lines of an embedded file have an indentation that only the outer file determines.
        if span != edit.span && edit.replacement.contains(['\n', '"', '\\', '$', '%']) {
            return Err(left_alone("the value is in a file that is embedded in another one"));
        }
        edit.span = span;
    }
    let edits = Edit::joined(edits);
    let overlap = edits.windows(2).any(|pair| match pair {
        [a, b] => a.span.file == b.span.file && (b.span.start < a.span.end || a.span == b.span),
        _ => false,
    });
    if overlap { Err(left_alone("two of its edits overlap")) } else { Ok(edits) }
}

/// Returns true if the file already has the value.
fn is_granted(resource: &Resource, wish: &FactEdit) -> bool {
    match (&wish.part, &wish.value) {
        (Part::Fact(key), Some(value)) => resource.fact(*key).value().is_some_and(|it| same(it, value)),
        (Part::Fact(key), None) => resource.fact(*key).is_absent(),
        (Part::Floor, Some(value)) => resource.count.value().map(|range| range.floor) == value.as_number(),
        (Part::Ceiling, Some(value)) => {
            resource.count.value().is_some_and(|range| Some(range.ceiling) == value.as_number())
                && resource.fact(Key::LimitSetting).is_absent()
        }
        (Part::Floor | Part::Ceiling, None) => false,
        (Part::Label(key), Some(value)) => {
            let label = resource.labels.entries.get(&**key).and_then(|fact| fact.value());
            label.is_some_and(|it| **it == *value.to_string())
        }
        (Part::Label(key), None) => !resource.labels.entries.contains_key(&**key),
    }
}

fn same(one: &FactValue, other: &FactValue) -> bool {
    one == other || one.as_number().is_some_and(|n| other.as_number() == Some(n))
}

/// Returns true if another requested change already implies this one: a machine type determines its accelerators.
fn follows(wish: &FactEdit, all: &[FactEdit]) -> bool {
    wish.part == Part::Fact(Key::AcceleratorCount) && all.iter().any(|it| it.part == Part::Fact(Key::Machine))
}

/// Removes edits that would also change a resource for which no such change is requested.
fn demand_own_text(findings: &mut [Finding], inventory: &Inventory, sources: &SourceFiles) {
    let reach = Reach::new(inventory);
    let mut wished: HashMap<(String, ResourceId), Vec<FactEdit>> = HashMap::new();
    for finding in findings.iter() {
        if let (Some(id), Some(fix)) = (finding.resource, &finding.fix) {
            wished.insert((finding.rule.clone(), id), fix.wishes.clone());
        }
    }
    for finding in findings.iter_mut().filter(|it| !it.edits.is_empty()) {
        let Some(resource) = finding.resource.and_then(|id| inventory.resources.get(id.0)) else { continue };
        let Some(fix) = &mut finding.fix else { continue };
        let touched = reach.touched(&finding.edits, resource, inventory, sources);
        let others = touched.into_iter().filter(|id| Some(*id) != finding.resource && !finding.also.contains(id));
        let unwilling = others.filter(|id| {
            let Some(other) = inventory.resources.get(id.0) else { return false };
            // A base is not deployed itself. The environments that replace it have their own findings.
            if other.counted == CountedAs::Base {
                return false;
            }
            let same = wished.get(&(finding.rule.clone(), *id)).is_some_and(|wishes| *wishes == fix.wishes);
            let linked = |a: &Resource, b: &Resource| a.links.iter().any(|link| link.to == b.address);
            let granted = || fix.wishes.iter().all(|wish| is_granted(other, wish));
            !same && !linked(other, resource) && !linked(resource, other) && !granted()
        });
        let unwilling = unwilling.count();
        if unwilling > 0 {
            let why = match unwilling {
                1 => "another resource uses the same value",
                _ => "other resources use the same value",
            };
            fix.declined = Some(why.to_owned());
            finding.edits.clear();
        }
    }
}
