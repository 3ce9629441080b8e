//! Writes the maximum number: of an autoscaler, of an object with a range, or the limits of a pool.

use crate::inventory::{FactEdit, FactValue, Key, LinkKind, Part, ReadBy, Resource};
use crate::kubernetes::pods::workload;
use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::rows::path::ManifestPath;
use crate::kubernetes::rows::table::{Factor, KindRow};
use crate::kubernetes::text::template_mask::has_directives;
use crate::languages::yaml::{AddedPiece, Node};
use crate::source::{Edit, SourceFiles, Span};

use super::declining::{Result, inexpressible, left_alone};
use super::{Document, piece, row, set};

/// Returns the edits that set the maximum: in accelerators for a pool with limits, otherwise in machines or pods.
pub(super) fn write(resource: &Resource, wish: &FactEdit, sources: &SourceFiles) -> Result<Vec<Edit>> {
    let Some(most) = wish.value.as_ref().filter(|value| value.as_number().is_some()) else {
        return left_alone("gpulint removes no maximum");
    };
    if let Some(link) = resource.links.iter().find(|link| link.kind == LinkKind::Autoscaler) {
        let document = Document::around(link.span, sources)?;
        let Some((object, _, scales)) = row::scaler_around(&document.root, link.span) else {
            return left_alone("its autoscaler was not found");
        };
        let Some(keys) = scales.max.as_ref().and_then(ManifestPath::keys) else {
            return left_alone("its autoscaler has no single maximum");
        };
        return Ok(vec![set(&document, &document.paper(), object, &keys, &piece(most))?]);
    }
    let document = Document::around(resource.body, sources)?;
    let object = document.object();
    let Some((_, Some(row))) = workload::identify(object) else { return inexpressible(resource, &Part::Ceiling) };
    let limits = row.machines.iter().find_map(|machines| machines.limits.as_ref()).and_then(ManifestPath::keys);
    if let Some(mut keys) = limits {
        let vendor = resource.text(Key::Vendor).unwrap_or_default();
        let Some(device) = DEVICES.whole_device(vendor) else {
            return left_alone("the resource name of its accelerators is unknown");
        };
        keys.push(device);
        return Ok(vec![set(&document, &document.paper(), object, &keys, &piece(most))?]);
    }
    match maximum(row) {
        Some(keys) => Ok(vec![set(&document, &document.paper(), object, &keys, &piece(most))?]),
        None => inexpressible(resource, &Part::Ceiling),
    }
}

/// Sets the accelerators that the namespace of a pod may request: in its quota, or in a new one after the pod's document.
pub(super) fn quota(resource: &Resource, wish: &FactEdit, sources: &SourceFiles) -> Result<Vec<Edit>> {
    let Some(most) = wish.value.as_ref().and_then(FactValue::as_number) else {
        return left_alone("gpulint removes no quota");
    };
    if let Some(span) = resource.fact(Key::QuotaAccelerators).span() {
        let document = Document::around(span, sources)?;
        let Some(node) = scalar_at(&document.root, span) else { return left_alone("its quota was not found") };
        document.is_own(node)?;
        let new = AddedPiece::Text(format!("{most:.0}"));
        return super::checked(vec![document.paper().replace(node, &new)?], sources);
    }
    if resource.front_end == ReadBy::Chart || sources.origin(resource.body) != resource.body {
        return left_alone("other files generate its document: add a ResourceQuota there");
    }
    let is_name = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let namespace = resource.declared.namespace.value().and_then(FactValue::as_text).filter(is_name);
    let device = resource.text(Key::Vendor).and_then(|vendor| DEVICES.whole_device(vendor));
    let Some((namespace, device)) = namespace.zip(device) else {
        return left_alone("its namespace or the resource name of its accelerators is unknown");
    };
    let text = sources.text(resource.body.file);
    if has_directives(&text) {
        return left_alone("it is a template");
    }
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    let replacement = format!(
        "{gap}---\napiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: accelerators\n  namespace: {namespace}\nspec:\n  \
         hard:\n    requests.{device}: \"{most:.0}\"\n"
    );
    Ok(vec![Edit { span: Span::new(resource.body.file, text.len(), text.len()), replacement }])
}

fn scalar_at(node: &Node, span: Span) -> Option<&Node> {
    if node.span == span && node.text().is_some() {
        return Some(node);
    }
    node.inner().filter(|inner| inner.span.contains(span)).find_map(|inner| scalar_at(inner, span))
}

/// Returns the keys of the only maximum that a definition reads.
fn maximum(row: &'static KindRow) -> Option<Vec<&'static str>> {
    let whole = row.machines.iter().filter(|machines| machines.each.is_none()).map(|machines| &machines.count);
    let all: Vec<&Factor> = whole.chain(row.pods.iter().map(|pods| &pods.count)).flatten().collect();
    let [factor] = all.as_slice() else { return None };
    factor.max.as_ref().filter(|_| !factor.max_adds)?.keys()
}
