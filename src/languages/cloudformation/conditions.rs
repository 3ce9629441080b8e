//! Evaluates conditions to true, false or unknown.

use std::sync::Arc;

use crate::languages::document::pay_for_arguments;
use crate::languages::hcl::value::{Cause, HclValue};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::evaluate::{LoopNames, function};
use super::stack::{ConditionResult, StackInstance};

impl StackInstance<'_> {
    /// Returns whether a named condition of the template holds.
    pub(super) fn holds(&self, name: &str, at: Span) -> ConditionResult {
        let refused = |why: String| Err(Arc::new(Cause { refused: true, ..Cause::new(why, at) }));
        let Some(condition) = self.template.entry("Conditions", name) else {
            return refused(format!("there is no condition `{name}`"));
        };
        let in_circle = || refused(format!("the condition `{name}` depends on itself"));
        let too_deep = || refused(format!("the condition `{name}` depends on too many others"));
        let holds = || self.state.deeper(|| self.truth(&condition.value, &LoopNames::default()));
        self.conditions.get(condition.key.clone(), in_circle, || holds().unwrap_or_else(too_deep))
    }

    /// Returns whether a condition expression holds.
    pub(super) fn truth(&self, node: &Node, names: &LoopNames) -> ConditionResult {
        let unknown = |why: &str| Err(Arc::new(Cause::new(why, node.span)));
        if let Err(unknown) = self.state.arrive(node.span) {
            return Err(unknown
                .cause()
                .cloned()
                .unwrap_or_else(|| Arc::new(Cause::new("the budget is exhausted", node.span))));
        }
        let [entry] = node.entries() else { return unknown("this is not a condition") };
        let argument = &entry.value;
        let each = || argument.items().iter().map(|item| self.truth(item, names));
        match (&*entry.key, function(&entry.key)) {
            ("Condition", _) | (_, Some("Condition")) => match argument.text() {
                Some(name) => self.holds(name, argument.span),
                None => unknown("`Condition` takes a name"),
            },
            (_, Some("Not")) => each().next().unwrap_or_else(|| unknown("`Fn::Not` takes a condition")).map(|it| !it),
            (_, Some("And")) => all(each(), false),
            (_, Some("Or")) => all(each(), true),
            (_, Some("Equals")) => match argument.items() {
                [one, other] => {
                    let values = [self.value(one, names), self.value(other, names)];
                    let paid = pay_for_arguments(&self.state, &values, node.span);
                    equal(&values[0], &values[1]).and_then(|holds| {
                        match paid.as_ref().err().and_then(HclValue::cause) {
                            Some(cause) => Err(cause.clone()),
                            None => Ok(holds),
                        }
                    })
                }
                _ => unknown("`Fn::Equals` takes two values"),
            },
            _ => unknown("this is not a condition"),
        }
    }
}

/// Returns the deciding result if any operand has it, else unknown if any is unknown, else the other result.
fn all(each: impl Iterator<Item = ConditionResult>, deciding: bool) -> ConditionResult {
    let mut doubt = None;
    for holds in each {
        match holds {
            Ok(holds) if holds == deciding => return Ok(deciding),
            Ok(_) => {}
            Err(cause) => doubt = doubt.or(Some(cause)),
        }
    }
    doubt.map_or(Ok(!deciding), Err)
}

/// Compares as strings. Unknown values with candidates decide if all candidates agree.
fn equal(one: &HclValue, other: &HclValue) -> ConditionResult {
    let Some(cause) = one.any_cause().or(other.any_cause()) else { return Ok(same(one, other)) };
    let among = |value: &HclValue| match value.cause() {
        Some(cause) => cause.candidates.clone(),
        None => vec![value.clone()],
    };
    let (one, other) = (among(one), among(other));
    let is_known = |all: &[HclValue]| !all.is_empty() && all.iter().all(HclValue::is_wholly_known);
    let differ = || one.iter().all(|one| other.iter().all(|other| !same(one, other)));
    if is_known(&one) && is_known(&other) && differ() { Ok(false) } else { Err(cause.clone()) }
}

fn same(one: &HclValue, other: &HclValue) -> bool {
    match (one.as_text(), other.as_text()) {
        (Some(one), Some(other)) => one == other,
        _ => one.members() == other.members() && one.items().iter().zip(other.items()).all(|(a, b)| same(a, b)),
    }
}
