//! A tree of files on the disk. gpulint reads only files in allowed directories, wherever links lead.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
#[cfg(unix)]
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

#[cfg(unix)]
use super::largest::LargestFile;
use super::progress::is_reading;
use super::serving;
use crate::source::bytes_of;
use crate::source::{ReadError, Tree, TreeEntry, demand_text, named};

/// A tree of files on the disk. gpulint reads only files in allowed directories, wherever links lead.
pub(in crate::cli) struct DiskTree {
    root: PathBuf,
    /// The allowed directories and files, with links followed.
    allowed: Vec<PathBuf>,
    /// The contents that replace files on the disk or do not exist there, such as standard input, by path.
    given: BTreeMap<String, Vec<u8>>,
    directories: Arc<KnownDirectories>,
    largest: LargestFile,
}

/// A cache of directories.
#[derive(Default)]
pub(in crate::cli) struct KnownDirectories {
    /// The directories with links followed. Without this cache, each file would resolve every part of its path again.
    real: RwLock<HashMap<String, PathBuf>>,
    /// The lists of directories, for trees that are read one after the other while no file is added or removed.
    lists: Option<RwLock<HashMap<String, Vec<TreeEntry>>>>,
}

impl KnownDirectories {
    /// Returns a cache that several trees of one disk can share.
    pub(in crate::cli) fn shared() -> Arc<Self> {
        Arc::new(KnownDirectories { lists: Some(RwLock::default()), ..Self::default() })
    }

    fn list(&self, directory: &str, look: impl FnOnce() -> Vec<TreeEntry>) -> Vec<TreeEntry> {
        let Some(lists) = &self.lists else { return look() };
        if let Some(known) = lists.read().unwrap_or_else(PoisonError::into_inner).get(directory) {
            return known.clone();
        }
        let found = look();
        lists.write().unwrap_or_else(PoisonError::into_inner).insert(directory.to_owned(), found.clone());
        found
    }
}

impl DiskTree {
    pub(in crate::cli) fn new(root: PathBuf, allowed: Vec<PathBuf>) -> Self {
        DiskTree { root, allowed, given: BTreeMap::new(), directories: Arc::default(), largest: LargestFile::default() }
    }

    /// Sets the size limit of files.
    #[must_use]
    pub(in crate::cli) fn up_to(self, bytes: u64) -> Self {
        self.largest.set(bytes);
        self
    }

    /// Uses a cache of directories that other trees of this disk also use.
    #[must_use]
    pub(in crate::cli) fn knowing(self, directories: &Arc<KnownDirectories>) -> Self {
        DiskTree { directories: directories.clone(), ..self }
    }

    pub(in crate::cli) fn largest(&self) -> LargestFile {
        self.largest.clone()
    }

    #[must_use]
    pub(in crate::cli) fn with_given(mut self, path: String, text: Vec<u8>) -> Self {
        self.given.insert(path, text);
        self
    }

    /// Returns the path on the disk with links followed, and its metadata. Fails if the path is not allowed.
    fn resolve(&self, path: &str) -> Result<(PathBuf, Metadata), ReadError> {
        let told = |error: io::Error| failure(&error);
        if let Some(real) = self.place(path)? {
            let metadata = fs::symlink_metadata(&real).map_err(told)?;
            if !metadata.is_symlink() {
                return self.allowed(real).map(|real| (real, metadata));
            }
        }
        let real = self.allowed(self.root.join(&*os_name(path)).canonicalize().map_err(told)?)?;
        let metadata = fs::metadata(&real).map_err(told)?;
        Ok((real, metadata))
    }

