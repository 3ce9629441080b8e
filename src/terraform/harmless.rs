//! Recognizes modules that no file calls and that provision nothing, whatever their inputs are.

use std::collections::BTreeSet;

use crate::inventory::{UnsupportedResource, is_type_of_accelerators};
use crate::languages::hcl::syntax::{BlockNode, Body, HclKind};
use crate::source::join;

use super::code::library::ModuleLibrary;
use super::code::modules::{is_local, rents_no_machines, rents_nothing};
use super::{embedded, rows};

/// Returns whether a resource of a module, or of the modules that it calls, may provision or request accelerators.
pub(super) fn may_rent(library: &ModuleLibrary<'_>, directory: &str) -> bool {
    let mut next = vec![directory.to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(directory) = next.pop() {
        if !seen.insert(directory.clone()) {
            continue;
        }
        let code = library.module(&directory);
        if code.anywhere.is_none() || code.incomplete || code.resources.iter().any(is_risky) {
            return true;
        }
        for call in code.calls.iter() {
            let source = call.body.attribute("source").map(|it| &it.expression.kind);
            match source {
                Some(HclKind::Text(source)) if is_local(source) => match join(&directory, source) {
                    Some(called) => next.push(called),
                    None => return true,
                },
                Some(HclKind::Text(source)) if rents_no_machines(source) => {}
                _ => return true,
            }
        }
    }
    false
}

fn is_risky(node: &BlockNode) -> bool {
    let kind = node.label(0);
    if &*node.keyword.text != "resource" {
        return false;
    }
    if rents_nothing(kind) {
        // A provisioner may run any program.
        return node.body.blocks.iter().any(|inner| &*inner.keyword.text == "provisioner");
    }
    rows::may_rent(kind)
        || embedded::carries_manifests(kind)
        || is_type_of_accelerators(kind)
        || (!rows::has_row(kind) && names_machine(&node.body, kind, node))
}

/// Returns whether the name of an argument refers to machines or accelerators.
fn names_machine(body: &Body, kind: &str, node: &BlockNode) -> bool {
    let mut fields = UnsupportedResource::new("", kind, node.header, node.header);
    body.attributes.iter().for_each(|attribute| fields.add(&attribute.name.text, None));
    !fields.fields.is_empty() || body.blocks.iter().any(|inner| names_machine(&inner.body, kind, node))
}
