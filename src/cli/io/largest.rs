//! The size limit of files.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::source::Limits;

/// The size limit of files. The settings are part of the tree, so their limit applies only after they are read.
#[derive(Debug, Clone)]
pub(in crate::cli) struct LargestFile(Arc<AtomicU64>);

impl Default for LargestFile {
    fn default() -> Self {
        LargestFile(Arc::new(AtomicU64::new(Limits::DEFAULT.file_bytes)))
    }
}

impl LargestFile {
    pub(in crate::cli) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    pub(in crate::cli) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
