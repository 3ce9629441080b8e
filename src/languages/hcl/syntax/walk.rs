//! Every reference in an expression or a body.

use crate::source::Span;

use super::{Body, Expression, Kind, Part, Step, StepKind};

/// What is told of a reference: its first name, the steps after it, and where it stands.
pub(crate) type Visit<'v> = dyn FnMut(&str, &[Step], Span) + 'v;

impl Body {
    pub(crate) fn each_reference(&self, visit: &mut Visit<'_>) {
        for attribute in &self.attributes {
            attribute.expression.each_reference(visit);
        }
        for block in &self.blocks {
            block.body.each_reference(visit);
        }
    }
}

impl Expression {
    /// This expression and every one inside it.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Expression)) {
        visit(self);
        match &self.kind {
            Kind::Traversal(base, steps) => {
                base.each(visit);
                each_in_steps(steps, visit);
            }
            Kind::Template(parts) => each_in_parts(parts, visit),
            Kind::Call(call) => call.arguments.iter().for_each(|argument| argument.each(visit)),
            Kind::List(items) => items.iter().for_each(|item| item.each(visit)),
            Kind::Object(items) => items.iter().for_each(|item| {
                item.key.each(visit);
                item.value.each(visit);
            }),
            Kind::For(comprehension) => {
                comprehension.collection.each(visit);
                let others = [comprehension.key.as_ref(), Some(&comprehension.value), comprehension.condition.as_ref()];
                others.into_iter().flatten().for_each(|part| part.each(visit));
            }
            Kind::Unary(_, inner) | Kind::Parentheses(inner) => inner.each(visit),
            Kind::Binary(first, rest) => {
                first.each(visit);
                rest.iter().for_each(|(_, operand)| operand.each(visit));
            }
            Kind::Conditional(it) => [&it.condition, &it.yes, &it.no].into_iter().for_each(|part| part.each(visit)),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::Name(_) | Kind::Invalid => {}
        }
    }

    pub(crate) fn each_reference(&self, visit: &mut Visit<'_>) {
        match &self.kind {
            Kind::Traversal(base, steps) => {
                match &base.kind {
                    Kind::Name(name) => visit(name, steps, self.span),
                    _ => base.each_reference(visit),
                }
                in_steps(steps, visit);
            }
            Kind::Template(parts) => in_parts(parts, visit),
            Kind::Call(call) => call.arguments.iter().for_each(|argument| argument.each_reference(visit)),
            Kind::List(items) => items.iter().for_each(|item| item.each_reference(visit)),
            Kind::Object(items) => {
                for item in items {
                    item.key.each_reference(visit);
                    item.value.each_reference(visit);
                }
            }
            Kind::For(comprehension) => {
                comprehension.collection.each_reference(visit);
                let others = [comprehension.key.as_ref(), Some(&comprehension.value), comprehension.condition.as_ref()];
                others.into_iter().flatten().for_each(|part| part.each_reference(visit));
            }
            Kind::Unary(_, inner) | Kind::Parentheses(inner) => inner.each_reference(visit),
            Kind::Binary(first, rest) => {
                first.each_reference(visit);
                rest.iter().for_each(|(_, operand)| operand.each_reference(visit));
            }
            Kind::Conditional(conditional) => {
                conditional.condition.each_reference(visit);
                conditional.yes.each_reference(visit);
                conditional.no.each_reference(visit);
            }
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::Name(_) | Kind::Invalid => {}
        }
    }
}

fn each_in_steps(steps: &[Step], visit: &mut dyn FnMut(&Expression)) {
    for step in steps {
        match &step.kind {
            StepKind::Index(index) => index.each(visit),
            StepKind::Splat(each) => each_in_steps(each, visit),
            StepKind::Attribute(_) => {}
        }
    }
}

fn each_in_parts(parts: &[Part], visit: &mut dyn FnMut(&Expression)) {
    for part in parts {
        match part {
            Part::Literal(_) => {}
            Part::Interpolation(expression) => expression.each(visit),
            Part::If { condition, yes, no } => {
                condition.each(visit);
                each_in_parts(yes, visit);
                each_in_parts(no, visit);
            }
            Part::For { collection, body, .. } => {
                collection.each(visit);
                each_in_parts(body, visit);
            }
        }
    }
}

fn in_steps(steps: &[Step], visit: &mut Visit<'_>) {
    for step in steps {
        match &step.kind {
            StepKind::Index(index) => index.each_reference(visit),
            StepKind::Splat(each) => in_steps(each, visit),
            StepKind::Attribute(_) => {}
        }
    }
}

fn in_parts(parts: &[Part], visit: &mut Visit<'_>) {
    for part in parts {
        match part {
            Part::Literal(_) => {}
            Part::Interpolation(expression) => expression.each_reference(visit),
            Part::If { condition, yes, no } => {
                condition.each_reference(visit);
                in_parts(yes, visit);
                in_parts(no, visit);
            }
            Part::For { collection, body, .. } => {
                collection.each_reference(visit);
                in_parts(body, visit);
            }
        }
    }
}
