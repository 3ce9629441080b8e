//! Writes the other fields that a fact needs, and declines values that the target refuses or ignores.

use crate::inventory::{FactValue, Key, Part, Purchase, Resource};
use crate::kubernetes::rows::path::ManifestPath;
use crate::kubernetes::rows::table::KindRow;
use crate::kubernetes::rows::writing::{FactWriting, GroupRange, KindConstant, SpotField};
use crate::languages::yaml::Node;
use crate::source::{Edit, Span};

use super::declining::{Result, left_alone};
use super::row::{Page, Place};
use super::{piece, set};
use crate::languages::yaml::AddedPiece;

/// Declines zero for an object that does not start again or that refuses zero.
pub(super) fn demand_zero(object: &Node, row: &KindRow) -> Result<()> {
    let part = Part::Floor.to_string();
    row.writes.get(part.as_str()).map_or(Ok(()), |writing| demand(writing, object, false))
}

fn demand(writing: &FactWriting, root: &Node, framed: bool) -> Result<()> {
    match writing.never.iter().find(|refusal| refusal.holds(root, framed)) {
        Some(refusal) => left_alone(refusal.why.as_str()),
        None => Ok(()),
    }
}

/// Returns the edits of the fields that are set together with a fact.
pub(super) fn written(
    page: &Page<'_>,
    resource: &Resource,
    place: &Place<'_>,
    key: Key,
    value: &FactValue,
) -> Result<Vec<Edit>> {
    let Some(writing) = place.row.writes.get(key.name()) else { return Ok(Vec::new()) };
    let is_undone = key == Key::Purchase && Purchase::of(value) == Some(Purchase::OnDemand);
    if is_undone {
        return Ok(Vec::new());
    }
    demand(writing, place.root, place.framed)?;
    let mut edits = Vec::new();
    for field in &writing.also {
        let wanted = constant(&field.is);
        let is_set = |node: &&Node| node.text().is_some_and(|text| **text == *wanted.to_string());
        if field.at.below_frame(place.root, place.framed).first().is_some_and(is_set) {
            continue;
        }
        edits.push(set_at(page, place, &field.at, &piece(&wanted))?);
    }
    if let Some(range) = &writing.range {
        edits.extend(lowered(page, resource, place, range)?);
    }
    Ok(edits)
}

fn constant(constant: &KindConstant) -> FactValue {
    match constant {
        KindConstant::Flag(flag) => FactValue::Flag(*flag),
        KindConstant::Number(number) => FactValue::Number(*number),
        KindConstant::Text(text) => FactValue::text(text.as_str()),
    }
}

fn set_at(page: &Page<'_>, place: &Place<'_>, path: &ManifestPath, value: &AddedPiece) -> Result<Edit> {
    let keys = path.keys().unwrap_or_default();
    let keys = if place.framed { keys.strip_prefix(&["spec"]).unwrap_or(&keys) } else { keys.as_slice() };
    set(page.document, page.paper, place.root, keys, value)
}

/// Gives the group that requests the accelerators a range from 0 to its present number.
fn lowered(page: &Page<'_>, resource: &Resource, place: &Place<'_>, range: &GroupRange) -> Result<Vec<Edit>> {
    let near = resource.fact(Key::AcceleratorCount).span();
    let members = range.each.below_frame(place.root, place.framed);
    let own = |member: &&Node| near.is_some_and(|near: Span| member.span.contains(near));
    let Some(member) = members.into_iter().find(own) else { return left_alone(range.why.as_str()) };
    let number = |key: &str| member.get(key).and_then(Node::number);
    let mut edits = Vec::new();
    if number(&range.min) != Some(0.0) {
        edits.push(set(page.document, page.paper, member, &[&range.min], &AddedPiece::Number("0".to_owned()))?);
    }
    if member.get(&range.max).is_none() {
        let most = number(&range.size).unwrap_or(1.0).max(1.0);
        let most = AddedPiece::Number(format!("{most:.0}"));
        edits.push(set(page.document, page.paper, member, &[&range.max], &most)?);
    }
    Ok(edits)
}

/// Returns the field that needs another form on this cloud, if the machines are spot after the edit.
pub(super) fn spot_field<'p>(
    resource: &Resource,
    place: &Place<'p>,
    key: Key,
    value: &FactValue,
) -> Option<&'p SpotField> {
    let field = place.row.writes.get(key.name())?.on_spot.as_ref()?;
    let provider = resource.text(Key::Provider);
    let is_concerned = provider.is_none_or(|own| field.providers.iter().any(|it| it == own));
    let purchase = if key == Key::Purchase { Some(value) } else { resource.fact(Key::Purchase).value() };
    let is_spot =
        purchase.and_then(Purchase::of).is_some_and(|it| matches!(it, Purchase::Spot | Purchase::SpotOrOnDemand));
    (is_spot && is_concerned).then_some(field)
}

/// Returns the edits of a field that needs a flag on spot; `None` if nothing has to change.
pub(super) fn on_spot(
    page: &Page<'_>,
    place: &Place<'_>,
    field: &SpotField,
    key: Key,
    value: &FactValue,
) -> Result<Option<Vec<Edit>>> {
    let flag = (field.flag.clone(), AddedPiece::Number(true.to_string()));
    let fresh = (key == Key::IdleMinutes).then(|| (field.key.clone(), piece(value)));
    let mapping =
        |first: Option<(String, AddedPiece)>| AddedPiece::Map(first.into_iter().chain([flag.clone()]).collect());
    let found = field.at.below_frame(place.root, place.framed).first().copied();
    let Some(node) = found else {
        let Some(fresh) = fresh else { return Ok(None) };
        return set_at(page, place, &field.at, &mapping(Some(fresh))).map(|edit| Some(vec![edit]));
    };
    if node.is_map() {
        let mut edits = vec![set(page.document, page.paper, node, &[&field.flag], &flag.1)?];
        if let Some((key, value)) = fresh {
            edits.push(set(page.document, page.paper, node, &[&key], &value)?);
        }
        return Ok(Some(edits));
    }
    if node.flag() == Some(false) && fresh.is_none() {
        return Ok(None);
    }
    let Some(minutes) = fresh.or_else(|| Some((field.key.clone(), minutes_of(node)?))) else {
        return left_alone(format!("the value of `{}` is not a number of minutes", field.at));
    };
    page.document.is_own(node)?;
    page.paper.exchange(node, &mapping(Some(minutes))).map(|edit| Some(vec![edit]))
}

/// Returns a number of minutes: `30`, `30m`, `2h`, `1d`.
fn minutes_of(node: &Node) -> Option<AddedPiece> {
    let text = node.text()?;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u32 = digits.parse().ok()?;
    let scale = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" | "m" => 1,
        "h" => 60,
        "d" => 60 * 24,
        "w" => 60 * 24 * 7,
        _ => return None,
    };
    Some(AddedPiece::Number(number.checked_mul(scale)?.to_string()))
}
