//! Finds the references in the arguments of a block.

use std::rc::Rc;

use crate::languages::hcl::syntax::{BlockNode, TraversalStep, TraversalStepKind};
use crate::source::Span;

use super::traverse::is_reserved;
use super::{Instance, RootEvaluator};

impl RootEvaluator<'_> {
    /// Returns the resources and data sources that the arguments of a block name, with the place of each reference.
    pub(super) fn references(&self, node: &BlockNode, module: &Rc<Instance>) -> Vec<(String, Span)> {
        let mut found: Vec<(String, Span)> = Vec::new();
        node.body.each_reference(&mut |name, steps, span| {
            found.extend(resource(name, steps).map(|name| (name, span)));
        });
        found
            .into_iter()
            .filter(|(name, _)| module.code.resources.get(name).is_some())
            .map(|(name, span)| (format!("{}{name}", module.address), span))
            .collect()
    }
}

/// Returns `aws_instance.a` or `data.aws_ami.a` from the start of a reference.
fn resource(name: &str, steps: &[TraversalStep]) -> Option<String> {
    let labels: Vec<&str> = steps
        .iter()
        .take(2)
        .map_while(|step| match &step.kind {
            TraversalStepKind::Attribute(name) => Some(&**name),
            _ => None,
        })
        .collect();
    match (name, labels.as_slice()) {
        ("data" | "ephemeral", [kind, label]) => Some(format!("{name}.{kind}.{label}")),
        (kind, [label, ..]) if !is_reserved(kind) => Some(format!("{kind}.{label}")),
        _ => None,
    }
}
