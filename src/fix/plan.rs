use crate::inventory::{Declined, Inventory, Key, Part, Resource, Value, Wish};
use crate::rules::{Finding, Fix};
use crate::source::{Edit, Sources};

use super::Writer;

/// Gives every finding the edits that its page wishes, or the reason why there are none.
pub fn plan(findings: &mut [Finding], inventory: &Inventory, sources: &Sources, writer: &dyn Writer) {
    for finding in findings {
        let Some(resource) = finding.resource.and_then(|id| inventory.resources.get(id.0)) else { continue };
        let Some(fix) = finding.fix.as_mut().filter(|fix| fix.declined.is_none()) else { continue };
        match edits(fix, resource, sources, writer) {
            Ok(edits) => finding.edits = edits,
            Err(why) => fix.declined = Some(why),
        }
    }
}

/// All that a fix wishes, or nothing of it.
fn edits(fix: &Fix, resource: &Resource, sources: &Sources, writer: &dyn Writer) -> Result<Vec<Edit>, String> {
    let mut edits: Vec<Edit> = Vec::new();
    for wish in fix.wishes.iter().filter(|wish| !is_granted(resource, wish)) {
        match writer.write(resource, wish) {
            Ok(more) => edits.extend(more),
            Err(Declined::Inexpressible(_)) if follows(wish, &fix.wishes) => {}
            Err(declined) => return Err(declined.why().to_owned()),
        }
    }
    if edits.is_empty() {
        return Err("nothing in the text says it that could be changed".to_owned());
    }
    for edit in &mut edits {
        edit.span = sources.editable(edit.span).ok_or("it stands in text that was made from other text")?;
    }
    edits.sort_by_key(|edit| edit.span);
    edits.dedup();
    let overlap = edits.windows(2).any(|pair| match pair {
        [a, b] => a.span.file == b.span.file && (b.span.start < a.span.end || a.span == b.span),
        _ => false,
    });
    if overlap { Err("two of its changes are in each other's way".to_owned()) } else { Ok(edits) }
}

/// The text says it already.
fn is_granted(resource: &Resource, wish: &Wish) -> bool {
    match (&wish.part, &wish.value) {
        (Part::Fact(key), Some(value)) => resource.fact(*key).value().is_some_and(|it| same(it, value)),
        (Part::Fact(key), None) => resource.fact(*key).is_absent(),
        (Part::Floor, Some(value)) => resource.count.value().map(|range| range.floor) == value.as_number(),
        (Part::Floor, None) => false,
        (Part::Label(key), Some(value)) => {
            let label = resource.labels.entries.get(&**key).and_then(|fact| fact.value());
            label.is_some_and(|it| **it == *value.to_string())
        }
        (Part::Label(key), None) => !resource.labels.entries.contains_key(&**key),
    }
}

fn same(one: &Value, other: &Value) -> bool {
    one == other || one.as_number().is_some_and(|n| other.as_number() == Some(n))
}

/// A machine brings its accelerators with it.
fn follows(wish: &Wish, all: &[Wish]) -> bool {
    wish.part == Part::Fact(Key::AcceleratorCount) && all.iter().any(|it| it.part == Part::Fact(Key::Machine))
}
