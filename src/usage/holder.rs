//! Finds the container that uses a device from the labels of a series, which differ between servers.

use super::answer::SeriesLabels;
use super::request::{CONTAINER, NAMESPACE, POD};
use super::table::EXPORTER_PODS;

/// A container of a pod. Pod names stay inside this module, because they can contain private data.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Holder {
    pub(super) cluster: String,
    pub(super) namespace: String,
    pub(super) pod: String,
    pub(super) container: String,
}

impl Holder {
    pub(super) fn of(labels: &SeriesLabels, cluster: &str) -> Holder {
        let text = |names: &[&str]| first(labels, names).to_owned();
        Holder { cluster: cluster.to_owned(), namespace: text(NAMESPACE), pod: text(POD), container: text(CONTAINER) }
    }

    /// Returns the holder of a device that is not allocated to a pod.
    pub(super) fn nobody(cluster: &str) -> Holder {
        Holder { cluster: cluster.to_owned(), ..Holder::default() }
    }

    /// Whether the pod or container name is that of an exporter.
    pub(super) fn measures(&self) -> bool {
        EXPORTER_PODS.iter().any(|name| self.pod.contains(name) || self.container.contains(name))
    }
}

/// Returns the first label that is not empty.
pub(super) fn first<'l>(labels: &'l SeriesLabels, names: &[&str]) -> &'l str {
    let all = names.iter().filter_map(|name| labels.get(*name));
    all.map(String::as_str).find(|it| !it.is_empty()).unwrap_or_default()
}

pub(super) fn label<'l>(labels: &'l SeriesLabels, name: &str) -> &'l str {
    labels.get(name).map_or("", String::as_str)
}
