//! Files of the cache that are taken for what they seem to be only if they are whole: a digest of all of it comes first, and
//! what was torn, by whatever, is as if it were not there.

use std::fs::{self, Metadata};
use std::path::Path;

use crate::source::{sha256, to_hex};

/// The bytes of a file that is whole, no longer than this, and one's own.
pub(in crate::cli) fn read(path: &Path, longest: u64) -> Option<Vec<u8>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > longest || !is_own(&metadata) {
        return None;
    }
    let mut bytes = fs::read(path).ok()?;
    let end = memchr::memchr(b'\n', &bytes)?;
    let (digest, rest) = bytes.split_at_checked(end)?;
    let text = rest.get(1..)?;
    if digest != to_hex(&sha256(text)).as_bytes() {
        return None;
    }
    bytes.drain(..=end);
    Some(bytes)
}

/// Replaces a file as a whole. Nobody is told where nothing can be kept: the next run takes longer. It need not be on the
/// disk before its name is: what a crash leaves of it is not whole.
pub(in crate::cli) fn write(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let sealed = [to_hex(&sha256(bytes)).as_bytes(), b"\n", bytes].concat();
    let directory = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(directory)
        .and_then(|()| fs::write(&beside, sealed))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        drop(fs::remove_file(&beside));
    }
}

/// What another user put there may say anything.
#[cfg(unix)]
fn is_own(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

/// Another build of one version may say something else.
pub(in crate::cli) fn program() -> String {
    let metadata = std::env::current_exe().and_then(fs::metadata);
    let told = metadata.map(|it| format!("{} {:?}", it.len(), it.modified().ok()));
    format!("{} {}", env!("CARGO_PKG_VERSION"), told.unwrap_or_default())
}
