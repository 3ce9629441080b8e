//! Stores source files and texts derived from them, with places in both.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use super::asked::{self, NotedTree};
use super::limits::Limits;
use super::lines::LineIndex;
use super::tree::{BESIDE, ReadError, Tree, file_name, join, parent, real_path};

/// How often a file may be read again completely, and how many more bytes all files together may be read again.
/// Reading that much takes some seconds.
const TIMES_AGAIN: u64 = 32;
const SPARE_BYTES: u64 = 12 << 20;

/// A source file, or text derived from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

/// A byte range in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { file, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// Returns the range from the start of this span to the end of the other. If the other is in another file, returns
    /// this one.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The text that replaces a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub replacement: String,
}

impl Edit {
    /// Sorts edits by place and joins insertions at one place. Deeper indented lines come first, because they continue
    /// the text before them; others keep their order.
    pub fn joined(mut edits: Vec<Edit>) -> Vec<Edit> {
        edits.sort_by_key(|edit| (edit.span, Reverse(edit.depth())));
        let mut joined: Vec<Edit> = Vec::with_capacity(edits.len());
        for edit in edits {
            match joined.last_mut() {
                Some(before) if *before == edit => {}
                Some(before) if before.span == edit.span && edit.span.start == edit.span.end => {
                    before.replacement.push_str(&edit.replacement);
                }
                _ => joined.push(edit),
            }
        }
        joined
    }

    /// Returns the indentation of the first full line of the replacement.
    fn depth(&self) -> usize {
        let line = self.replacement.trim_start_matches(['\r', '\n']);
        if line.len() == self.replacement.len() { 0 } else { line.len() - line.trim_start().len() }
    }
}

/// The origin of derived text, from `start` to the next segment.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    pub start: u32,
    pub origin: Span,
    /// Whether each byte corresponds to the byte at the same offset in the origin. If not, the whole text corresponds
    /// to the whole origin.
    pub linear: bool,
}

/// A place for people. Lines and columns count from 1, and columns count characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePosition {
    pub path: String,
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
}

#[derive(Debug)]
struct File {
    path: String,
    text: FileText,
    lines: OnceLock<LineIndex>,
    derived: Vec<Segment>,
    /// Places of secrets in a generated file, sorted and without overlaps.
    secrets: OnceLock<Vec<Span>>,
    pieces: OnceLock<Arc<[Range<usize>]>>,
}

/// The content of a file as text. Invalid UTF-8 is replaced at the first use, because most of these files are images.
#[derive(Debug)]
enum FileText {
    Valid(Arc<str>),
    Invalid { bytes: Vec<u8>, text: OnceLock<Arc<str>> },
}

impl FileText {
    fn size(&self) -> usize {
        match self {
            FileText::Valid(text) => text.len(),
            FileText::Invalid { bytes, .. } => bytes.len(),
        }
    }
}

impl From<Arc<str>> for FileText {
    fn from(text: Arc<str>) -> Self {
        FileText::Valid(text)
    }
}

impl From<Vec<u8>> for FileText {
    fn from(bytes: Vec<u8>) -> Self {
        match std::str::from_utf8(&bytes) {
            Ok(text) => FileText::Valid(text.into()),
            Err(_) => FileText::Invalid { bytes, text: OnceLock::new() },
        }
    }
}

/// A stored text that may be decoded later.
#[derive(Debug, Clone)]
pub(crate) struct StoredText(Arc<File>);

impl StoredText {
    pub(crate) fn get(&self) -> &Arc<str> {
        self.0.text()
    }
}

/// All text of one run. A file is read once at its first use and stays in memory.
pub struct SourceFiles {
    tree: NotedTree,
    files: RwLock<Files>,
    limits: OnceLock<Limits>,
    /// Bytes of each file that were read again for edits.
    again: Mutex<HashMap<FileId, u64>>,
    /// Targets of directory links.
    real: Mutex<HashMap<String, Option<String>>>,
    /// Remaining bytes that all files together may read again beyond their own limits.
    spare: AtomicU64,
}

