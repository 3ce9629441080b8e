//! Writes the maximum number: of an autoscaler, of an object with a range, or the limits of a pool.

use crate::inventory::{FactEdit, Key, LinkKind, Part, Resource};
use crate::kubernetes::pods::workload;
use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::rows::path::ManifestPath;
use crate::kubernetes::rows::table::{Factor, KindRow};
use crate::source::{Edit, SourceFiles};

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

/// Returns the keys of the only maximum that a definition reads.
fn maximum(row: &'static KindRow) -> Option<Vec<&'static str>> {
    let whole = row.machines.iter().filter(|machines| machines.each.is_none()).map(|machines| &machines.count);
    let all: Vec<&Factor> = whole.chain(row.pods.iter().map(|pods| &pods.count)).flatten().collect();
    let [factor] = all.as_slice() else { return None };
    factor.max.as_ref().filter(|_| !factor.max_adds)?.keys()
}
