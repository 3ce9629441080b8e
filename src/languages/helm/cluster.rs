//! Defines the cluster that charts are rendered for.

/// Properties of the cluster that charts can query.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The version of the cluster: `v1.34.0`.
    pub version: String,
    /// API versions in addition to those of Kubernetes itself: `monitoring.coreos.com/v1`.
    pub interfaces: Vec<String>,
}

impl Default for Cluster {
    /// Returns the most common version on the clusters of large clouds (November 2026).
    fn default() -> Self {
        Cluster { version: "v1.34.0".to_owned(), interfaces: Vec::new() }
    }
}
