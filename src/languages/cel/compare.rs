//! Finds conjuncts that compare a fact with literals: `purchase == 'spot' && !(purpose in ['ci'])`.

use std::ops::Range;
use std::sync::Arc;

use super::check::same;
use super::syntax::{Expr, ExprKind, Operator, path};
use super::value::CelValue;

/// A condition that a fact is, or is not, one of some values.
#[derive(Debug, Clone)]
pub(crate) struct Comparison {
    pub(crate) fact: Arc<str>,
    /// The byte range in the expression.
    pub(super) span: Range<usize>,
    values: Vec<CelValue>,
    is_one_of: bool,
}

impl Comparison {
    /// Returns true if the condition holds for this value.
    pub(crate) fn holds(&self, value: &CelValue) -> bool {
        self.values.iter().any(|known| same(known, value)) == self.is_one_of
    }

    /// Returns the values that the fact must have; `None` if they are those that it must not have.
    pub(crate) fn accepted(&self) -> Option<&[CelValue]> {
        self.is_one_of.then_some(&self.values)
    }

    /// Returns its place in the expression.
    pub(crate) fn place(&self) -> &Range<usize> {
        &self.span
    }
}

pub(super) fn comparisons(expression: &Expr) -> Vec<Comparison> {
    match &expression.kind {
        ExprKind::And(parts) => parts.iter().flat_map(comparisons).collect(),
        _ => comparison(expression, true).into_iter().collect(),
    }
}

fn comparison(it: &Expr, is_one_of: bool) -> Option<Comparison> {
    let (operator, left, right) = match &it.kind {
        ExprKind::Not(of) => {
            return comparison(of, !is_one_of).map(|inner| Comparison { span: it.at.clone(), ..inner });
        }
        ExprKind::Binary(operator, left, right) => (operator, left, right),
        _ => return None,
    };
    let (fact, values) = match (operator, fact(left), fact(right)) {
        (Operator::Equal | Operator::NotEqual, Some(fact), None) => (fact, vec![constant(right)?]),
        (Operator::Equal | Operator::NotEqual, None, Some(fact)) => (fact, vec![constant(left)?]),
        (Operator::In, Some(fact), None) => match &right.kind {
            ExprKind::List(items) => (fact, items.iter().map(|item| constant(&item.value)).collect::<Option<_>>()?),
            _ => return None,
        },
        _ => return None,
    };
    let is_one_of = is_one_of != (*operator == Operator::NotEqual);
    Some(Comparison { fact, span: it.at.clone(), values, is_one_of })
}

fn fact(it: &Expr) -> Option<Arc<str>> {
    match path(it)?.as_slice() {
        [fact] => Some(fact.clone()),
        [resource, fact] if &**resource == "resource" => Some(fact.clone()),
        _ => None,
    }
}

fn constant(it: &Expr) -> Option<CelValue> {
    Some(match &it.kind {
        ExprKind::Flag(flag) => CelValue::Flag(*flag),
        ExprKind::Integer(n) => CelValue::Integer(*n),
        ExprKind::Double(n) => CelValue::Double(*n),
        ExprKind::Text(text) => CelValue::Text(text.clone()),
        _ => return None,
    })
}