    /// Returns the path on the disk with the links of its directories followed. `None` if its last part is not a name.
    fn place(&self, path: &str) -> Result<Option<PathBuf>, ReadError> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        if path.starts_with('/') || matches!(name, "" | "." | "..") {
            return Ok(None);
        }
        let real = self.real(directory).map_err(|error| failure(&error))?;
        Ok(Some(real.join(&*os_name(name))))
    }

    /// Opens a file with one search for its path. Returns `None` if its name is a link, or if it cannot be opened so.
    #[cfg(unix)]
    fn open_unless_link(&self, path: &str) -> Result<Option<fs::File>, ReadError> {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;

        let Some(real) = self.place(path)?.and_then(|real| self.allowed(real).ok()) else { return Ok(None) };
        // A pipe without a writer would block.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        match fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(real) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(ReadError::Missing),
            Err(_) => Ok(None),
        }
    }

    #[cfg(not(unix))]
    fn open_unless_link(&self, _: &str) -> Result<Option<fs::File>, ReadError> {
        Ok(None)
    }

    fn allowed(&self, real: PathBuf) -> Result<PathBuf, ReadError> {
        let is_below = self.allowed.iter().any(|allowed| real.starts_with(allowed));
        if is_below { Ok(real) } else { Err(ReadError::Outside) }
    }

    /// Returns a directory with links followed. It resolves only the parts of the path that are not cached.
    fn real(&self, directory: &str) -> io::Result<PathBuf> {
        if let Some(known) = self.known(directory) {
            return Ok(known);
        }
        if directory.is_empty() {
            return Ok(self.learn(directory, self.root.canonicalize()?));
        }
        if directory.split('/').any(|name| matches!(name, "" | "." | "..")) {
            return self.root.join(&*os_name(directory)).canonicalize();
        }
        let mut real = self.real("")?;
        let mut end = 0;
        for name in directory.split('/') {
            end += name.len();
            let above = directory.get(..end).unwrap_or_default();
            real = match self.known(above) {
                Some(known) => known,
                None => self.learn(above, followed(real.join(&*os_name(name)))?),
            };
            end += 1;
        }
        Ok(real)
    }

    fn known(&self, directory: &str) -> Option<PathBuf> {
        self.directories.real.read().unwrap_or_else(PoisonError::into_inner).get(directory).cloned()
    }

    fn learn(&self, directory: &str, real: PathBuf) -> PathBuf {
        let mut directories = self.directories.real.write().unwrap_or_else(PoisonError::into_inner);
        directories.insert(directory.to_owned(), real.clone());
        real
    }
}

impl Tree for DiskTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        if let Some(text) = self.given.get(path) {
            return Ok(text.clone());
        }
        is_reading(path);
        let limit = self.largest.bytes();
        if let Some(file) = self.open_unless_link(path)? {
            let metadata = file.metadata().map_err(|error| failure(&error))?;
            return read_opened(file, &metadata, limit);
        }
        let (real, metadata) = self.resolve(path)?;
        read_known(&real, &metadata, limit)
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, ReadError> {
        if let Some(text) = self.given.get(path) {
            return Ok(text.iter().take(bytes).copied().collect());
        }
        let (real, metadata) = self.resolve(path)?;
        read_head(&real, &metadata, bytes)
    }

    fn mentions(&self, path: &str, wanted: &[u8]) -> bool {
        // A file that cannot be opened may contain anything.
        let open = |(real, _)| fs::File::open(real).map_err(|error| failure(&error));
        let Ok(file) = self.resolve(path).and_then(open) else { return true };
        holds(file, wanted).unwrap_or(true)
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        let mut entries = self.directories.list(directory, || self.list_on_disk(directory));
        entries.extend(self.given_in(directory));
        entries.sort();
        entries.dedup();
        entries
    }

    fn link(&self, path: &str) -> Option<String> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let place = self.allowed(self.real(directory).ok()?).ok()?.join(&*os_name(name));
        let target = fs::read_link(place).ok()?;
        Some(named(target.as_os_str().as_encoded_bytes()).into_owned())
    }
}

impl DiskTree {
    fn list_on_disk(&self, directory: &str) -> Vec<TreeEntry> {
        let on_disk = self.resolve(directory).and_then(|(real, _)| fs::read_dir(real).map_err(|error| failure(&error)));
        on_disk
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let mut kind = entry.file_type().ok()?;
                if kind.is_symlink() {
                    kind = fs::metadata(entry.path()).ok()?.file_type();
                }
                let name = named(entry.file_name().as_encoded_bytes()).into_owned();
                (kind.is_dir() || kind.is_file()).then_some(TreeEntry { name, is_directory: kind.is_dir() })
            })
            .collect()
    }

    /// Returns the entries of a directory that come from replaced contents.
    fn given_in(&self, directory: &str) -> Vec<TreeEntry> {
        let entry = |path: &String| {
            let inside = match directory {
                "" => path,
                _ => path.strip_prefix(directory)?.strip_prefix('/')?,
            };
            let (name, below) = inside.split_once('/').map_or((inside, false), |(name, _)| (name, true));
            Some(TreeEntry { name: name.to_owned(), is_directory: below })
        };
        self.given.keys().filter_map(entry).collect()
    }
}

