//! Checks the operands of operators and computes result types.

use std::ops::Range;
use std::sync::Arc;

use super::super::Problem;
use super::super::program::{ExprNode, ProgramNode};
use super::super::syntax::{Expr, ExprKind, Operator};
use super::super::types::CelType;
use super::super::value::CelValue;
use super::names::qualified;
use super::{Lowering, NameLiteral, NameUse, as_number, with_article};
use crate::languages::cel::nearest;

impl Lowering<'_> {
    pub(super) fn binary(
        &mut self,
        operator: Operator,
        left: &Expr,
        right: &Expr,
    ) -> Result<(ExprNode, CelType), Problem> {
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
        Ok((ExprNode::Binary(operator, Box::new((left_node, right_node))), holds))
    }

    /// Refuses to compare a fact with a value that it never has. A name from a list that only the host knows is
    /// recorded.
    fn possible(&mut self, fact: &ProgramNode, holds: &CelType, other: &ProgramNode) -> Result<(), Problem> {
        let ExprNode::Field(_, place) = &fact.what else { return Ok(()) };
        let Some(schema) = self.schema_of(fact) else { return Ok(()) };
        let Some(field) = schema.fields.get(*place) else { return Ok(()) };
        for (text, at) in texts_of(other).into_iter().filter(|_| *holds == CelType::Text) {
            if !field.values.is_empty() && !field.values.contains(&&*text) {
                return Err(never(field.name, &text, field.values, at));
            }
            self.said.push(NameLiteral { to: NameUse::Fact(schema.name, field.name), text, at });
        }
        Ok(())
    }

    /// Refuses a comparison whose result never changes, or that compares strings instead of numbers.
    fn decidable(
        &self,
        operator: Operator,
        (left, left_node, left_holds): (&Expr, &ProgramNode, &CelType),
        (right, right_node, right_holds): (&Expr, &ProgramNode, &CelType),
    ) -> Result<(), Problem> {
        if self.scope.unchecked || self.scope.proven || !operator.is_order() {
            return Ok(());
        }
        for (holds, other) in [(left_holds, right_node), (right_holds, left_node)] {
            if let (CelType::Any, Some(number)) = (holds, quoted_number(other)) {
                let message =
                    format!("`{}` compares strings letter by letter, and '10' comes before '4'", operator.sign());
                return Err(Problem::new(other.at.clone(), message).with_help(format!("remove the quotes: {number}")));
            }
        }
        // Handles `fact >= 0` and `0 <= fact`.
        let (fact, zero, forwards) = match (&left_node.what, &right_node.what) {
            (ExprNode::Field(..), ExprNode::Constant(_)) => (left_node, right_node, operator),
            (ExprNode::Constant(_), ExprNode::Field(..)) => (right_node, left_node, operator.mirrored()),
            _ => return Ok(()),
        };
        let ExprNode::Field(_, place) = &fact.what else { return Ok(()) };
        let field = self.schema_of(fact).and_then(|schema| schema.fields.get(*place));
        let is_zero = matches!(&zero.what, ExprNode::Constant(CelValue::Integer(0)))
            || matches!(&zero.what, ExprNode::Constant(CelValue::Double(n)) if *n == 0.0);
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
            CelType::Record(schema) => Some(*schema),
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
        (left, left_holds): (&Expr, &CelType),
        (right, right_holds): (&Expr, &CelType),
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
            (CelType::Double, CelType::Integer) => Some(format!("write `double({})`", written(right))),
            (CelType::Integer, CelType::Double) => Some(format!("write `double({})`", written(left))),
            (CelType::Text, number) if number.is_number() => Some(format!("write `string({})`", written(right))),
            (number, CelType::Text) if number.is_number() => Some(format!("write `string({})`", written(left))),
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
        ExprNode::Constant(CelValue::List(values)) => texts(values),
        ExprNode::Constant(value) => texts(std::slice::from_ref(value)),
        ExprNode::List(items) => items.iter().flat_map(|(item, _)| texts_of(item)).collect(),
        _ => Vec::new(),
    }
}

/// Returns a string that contains only a number.
fn quoted_number(node: &ProgramNode) -> Option<Arc<str>> {
    match &node.what {
        ExprNode::Constant(CelValue::Text(text)) => text.trim().parse::<f64>().ok().map(|_| text.clone()),
        _ => None,
    }
}

/// Converts an integer literal next to a double to a double: `usd * 2`.
pub(super) fn adapt(node: &mut ProgramNode, holds: &mut CelType, other: &CelType) {
    if let (ExprNode::Constant(CelValue::Integer(n)), CelType::Double) = (&node.what, other) {
        node.what = ExprNode::Constant(CelValue::Double(*n as f64));
        *holds = CelType::Double;
    }
}

/// Returns the type of an operation; `None` if the operands are incompatible.
fn result(operator: Operator, left: &CelType, right: &CelType) -> Option<CelType> {
    match operator {
        Operator::Equal | Operator::NotEqual => left.may_equal(right).then_some(CelType::Flag),
        Operator::In => match right {
            CelType::Any => Some(CelType::Flag),
            CelType::List(of) | CelType::Map(of, _) => left.may_equal(of).then_some(CelType::Flag),
            _ => None,
        },
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let ordered = |t: &CelType| {
                matches!(
                    t,
                    CelType::Any
                        | CelType::Flag
                        | CelType::Text
                        | CelType::Bytes
                        | CelType::Duration
                        | CelType::Timestamp
                ) || t.is_number()
            };
            (ordered(left) && ordered(right) && left.may_equal(right)).then_some(CelType::Flag)
        }
        _ => sum(operator, left, right),
    }
}

fn sum(operator: Operator, left: &CelType, right: &CelType) -> Option<CelType> {
    use Operator::{Add, Remainder, Subtract};
    Some(match (operator, left, right) {
        (_, CelType::Any, _) | (_, _, CelType::Any) => CelType::Any,
        (Remainder, CelType::Double, _) => return None,
        (_, a, b) if a.is_number() && a == b => a.clone(),
        (Add, CelType::Text, CelType::Text) => CelType::Text,
        (Add, CelType::Bytes, CelType::Bytes) => CelType::Bytes,
        (Add, CelType::List(a), CelType::List(b)) => CelType::list((**a).clone().join((**b).clone())),
        (Add | Subtract, CelType::Duration, CelType::Duration) => CelType::Duration,
        (Add | Subtract, CelType::Timestamp, CelType::Duration) | (Add, CelType::Duration, CelType::Timestamp) => {
            CelType::Timestamp
        }
        (Subtract, CelType::Timestamp, CelType::Timestamp) => CelType::Duration,
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
