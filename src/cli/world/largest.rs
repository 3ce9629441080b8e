//! How large a file may be that is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::source::Limits;

/// The size of the largest file that is read. The settings lie in the tree themselves: what they say holds from then on.
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
