//! Lists objects that give accelerators to containers without requests. These containers are unknown, so nothing is
//! counted.

use crate::diagnostic::SkipKind;
use crate::inventory::Unjudged;
use crate::source::SourceFiles;

use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::rows::table::KindRow;

/// Returns the entry for an object that gives accelerators to other containers.
pub(in crate::kubernetes) fn unjudged(
    sources: &SourceFiles,
    object: &KubernetesObject<'_>,
    row: &KindRow,
) -> Option<Unjudged> {
    let granted = row.grants.iter().flat_map(|path| path.all(object.root));
    let mut entries = granted.flat_map(|found| found.node.entries());
    let entry = entries.find(|it| {
        DEVICES.device(&it.key).is_some() && amount::amount(&it.value).value().is_none_or(|amount| *amount > 0.0)
    })?;
    let address = object.address();
    let reason = format!("{address} gives {} to each container that requests no resources itself", entry.key);
    let path = sources.path_of(entry.span());
    let told = Unjudged::new(SkipKind::Grant, path, reason).about(&address).at(object.root.span);
    Some(told.with_cure("set the accelerators in the containers that need them"))
}
