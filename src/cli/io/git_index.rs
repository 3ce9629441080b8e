//! Reads git's index without starting git: the tracked files, and which of them are unchanged since they were
//! checked out.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::file_tree::{below, read_limited};
use super::git_files;
use crate::source::{has_mark, named, those};

/// The largest index that is read, with about two million files.
const LONGEST_BYTES: u64 = 256 << 20;
/// The usual length of a tracked file's entry, with a path of 40 bytes.
const USUAL_BYTES: u64 = 104;
/// The length of the fields before the object id: times, device and size.
const STAT_BYTES: usize = 40;
const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
const LENGTH: u16 = 0x0FFF;
/// The mode of a regular file.
const REGULAR: u32 = 0o100_000;
/// The mode of a submodule.
const LINK: u32 = 0o160_000;

/// A tracked file.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct Indexed {
    pub(in crate::cli) path: String,
    /// The file's object id in hexadecimal.
    pub(in crate::cli) id: String,
    modified: Duration,
    size: u32,
    /// Whether it is a file without a conflict, whose times git checks.
    is_plain: bool,
}

/// Returns the tracked files sorted by name, or `None` if there is no index, or its format is
/// not read.
pub(in crate::cli) fn tracked(work_tree: &Path) -> Option<Vec<Indexed>> {
    let mut files = Vec::new();
    each(&list(work_tree)?, |path, entry| files.push(entry.named(path)))?;
    Some(files)
}

/// Returns the names of the files that pass a filter.
pub(in crate::cli) fn tracked_names(work_tree: &Path, is_wanted: impl Fn(&[u8]) -> bool) -> Option<Vec<String>> {
    let mut names = Vec::new();
    each(&list(work_tree)?, |path, _| names.extend(is_wanted(path).then(|| named(path).into_owned())))?;
    Some(names)
}

/// Returns about how many files git tracks, by the size of its list, which stays unread.
pub(in crate::cli) fn about_how_many(work_tree: &Path) -> Option<u64> {
    let list = fs::metadata(git_files::directory(work_tree)?.join("index")).ok()?;
    Some(list.len() / USUAL_BYTES)
}

/// Returns the directories of submodules, whether or not .gitmodules lists them.
pub(in crate::cli) fn links(work_tree: &Path) -> Vec<String> {
    let mut links = Vec::new();
    let visit = |path: &[u8], entry: &Entry<'_>| {
        if entry.number(24) & 0o170_000 == LINK {
            links.push(named(path).into_owned());
        }
    };
    list(work_tree).and_then(|list| each(&list, visit));
    links
}

/// The bytes of the index, and the length of its object ids.
struct List {
    bytes: Vec<u8>,
    id_bytes: usize,
}

fn list(work_tree: &Path) -> Option<List> {
    let directory = git_files::directory(work_tree)?;
    if git_files::odd(work_tree).is_some() {
        return None;
    }
    let bytes = read_limited(&directory.join("index"), LONGEST_BYTES).ok()?;
    Some(List { bytes, id_bytes: if git_files::has_long_ids(work_tree) { 32 } else { 20 } })
}

/// Returns `None` if the index is damaged, or split into two files.
fn each(List { bytes, id_bytes }: &List, mut visit: impl FnMut(&[u8], &Entry<'_>)) -> Option<()> {
    let mut rest = Rest { bytes };
    if rest.take(4)? != b"DIRC" {
        return None;
    }
    let version = rest.number()?;
    let count = rest.number()? as usize;
    if !(2..=4).contains(&version) || count > bytes.len() / STAT_BYTES {
        return None;
    }
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        let entry = rest.entry(version, *id_bytes, &mut path)?;
        visit(&path, &entry);
    }
    (!rest.has_other_half(*id_bytes)).then_some(())
}

/// The flags of an entry.
struct Entry<'b> {
    stat: &'b [u8],
    id: &'b [u8],
    flags: u16,
    more: u16,
}

impl Entry<'_> {
    fn number(&self, at: usize) -> u32 {
        let bytes = self.stat.get(at..at + 4).and_then(|it| it.try_into().ok());
        u32::from_be_bytes(bytes.unwrap_or_default())
    }

    fn named(&self, path: &[u8]) -> Indexed {
        let number = |at: usize| self.number(at);
        let is_plain = number(24) & !0o777 == REGULAR && self.flags & (ASSUME_VALID | STAGE) == 0 && self.more == 0;
        Indexed {
            path: named(path).into_owned(),
            id: crate::source::to_hex(self.id),
            modified: Duration::new(u64::from(number(8)), number(12).min(999_999_999)),
            size: number(36),
            is_plain,
        }
    }
}

struct Rest<'b> {
    bytes: &'b [u8],
}

