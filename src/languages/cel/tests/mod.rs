//! Cases of the expression language.

mod conformance;
mod kubernetes;
mod semantics;
mod textproto;

use super::{Handle, Host, Meaning, Problem, Program, Scope, Type, Value, Variable};

/// Variables with fixed values.
struct Fixed {
    values: Vec<Value>,
}

impl Host for Fixed {
    fn variable(&self, number: usize) -> Value {
        self.values[number].clone()
    }

    fn field(&self, _: Handle, _: usize) -> Value {
        Value::Null
    }
}

fn compile_unchecked(text: &str, names: &[String]) -> Result<Program, Problem> {
    let variables = names
        .iter()
        .enumerate()
        .map(|(number, name)| Variable { name, holds: Type::Any, stands_for: Meaning::Host(number) })
        .collect();
    Program::compile(text, &Scope { variables, unchecked: true, ..Scope::default() })
}
