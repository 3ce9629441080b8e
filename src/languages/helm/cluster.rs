//! The cluster that charts are rendered for.

/// What charts are told of the cluster that they are installed in.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// `v1.34.0`
    pub version: String,
    /// Interfaces that it has beside those of Kubernetes itself, as in `monitoring.coreos.com/v1`.
    pub interfaces: Vec<String>,
}

impl Default for Cluster {
    /// The version that most clusters of the large clouds run (November 2026).
    fn default() -> Self {
        Cluster { version: "v1.34.0".to_owned(), interfaces: Vec::new() }
    }
}
