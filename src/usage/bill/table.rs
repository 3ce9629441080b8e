//! Reads CSV as a stream: a file of any size needs only the memory of one record.
//!
//! A quoted cell can contain commas, quotes and line ends. If a record cannot be read, gpulint reports its line and
//! continues with the next line, so that one wrong quote does not hide the rest.

use std::io::{self, Read};

use memchr::{memchr, memchr2};

/// The most bytes of one record. The tags of a resource have some ten thousand bytes at most.
const LONGEST_RECORD: usize = 1 << 20;
const PIECE: usize = 256 << 10;
/// The most columns. A table with more columns is not a bill.
const MOST_CELLS: usize = 1000;

/// The cells of one record. The next record reuses their memory.
#[derive(Default)]
pub(super) struct BillCells {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl BillCells {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn bytes(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(at).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }
}

/// The kind of record at the beginning of the buffer.
enum Begins {
    /// A record, with its number of bytes.
    Record(usize),
    /// A blank line, with its number of bytes.
    Blank(usize),
    /// The buffer is too short to decide.
    Open,
    Wrong(&'static str),
}

pub(super) struct BillTable<R> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    is_whole: bool,
    /// The line of the next record, counted from 1.
    line: usize,
}

/// The line on which a record begins, and whether the record could be read into the cells.
pub(super) type BillRecord = (usize, Result<(), &'static str>);

impl<R: Read> BillTable<R> {
    pub(super) fn new(input: R) -> Self {
        BillTable { input, buffer: Vec::new(), at: 0, is_whole: false, line: 1 }
    }

    /// Returns the first bytes without consuming them.
    pub(super) fn peek(&mut self) -> io::Result<&[u8]> {
        if self.buffer.is_empty() {
            self.fill()?;
        }
        Ok(self.rest())
    }

    /// Skips bytes, such as a byte order mark, which does not belong to the first cell.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    pub(super) fn next(&mut self, cells: &mut BillCells) -> io::Result<Option<BillRecord>> {
        loop {
            cells.clear();
            let rest = self.buffer.get(self.at..).unwrap_or_default();
            if rest.is_empty() && self.is_whole {
                return Ok(None);
            }
            let line = self.line;
            match begin(rest, self.is_whole, cells) {
                Begins::Record(bytes) => {
                    self.line += lines(rest.get(..bytes).unwrap_or_default());
                    self.at += bytes;
                    return Ok(Some((line, Ok(()))));
                }
                Begins::Blank(bytes) => {
                    self.line += 1;
                    self.at += bytes;
                }
                Begins::Open if rest.len() >= LONGEST_RECORD => {
                    self.skip_line()?;
                    return Ok(Some((line, Err("the row has more than 1 MiB, or an unclosed quote"))));
                }
                Begins::Open => self.fill()?,
                Begins::Wrong(why) => {
                    self.skip_line()?;
                    return Ok(Some((line, Err(why))));
                }
            }
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let before = self.buffer.len();
        self.buffer.resize(before + PIECE, 0);
        let mut filled = before;
        while let Some(free) = self.buffer.get_mut(filled..).filter(|it| !it.is_empty()) {
            match self.input.read(free) {
                Ok(0) => {
                    self.is_whole = true;
                    break;
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.buffer.truncate(filled);
        Ok(())
    }

    /// Skips the rest of the line, regardless of its length.
    fn skip_line(&mut self) -> io::Result<()> {
        self.line += 1;
        loop {
            if let Some(end) = memchr(b'\n', self.rest()) {
                self.at += end + 1;
                return Ok(());
            }
            self.at = self.buffer.len();
            if self.is_whole {
                return Ok(());
            }
            self.fill()?;
        }
    }
}

fn lines(record: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', record).count()
}

fn begin(text: &[u8], is_whole: bool, cells: &mut BillCells) -> Begins {
    if let Some(bytes) = blank(text, is_whole) {
        return Begins::Blank(bytes);
    }
    let mut at = 0;
    loop {
        if cells.len() >= MOST_CELLS {
            return Begins::Wrong("the row has more than 1000 cells");
        }
        let rest = text.get(at..).unwrap_or_default();
        if rest.first() == Some(&b'"') {
            match quoted(rest, is_whole, cells) {
                Ok((used, Ended::Cell)) => at += used,
                Ok((used, Ended::Record)) => return Begins::Record(at + used),
                Err(other) => return other,
            }
            continue;
        }
        match memchr2(b',', b'\n', rest) {
            Some(end) => {
                let cell = rest.get(..end).unwrap_or_default();
                let is_last = rest.get(end) == Some(&b'\n');
                let cell = if is_last { cell.strip_suffix(b"\r").unwrap_or(cell) } else { cell };
                cells.bytes.extend_from_slice(cell);
                cells.end();
                at += end + 1;
                if is_last {
                    return Begins::Record(at);
                }
            }
            None if is_whole => {
                cells.bytes.extend_from_slice(rest.strip_suffix(b"\r").unwrap_or(rest));
                cells.end();
                return Begins::Record(text.len());
            }
            None => return Begins::Open,
        }
    }
}

fn blank(text: &[u8], is_whole: bool) -> Option<usize> {
    match text {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        [b'\r'] if is_whole => Some(1),
        _ => None,
    }
}

enum Ended {
    Cell,
    Record,
}

/// Reads a quoted cell, in which two quotes mean one. Returns its number of bytes and what ends it.
fn quoted(text: &[u8], is_whole: bool, cells: &mut BillCells) -> Result<(usize, Ended), Begins> {
    let mut at = 1;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(end) = memchr(b'"', rest) else {
            return Err(if is_whole { Begins::Wrong("a quote is not closed") } else { Begins::Open });
        };
        cells.bytes.extend_from_slice(rest.get(..end).unwrap_or_default());
        at += end + 1;
        match text.get(at..).unwrap_or_default() {
            [b'"', ..] => {
                cells.bytes.push(b'"');
                at += 1;
            }
            [b',', ..] => {
                cells.end();
                return Ok((at + 1, Ended::Cell));
            }
            [b'\n', ..] => {
                cells.end();
                return Ok((at + 1, Ended::Record));
            }
            [b'\r', b'\n', ..] => {
                cells.end();
                return Ok((at + 2, Ended::Record));
            }
            [] | [b'\r'] if is_whole => {
                cells.end();
                return Ok((text.len(), Ended::Record));
            }
            [] | [b'\r'] => return Err(Begins::Open),
            _ => return Err(Begins::Wrong("characters follow a quoted cell")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a few bytes per read, so that records are cut at every position.
    struct Drops<'t>(&'t [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(text: &str, drops: usize) -> Vec<(usize, Result<Vec<String>, &'static str>)> {
        let mut table = BillTable::new(Drops(text.as_bytes(), drops));
        let mut cells = BillCells::default();
        let mut found = Vec::new();
        while let Some((line, read)) = table.next(&mut cells).unwrap() {
            let texts = || (0..cells.len()).map(|at| String::from_utf8_lossy(cells.bytes(at)).into_owned()).collect();
            found.push((line, read.map(|()| texts())));
        }
        found
    }

    #[test]
    fn cells_are_read_however_the_text_is_cut() {
        let text = "a,b\r\n\"x, \"\"y\"\"\",\r\n\n\"two\nlines\",2\n,\nlast,";
        for drops in [1, 2, 7, 1000] {
            let found = all(text, drops);
            let cells: Vec<(usize, Vec<&str>)> = found
                .iter()
                .map(|(line, it)| (*line, it.as_ref().unwrap().iter().map(String::as_str).collect()))
                .collect();
            assert_eq!(
                cells,
                [
                    (1, vec!["a", "b"]),
                    (2, vec!["x, \"y\"", ""]),
                    (4, vec!["two\nlines", "2"]),
                    (6, vec!["", ""]),
                    (7, vec!["last", ""])
                ]
            );
        }
    }

    #[test]
    fn a_wrong_quote_hides_nothing_else() {
        let found = all("a,b\n\"x\" y,1\n3,4\n\"open,5\n6,7\n", 1000);
        let told: Vec<_> =
            found.iter().map(|(line, it)| (*line, it.as_ref().map(|it| it.join("|")).map_err(|it| *it))).collect();
        assert_eq!(
            told,
            [
                (1, Ok("a|b".to_owned())),
                (2, Err("characters follow a quoted cell")),
                (3, Ok("3|4".to_owned())),
                (4, Err("a quote is not closed")),
                (5, Ok("6|7".to_owned()))
            ]
        );
        let long = format!("a\n\"{}\n1\n", "x".repeat(3 << 20));
        let found = all(&long, 1 << 20);
        assert!(matches!(found.as_slice(), [(1, Ok(_)), (2, Err(_)), (3, Ok(_))]), "{}", found.len());
    }
}
