//! Reads the contents of git objects with one process, and caches them up to a limit.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::git_program::{git, not_started};
use crate::cli::Failure;
use crate::source::{ReadError, blob_digest, demand_text, to_hex};

/// The length of a SHA-256 object id, in hexadecimal digits.
const LONG_ID: usize = 64;

/// The contents of git objects, shared by all trees of one repository.
pub(in crate::cli) struct GitObjects {
    repository: PathBuf,
    /// The git process. It starts with the first request.
    reader: Mutex<Option<Reader>>,
    kept: Mutex<Kept>,
}

impl GitObjects {
    /// Caches contents up to this many bytes, so that states with the same files read them once.
    pub(in crate::cli) fn new(repository: &Path, room: usize) -> GitObjects {
        GitObjects {
            repository: repository.to_owned(),
            reader: Mutex::default(),
            kept: Mutex::new(Kept::with_room(room)),
        }
    }

    pub(super) fn read(&self, id: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        if let Some(kept) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(id) {
            return kept.and_then(|text| within(&text, limit));
        }
        let read = self.ask(id, limit);
        let kept = match &read {
            Ok(text) => Some(Ok(Arc::from(text.as_slice()))),
            Err(ReadError::Missing) => Some(Err(ReadError::Missing)),
            Err(_) => None,
        };
        if let Some(kept) = kept {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).add(id, kept);
        }
        read.and_then(demand_text)
    }

    /// Reads an object. If git has ended, as older versions do at an object that a partial clone lacks, the next call
    /// restarts it.
    fn ask(&self, id: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let started = match &mut *reader {
            Some(started) => started,
            empty => {
                let new = Reader::start(&self.repository);
                empty.insert(new.map_err(|failure| ReadError::Other(failure.message().to_owned()))?)
            }
        };
        let read = started.read(id, limit);
        if started.is_over {
            *reader = None;
        }
        read
    }
}

/// Whether the content matches the object id.
pub(in crate::cli) fn is_called(text: &[u8], id: &str) -> bool {
    to_hex(&blob_digest(text, id.len() == LONG_ID)) == id
}

fn within(text: &[u8], limit: u64) -> Result<Vec<u8>, ReadError> {
    let bytes = text.len() as u64;
    if bytes > limit { Err(ReadError::TooLarge { bytes, limit }) } else { demand_text(text.to_vec()) }
}

type Text = Result<Arc<[u8]>, ReadError>;

/// The most recently read contents, up to the limit.
struct Kept {
    texts: HashMap<String, (Text, u64)>,
    bytes: usize,
    room: usize,
    clock: u64,
}

impl Kept {
    fn with_room(room: usize) -> Kept {
        Kept { texts: HashMap::new(), bytes: 0, room, clock: 0 }
    }

    fn get(&mut self, id: &str) -> Option<Text> {
        self.clock += 1;
        let (text, used) = self.texts.get_mut(id)?;
        *used = self.clock;
        Some(text.clone())
    }

    fn add(&mut self, id: &str, text: Text) {
        let size = size_of(id, &text);
        if size > self.room / 8 {
            return;
        }
        if self.bytes + size > self.room {
            self.make_room();
        }
        self.clock += 1;
        self.bytes += size;
        if let Some((before, _)) = self.texts.insert(id.to_owned(), (text, self.clock)) {
            self.bytes -= size_of(id, &before);
        }
    }

    /// Drops the least recently used half. Dropping entries one at a time would need a search for each.
    fn make_room(&mut self) {
        let mut used: Vec<u64> = self.texts.values().map(|(_, used)| *used).collect();
        used.sort_unstable();
        let median = used.get(used.len() / 2).copied().unwrap_or_default();
        self.texts.retain(|_, (_, used)| *used > median);
        self.bytes = self.texts.iter().map(|(id, (text, _))| size_of(id, text)).sum();
    }
}

/// Returns the memory that a cached object takes, including overhead.
fn size_of(id: &str, text: &Text) -> usize {
    const AROUND: usize = 128;
    id.len() + AROUND + text.as_ref().map_or(0, |text| text.len())
}

/// A running `git cat-file --batch`, one process for all files.
struct Reader {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Whether the process failed and cannot answer.
    is_over: bool,
}

impl Reader {
    fn start(repository: &Path) -> Result<Reader, Failure> {
        let mut command = git(repository)?;
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(not_started)?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(questions), Some(answers)) => {
                Ok(Reader { process, questions, answers: BufReader::new(answers), is_over: false })
            }
            _ => Err(Failure::new("git could not be connected")),
        }
    }

    fn read(&mut self, id: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let read = self.ask(id, limit);
        self.is_over |= matches!(read, Err(ReadError::Other(_)));
        read
    }

    fn ask(&mut self, id: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let broken = |error: std::io::Error| ReadError::Other(format!("git: {error}"));
        writeln!(self.questions, "{id}").and_then(|()| self.questions.flush()).map_err(broken)?;
        let mut header = String::new();
        let read = self.answers.read_line(&mut header).map_err(broken)?;
        self.is_over = read == 0;
        // Git answers `<id> blob <bytes>` or `<id> missing`.
        let Some(bytes) = header.trim_end().split(' ').nth(2).and_then(|bytes| bytes.parse::<u64>().ok()) else {
            return Err(ReadError::Missing);
        };
        if bytes > limit {
            std::io::copy(&mut self.answers.by_ref().take(bytes + 1), &mut std::io::sink()).map_err(broken)?;
            return Err(ReadError::TooLarge { bytes, limit });
        }
        let mut text = vec![0; usize::try_from(bytes).unwrap_or(0) + 1];
        self.answers.read_exact(&mut text).map_err(broken)?;
        text.pop();
        Ok(text)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // The process only reads, and no answer is pending.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