#[derive(Default)]
struct Files {
    all: Vec<Arc<File>>,
    by_path: HashMap<String, Result<FileId, ReadError>>,
}

impl SourceFiles {
    pub fn new(tree: impl Tree + 'static) -> Self {
        SourceFiles {
            tree: NotedTree(Arc::new(tree)),
            files: RwLock::default(),
            limits: OnceLock::new(),
            again: Mutex::default(),
            real: Mutex::default(),
            spare: AtomicU64::new(SPARE_BYTES),
        }
    }

    /// Sets the limits once, because the settings file that contains them is read here too.
    pub fn limit(&self, limits: Limits) {
        let _ = self.limits.set(limits);
    }

    pub fn limits(&self) -> Limits {
        self.limits.get().copied().unwrap_or_default()
    }

    pub fn tree(&self) -> &dyn Tree {
        &self.tree
    }

    /// Returns the tree for another state that shares files with this one.
    pub fn shared_tree(&self) -> Arc<dyn Tree> {
        self.tree.0.clone()
    }

    /// Returns a path with links resolved; `None` if a link leaves the tree or is part of a cycle.
    pub fn real_path(&self, path: &str) -> Option<String> {
        if path.is_empty() || path.starts_with(BESIDE) {
            return Some(path.to_owned());
        }
        let directory = parent(path);
        asked::file(directory);
        let known = self.real.lock().unwrap_or_else(PoisonError::into_inner).get(directory).cloned();
        let real = known.unwrap_or_else(|| {
            let real = self.real_path(directory);
            let mut all = self.real.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(directory.to_owned(), real.clone());
            real
        });
        let path = join(&real?, file_name(path))?;
        match self.tree.link(&path) {
            Some(_) => real_path(&self.tree, &path),
            None => Some(path),
        }
    }

    /// Reads a file once. Invalid UTF-8 is replaced. A byte order mark stays, so that offsets equal those of the file.
    pub fn open(&self, path: &str) -> Result<FileId, ReadError> {
        asked::file(path);
        if let Some(known) = self.read_lock().by_path.get(path) {
            return known.clone();
        }
        self.keep(path, self.tree.read(path))
    }

    /// Returns true if the file was requested before.
    pub fn has(&self, path: &str) -> bool {
        asked::file(path);
        self.read_lock().by_path.contains_key(path)
    }

    /// Stores the content of a file that the caller read from the tree.
    pub fn hold(&self, path: &str, read: Result<Arc<str>, ReadError>) -> Result<FileId, ReadError> {
        self.keep(path, read)
    }

    /// Stores bytes in the same way.
    pub(crate) fn hold_bytes(&self, path: &str, bytes: Vec<u8>) -> Result<FileId, ReadError> {
        self.keep(path, Ok(bytes))
    }

    fn keep(&self, path: &str, read: Result<impl Into<FileText>, ReadError>) -> Result<FileId, ReadError> {
        let read = read.map(Into::into);
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files.by_path.get(path) {
            return known.clone();
        }
        let result = read.map(|text| files.push(path.to_owned(), text, Vec::new()));
        files.by_path.insert(path.to_owned(), result.clone());
        result
    }

    /// Adds a text that was derived from source files. The segments contain the origin of each part.
    pub fn derive(&self, path: &str, text: String, segments: Vec<Segment>) -> FileId {
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        files.push(path.to_owned(), FileText::Valid(text.into()), segments)
    }

    /// Adds the files of another run at the same positions, so that its spans are valid here. Only allowed before the
    /// first read.
    #[must_use]
    pub fn with_files_of(self, other: &SourceFiles, count: usize) -> Self {
        {
            let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
            files.all.extend(other.read_lock().all.iter().take(count).cloned());
        }
        self
    }

