//! Checks the operands of operators and computes result types.

use std::ops::Range;
use std::sync::Arc;

use super::super::Problem;
use super::super::program::{ProgramNode, What};
use super::super::syntax::{Expr, ExprKind, Operator};
use super::super::types::Type;
use super::super::value::CelValue;
use super::names::qualified;
use super::{Lowering, Said, SaidTo, as_number, with_article};
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
            self.decidable(operator, (left, &left_node, &left_holds), (right, &right_node, &right_holds))?;
        } else {
            adapt(&mut left_node, &mut left_holds, &right_holds);
            adapt(&mut right_node, &mut right_holds, &left_holds);
        }
        let Some(holds) = result(operator, &left_holds, &right_holds) else {
            let at = left.at.start..right.at.end;
            let (l, r) = (with_article(&left_holds), with_article(&right_holds));
            let problem = Problem::new(at, format!("`{}` cannot combine {l} and {r}", operator.sign()));
            return Err(match self.conversion(operator, (left, &left_holds), (right, &right_holds)) {
                Some(help) => problem.with_help(help),
                None => problem,
            });
        };
        Ok((What::Binary(operator, Box::new((left_node, right_node))), holds))
    }

    /// Refuses to compare a fact with a value that it never has. A name from a list that only the host knows is
    /// recorded.
    fn possible(&mut self, fact: &ProgramNode, holds: &Type, other: &ProgramNode) -> Result<(), Problem> {
        let What::Field(_, place) = &fact.what else { return Ok(()) };
        let Some(schema) = self.schema_of(fact) else { return Ok(()) };
        let Some(field) = schema.fields.get(*place) else { return Ok(()) };
        for (text, at) in texts_of(other).into_iter().filter(|_| *holds == Type::Text) {
            if !field.values.is_empty() && !field.values.contains(&&*text) {
                return Err(never(field.name, &text, field.values, at));
            }
            self.said.push(Said { to: SaidTo::Fact(schema.name, field.name), text, at });
        }
        Ok(())
    }

    /// Refuses a comparison whose result never changes, or that compares strings instead of numbers.
    fn decidable(
        &self,
        operator: Operator,
        (left, left_node, left_holds): (&Expr, &ProgramNode, &Type),
        (right, right_node, right_holds): (&Expr, &ProgramNode, &Type),
    ) -> Result<(), Problem> {
        if self.scope.unchecked || self.scope.proven || !operator.is_order() {
            return Ok(());
        }
        for (holds, other) in [(left_holds, right_node), (right_holds, left_node)] {
            if let (Type::Any, Some(number)) = (holds, quoted_number(other)) {
                let message =
                    format!("`{}` compares strings letter by letter, and '10' comes before '4'", operator.sign());
                return Err(Problem::new(other.at.clone(), message).with_help(format!("remove the quotes: {number}")));
            }
        }
        // Handles `fact >= 0` and `0 <= fact`.
        let (fact, zero, forwards) = match (&left_node.what, &right_node.what) {
            (What::Field(..), What::Constant(_)) => (left_node, right_node, operator),
            (What::Constant(_), What::Field(..)) => (right_node, left_node, operator.mirrored()),
            _ => return Ok(()),
        };
        let What::Field(_, place) = &fact.what else { return Ok(()) };
        let field = self.schema_of(fact).and_then(|schema| schema.fields.get(*place));
        let is_zero = matches!(&zero.what, What::Constant(CelValue::Integer(0)))
            || matches!(&zero.what, What::Constant(CelValue::Double(n)) if *n == 0.0);
        let Some(field) = field.filter(|field| field.is_never_negative && is_zero) else { return Ok(()) };
        // `< 0` is never true, but it is undetermined if the number is unknown. Some rules test exactly this.
        if forwards != Operator::GreaterOrEqual {
            return Ok(());
        }
        let message = format!("this is always true: `{}` is never below 0", field.name);
        let problem = Problem::new(left.at.start..right.at.end, message);
        Err(problem
            .with_help(format!("write `{} > 0`, or has({}) to test only that it is known", field.name, field.name)))
    }

    /// Returns the meaning of a fact that the author mistook for a string.
    fn meaning_of(&self, fact: &Expr) -> Option<String> {
        let path = qualified(fact)?;
        let name = path.rsplit('.').next()?;
        let implied = self.scope.implied.map(|(_, schema)| schema);
        let schemas = self.scope.variables.iter().filter_map(|it| match &it.holds {
            Type::Record(schema) => Some(*schema),
            _ => None,
        });
        let field = implied.into_iter().chain(schemas).find_map(|schema| schema.fields.get(schema.field(name)?))?;
        let help = format!("`{name}` is a number: {}", field.meaning);
        Some(match name.strip_suffix("_types").or_else(|| name.strip_suffix("_count")) {
            Some(one) if implied.is_some_and(|schema| schema.field(one).is_some()) => {
                format!("{help} Its name is in `{one}`")
            }
            _ => help,
        })
    }

    /// Returns the conversion that makes two operands compatible.
    fn conversion(
        &self,
        operator: Operator,
        (left, left_holds): (&Expr, &Type),
        (right, right_holds): (&Expr, &Type),
    ) -> Option<String> {
        let written = |expression: &Expr| self.text.get(expression.at.clone()).unwrap_or_default().to_owned();
        for (text, number) in [(left, right_holds), (right, left_holds)] {
            if let ExprKind::Text(written) = &text.kind
                && number.is_number()
                && operator.is_comparison()
            {
                // As strings, '10' comes before '4', so a number must not be converted to a string for a comparison.
                return Some(match written.trim().parse::<f64>() {
                    Ok(_) => format!("remove the quotes: {written}"),
                    Err(_) => {
                        let other = if std::ptr::eq(text, left) { right } else { left };
                        self.meaning_of(other)?
                    }
                });
            }
        }
        match (left_holds, right_holds) {
            (Type::Double, Type::Integer) => Some(format!("write `double({})`", written(right))),
            (Type::Integer, Type::Double) => Some(format!("write `double({})`", written(left))),
            (Type::Text, number) if number.is_number() => Some(format!("write `string({})`", written(right))),
            (number, Type::Text) if number.is_number() => Some(format!("write `string({})`", written(left))),
            _ => None,
        }
    }
}

