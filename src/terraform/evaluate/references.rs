use std::rc::Rc;

use crate::source::Span;
use crate::terraform::syntax::{BlockNode, Body, Expression, Kind, Part, Step, StepKind};

use super::traverse::is_reserved;
use super::{Evaluator, Instance};

impl Evaluator<'_> {
    /// The resources and data sources that the arguments of a block name, with the place of each reference.
    pub(super) fn references(&self, node: &BlockNode, module: &Rc<Instance>) -> Vec<(String, Span)> {
        let mut found = Vec::new();
        in_body(&node.body, &mut found);
        found
            .into_iter()
            .filter(|(name, _)| module.code.resources.get(name).is_some())
            .map(|(name, span)| (format!("{}{name}", module.address), span))
            .collect()
    }
}

type Found = Vec<(String, Span)>;

fn in_body(body: &Body, found: &mut Found) {
    for attribute in &body.attributes {
        in_expression(&attribute.expression, found);
    }
    for block in &body.blocks {
        in_body(&block.body, found);
    }
}

fn in_expression(expression: &Expression, found: &mut Found) {
    match &expression.kind {
        Kind::Traversal(base, steps) => {
            match &base.kind {
                Kind::Name(name) => found.extend(resource(name, steps).map(|name| (name, expression.span))),
                _ => in_expression(base, found),
            }
            in_steps(steps, found);
        }
        Kind::Template(parts) => in_parts(parts, found),
        Kind::Call(call) => call.arguments.iter().for_each(|argument| in_expression(argument, found)),
        Kind::List(items) => items.iter().for_each(|item| in_expression(item, found)),
        Kind::Object(items) => {
            for item in items {
                in_expression(&item.key, found);
                in_expression(&item.value, found);
            }
        }
        Kind::For(comprehension) => {
            in_expression(&comprehension.collection, found);
            let others = [comprehension.key.as_ref(), Some(&comprehension.value), comprehension.condition.as_ref()];
            others.into_iter().flatten().for_each(|part| in_expression(part, found));
        }
        Kind::Unary(_, inner) | Kind::Parentheses(inner) => in_expression(inner, found),
        Kind::Binary(first, rest) => {
            in_expression(first, found);
            rest.iter().for_each(|(_, operand)| in_expression(operand, found));
        }
        Kind::Conditional(conditional) => {
            in_expression(&conditional.condition, found);
            in_expression(&conditional.yes, found);
            in_expression(&conditional.no, found);
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::Name(_) | Kind::Invalid => {}
    }
}

fn in_steps(steps: &[Step], found: &mut Found) {
    for step in steps {
        match &step.kind {
            StepKind::Index(index) => in_expression(index, found),
            StepKind::Splat(each) => in_steps(each, found),
            StepKind::Attribute(_) => {}
        }
    }
}

fn in_parts(parts: &[Part], found: &mut Found) {
    for part in parts {
        match part {
            Part::Literal(_) => {}
            Part::Interpolation(expression) => in_expression(expression, found),
            Part::If { condition, yes, no } => {
                in_expression(condition, found);
                in_parts(yes, found);
                in_parts(no, found);
            }
            Part::For { collection, body, .. } => {
                in_expression(collection, found);
                in_parts(body, found);
            }
        }
    }
}

/// `aws_instance.a` or `data.aws_ami.a` at the beginning of a reference.
fn resource(name: &str, steps: &[Step]) -> Option<String> {
    let labels: Vec<&str> = steps
        .iter()
        .take(2)
        .map_while(|step| match &step.kind {
            StepKind::Attribute(name) => Some(&**name),
            _ => None,
        })
        .collect();
    match (name, labels.as_slice()) {
        ("data" | "ephemeral", [kind, label]) => Some(format!("{name}.{kind}.{label}")),
        (kind, [label, ..]) if !is_reserved(kind) => Some(format!("{kind}.{label}")),
        _ => None,
    }
}
