//! Calls of functions.

use super::super::functions::{Function, Run};
use super::super::operators::Fault;
use super::super::program::Node;
use super::super::value::Value;
use super::{Evaluated, Evaluator, exhausted, fail, failed};
use crate::source::Expression;

impl Evaluator<'_> {
    pub(super) fn call(&mut self, node: &Node, candidates: &[&'static Function], arguments: &[Node]) -> Evaluated {
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

    fn run(&mut self, candidates: &[&'static Function], values: &[Value]) -> Result<Value, Fault> {
        if let Some(first) = candidates.first()
            && values.iter().any(|value| matches!(value, Value::Absent))
        {
            return Ok(first.when_absent());
        }
        match candidates.iter().find(|function| function.accepts(values)) {
            Some(function) => match function.run {
                Run::Own(run) => run(self.budget, values),
                Run::Host => self.host.ask(function.name, values, self.budget),
            },
            None => {
                let name = candidates.first().map_or("", |function| function.name);
                let kinds: Vec<&str> = values.iter().map(Value::kind).collect();
                Err(format!("no matching overload: {name}({})", kinds.join(", ")).into())
            }
        }
    }

    /// A test of something that can only be one of a few values.
    fn call_with_candidates(
        &mut self,
        candidates: &[&'static Function],
        values: &[Value],
    ) -> Option<Result<Value, Fault>> {
        let mut unknowns = values.iter().enumerate().filter_map(|(place, value)| match value {
            Value::Unknown(unknown) => Some((place, unknown)),
            _ => None,
        });
        let (place, unknown) = unknowns.next()?;
        let only_one = unknowns.next().is_none();
        let mut agreed = None;
        let possible = if only_one { unknown.candidates.as_slice() } else { &[] };
        for candidate in possible {
            let mut values = values.to_vec();
            values[place] = candidate.clone();
            match self.run(candidates, &values) {
                Ok(Value::Flag(flag)) if agreed.is_none_or(|agreed| agreed == flag) => agreed = Some(flag),
                Err(Fault::Exhausted) => return Some(Err(Fault::Exhausted)),
                _ => return Some(Ok(Value::Unknown(unknown.derived()))),
            }
        }
        Some(Ok(agreed.map_or_else(|| Value::Unknown(unknown.derived()), Value::Flag)))
    }

    pub(super) fn matches(&mut self, node: &Node, of: &Value, regex: &Expression) -> Evaluated {
        match of {
            Value::Text(text) => {
                self.budget.spend(text.len() / 8).map_err(|_| exhausted(node))?;
                Ok(Value::Flag(regex.is_match(text)))
            }
            Value::Absent => Ok(Value::Flag(false)),
            Value::Unknown(unknown) => {
                let mut answers = unknown.candidates.iter().map(|candidate| match candidate {
                    Value::Text(text) => Some(regex.is_match(text)),
                    _ => None,
                });
                match answers.next().flatten() {
                    Some(first) if answers.all(|answer| answer == Some(first)) => Ok(Value::Flag(first)),
                    _ => Ok(Value::Unknown(unknown.derived())),
                }
            }
            other => Err(failed(node, format!("no matching overload: matches({}, string)", other.kind()))),
        }
    }
}