/// Returns literal strings, single or in a list.
fn texts_of(node: &ProgramNode) -> Vec<(Arc<str>, Range<usize>)> {
    let texts = |values: &[CelValue]| -> Vec<(Arc<str>, Range<usize>)> {
        let texts = values.iter().filter_map(|value| match value {
            CelValue::Text(text) => Some((text.clone(), node.at.clone())),
            _ => None,
        });
        texts.collect()
    };
    match &node.what {
        What::Constant(CelValue::List(values)) => texts(values),
        What::Constant(value) => texts(std::slice::from_ref(value)),
        What::List(items) => items.iter().flat_map(|(item, _)| texts_of(item)).collect(),
        _ => Vec::new(),
    }
}

/// Returns a string that contains only a number.
fn quoted_number(node: &ProgramNode) -> Option<Arc<str>> {
    match &node.what {
        What::Constant(CelValue::Text(text)) => text.trim().parse::<f64>().ok().map(|_| text.clone()),
        _ => None,
    }
}

/// Converts an integer literal next to a double to a double: `usd * 2`.
pub(super) fn adapt(node: &mut ProgramNode, holds: &mut Type, other: &Type) {
    if let (What::Constant(CelValue::Integer(n)), Type::Double) = (&node.what, other) {
        node.what = What::Constant(CelValue::Double(*n as f64));
        *holds = Type::Double;
    }
}

/// Returns the type of an operation; `None` if the operands are incompatible.
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

/// Returns the error for a value that a fact never has.
pub(crate) fn never(fact: &str, text: &str, values: &[&'static str], at: Range<usize>) -> Problem {
    let problem = Problem::new(at, format!("`{fact}` is never `{text}`"));
    match nearest(text, values.iter().copied()) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help(format!("valid values: {}", values.join(", "))),
    }
}
