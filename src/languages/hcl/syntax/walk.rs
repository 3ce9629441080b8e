//! Visits every reference in an expression or a body.

use crate::source::Span;

use super::{Body, Expression, HclKind, TemplatePart, TraversalStep, TraversalStepKind};

/// A function that is called for each reference, with its first name, its steps and its place.
pub(crate) type Visit<'v> = dyn FnMut(&str, &[TraversalStep], Span) + 'v;

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
    /// Visits this expression and every nested one.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Expression)) {
        visit(self);
        match &self.kind {
            HclKind::Traversal(base, steps) => {
                base.each(visit);
                each_in_steps(steps, visit);
            }
            HclKind::Template(parts) => each_in_parts(parts, visit),
            HclKind::Call(call) => call.arguments.iter().for_each(|argument| argument.each(visit)),
            HclKind::List(items) => items.iter().for_each(|item| item.each(visit)),
            HclKind::Object(items) => items.iter().for_each(|item| {
                item.key.each(visit);
                item.value.each(visit);
            }),
            HclKind::For(comprehension) => {
                comprehension.collection.each(visit);
                let others = [comprehension.key.as_ref(), Some(&comprehension.value), comprehension.condition.as_ref()];
                others.into_iter().flatten().for_each(|part| part.each(visit));
            }
            HclKind::Unary(_, inner) | HclKind::Parentheses(inner) => inner.each(visit),
            HclKind::Binary(first, rest) => {
                first.each(visit);
                rest.iter().for_each(|(_, operand)| operand.each(visit));
            }
            HclKind::Conditional(it) => [&it.condition, &it.yes, &it.no].into_iter().for_each(|part| part.each(visit)),
            HclKind::Null
            | HclKind::Bool(_)
            | HclKind::Number(_)
            | HclKind::Text(_)
            | HclKind::Name(_)
            | HclKind::Invalid => {}
        }
    }

    pub(crate) fn each_reference(&self, visit: &mut Visit<'_>) {
        self.each(&mut |inside| {
            if let HclKind::Traversal(base, steps) = &inside.kind
                && let HclKind::Name(name) = &base.kind
            {
                visit(name, steps, inside.span);
            }
        });
    }
}

fn each_in_steps(steps: &[TraversalStep], visit: &mut dyn FnMut(&Expression)) {
    for step in steps {
        match &step.kind {
            TraversalStepKind::Index(index) => index.each(visit),
            TraversalStepKind::Splat(each) => each_in_steps(each, visit),
            TraversalStepKind::Attribute(_) => {}
        }
    }
}

fn each_in_parts(parts: &[TemplatePart], visit: &mut dyn FnMut(&Expression)) {
    for part in parts {
        match part {
            TemplatePart::Literal(_) => {}
            TemplatePart::Interpolation(expression) => expression.each(visit),
            TemplatePart::If { condition, yes, no } => {
                condition.each(visit);
                each_in_parts(yes, visit);
                each_in_parts(no, visit);
            }
            TemplatePart::For { collection, body, .. } => {
                collection.each(visit);
                each_in_parts(body, visit);
            }
        }
    }
}
