//! Evaluates operators, also for unknown operands.

use std::sync::Arc;

use crate::languages::hcl::convert::equal;
use crate::languages::hcl::syntax::{BinaryOperator, UnaryOperator};
use crate::languages::hcl::types::HclType;
use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue, ObjectMembers};
use crate::source::Span;

/// Applies an operator. An unknown operand makes the result unknown, unless the other operand decides.
pub(super) fn binary(operator: BinaryOperator, a: &HclValue, b: &HclValue, span: Span) -> HclValue {
    let marked = a.sensitive || b.sensitive;
    let result = match operator {
        BinaryOperator::Or | BinaryOperator::And => logic(operator == BinaryOperator::Or, a, b, span),
        BinaryOperator::Equal | BinaryOperator::NotEqual => match equal(a, b) {
            Some(same) => HclValue::bool(same == (operator == BinaryOperator::Equal), span),
            None => depends_on(a, b, span),
        },
        _ => numeric(operator, a, b, span),
    };
    result.marked(marked)
}

pub(super) fn unary(operator: UnaryOperator, operand: &HclValue, span: Span) -> HclValue {
    let result = match operator {
        UnaryOperator::Not => match boolean(operand, span) {
            Ok(flag) => HclValue::bool(!flag, span),
            Err(unknown) => unknown,
        },
        UnaryOperator::Minus => match number(operand, span) {
            Ok(number) => HclValue::number(number.negated(), span),
            Err(unknown) => unknown,
        },
    };
    result.marked(operand.sensitive)
}

/// Evaluates `&&` and `||` like Terraform 1.12 and later. If the first operand decides, the second one is not used: `v
/// != null && length(v) > 0` does not fail for null. Nevertheless, `false && null` is refused.
fn logic(decides: bool, a: &HclValue, b: &HclValue, span: Span) -> HclValue {
    match (boolean(a, span), boolean(b, span)) {
        (Ok(flag), _) if flag == decides && !b.is_null() => HclValue::bool(decides, span),
        (Ok(_), Ok(flag)) => HclValue::bool(flag, span),
        (Ok(_), Err(unknown)) => unknown,
        (Err(unknown), Ok(flag)) => match unknown.cause() {
            Some(cause) if flag == decides && !cause.refused => HclValue::bool(decides, span),
            _ => unknown,
        },
        (Err(unknown), Err(_)) => unknown,
    }
}

fn numeric(operator: BinaryOperator, a: &HclValue, b: &HclValue, span: Span) -> HclValue {
    let (a, b) = match (number(a, span), number(b, span)) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(unknown), _) | (_, Err(unknown)) => return unknown,
    };
    let result = match operator {
        BinaryOperator::Less => return HclValue::bool(a < b, span),
        BinaryOperator::LessOrEqual => return HclValue::bool(a <= b, span),
        BinaryOperator::Greater => return HclValue::bool(a > b, span),
        BinaryOperator::GreaterOrEqual => return HclValue::bool(a >= b, span),
        BinaryOperator::Add => a.plus(&b),
        BinaryOperator::Subtract => a.minus(&b),
        BinaryOperator::Multiply => a.times(&b),
        BinaryOperator::Divide if b.is_zero() => return HclValue::refused("division by zero", span),
        BinaryOperator::Divide => a.divided_by(&b),
        // Terraform accepts a modulo by zero here.
        BinaryOperator::Modulo if b.is_zero() => Some(a),
        _ => a.remainder(&b),
    };
    result.map_or_else(|| HclValue::unknown("this number is too large", span), |number| HclValue::number(number, span))
}

fn number(value: &HclValue, span: Span) -> Result<HclNumber, HclValue> {
    let converted = primitive(&HclType::Number, value, span)?;
    converted.as_number().ok_or_else(|| HclValue::refused("this is not a number", span))
}

pub(super) fn boolean(value: &HclValue, span: Span) -> Result<bool, HclValue> {
    let converted = primitive(&HclType::Bool, value, span)?;
    converted.as_bool().ok_or_else(|| HclValue::refused("this is not a boolean", span))
}

fn primitive(of: &HclType, value: &HclValue, span: Span) -> Result<HclValue, HclValue> {
    match &value.data {
        HclData::Null => Err(HclValue::refused("an operand is null", span)),
        HclData::Unknown(cause) => Err(HclValue::because(&forget_candidates(cause), span)),
        _ => match of.convert(value) {
            HclValue { data: HclData::Unknown(cause), .. } => Err(HclValue::because(&cause, span)),
            converted => Ok(converted),
        },
    }
}

fn depends_on(a: &HclValue, b: &HclValue, span: Span) -> HclValue {
    let cause = a.any_cause().or_else(|| b.any_cause()).map(forget_candidates);
    match cause {
        Some(cause) => HclValue::because(&cause, span),
        None => HclValue::unknown("the result of this comparison is unknown", span),
    }
}

/// Returns the same cause for another value, without the candidates of the first one.
pub(super) fn forget_candidates(cause: &Arc<Cause>) -> Arc<Cause> {
    if cause.candidates.is_empty() {
        return cause.clone();
    }
    Arc::new(Cause { candidates: Vec::new(), ..Cause::clone(cause) })
}

/// Returns a value that is one of two, without knowing which. Parts on which both agree are known.
pub(super) fn either(condition: &HclValue, yes: HclValue, no: HclValue, span: Span) -> HclValue {
    let Some(cause) = condition.cause() else { return yes };
    if cause.refused {
        return condition.clone();
    }
    let same = equal(&yes, &no);
    if same == Some(true) {
        return yes;
    }
    if let (HclData::Object(a), HclData::Object(b)) = (&yes.data, &no.data)
        && a.known.keys().eq(b.known.keys())
    {
        let rest = a.rest.clone().or_else(|| b.rest.clone());
        let known = a
            .iter()
            .zip(b.known.values())
            .map(|((key, a), b)| (key.clone(), either(condition, a.clone(), b.clone(), span)))
            .collect();
        return HclValue::object(ObjectMembers { known, rest }, span);
    }
    let mut candidates = Vec::new();
    for arm in [yes, no] {
        match &arm.data {
            // An arm with candidates contributes them. If an arm is completely unknown, there are no candidates.
            HclData::Unknown(inner) if inner.candidates.is_empty() => {
                candidates.clear();
                break;
            }
            HclData::Unknown(inner) => candidates.extend(inner.candidates.iter().cloned()),
            _ => candidates.push(arm),
        }
    }
    let cause = Cause { candidates, ..Cause::clone(&forget_candidates(cause)) };
    HclValue::new(HclData::Unknown(Arc::new(cause)), span)
}

/// Returns the value of a repeated declaration: the value on which all declarations agree, or else an unknown value
/// with their values as candidates.
pub(super) fn one_of(what: &str, first: HclValue, others: impl Iterator<Item = HclValue>) -> HclValue {
    others.fold(first, |value, other| {
        let span = value.span;
        let twice = HclValue::unknown(format!("{what} is declared twice"), span);
        either(&twice, value, other, span)
    })
}
