//! Evaluates function calls.

use std::sync::Arc;

use super::super::functions::{CelOverload, FunctionBody};
use super::super::operators::Fault;
use super::super::program::ProgramNode;
use super::super::value::{CelValue, UnknownValue};
use super::{Evaluated, Evaluator, exhausted, fail, failed};
use crate::source::AdaptiveRegex;

impl Evaluator<'_> {
    pub(super) fn call(
        &mut self,
        node: &ProgramNode,
        candidates: &[&'static CelOverload],
        arguments: &[ProgramNode],
    ) -> Evaluated {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.eval(argument)?);
        }
        let result = match self.call_with_candidates(candidates, &values) {
            Some(result) => result,
            None => self.run(candidates, &values),
        };
        result.map_err(|fault| fail(node, fault))
    }

    fn run(&mut self, candidates: &[&'static CelOverload], values: &[CelValue]) -> Result<CelValue, Fault> {
        if let Some(first) = candidates.first()
            && values.iter().any(|value| matches!(value, CelValue::Absent))
        {
            return Ok(first.when_absent());
        }
        if let Some(why) = values.iter().find_map(CelValue::open_list)
            && !candidates.iter().any(|function| function.keeps_members())
        {
            return Ok(CelValue::Unknown(why.derived()));
        }
        match candidates.iter().find(|function| function.accepts(values)) {
            Some(function) => match function.run {
                FunctionBody::Own(run) => run(self.budget, values),
                FunctionBody::Host => self.host.ask(function.name, values, self.budget),
            },
            // An unknown member of a list has no type.
            None if values.iter().any(|value| unknown_member(value).is_some()) => {
                let unknown = values.iter().find_map(unknown_member);
                Ok(unknown.map_or(CelValue::Absent, |unknown| CelValue::Unknown(unknown.derived())))
            }
            None => {
                let name = candidates.first().map_or("", |function| function.name);
                let kinds: Vec<&str> = values.iter().map(CelValue::kind).collect();
                Err(format!("no matching overload: {name}({})", kinds.join(", ")).into())
            }
        }
    }

    /// Evaluates a test of a value with a few candidates.
    fn call_with_candidates(
        &mut self,
        candidates: &[&'static CelOverload],
        values: &[CelValue],
    ) -> Option<Result<CelValue, Fault>> {
        let mut unknowns = values.iter().enumerate().filter_map(|(place, value)| match value {
            CelValue::Unknown(unknown) => Some((place, unknown)),
            _ => None,
        });
        let (place, unknown) = unknowns.next()?;
        if let Some(flag) = by_beginning(candidates, values) {
            return Some(Ok(CelValue::Flag(flag)));
        }
        let only_one = unknowns.next().is_none();
        let mut agreed = None;
        let possible = if only_one { unknown.candidates.as_slice() } else { &[] };
        for candidate in possible {
            let mut values = values.to_vec();
            values[place] = candidate.clone();
            match self.run(candidates, &values) {
                Ok(CelValue::Flag(flag)) if agreed.is_none_or(|agreed| agreed == flag) => agreed = Some(flag),
                Err(Fault::Exhausted) => return Some(Err(Fault::Exhausted)),
                _ => return Some(Ok(CelValue::Unknown(unknown.derived()))),
            }
        }
        Some(Ok(agreed.map_or_else(|| CelValue::Unknown(unknown.derived()), CelValue::Flag)))
    }

    pub(super) fn matches(&mut self, node: &ProgramNode, of: &CelValue, regex: &AdaptiveRegex) -> Evaluated {
        match of {
            CelValue::Text(text) => {
                self.budget.spend(text.len() / 8).map_err(|_| exhausted(node))?;
                Ok(CelValue::Flag(regex.is_match(text)))
            }
            CelValue::Absent => Ok(CelValue::Flag(false)),
            CelValue::Unknown(unknown) => {
                let mut answers = unknown.candidates.iter().map(|candidate| match candidate {
                    CelValue::Text(text) => Some(regex.is_match(text)),
                    _ => None,
                });
                match answers.next().flatten() {
                    Some(first) if answers.all(|answer| answer == Some(first)) => Ok(CelValue::Flag(first)),
                    _ => Ok(CelValue::Unknown(unknown.derived())),
                }
            }
            other => Err(failed(node, format!("no matching overload: matches({}, string)", other.kind()))),
        }
    }
}

/// Decides a test from the known beginning of a string.
fn by_beginning(candidates: &[&'static CelOverload], values: &[CelValue]) -> Option<bool> {
    let [CelValue::Unknown(unknown), CelValue::Text(other)] = values else { return None };
    let beginning = unknown.beginning.as_deref()?;
    match candidates.first()?.name {
        "startsWith" if beginning.starts_with(&**other) => Some(true),
        "startsWith" if !other.starts_with(beginning) => Some(false),
        "contains" if beginning.contains(&**other) => Some(true),
        _ => None,
    }
}

fn unknown_member(value: &CelValue) -> Option<&Arc<UnknownValue>> {
    let CelValue::List(items) = value else { return None };
    items.iter().find_map(|item| if let CelValue::Unknown(unknown) = item { Some(unknown) } else { None })
}
