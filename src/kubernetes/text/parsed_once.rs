//! Keeps files that an early step parsed for the step that reads their objects.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::languages::yaml::YamlStream;
use crate::source::FileId;

/// Complete streams of files, each for its next reader.
#[derive(Debug, Default)]
pub(in crate::kubernetes) struct ParsedOnce(Mutex<HashMap<FileId, YamlStream>>);

impl ParsedOnce {
    pub(in crate::kubernetes) fn new(streams: impl IntoIterator<Item = (FileId, YamlStream)>) -> Self {
        ParsedOnce(Mutex::new(streams.into_iter().collect()))
    }

    /// Returns the stream of a file, once.
    pub(super) fn take(&self, file: FileId) -> Option<YamlStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&file)
    }
}
