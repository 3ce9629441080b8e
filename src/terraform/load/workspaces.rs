//! Finds the workspaces that a root names: in comparisons and in the keys of lookups.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::languages::hcl::syntax::{
    BinaryOperator, BlockNode, Body, Expression, HclKind, TraversalStep, TraversalStepKind,
};
use crate::terraform::code::module::ModuleCode;

/// The limit on the length of names. Longer names are not evidence of a workspace.
const LONGEST: usize = 60;
const MOST: usize = 100;
/// The name that represents all other workspaces if the code names only `default`.
const ANOTHER: &str = "another";

pub(in crate::terraform) fn named(code: &ModuleCode) -> BTreeSet<Arc<str>> {
    let mut names = BTreeSet::new();
    if !code.mentions_workspace {
        return names;
    }
    let mut look = |expression: &Expression| in_expression(expression, code, &mut names);
    let blocks: [&mut dyn Iterator<Item = &BlockNode>; 5] = [
        &mut code.resources.iter(),
        &mut code.calls.iter(),
        &mut code.outputs.iter(),
        &mut code.providers.iter(),
        &mut code.variables.iter(),
    ];
    for block in blocks.into_iter().flatten() {
        in_body(&block.body, &mut look);
    }
    for local in code.locals.iter() {
        local.expression.each(&mut look);
    }
    // The workspace `default` always exists, and it is seldom the only one that is applied.
    if names.remove("default") && names.is_empty() && decides_numbers(code) {
        names.insert(ANOTHER.into());
    }
    if names.len() > MOST { BTreeSet::new() } else { names }
}

/// Returns whether a number depends on the workspace: `terraform.workspace == "default" ? 0 : 4`.
fn decides_numbers(code: &ModuleCode) -> bool {
    let mut found = false;
    let mut look = |expression: &Expression| {
        if let HclKind::Conditional(parts) = &expression.kind {
            let is_number = |it: &Expression| matches!(it.kind, HclKind::Number(_));
            let mut names_it = false;
            parts.condition.each(&mut |inner| names_it |= is_workspace(inner));
            found |= names_it && (is_number(&parts.yes) || is_number(&parts.no));
        }
    };
    for block in code.resources.iter().chain(code.calls.iter()) {
        in_body(&block.body, &mut look);
    }
    for local in code.locals.iter() {
        local.expression.each(&mut look);
    }
    found
}

fn in_body(body: &Body, look: &mut dyn FnMut(&Expression)) {
    body.attributes.iter().for_each(|attribute| attribute.expression.each(look));
    body.blocks.iter().for_each(|block| in_body(&block.body, look));
}

fn in_expression(expression: &Expression, code: &ModuleCode, names: &mut BTreeSet<Arc<str>>) {
    match &expression.kind {
        HclKind::Binary(first, rest) => {
            for (operator, operand) in rest {
                if matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
                    let sides = [(&**first, operand), (operand, &**first)];
                    names.extend(sides.into_iter().filter(|(a, _)| is_workspace(a)).filter_map(|(_, b)| name(b)));
                }
            }
        }
        HclKind::Traversal(base, steps) => {
            let index =
                |step: &TraversalStep| matches!(&step.kind, TraversalStepKind::Index(index) if is_workspace(index));
            if let Some(at) = steps.iter().position(index) {
                names.extend(steps.get(..at).into_iter().flat_map(|path| keys(base, path, code)));
            }
        }
        HclKind::Call(call)
            if matches!(&*call.name.text, "startswith" | "endswith" | "strcontains" | "regex" | "regexall")
                && call.arguments.iter().any(is_workspace) =>
        {
            names.extend(call.arguments.iter().filter_map(name));
        }
        HclKind::Call(call) if matches!(&*call.name.text, "lookup" | "contains") => {
            let [first, second, ..] = call.arguments.as_slice() else { return };
            if !is_workspace(second) {
                return;
            }
            match &first.kind {
                HclKind::List(items) => names.extend(items.iter().filter_map(name)),
                HclKind::Traversal(base, steps) => names.extend(keys(base, steps, code)),
                _ => names.extend(keys(first, &[], code)),
            }
        }
        _ => {}
    }
}

fn is_workspace(expression: &Expression) -> bool {
    match &expression.kind {
        HclKind::Traversal(base, steps) => {
            let is_base = matches!(&base.kind, HclKind::Name(name) if matches!(&**name, "terraform" | "tofu"));
            is_base
                && matches!(&**steps, [TraversalStep { kind: TraversalStepKind::Attribute(name), .. }] if &**name == "workspace")
        }
        HclKind::Parentheses(inner) => is_workspace(inner),
        _ => false,
    }
}

fn name(expression: &Expression) -> Option<Arc<str>> {
    let text = match &expression.kind {
        HclKind::Text(text) | HclKind::Name(text) => text,
        _ => return None,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!text.is_empty() && text.len() <= LONGEST && text.chars().all(plain)).then(|| text.clone())
}

/// Returns the keys of an object literal: at this place, in a local or in the default of a variable.
fn keys(base: &Expression, path: &[TraversalStep], code: &ModuleCode) -> Vec<Arc<str>> {
    let steps: Vec<&str> = path
        .iter()
        .map_while(|step| match &step.kind {
            TraversalStepKind::Attribute(name) => Some(&**name),
            _ => None,
        })
        .collect();
    let (object, rest) = match (&base.kind, steps.as_slice()) {
        (HclKind::Name(root), [first, rest @ ..]) if &**root == "local" => {
            (code.locals.get(first).map(|local| &local.expression), rest)
        }
        (HclKind::Name(root), [first, rest @ ..]) if &**root == "var" => {
            let declared = code.variables.get(first).and_then(|it| it.body.attribute("default"));
            (declared.map(|default| &default.expression), rest)
        }
        (_, rest) => (Some(base), rest),
    };
    let inner = rest.iter().try_fold(object, |at, step| Some(Some(member(at?, step)?))).flatten();
    match inner.map(|it| &it.kind) {
        Some(HclKind::Object(items)) => items.iter().filter_map(|item| name(&item.key)).collect(),
        _ => Vec::new(),
    }
}

fn member<'e>(object: &'e Expression, key: &str) -> Option<&'e Expression> {
    let HclKind::Object(items) = &object.kind else { return None };
    items.iter().find(|item| name(&item.key).as_deref() == Some(key)).map(|item| &item.value)
}