impl<'b> Rest<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn entry(&mut self, version: u32, id_bytes: usize, path: &mut Vec<u8>) -> Option<Entry<'b>> {
        let before = self.bytes.len();
        let stat = self.take(STAT_BYTES)?;
        let id = self.take(id_bytes)?;
        let flags = self.short()?;
        let more = if flags & EXTENDED != 0 { self.short()? } else { 0 };
        if version == 4 {
            let kept = path.len().checked_sub(self.offset()?)?;
            path.truncate(kept);
        } else {
            path.clear();
        }
        // Names can be shortened: a prefix that is shared with the previous name is omitted.
        let counted = usize::from(flags & LENGTH);
        let length = match counted.checked_sub(path.len()) {
            Some(rest) if counted < usize::from(LENGTH) => rest,
            _ => memchr::memchr(0, self.bytes)?,
        };
        path.extend_from_slice(self.take(length)?);
        if version == 4 {
            if self.take(1)? != [0] {
                return None;
            }
        } else {
            let used = before - self.bytes.len();
            self.take(8 - used % 8)?;
        }
        Some(Entry { stat, id, flags, more })
    }

    /// Reads a variable-length number with seven bits per byte, as in packs.
    fn offset(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7F))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }

    fn has_other_half(&mut self, id_bytes: usize) -> bool {
        while self.bytes.len() > id_bytes {
            let Some(name) = self.take(4) else { return true };
            let Some(length) = self.number() else { return true };
            if name == b"link" || self.take(length as usize).is_none() {
                return true;
            }
        }
        false
    }
}

impl Indexed {
    /// Whether a file is unchanged since git wrote it, by size and time.
    fn is_untouched(&self, there: &Metadata) -> bool {
        let modified = there.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        self.is_plain
            && there.is_file()
            && there.len() == u64::from(self.size)
            && modified.is_some_and(|it| it == self.modified && self.modified.subsec_nanos() != 0)
    }
}

/// Returns the files of the work tree that equal those of a commit:
///
/// 1. git wrote the file from the same object, and it is unchanged since;
/// 2. the index is newer than the file, because a second change within the time resolution would be missed;
/// 3. no attribute changes the content of an object at checkout.
pub(in crate::cli) fn same<'o>(
    work_tree: &Path,
    tracked: &[Indexed],
    object: impl Fn(&str) -> Option<&'o str> + Sync,
) -> HashSet<String> {
    let list = git_files::directory(work_tree).and_then(|it| fs::metadata(it.join("index")).ok()?.modified().ok());
    let Some(written) = list.and_then(|it| it.duration_since(UNIX_EPOCH).ok()) else { return HashSet::new() };
    let is_same = |file: &&Indexed| {
        file.modified < written
            && object(&file.path) == Some(file.id.as_str())
            && fs::symlink_metadata(below(work_tree, &file.path)).is_ok_and(|it| file.is_untouched(&it))
    };
    let same = those(tracked.iter().collect(), is_same);
    same.into_iter().map(|file| file.path.clone()).collect()
}

/// Whether attributes can make git write a content that differs from the object.
pub(in crate::cli) fn makes_other_text(attributes: &[u8]) -> bool {
    has_mark(attributes, &[b"working-tree-encoding", b"filter", b"ident"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, mode: u32) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            [0, 0, 7, 9, 0, 0, mode, 0, 0, 5].iter().flat_map(|it: &u32| it.to_be_bytes()).collect();
        bytes.extend([0xAB; 20]);
        bytes.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
        bytes.extend(path.as_bytes());
        bytes.resize(bytes.len() + 8 - bytes.len() % 8, 0);
        bytes
    }

    fn list(entries: &[Vec<u8>]) -> Vec<u8> {
        let count = u32::try_from(entries.len()).unwrap();
        let head: Vec<u8> = b"DIRC".iter().copied().chain(2_u32.to_be_bytes()).chain(count.to_be_bytes()).collect();
        [head, entries.concat(), vec![0; 20]].concat()
    }

    #[test]
    fn a_list_is_read_and_half_of_one_is_not() {
        let whole = list(&[entry("a.tf", 0o100_644), entry("b/link", 0o120_000)]);
        let read = |bytes: &[u8]| {
            let mut files = Vec::new();
            let list = List { bytes: bytes.to_vec(), id_bytes: 20 };
            each(&list, |path, entry| files.push(entry.named(path))).map(|()| files)
        };
        let files = read(&whole).unwrap();
        let seen: Vec<_> = files.iter().map(|it| (it.path.as_str(), it.size, it.is_plain)).collect();
        assert_eq!(seen, [("a.tf", 5, true), ("b/link", 5, false)]);
        assert_eq!(files[0].id, "ab".repeat(20));
        for end in 0..whole.len() - 20 {
            assert_eq!(read(&whole[..end]), None, "{end} bytes");
        }
        let mut split = whole[..whole.len() - 20].to_vec();
        split.extend(*b"link\0\0\0\x04abcd");
        split.extend([0; 20]);
        assert_eq!(read(&split), None);
    }
}
