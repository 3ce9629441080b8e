//! Temporary directories with copies of what a renderer may read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cli::world::abandoned;
use crate::kubernetes::{Content, Input};
use crate::source::{Sources, normalize};

/// Copies of more than this are not made.
const MOST_BYTES: usize = 128 << 20;

/// A temporary directory that only this user can read; it goes when this value does.
pub(super) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    pub(super) fn new() -> io::Result<Workspace> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| abandoned::sweep(&std::env::temp_dir(), maker));
        const TRIES: usize = 64;
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let root = std::env::temp_dir().join(format!("gpulint-{}-{number}", std::process::id()));
            // Somebody else's directory of that name is left alone: this fails where anything is there.
            match create_private(&root) {
                Ok(()) => {
                    let workspace = Workspace { root: root.canonicalize()? };
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

    /// Where the copies stand.
    pub(super) fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }

    /// What programs take for the directory of their user.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Copies files, as the tree gives them: what links lead to is copied if it may be read, and nothing else can be seen.
    pub(super) fn lay_out(&self, sources: &Sources, inputs: &[Input]) -> Result<(), String> {
        let tree = self.tree();
        let mut bytes = 0;
        for Input { path, content } in inputs {
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

impl Drop for Workspace {
    fn drop(&mut self) {
        // What cannot be removed now, the system removes from its temporary directory.
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// The process whose directory this is, by its name: `gpulint-4711-0`.
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
