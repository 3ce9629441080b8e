use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use crate::source::{Entry, ReadError, Tree};

/// Larger files are no text that a person wrote.
pub(super) const LARGEST_FILE_BYTES: u64 = 64 << 20;

/// A tree on a disk. Only what lies below an allowed directory is read, wherever links lead.
pub(super) struct DiskTree {
    root: PathBuf,
    /// Canonical directories and files.
    allowed: Vec<PathBuf>,
    /// Text that lies at a path without being there: standard input.
    given: BTreeMap<String, Vec<u8>>,
    /// Directories with links followed: files stand side by side, and following a path asks for each of its parts.
    directories: RwLock<HashMap<PathBuf, PathBuf>>,
}

impl DiskTree {
    pub(super) fn new(root: PathBuf, allowed: Vec<PathBuf>) -> Self {
        DiskTree { root, allowed, given: BTreeMap::new(), directories: RwLock::default() }
    }

    #[must_use]
    pub(super) fn with_given(mut self, path: String, text: Vec<u8>) -> Self {
        self.given.insert(path, text);
        self
    }

    /// The place on the disk, with links followed, if it may be read, and what stands there.
    fn resolve(&self, path: &str) -> Result<(PathBuf, Metadata), ReadError> {
        let path = self.root.join(path);
        let metadata = fs::symlink_metadata(&path).map_err(|error| failure(&error))?;
        let is_link = metadata.is_symlink();
        let real = self.real(&path, is_link).map_err(|error| failure(&error))?;
        if !self.allowed.iter().any(|allowed| real.starts_with(allowed)) {
            return Err(ReadError::Outside);
        }
        let metadata = if is_link { fs::metadata(&real).map_err(|error| failure(&error))? } else { metadata };
        Ok((real, metadata))
    }

    fn real(&self, path: &Path, is_link: bool) -> io::Result<PathBuf> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return path.canonicalize() };
        if is_link {
            return path.canonicalize();
        }
        let known = self.directories.read().unwrap_or_else(PoisonError::into_inner).get(directory).cloned();
        if let Some(directory) = known {
            return Ok(directory.join(name));
        }
        let real = directory.canonicalize()?;
        let mut directories = self.directories.write().unwrap_or_else(PoisonError::into_inner);
        directories.insert(directory.to_owned(), real.clone());
        Ok(real.join(name))
    }
}

impl Tree for DiskTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        if let Some(text) = self.given.get(path) {
            return Ok(text.clone());
        }
        let (real, metadata) = self.resolve(path)?;
        read_known(&real, &metadata)
    }

    fn list(&self, directory: &str) -> Vec<Entry> {
        let Ok(entries) =
            self.resolve(directory).and_then(|(real, _)| fs::read_dir(real).map_err(|error| failure(&error)))
        else {
            return Vec::new();
        };
        let mut entries: Vec<Entry> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let mut kind = entry.file_type().ok()?;
                if kind.is_symlink() {
                    kind = fs::metadata(entry.path()).ok()?.file_type();
                }
                let name = entry.file_name().into_string().ok()?;
                (kind.is_dir() || kind.is_file()).then_some(Entry { name, is_directory: kind.is_dir() })
            })
            .collect();
        entries.sort();
        entries
    }
}

/// Reads a regular file; a pipe or a device would block or never end.
pub(super) fn read_limited(path: &Path) -> Result<Vec<u8>, ReadError> {
    read_known(path, &fs::metadata(path).map_err(|error| failure(&error))?)
}

fn read_known(path: &Path, metadata: &Metadata) -> Result<Vec<u8>, ReadError> {
    if !metadata.is_file() {
        return Err(ReadError::Other("it is no regular file".to_owned()));
    }
    let limit = LARGEST_FILE_BYTES;
    if metadata.len() > limit {
        return Err(ReadError::TooLarge { bytes: metadata.len(), limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    let file = fs::File::open(path).map_err(|error| failure(&error))?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| failure(&error))?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge { bytes: bytes.len() as u64, limit });
    }
    Ok(bytes)
}

fn failure(error: &std::io::Error) -> ReadError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ReadError::Missing,
        ErrorKind::PermissionDenied => ReadError::Other("permission denied".to_owned()),
        _ => ReadError::Other(error.to_string()),
    }
}
