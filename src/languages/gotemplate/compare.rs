//! Decides about truth and equality of values as Go does.

use super::failure::TemplateFailure;
use super::text::TemplateCause;
use super::value::{GoKind, GoValue};

const DEEPEST: usize = 64;

/// Returns whether a value counts as true, or the cause if it is unknown.
pub(crate) fn truth(value: &GoValue) -> Result<bool, TemplateCause> {
    Ok(match &value.kind {
        GoKind::Nil | GoKind::NilInside => false,
        GoKind::Flag(flag) => *flag,
        GoKind::Int(number) | GoKind::Int64(number) => *number != 0,
        GoKind::Float(number) => *number != 0.0,
        GoKind::Text(text) if text.is_surely_filled() => true,
        GoKind::Text(text) => match value.cause() {
            Some(cause) => return Err(cause.clone()),
            None => text.len() > 0,
        },
        GoKind::List(list) => !list.items().is_empty(),
        GoKind::Map(map) => !map.is_empty(),
        GoKind::Object(object) => {
            object.entries().is_none_or(|entries| object.kind_name() == "struct" || !entries.is_empty())
        }
        GoKind::Unknown(cause) => return Err(cause.clone()),
    })
}

#[derive(PartialEq, Clone, Copy)]
enum Basic {
    Flag,
    Int,
    Float,
    Text,
    Other,
}

fn basic(value: &GoValue) -> Basic {
    match &value.kind {
        GoKind::Flag(_) => Basic::Flag,
        GoKind::Int(_) | GoKind::Int64(_) => Basic::Int,
        GoKind::Float(_) => Basic::Float,
        GoKind::Text(_) => Basic::Text,
        _ => Basic::Other,
    }
}

fn incompatible(a: &GoValue, b: &GoValue) -> TemplateFailure {
    format!("incompatible types for comparison: {} and {}", a.type_name(), b.type_name()).into()
}

/// Implements `eq`: whether the first value equals any of the others.
pub(crate) fn equal(first: &GoValue, others: &[GoValue]) -> Result<bool, TemplateFailure> {
    if others.is_empty() {
        return Err("missing argument for comparison".into());
    }
    let mut unknown = first.cause().cloned();
    for other in others {
        if let Some(cause) = unknown.clone().or_else(|| other.cause().cloned()) {
            unknown = Some(cause);
            continue;
        }
        if one(first, other)? {
            return Ok(true);
        }
    }
    unknown.map_or(Ok(false), |cause| Err(cause.into()))
}

fn one(a: &GoValue, b: &GoValue) -> Result<bool, TemplateFailure> {
    if basic(a) != basic(b) {
        return if a.is_nil() || b.is_nil() { Ok(false) } else { Err(incompatible(a, b)) };
    }
    Ok(match (&a.kind, &b.kind) {
        (GoKind::Flag(a), GoKind::Flag(b)) => a == b,
        (GoKind::Int(a) | GoKind::Int64(a), GoKind::Int(b) | GoKind::Int64(b)) => a == b,
        (GoKind::Float(a), GoKind::Float(b)) => a == b,
        (GoKind::Text(a), GoKind::Text(b)) => a.as_str() == b.as_str(),
        _ if a.is_nil() || b.is_nil() => a.is_nil() && b.is_nil(),
        (GoKind::Object(_), GoKind::Object(_)) => false,
        _ => return Err(format!("non-comparable types {}, {}", a.type_name(), b.type_name()).into()),
    })
}

/// Implements `lt`: whether the first value is less than the second one.
pub(crate) fn less(a: &GoValue, b: &GoValue) -> Result<bool, TemplateFailure> {
    if let Some(cause) = a.cause().or(b.cause()) {
        return Err(cause.clone().into());
    }
    if [a, b].into_iter().any(|value| basic(value) == Basic::Other) {
        return Err("invalid type for comparison".into());
    }
    if basic(a) != basic(b) {
        return Err(incompatible(a, b));
    }
    Ok(match (&a.kind, &b.kind) {
        (GoKind::Int(a) | GoKind::Int64(a), GoKind::Int(b) | GoKind::Int64(b)) => a < b,
        (GoKind::Float(a), GoKind::Float(b)) => a < b,
        (GoKind::Text(a), GoKind::Text(b)) => a.as_str() < b.as_str(),
        _ => return Err("invalid type for comparison".into()),
    })
}

/// Compares like `reflect.DeepEqual`. The result is unknown if an unknown value decides.
pub(crate) fn same(a: &GoValue, b: &GoValue) -> Result<bool, TemplateFailure> {
    let mut unknown = None;
    let known = deep(a, b, 0, &mut unknown)?;
    match unknown {
        Some(cause) if known => Err(TemplateFailure::Unknown(cause)),
        _ => Ok(known),
    }
}

fn deep(a: &GoValue, b: &GoValue, depth: usize, unknown: &mut Option<TemplateCause>) -> Result<bool, TemplateFailure> {
    if depth > DEEPEST {
        return Err(TemplateFailure::Budget("values are nested too deeply"));
    }
    if let Some(cause) = a.cause().or(b.cause()) {
        unknown.get_or_insert_with(|| cause.clone());
        return Ok(true);
    }
    Ok(match (&a.kind, &b.kind) {
        (GoKind::Nil | GoKind::NilInside, GoKind::Nil | GoKind::NilInside) => true,
        (GoKind::Flag(a), GoKind::Flag(b)) => a == b,
        (GoKind::Int(a), GoKind::Int(b)) | (GoKind::Int64(a), GoKind::Int64(b)) => a == b,
        (GoKind::Float(a), GoKind::Float(b)) => a == b,
        (GoKind::Text(a), GoKind::Text(b)) => a.as_str() == b.as_str(),
        (GoKind::List(a), GoKind::List(b)) => {
            if a.items().len() != b.items().len() {
                return Ok(false);
            }
            for (a, b) in a.items().iter().zip(b.items()) {
                if !deep(a, b, depth + 1, unknown)? {
                    return Ok(false);
                }
            }
            true
        }
        (GoKind::Map(a), GoKind::Map(b)) => {
            if a.is_same(b) {
                return Ok(true);
            }
            let (a, b) = (a.borrow(), b.borrow());
            if a.len() != b.len() {
                return Ok(false);
            }
            for ((key, a), (other, b)) in a.iter().zip(b.iter()) {
                if key != other || !deep(&a.value, &b.value, depth + 1, unknown)? {
                    return Ok(false);
                }
            }
            true
        }
        _ => false,
    })
}
