//! Stops workloads whose pods another object runs instead, as a Rollout does with its Deployment.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, Range};
use crate::source::Span;

use super::nearby;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::pods::workload::FoundResource;
use crate::kubernetes::rows::table::KindRow;

/// A workload that another object stops.
pub(in crate::kubernetes) struct ReplacedWorkload {
    path: Arc<str>,
    kinds: Vec<&'static str>,
    name: Arc<str>,
    namespace: Option<Arc<str>>,
    span: Span,
}

impl ReplacedWorkload {
    /// Returns the workload that the object stops, if it stops one.
    pub(in crate::kubernetes) fn new(
        path: &Arc<str>,
        object: &KubernetesObject<'_>,
        row: &'static KindRow,
    ) -> Option<Self> {
        let borrows = row.borrows.as_ref()?;
        let ends = borrows.ends.as_ref()?.first(object.root)?;
        let name = borrows.name.first(object.root)?;
        let kinds = borrows.kinds.iter().filter_map(|kind| kind.rsplit('/').next());
        (ends.text().is_some_and(|text| &**text != "never")).then_some(())?;
        Some(ReplacedWorkload {
            path: path.clone(),
            kinds: kinds.collect(),
            name: name.text()?.clone(),
            namespace: object.namespace.clone(),
            span: ends.span,
        })
    }

    fn is(&self, found: &FoundResource) -> bool {
        let is_there = match (&self.namespace, &found.namespace) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        is_there && self.kinds.contains(&found.kind.as_str()) && found.name.as_deref() == Some(&self.name)
    }
}

/// Sets the number of replaced workloads to zero.
pub(in crate::kubernetes) fn apply(replaced: &[ReplacedWorkload], found: &mut [(Arc<str>, FoundResource)]) {
    for it in replaced {
        let targets: BTreeSet<usize> =
            found.iter().enumerate().filter(|(_, (_, found))| it.is(found)).map(|(at, _)| at).collect();
        let is_only = nearby::is_one_folder(targets.iter().filter_map(|at| Some(&*found.get(*at)?.0)));
        for at in targets {
            let Some((to, found)) = found.get_mut(at) else { continue };
            if nearby::why(&it.path, to, is_only).is_some() {
                found.resource.count = Fact::known(Range::exactly(0.0), it.span, FactOrigin::Resolved);
            }
        }
    }
}