    /// Shares the files of another state of the same tree, at the same positions. Files for which `is_same` is true
    /// count as read. Only allowed if nothing was read beyond the first `count` files, which both have; returns whether
    /// that is the case.
    pub fn share(&self, other: &SourceFiles, count: usize, is_same: impl Fn(&str) -> bool) -> bool {
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        if files.all.len() != count || !files.by_path.is_empty() {
            return false;
        }
        let other = other.read_lock();
        files.all.extend(other.all.iter().skip(count).cloned());
        let same = other.by_path.iter().filter(|(path, _)| is_same(path));
        files.by_path.extend(same.map(|(path, read)| (path.clone(), read.clone())));
        true
    }

    /// Returns every requested path.
    pub fn asked(&self) -> Vec<String> {
        self.read_lock().by_path.keys().cloned().collect()
    }

    /// Returns requested files that could not be read, with the error.
    pub fn refused(&self) -> Vec<(String, ReadError)> {
        let files = self.read_lock();
        let refused = files.by_path.iter().filter_map(|(path, read)| Some((path.clone(), read.clone().err()?)));
        refused.collect()
    }

    /// Reads the bytes of a file without storing them, unless they are stored already.
    pub fn glance<T>(&self, path: &str, look: impl FnOnce(&[u8]) -> T) -> Result<T, ReadError> {
        asked::file(path);
        let known = self.read_lock().by_path.get(path).cloned();
        if let Some(known) = known {
            return known.map(|file| look(self.text(file).as_bytes()));
        }
        match self.tree.read(path) {
            Ok(bytes) => Ok(look(&bytes)),
            Err(error) => {
                let refused = self.hold(path, Err(error.clone()));
                Err(refused.err().unwrap_or(error))
            }
        }
    }

    /// Reads only the first bytes of a file, in the same way.
    pub fn glance_at_head<T>(&self, path: &str, bytes: usize, look: impl FnOnce(&[u8]) -> T) -> Result<T, ReadError> {
        asked::file(path);
        match self.read_lock().by_path.get(path).cloned() {
            Some(known) => known.map(|file| {
                let text = self.text(file);
                look(text.as_bytes().get(..bytes).unwrap_or(text.as_bytes()))
            }),
            None => self.tree.head(path, bytes).map(|head| look(&head)),
        }
    }

    /// Returns the given number of files in the order of reading, each with its path.
    pub fn first(&self, count: usize) -> Vec<(String, Arc<str>)> {
        self.read_lock().all.iter().take(count).map(|file| (file.path.clone(), file.text().clone())).collect()
    }

    /// Returns the length of all texts together.
    pub fn text_bytes(&self) -> usize {
        self.read_lock().all.iter().map(|file| file.text.size()).sum()
    }

    /// Returns the number of files read so far.
    pub fn count(&self) -> usize {
        self.read_lock().all.len()
    }

    /// Returns the pieces into which the only reader of a file splits it, computed once.
    pub fn pieces(&self, file: FileId, cut: impl FnOnce(&str) -> Vec<Range<usize>>) -> Arc<[Range<usize>]> {
        let file = self.file(file);
        file.pieces.get_or_init(|| cut(file.text()).into()).clone()
    }

