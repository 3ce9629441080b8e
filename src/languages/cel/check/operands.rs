//! Operators: which operands go together, and what comes of them.

use std::ops::Range;

use super::super::Problem;
use super::super::program::{ProgramNode, What};
use super::super::syntax::{Expr, Operator};
use super::super::types::Type;
use super::super::value::CelValue;
use super::{Lowering, as_number, with_article};
use crate::languages::cel::nearest;

impl Lowering<'_> {
    pub(super) fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr) -> Result<(What, Type), Problem> {
        let (left_node, left_holds) = self.lower(left)?;
        let (right_node, right_holds) = self.lower(right)?;
        let (mut left_node, mut left_holds) = as_number(left_node, left_holds);
        let (mut right_node, mut right_holds) = as_number(right_node, right_holds);
        if operator.is_comparison() {
            self.possible(&left_node, &left_holds, &right_node)?;
            self.possible(&right_node, &right_holds, &left_node)?;
        } else {
            adapt(&mut left_node, &mut left_holds, &right_holds);
            adapt(&mut right_node, &mut right_holds, &left_holds);
        }
        let Some(holds) = result(operator, &left_holds, &right_holds) else {
            let at = left.at.start..right.at.end;
            let (l, r) = (with_article(&left_holds), with_article(&right_holds));
            let problem = Problem::new(at, format!("`{}` does not go with {l} and {r}", operator.sign()));
            return Err(match self.conversion(left, &left_holds, right, &right_holds) {
                Some(help) => problem.with_help(help),
                None => problem,
            });
        };
        Ok((What::Binary(operator, Box::new((left_node, right_node))), holds))
    }

    /// A fact that is compared with a value which it never has.
    fn possible(&self, fact: &ProgramNode, holds: &Type, other: &ProgramNode) -> Result<(), Problem> {
        let What::Field(_, place) = &fact.what else { return Ok(()) };
        let Some(schema) = self.schema_of(fact) else { return Ok(()) };
        let Some(field) = schema.fields.get(*place).filter(|field| !field.values.is_empty()) else { return Ok(()) };
        let items: Vec<&ProgramNode> = match &other.what {
            What::List(items) => items.iter().map(|(item, _)| item).collect(),
            _ if *holds == Type::Text => vec![other],
            _ => return Ok(()),
        };
        for item in items {
            if let What::Constant(CelValue::Text(text)) = &item.what
                && !field.values.contains(&&**text)
            {
                return Err(never(field.name, text, field.values, item.at.clone()));
            }
        }
        Ok(())
    }

    /// What to write so that two operands go together.
    fn conversion(&self, left: &Expr, left_holds: &Type, right: &Expr, right_holds: &Type) -> Option<String> {
        let written = |expression: &Expr| self.text.get(expression.at.clone()).unwrap_or_default().to_owned();
        match (left_holds, right_holds) {
            (Type::Double, Type::Integer) => Some(format!("write `double({})`", written(right))),
            (Type::Integer, Type::Double) => Some(format!("write `double({})`", written(left))),
            (Type::Text, number) if number.is_number() => Some(format!("write `string({})`", written(right))),
            (number, Type::Text) if number.is_number() => Some(format!("write `string({})`", written(left))),
            _ => None,
        }
    }
}

/// A whole number that is written beside a double is meant as one: `usd * 2`.
pub(super) fn adapt(node: &mut ProgramNode, holds: &mut Type, other: &Type) {
    if let (What::Constant(CelValue::Integer(n)), Type::Double) = (&node.what, other) {
        node.what = What::Constant(CelValue::Double(*n as f64));
        *holds = Type::Double;
    }
}

/// The type of an operation; `None` where the operands do not go together.
fn result(operator: Operator, left: &Type, right: &Type) -> Option<Type> {
    match operator {
        Operator::Equal | Operator::NotEqual => left.may_equal(right).then_some(Type::Flag),
        Operator::In => match right {
            Type::Any => Some(Type::Flag),
            Type::List(of) | Type::Map(of, _) => left.may_equal(of).then_some(Type::Flag),
            _ => None,
        },
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let ordered = |t: &Type| {
                matches!(t, Type::Any | Type::Flag | Type::Text | Type::Bytes | Type::Duration | Type::Timestamp)
                    || t.is_number()
            };
            (ordered(left) && ordered(right) && left.may_equal(right)).then_some(Type::Flag)
        }
        _ => sum(operator, left, right),
    }
}

fn sum(operator: Operator, left: &Type, right: &Type) -> Option<Type> {
    use Operator::{Add, Remainder, Subtract};
    Some(match (operator, left, right) {
        (_, Type::Any, _) | (_, _, Type::Any) => Type::Any,
        (Remainder, Type::Double, _) => return None,
        (_, a, b) if a.is_number() && a == b => a.clone(),
        (Add, Type::Text, Type::Text) => Type::Text,
        (Add, Type::Bytes, Type::Bytes) => Type::Bytes,
        (Add, Type::List(a), Type::List(b)) => Type::list((**a).clone().join((**b).clone())),
        (Add | Subtract, Type::Duration, Type::Duration) => Type::Duration,
        (Add | Subtract, Type::Timestamp, Type::Duration) | (Add, Type::Duration, Type::Timestamp) => Type::Timestamp,
        (Subtract, Type::Timestamp, Type::Timestamp) => Type::Duration,
        _ => return None,
    })
}

/// Refuses a value that a fact never has.
pub(crate) fn never(fact: &str, text: &str, values: &[&'static str], at: Range<usize>) -> Problem {
    let problem = Problem::new(at, format!("`{fact}` is never `{text}`"));
    match nearest(text, values.iter().copied()) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help(format!("it is {}", values.join(", "))),
    }
}
