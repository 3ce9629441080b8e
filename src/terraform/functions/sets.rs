//! Implements the functions of sets, and conversions between types.

use crate::languages::hcl::convert::{equal, set_of};
use crate::languages::hcl::types::HclType;
use crate::languages::hcl::value::{HclData, HclValue};
use crate::terraform::evaluate::set;

use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult, MANY, heaviest, items, known, unified};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[
    ("setintersection", 1..=MANY, set_intersection),
    ("setproduct", 0..=MANY, set_product),
    ("setsubtract", 2..=2, set_subtract),
    ("setunion", 1..=MANY, set_union),
    ("tobool", 1..=1, |a| to(a, HclType::Bool)),
    ("tolist", 1..=1, |a| to(a, HclType::List(Box::new(HclType::Any)))),
    ("tomap", 1..=1, |a| to(a, HclType::Map(Box::new(HclType::Any)))),
    ("tonumber", 1..=1, |a| to(a, HclType::Number)),
    ("toset", 1..=1, |a| to(a, HclType::Set(Box::new(HclType::Any)))),
    ("tostring", 1..=1, |a| to(a, HclType::Text)),
];

fn to(a: &CallArguments<'_>, of: HclType) -> FunctionResult {
    let value = a.get(0)?;
    if matches!(of, HclType::List(_) | HclType::Set(_) | HclType::Map(_)) {
        let members = value.entries().map(|entries| entries.known.values().map(HclType::of));
        let members = members.into_iter().flatten().chain(value.items().iter().map(HclType::of));
        HclType::common(members).ok_or("the elements have no common type")?;
    }
    Ok(of.convert(value))
}

/// Returns the arguments as sets of one type.
fn sets(a: &CallArguments<'_>) -> Result<Vec<Vec<HclValue>>, FunctionFailure> {
    let mut all = Vec::new();
    for value in &a.values {
        all.push(items(known(value)?)?.to_vec());
    }
    let common = HclType::common(all.iter().flatten().map(HclType::of));
    let common = common.ok_or("the elements have no common type")?;
    for item in all.iter().flatten() {
        if let Some(cause) = item.any_cause() {
            return Err(cause.clone().into());
        }
    }
    Ok(all.into_iter().map(|items| set_of(items.iter().map(|item| common.convert(item)).collect())).collect())
}

fn set_intersection(a: &CallArguments<'_>) -> FunctionResult {
    let mut sets = sets(a)?.into_iter();
    let mut result = sets.next().ok_or("argument 1 is missing")?;
    for other in sets {
        a.spend_comparisons(result.len(), other.len(), heaviest(&result))?;
        result.retain(|item| other.iter().any(|o| equal(item, o) == Some(true)));
    }
    Ok(set(result, a.span))
}

fn set_union(a: &CallArguments<'_>) -> FunctionResult {
    Ok(set(sets(a)?.into_iter().flatten().collect(), a.span))
}

fn set_subtract(a: &CallArguments<'_>) -> FunctionResult {
    let mut sets = sets(a)?.into_iter();
    let (mut from, these) = (sets.next().unwrap_or_default(), sets.next().unwrap_or_default());
    a.spend_comparisons(from.len(), these.len(), heaviest(&from))?;
    from.retain(|item| !these.iter().any(|t| equal(item, t) == Some(true)));
    Ok(set(from, a.span))
}

fn set_product(a: &CallArguments<'_>) -> FunctionResult {
    if a.len() < 2 {
        return Err("takes two or more sets".into());
    }
    let mut all_sets = true;
    let mut rows: Vec<Vec<HclValue>> = vec![Vec::new()];
    for value in &a.values {
        let value = known(value)?;
        all_sets &= matches!(value.data, HclData::Set(_));
        let members = unified(items(value)?.to_vec());
        let size = (rows.len() as u64).saturating_mul(members.len() as u64);
        a.evaluator.budget.spend(size.saturating_mul(a.len() as u64))?;
        rows = rows
            .iter()
            .flat_map(|row| members.iter().map(|member| [row.as_slice(), std::slice::from_ref(member)].concat()))
            .collect();
    }
    let rows = rows.into_iter().map(|row| HclValue::tuple(row, a.span)).collect();
    if all_sets { Ok(set(rows, a.span)) } else { a.answer_list(rows) }
}
