//! Tests the expression language.

mod admission;
mod conformance;
mod kubernetes;
mod semantics;
mod textproto;

use super::{CelHost, CelType, CelValue, ExpressionScope, Handle, Problem, Program, ScopeVariable, VariableMeaning};

/// Variables with fixed values.
struct Fixed {
    values: Vec<CelValue>,
}

impl CelHost for Fixed {
    fn variable(&self, number: usize) -> CelValue {
        self.values[number].clone()
    }

    fn field(&self, _: Handle, _: usize) -> CelValue {
        CelValue::Null
    }
}

fn compile_unchecked(text: &str, names: &[String]) -> Result<Program, Problem> {
    let variables = names
        .iter()
        .enumerate()
        .map(|(number, name)| ScopeVariable { name, holds: CelType::Any, stands_for: VariableMeaning::Host(number) })
        .collect();
    Program::compile(text, &ExpressionScope { variables, unchecked: true, ..ExpressionScope::default() })
}
