//! Cache files with a seal, which proves that this user's gpulint wrote the complete file. A damaged or
//! foreign file is ignored.
//!
//! The key of the seal is outside the cache, so a process that can only write the cache, such as a restored CI cache,
//! cannot seal.

use std::fs::{self, Metadata, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::{cache, ci};
use crate::source::to_hex;

const KEY_BYTES: usize = 32;
/// The length of a seal: two digits per byte.
const SEAL_LETTERS: usize = 64;

/// Returns the bytes of a complete, own file of at most this length.
pub(in crate::cli) fn read(path: &Path, longest: u64) -> Option<Vec<u8>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > longest || !is_own(&metadata) {
        return None;
    }
    let mut bytes = fs::read(path).ok()?;
    let text = bytes.get(SEAL_LETTERS + 1..)?;
    let seal = seal_of(bytes.get(..SEAL_LETTERS)?)?;
    hmac::verify(key()?, text, &seal).ok()?;
    bytes.drain(..=SEAL_LETTERS);
    Some(bytes)
}

/// Replaces a file. If this fails, the next run only takes longer. The file is not synced to the disk, because
/// the seal detects a file that a crash damaged.
pub(in crate::cli) fn write(path: &Path, bytes: &[u8]) {
    let Some(key) = key() else { return };
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let sealed = [to_hex(hmac::sign(key, bytes).as_ref()).as_bytes(), b"\n", bytes].concat();
    let directory = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(directory)
        .and_then(|()| private(&beside).and_then(|mut file| file.write_all(&sealed)))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        drop(fs::remove_file(&beside));
    }
}

/// Whether a file name has the form of a sealed file: digits of a digest, and an extension.
pub(in crate::cli) fn is_called(path: &Path, ending: &str) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let (stem, rest) = name.split_once('.').unwrap_or((name, ""));
    let is_digits = |part: &str| part.len() >= 16 && part.bytes().all(|it| it.is_ascii_hexdigit());
    let is_left =
        || rest.strip_suffix(".new").is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    stem.split('-').all(is_digits) && (rest == ending || is_left())
}

fn seal_of(letters: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(letters).ok()?;
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

/// Returns this user's key, and creates it if it does not exist.
fn key() -> Option<&'static hmac::Key> {
    static KEY: OnceLock<Option<hmac::Key>> = OnceLock::new();
    let known = KEY.get_or_init(|| {
        let path = cache::state_directory(&ci::process_variable)?.join("key");
        let bytes = read_key(&path).or_else(|| make_key(&path))?;
        Some(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
    });
    known.as_ref()
}

fn read_key(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let is_key = metadata.is_file() && metadata.len() == KEY_BYTES as u64 && is_own(&metadata) && is_private(&metadata);
    is_key.then(|| fs::read(path).ok()).flatten()
}

/// Creates the key. If another process creates it at the same time, that key is used.
fn make_key(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = [0; KEY_BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    fs::create_dir_all(path.parent()?).ok()?;
    let written = private(&beside).and_then(|mut file| file.write_all(&bytes));
    let linked = written.and_then(|()| fs::hard_link(&beside, path));
    drop(fs::remove_file(&beside));
    if linked.is_err() { read_key(path) } else { Some(bytes.to_vec()) }
}

/// Creates a file that only this user can read and write.
fn private(path: &Path) -> std::io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    drop(fs::remove_file(path));
    options.open(path)
}

#[cfg(unix)]
fn is_private(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(found) & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(_: &Metadata) -> bool {
    true
}

/// Whether this user owns the file. A file of another user can contain anything.
#[cfg(unix)]
fn is_own(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

/// Returns an identifier of this build, because another build of the same version can have other results.
pub(in crate::cli) fn program() -> String {
    let metadata = std::env::current_exe().and_then(fs::metadata);
    let told = metadata.map(|it| format!("{} {:?}", it.len(), it.modified().ok()));
    format!("{} {}", env!("CARGO_PKG_VERSION"), told.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_files_are_called_so() {
        let is_ours = |name: &str| is_called(Path::new(name), "texts");
        assert!(
            is_ours("/c/0123456789abcdef-0123456789abcdef.texts")
                && is_ours("/c/0123456789abcdef-0123456789abcdef.77.new")
        );
        for other in [
            "notes.texts",
            "0123456789abcdef-x.texts",
            "0123456789abcdef-0123456789abcdef.txt",
            "0123456789abcdef.texts.bak",
            ".texts",
        ] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
