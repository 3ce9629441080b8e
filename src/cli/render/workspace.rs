//! Temporary directories with copies of the files that a renderer can read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cli::io::abandoned;
use crate::kubernetes::{Content, RenderInput};
use crate::source::{SourceFiles, normalize};

/// The most bytes that are copied.
const MOST_BYTES: usize = 128 << 20;

/// A temporary directory that only this user can read. It is deleted when this value is dropped.
pub(super) struct RenderDirectory {
    root: PathBuf,
}

impl RenderDirectory {
    pub(super) fn new() -> io::Result<RenderDirectory> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| abandoned::sweep(&std::env::temp_dir(), maker));
        const TRIES: usize = 64;
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let root = std::env::temp_dir().join(format!("gpulint-{}-{number}", std::process::id()));
            // This fails if the name exists, so that gpulint never uses another user's directory.
            match create_private(&root) {
                Ok(()) => {
                    let workspace = RenderDirectory { root: root.canonicalize()? };
                    fs::create_dir(workspace.tree())?;
                    fs::create_dir(workspace.home())?;
                    return Ok(workspace);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Returns the directory of the copies.
    pub(super) fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }

    /// Returns the home directory for programs.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Copies files of the tree. Targets of links are copied if they can be read. The renderer sees no other files.
    pub(super) fn lay_out(&self, sources: &SourceFiles, inputs: &[RenderInput]) -> Result<(), String> {
        let tree = self.tree();
        let mut bytes = 0;
        for RenderInput { path, content } in inputs {
            let inside = normalize(path)
                .filter(|inside| inside == path)
                .ok_or_else(|| format!("`{path}` is not a valid path"))?;
            let content = match content {
                Content::File(file) => sources.tree().read(file),
                Content::Text(text) => Ok(text.clone().into_bytes()),
            };
            let Ok(content) = content else { continue };
            bytes += content.len();
            if bytes > MOST_BYTES {
                return Err(format!("its files have more than {} MiB", MOST_BYTES >> 20));
            }
            let target = tree.join(inside);
            let written = target.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&target, content));
            written.map_err(|error| format!("`{path}` cannot be copied: {error}"))?;
        }
        Ok(())
    }
}

impl Drop for RenderDirectory {
    fn drop(&mut self) {
        // If it cannot be removed now, the system removes it from the temporary directory later.
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Returns the process id in a directory name such as `gpulint-4711-0`.
fn maker(name: &[u8]) -> Option<&[u8]> {
    let numbers = name.strip_prefix(b"gpulint-")?;
    let (process, number) = numbers.split_at_checked(memchr::memchr(b'-', numbers)?)?;
    abandoned::digits(number.strip_prefix(b"-")?)?;
    abandoned::digits(process)
}

#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}