/// Returns the path on the disk for a path of the tree.
pub(in crate::cli) fn below(root: &Path, path: &str) -> PathBuf {
    root.join(&*os_name(path))
}

/// Converts a path of the tree to the system's representation.
#[cfg(unix)]
fn os_name(path: &str) -> Cow<'_, OsStr> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    match bytes_of(path) {
        Cow::Borrowed(bytes) => Cow::Borrowed(OsStr::from_bytes(bytes)),
        Cow::Owned(bytes) => Cow::Owned(OsString::from_vec(bytes)),
    }
}

#[cfg(not(unix))]
fn os_name(path: &str) -> Cow<'_, OsStr> {
    Cow::Borrowed(OsStr::new(path))
}

/// Resolves a path in which only the last part can be a link.
fn followed(path: PathBuf) -> io::Result<PathBuf> {
    if fs::symlink_metadata(&path)?.is_symlink() { path.canonicalize() } else { Ok(path) }
}

/// Reads a regular file. Other files, such as pipes, could block or never end.
pub(in crate::cli) fn read_limited(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    if !serving::may_read(path) {
        return Err(ReadError::Outside);
    }
    read_known(path, &fs::metadata(path).map_err(|error| failure(&error))?, limit)
}

fn read_known(path: &Path, metadata: &Metadata, limit: u64) -> Result<Vec<u8>, ReadError> {
    demand_file(metadata, limit)?;
    read_opened(fs::File::open(path).map_err(|error| failure(&error))?, metadata, limit)
}

fn demand_file(metadata: &Metadata, limit: u64) -> Result<(), ReadError> {
    match metadata.len() {
        _ if !metadata.is_file() => Err(ReadError::Other("it is not a regular file".to_owned())),
        bytes if bytes > limit => Err(ReadError::TooLarge { bytes, limit }),
        _ => Ok(()),
    }
}

fn read_opened(file: fs::File, metadata: &Metadata, limit: u64) -> Result<Vec<u8>, ReadError> {
    demand_file(metadata, limit)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| failure(&error))?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge { bytes: bytes.len() as u64, limit });
    }
    demand_text(bytes)
}

fn read_head(path: &Path, metadata: &Metadata, most: usize) -> Result<Vec<u8>, ReadError> {
    if !metadata.is_file() {
        return Err(ReadError::Other("it is not a regular file".to_owned()));
    }
    let mut bytes = Vec::with_capacity(most.min(usize::try_from(metadata.len()).unwrap_or(most)));
    let file = fs::File::open(path).map_err(|error| failure(&error))?;
    file.take(most as u64).read_to_end(&mut bytes).map_err(|error| failure(&error))?;
    Ok(bytes)
}

/// Whether a file contains these bytes. It keeps only one piece of the file in memory.
fn holds(mut file: impl Read, wanted: &[u8]) -> io::Result<bool> {
    let mut window = vec![0; 1 << 20];
    let mut kept = 0;
    loop {
        let read = match file.read(window.get_mut(kept..).unwrap_or_default())? {
            0 => return Ok(false),
            read => kept + read,
        };
        if memchr::memmem::find(window.get(..read).unwrap_or_default(), wanted).is_some() {
            return Ok(true);
        }
        // The bytes may begin at the end of this piece.
        kept = read.min(wanted.len().saturating_sub(1));
        window.copy_within(read - kept..read, 0);
    }
}

fn failure(error: &std::io::Error) -> ReadError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ReadError::Missing,
        ErrorKind::PermissionDenied => ReadError::Other("permission denied".to_owned()),
        _ => ReadError::Other(error.to_string()),
    }
}