    /// Returns true if this many bytes of a file may be read again. Edits in each item of a list would each read the
    /// whole document.
    pub fn again(&self, file: FileId, bytes: usize) -> bool {
        let length = self.file(file).text().len() as u64;
        let before = {
            let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
            let read = again.entry(file).or_default();
            let before = *read;
            *read += bytes as u64;
            before
        };
        let beyond = (before + bytes as u64).saturating_sub(TIMES_AGAIN * length).min(bytes as u64);
        let take = |spare: u64| spare.checked_sub(beyond);
        beyond == 0 || self.spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    pub fn text(&self, file: FileId) -> Arc<str> {
        self.file(file).text().clone()
    }

    /// Returns a file whose text is decoded at its first use.
    pub(crate) fn stored(&self, file: FileId) -> StoredText {
        StoredText(self.file(file))
    }

    /// Returns the size of a file in bytes.
    pub(crate) fn size(&self, file: FileId) -> usize {
        self.file(file).text.size()
    }

    /// Returns the path of a file, or of the origin of a derived file.
    pub fn path(&self, file: FileId) -> String {
        let file = self.file(file);
        match file.derived.first() {
            Some(segment) => self.path(segment.origin.file),
            None => file.path.clone(),
        }
    }

    pub fn snippet(&self, span: Span) -> String {
        self.text(span.file).get(span.range()).unwrap_or_default().to_owned()
    }

    /// Marks a file that may contain secrets at these and unknown places, so that reports never show text around a
    /// place in it.
    pub fn conceal(&self, file: FileId, secrets: &[Span]) {
        let mut sorted = secrets.to_vec();
        sorted.sort();
        let mut secrets: Vec<Span> = Vec::with_capacity(sorted.len());
        for secret in sorted {
            match secrets.last_mut() {
                Some(before) if before.file == secret.file && secret.start <= before.end => {
                    before.end = before.end.max(secret.end);
                }
                _ => secrets.push(secret),
            }
        }
        // Each file is read once, by one reader.
        drop(self.file(file).secrets.set(secrets));
    }

    /// Returns the text of a place in a file with secrets, without the known secrets; `None` for other files.
    pub fn concealed(&self, span: Span) -> Option<String> {
        let file = self.file(span.file);
        let secrets = file.secrets.get()?;
        let mut bytes = file.text().get(span.range()).unwrap_or_default().as_bytes().to_vec();
        let first = secrets.partition_point(|it| it.end <= span.start);
        for secret in secrets.iter().skip(first).take_while(|it| it.start < span.end) {
            let (from, to) = (secret.start.saturating_sub(span.start), secret.end.min(span.end) - span.start);
            if let Some(hidden) = bytes.get_mut(from as usize..to as usize) {
                hidden.fill(b'*');
            }
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the path of the file from which a position comes.
    pub fn path_of(&self, span: Span) -> String {
        self.path(self.origin(span).file)
    }

    /// Returns the place in a source file that an author can edit.
    pub fn origin(&self, span: Span) -> Span {
        let file = self.file(span.file);
        // Segments are in the order of the text.
        let after = file.derived.partition_point(|segment| segment.start <= span.start);
        let Some(segment) = file.derived.get(after.saturating_sub(1)) else { return span };
        let origin = if segment.linear {
            let start = (segment.origin.start + span.start.saturating_sub(segment.start)).min(segment.origin.end);
            let end = (start + (span.end - span.start)).min(segment.origin.end);
            Span { file: segment.origin.file, start, end }
        } else {
            segment.origin
        };
        self.origin(origin)
    }

    /// Returns the bytes of a source file that correspond one by one to this span; `None` if there are none.
    pub fn editable(&self, span: Span) -> Option<Span> {
        let file = self.file(span.file);
        if file.derived.is_empty() {
            return Some(span);
        }
        let after = file.derived.partition_point(|segment| segment.start <= span.start);
        let segment = file.derived.get(after.checked_sub(1)?)?;
        let next = file.derived.get(after).map_or(file.text().len() as u32, |next| next.start);
        let start = segment.origin.start + (span.start - segment.start);
        let end = start + (span.end - span.start);
        if !segment.linear || span.end > next || end > segment.origin.end {
            return None;
        }
        self.editable(Span { file: segment.origin.file, start, end })
    }

    /// Returns the places in source files from which the parts of a derived file come; none for a source file.
    pub fn origins(&self, id: FileId) -> Vec<Span> {
        let file = self.file(id);
        let ends = file.derived.iter().skip(1).map(|next| next.start).chain([file.text().len() as u32]);
        let parts = file.derived.iter().zip(ends).map(|(segment, end)| match segment.linear {
            true => {
                let length = end.saturating_sub(segment.start);
                let end = segment.origin.start.saturating_add(length).min(segment.origin.end);
                self.origin(Span { end, ..segment.origin })
            }
            false => self.origin(segment.origin),
        });
        parts.collect()
    }

    pub fn locate(&self, span: Span) -> FilePosition {
        let span = self.origin(span);
        let file = self.file(span.file);
        let (line, column) = file.position(span.start);
        let (end_line, end_column) = file.position(span.end.max(span.start));
        FilePosition { path: file.path.clone(), line, column, end_line, end_column }
    }

    pub fn line(&self, span: Span) -> usize {
        self.locate(span).line
    }

    fn file(&self, id: FileId) -> Arc<File> {
        self.read_lock().all[id.0 as usize].clone()
    }

    fn read_lock(&self) -> std::sync::RwLockReadGuard<'_, Files> {
        self.files.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts bytes to text; invalid UTF-8 is replaced.
pub fn decoded(bytes: &[u8]) -> Arc<str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(bytes).into(),
    }
}

/// Converts bytes with a UTF-16 byte order mark to UTF-8; `None` without the mark. Offsets in this text differ from
/// those in the file.
pub fn from_utf16(bytes: &[u8]) -> Option<Result<Arc<str>, ReadError>> {
    let (mark, rest) = bytes.split_at_checked(2)?;
    let unit: fn([u8; 2]) -> u16 = match mark {
        [0xff, 0xfe] if !rest.starts_with(&[0, 0]) => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        [0xff, 0xfe] => return Some(Err(ReadError::Other("gpulint does not read UTF-32 text".to_owned()))),
        [0, 0] if rest.starts_with(&[0xfe, 0xff]) => {
            return Some(Err(ReadError::Other("gpulint does not read UTF-32 text".to_owned())));
        }
        _ => return None,
    };
    let units = rest.chunks_exact(2).filter_map(|pair| Some(unit(pair.try_into().ok()?)));
    let text: String = char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Some(Ok(text.into()))
}

impl Files {
    fn push(&mut self, path: String, text: FileText, derived: Vec<Segment>) -> FileId {
        let id = FileId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(Arc::new(File {
            path,
            text,
            lines: OnceLock::new(),
            secrets: OnceLock::new(),
            pieces: OnceLock::new(),
            derived,
        }));
        id
    }
}

impl File {
    fn text(&self) -> &Arc<str> {
        match &self.text {
            FileText::Valid(text) => text,
            FileText::Invalid { bytes, text } => text.get_or_init(|| String::from_utf8_lossy(bytes).into()),
        }
    }

    fn position(&self, offset: u32) -> (usize, usize) {
        self.lines.get_or_init(|| LineIndex::of(self.text())).position(self.text(), offset as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    #[test]
    fn positions_count_characters_from_one() {
        let sources = SourceFiles::new(MemoryTree::new().with("a", "é=1\r\nx=2\n"));
        let file = sources.open("a").unwrap();
        let at = |start, end| {
            let l = sources.locate(Span::new(file, start, end));
            (l.line, l.column, l.end_line, l.end_column)
        };
        assert_eq!(at(2, 3), (1, 2, 1, 3));
        assert_eq!(at(6, 7), (2, 1, 2, 2));
        assert_eq!(at(99, 99), (3, 1, 3, 1));
    }

    #[test]
    fn invalid_text_is_replaced_when_it_is_needed() {
        let sources = SourceFiles::new(MemoryTree::new().with("a", [b'a', 0xff, b'b']));
        let file = sources.open("a").unwrap();
        assert_eq!(sources.size(file), 3);
        assert_eq!(&**sources.stored(file).get(), "a\u{fffd}b");
        assert_eq!(&*sources.text(file), "a\u{fffd}b");
    }

    #[test]
    fn derived_text_leads_back_to_its_origin() {
        let sources = SourceFiles::new(MemoryTree::new().with("m.tf", "y = \"a: 1\"\n"));
        let file = sources.open("m.tf").unwrap();
        let origin = Span::new(file, 5, 9);
        let derived = sources.derive("m.tf", "a: 1".into(), vec![Segment { start: 0, origin, linear: true }]);
        assert_eq!(sources.origin(Span::new(derived, 3, 4)), Span::new(file, 8, 9));
        assert_eq!(sources.path(derived), "m.tf");
    }
}
